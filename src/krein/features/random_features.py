"""Random Fourier features with a signature, for any radial kernel whose measure has finite mass."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from krein._random import RandomState, Streams
from krein._validation import Rows, check_choice
from krein.features._map import cosine_map
from krein.features.base import Array, BaseFeatureMap
from krein.features.schemes import SCHEMES
from krein.kernels import Gaussian, Kernel
from krein.kernels.base import distances
from krein.sampling import ALLOCATIONS, DIRECTIONS, RADII, Frequencies, sample_frequencies


class RandomFeatures(BaseFeatureMap):
    """Cosine features Z with a signature: k(x, y) ~ Z(x) diag(signature_) Z(y)^T.

    Parameters
    ----------
    kernel : RadialKernel, default=Gaussian()
        What to approximate; it may be indefinite.
    n_components : int, default=100
        Largest number of output columns. A frequency takes two (cosine and sine) and a constant one: s frequencies
        per sign of an indefinite kernel need 4 s columns, of a positive definite one 2 s. Columns that do not fill a
        frequency for every sign are left out. With less than one pair per sign, every sign has one column with a
        random phase.
    scheme : str, default="gorf-blocks"
        How frequencies are drawn: "rff", "orf" (positive definite kernels), "grff", "gorf", "gorf-blocks",
        "published-grff", "published-gorf".
    random_state : int, Generator, RandomState or None, default=None
    directions : {"iid", "blocks", "joint", "shared"}, default=None
        Overrides the direction scheme of ``scheme``.
    radii : {"iid", "stratified"}, default=None
        Overrides the radius scheme.
    allocation : {"equal", "mass", "variance"}, default=None
        Overrides how frequencies are shared between the signs.
    output : {"real", "complex"}, default="real"
        "complex" multiplies the columns of negative sign by 1j, so that K_hat = Z Z^T without conjugation.

    Attributes
    ----------
    frequencies_ : Frequencies
        Weights, coefficients and constant: the approximation itself.
    signature_ : ndarray of shape (n_columns,)
        +1 or -1 per column: cosines, then sines, then the constant.
    n_features_in_ : int

    Notes
    -----
    Every scheme except "published-*" is unbiased over draws where the measure of the kernel has finite mass; where
    it has not, ``fit`` raises InfiniteMassError. Kernels on the unit sphere need rows of norm 1.

    Examples
    --------
    >>> import numpy as np
    >>> from krein import RandomFeatures, relative_error
    >>> from krein.kernels import DeltaGaussian
    >>> X = np.random.default_rng(0).normal(size=(200, 16)) / 4
    >>> kernel = DeltaGaussian(weights=(1.0, -1.0), scales=(1.0, 10.0))
    >>> features = RandomFeatures(kernel, n_components=512, random_state=0).fit(X)
    >>> features.transform(X).shape
    (200, 512)
    >>> bool(relative_error(kernel, features, X) < 0.1)
    True
    """

    frequencies_: Frequencies

    def __init__(
        self,
        kernel: Kernel = Gaussian(),  # noqa: B008  (immutable)
        n_components: int = 100,
        *,
        scheme: str = "gorf-blocks",
        random_state: RandomState = None,
        directions: str | None = None,
        radii: str | None = None,
        allocation: str | None = None,
        output: str = "real",
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.scheme = scheme
        self.random_state = random_state
        self.directions = directions
        self.radii = radii
        self.allocation = allocation
        self.output = output

    def _fit(self, X: Rows) -> None:
        check_choice(self.scheme, "scheme", SCHEMES)
        scheme = SCHEMES[self.scheme]
        directions = _override(self.directions, scheme.directions, "directions", DIRECTIONS)
        radii = _override(self.radii, scheme.radii, "radii", RADII)
        allocation = _override(self.allocation, scheme.allocation, "allocation", ALLOCATIONS)
        streams = Streams(self.random_state)
        parts = scheme.parts(self.kernel, X.shape[1])
        columns = self.n_components - (parts.constant != 0)
        phased = columns < 2 * len(parts.parts)
        n = columns if phased else columns // 2
        if n < len(parts.parts):
            needed = len(parts.parts) + (parts.constant != 0)
            raise ValueError(f"n_components must be at least {needed} for {self.kernel!r}; got {self.n_components}.")
        rows = _some_distances(X, streams("distances")) if allocation == "variance" else np.empty(0)
        counts = ALLOCATIONS[allocation](parts, n, rows)
        frequencies = sample_frequencies(
            parts, counts, directions=directions, radii=radii, random_state=streams("frequencies")
        )
        if phased:
            phases = streams("phases").uniform(0, 2 * np.pi, len(frequencies.coefficients))
            frequencies = replace(frequencies, phases=phases)
        self.frequencies_ = frequencies
        self.signature_ = self.frequencies_.signature

    def _map_rows(self, X: Rows, out: NDArray[Any]) -> None:
        cosine_map(X, self.frequencies_, out)

    def _get_state(self) -> dict[str, NDArray[Any]]:
        return self.frequencies_.to_arrays()

    def _set_state(self, arrays: dict[str, NDArray[Any]]) -> None:
        self.frequencies_ = Frequencies(
            arrays["weights"], arrays["coefficients"], float(arrays["constant"]), arrays.get("phases")
        )
        self.signature_ = self.frequencies_.signature


def _override(value: str | None, default: str, name: str, choices: Any) -> str:
    if value is None:
        return default
    check_choice(value, name, choices)
    return value


def _some_distances(X: Rows, rng: np.random.Generator, n_rows: int = 64, n_distances: int = 16) -> Array:
    """Evenly spaced quantiles of the distances between a few rows."""
    rows = X[np.sort(rng.choice(X.shape[0], min(n_rows, X.shape[0]), replace=False))]
    z = distances(rows, rows)[np.triu_indices(rows.shape[0], 1)]
    return np.quantile(z if len(z) else np.zeros(1), (np.arange(n_distances) + 0.5) / n_distances)
