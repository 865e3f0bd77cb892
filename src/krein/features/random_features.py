"""Random Fourier features with a signature, for any radial kernel whose measure has finite mass."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from krein._random import RandomState, Streams
from krein._validation import Rows, check_choice
from krein.features.base import Array
from krein.features.cosine_map import CosineMap
from krein.features.schemes import SCHEMES
from krein.kernels import Gaussian, Kernel
from krein.kernels.base import distances
from krein.sampling import Frequencies


class RandomFeatures(CosineMap):
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
        A key of ``krein.features.SCHEMES``: "rff", "orf" (positive definite kernels), "grff", "gorf", "gorf-blocks",
        "simplex", "sorf", "fastfood", "circulant", "qmc", "qmc-halton", "quadrature",
        "quadrature-5", and "published-grff", "published-gorf", which are biased as the published numbers are.
    random_state : int, Generator, RandomState or None, default=None
    directions : {"iid", "blocks", "joint", "shared", "simplex", "sorf", "fastfood", "circulant"}, default=None
        Overrides the direction scheme of ``scheme``.
    radii : {"iid", "stratified", "rms"}, default=None
        Overrides the radius scheme. "rms" gives all frequencies of a sign their root mean square radius: biased, with
        less variance; with ``scheme="sorf"`` and a Gaussian it is SORF as published.
    allocation : {"equal", "mass", "variance"}, default=None
        Overrides how frequencies are shared between the signs.
    n_jobs : int or None, default=None
        Threads of ``transform``; -1 is all cores, None one unless joblib's ``parallel_config`` says otherwise.
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
    Every scheme except "published-*" and "sorf" is unbiased over draws, with any options but ``radii="rms"``, where the
    measure of the kernel has finite mass; where it has not, ``fit`` raises InfiniteMassError. Kernels on the unit
    sphere need rows of norm 1.

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
        n_jobs: int | None = None,
        output: str = "real",
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.scheme = scheme
        self.random_state = random_state
        self.directions = directions
        self.radii = radii
        self.allocation = allocation
        self.n_jobs = n_jobs
        self.output = output

    def _fit(self, X: Rows) -> None:
        check_choice(self.scheme, "scheme", SCHEMES)
        scheme = SCHEMES[self.scheme].overridden(self.directions, self.radii, self.allocation)
        streams = Streams(self.random_state)
        parts = scheme.parts(self.kernel, X.shape[1])
        needs_distances = scheme.allocation == "variance"
        z = _some_distances(X, streams("distances")) if needs_distances else np.empty(0)
        self.frequencies_ = scheme.draw(parts, self.n_components, z, streams("frequencies"))
        self.signature_ = self.frequencies_.signature

    def _get_state(self) -> dict[str, NDArray[Any]]:
        return self.frequencies_.to_arrays()

    def _set_state(self, arrays: dict[str, NDArray[Any]]) -> None:
        self.frequencies_ = Frequencies.from_arrays(arrays)
        self.signature_ = self.frequencies_.signature


def _some_distances(X: Rows, rng: np.random.Generator, n_rows: int = 64, n_distances: int = 16) -> Array:
    """Evenly spaced quantiles of the distances between a few rows."""
    rows = X[np.sort(rng.choice(X.shape[0], min(n_rows, X.shape[0]), replace=False))]
    z = distances(rows, rows)[np.triu_indices(rows.shape[0], 1)]
    return np.quantile(z if len(z) else np.zeros(1), (np.arange(n_distances) + 0.5) / n_distances)
