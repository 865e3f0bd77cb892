"""Random Fourier features with a signature, for any radial kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from krein._random import RandomState, Streams
from krein._validation import Rows, check_choice, check_integer
from krein.features.base import Array
from krein.features.cosine_map import CosineMap
from krein.features.designed import design_for_rows
from krein.features.schemes import SCHEMES, Scheme
from krein.kernels import Gaussian, Kernel
from krein.kernels.base import distances
from krein.sampling import Design

DESIGN_ATTRIBUTES = ("design_", "predicted_error_", "bias_bound_")
DESIGN_PREFIX = "design."  # of the arrays of a design, in a saved map


class RandomFeatures(CosineMap):
    """Cosine features Z with a signature: k(x, y) ~ Z(x) diag(signature_) Z(y)^T.

    Parameters
    ----------
    kernel : RadialKernel, default=Gaussian()
        What to approximate; it may be indefinite.
    n_components : int or "auto", default=100
        Largest number of output columns. A frequency takes two (cosine and sine) and a constant one. "auto" takes the
        fewest that meet ``target_error``. Where frequencies are drawn for each sign, s per sign of an indefinite kernel
        need 4 s columns, of a positive definite one 2 s. Columns that do not fill a frequency for every sign are left
        out. With less than one pair per sign, every sign has one column with a random phase.
    scheme : str, default="optimal"
        A key of ``krein.features.SCHEMES``: "optimal" (any kernel), "rff", "orf" (positive definite kernels), "grff",
        "gorf", "gorf-blocks", "simplex", "sorf", "fastfood", "circulant", "qmc", "qmc-halton", "quadrature",
        "quadrature-5", and "published-grff", "published-gorf", which are biased as the published numbers are.
    random_state : int, Generator, RandomState or None, default=None
    target_error : float, default=None
        With ``n_components="auto"``: the relative error to reach, as ``predicted_error_`` has it. Only for "optimal".
    distances : {"rows", "uniform"} or array-like, default=None
        Which distances between rows "optimal" is best at: those between (at most 1000 of) the rows given to ``fit``,
        which is what None means too, all up to ``distance_range`` alike, or a sample of distances. A tenth of the
        weight is always spread over all distances up to the range.
    distance_range : float, default=None
        Largest distance that "optimal" is made for; beyond it nothing is promised. None means 2 for a kernel on the
        unit sphere, else a tenth more than the largest distance between (at most 1000 of) the rows, or the largest of
        the sample.
    max_bias : float, default=None
        Largest bias that "optimal" is to have at any distance up to ``distance_range``, relative to the largest |k|.
        None weighs it against the variance, by the mean squared error of which both are parts. Only for "optimal".
    memory : str or joblib.Memory, default=None
        Folder in which "optimal" keeps its designs across processes; within a process they are always kept.
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
    predicted_error_ : float
        "optimal" only: root mean square over random rotations of the relative error ||K - K_hat|| / ||K|| (Frobenius
        norms) on the rows given to ``fit``, or under the weight on distances; pairs of rows beyond ``distance_range``
        do not count.
    bias_bound_ : float
        "optimal" only: |E k_hat(z) - k(z)| is at most this for all distances z <= ``design_.reach``; certified.
    design_ : krein.sampling.Design
        "optimal" only: recipe, atoms and their masses, exact variance and bias, and remarks.
    n_features_in_ : int

    Notes
    -----
    "optimal" is a compromise of variance and bias, for every kernel; ``design_`` says what it is. The other schemes,
    except "published-*" and "sorf", are unbiased over draws with any options but ``radii="rms"``, where the measure of
    the kernel has finite mass; where it has not, ``fit`` raises InfiniteMassError. Kernels on the unit sphere need
    rows of norm 1.

    A design depends on kernel, dimension, width and distances only, never on ``random_state``, which rotates it. So
    fits with other seeds, a refit, or a grid search over anything else, find it again.

    Examples
    --------
    >>> import numpy as np
    >>> from krein import RandomFeatures, relative_error
    >>> from krein.kernels import DeltaGaussian
    >>> X = np.random.default_rng(0).normal(size=(200, 16)) / 4
    >>> kernel = DeltaGaussian(weights=(1.0, -1.0), scales=(1.0, 10.0))
    >>> features = RandomFeatures(kernel, n_components=129, random_state=0).fit(X)
    >>> features.transform(X).shape
    (200, 129)
    >>> bool(features.predicted_error_ < 0.05), bool(relative_error(kernel, features, X) < 0.05)
    (True, True)
    """

    n_components: Any
    predicted_error_: float
    bias_bound_: float
    design_: Design

    def __init__(
        self,
        kernel: Kernel = Gaussian(),  # noqa: B008  (immutable)
        n_components: int | str = 100,
        *,
        scheme: str = "optimal",
        random_state: RandomState = None,
        target_error: float | None = None,
        distances: str | ArrayLike | None = None,
        distance_range: float | None = None,
        max_bias: float | None = None,
        memory: Any = None,
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
        self.target_error = target_error
        self.distances = distances
        self.distance_range = distance_range
        self.max_bias = max_bias
        self.memory = memory
        self.directions = directions
        self.radii = radii
        self.allocation = allocation
        self.n_jobs = n_jobs
        self.output = output

    def _check_n_components(self) -> None:
        if not isinstance(self.n_components, str):
            check_integer(self.n_components, "n_components", 1)
        elif self.n_components != "auto":
            raise ValueError(
                f"n_components must be an integer >= 1; got {self.n_components!r}. The only string is 'auto', with a "
                "target_error."
            )

    def _fit(self, X: Rows) -> None:
        check_choice(self.scheme, "scheme", SCHEMES)
        scheme = SCHEMES[self.scheme].overridden(self.directions, self.radii, self.allocation)
        for name in (*DESIGN_ATTRIBUTES, "frequencies_", "signature_"):
            self.__dict__.pop(name, None)  # of an earlier fit
        if scheme.designed:
            self._fit_design(X, scheme)
        else:
            self._draw(X, scheme)
        self.signature_ = self.frequencies_.signature

    def _fit_design(self, X: Rows, scheme: Scheme) -> None:
        self._set_design(
            design_for_rows(
                scheme.check_kernel(self.kernel),
                X,
                self.n_components,
                target_error=self.target_error,
                distances=self.distances,
                distance_range=self.distance_range,
                max_bias=self.max_bias,
                memory=self.memory,
            )
        )
        self.frequencies_ = self.design_.rotated(Streams(self.random_state)("rotations"))

    def _set_design(self, design: Design) -> None:
        self.design_ = design
        self.predicted_error_, self.bias_bound_ = design.error.relative, design.bias_bound

    def _draw(self, X: Rows, scheme: Scheme) -> None:
        for name in ("target_error", "distances", "distance_range", "max_bias", "memory"):
            if getattr(self, name) is not None:
                raise ValueError(f"{name} must be None for scheme {self.scheme!r}; it is for 'optimal' only.")
        check_integer(self.n_components, f"n_components for scheme {self.scheme!r}", 1)
        streams = Streams(self.random_state)
        parts = scheme.parts(self.kernel, X.shape[1])
        needs_distances = scheme.allocation == "variance"
        z = _some_distances(X, streams("distances")) if needs_distances else np.empty(0)
        self.frequencies_ = scheme.draw(parts, self.n_components, z, streams("frequencies"))

    def _get_state(self) -> dict[str, NDArray[Any]]:
        design = self.design_.to_arrays() if hasattr(self, "design_") else {}
        return {**super()._get_state(), **{DESIGN_PREFIX + name: array for name, array in design.items()}}

    def _set_state(self, arrays: dict[str, NDArray[Any]]) -> None:
        design = {
            name.removeprefix(DESIGN_PREFIX): array for name, array in arrays.items() if name.startswith(DESIGN_PREFIX)
        }
        if design:
            self._set_design(Design.from_arrays(design))
        super()._set_state({name: array for name, array in arrays.items() if not name.startswith(DESIGN_PREFIX)})


def _some_distances(X: Rows, rng: np.random.Generator, n_rows: int = 64, n_distances: int = 16) -> Array:
    """Evenly spaced quantiles of the distances between a few rows."""
    rows = X[np.sort(rng.choice(X.shape[0], min(n_rows, X.shape[0]), replace=False))]
    z = distances(rows, rows)[np.triu_indices(rows.shape[0], 1)]
    return np.quantile(z if len(z) else np.zeros(1), (np.arange(n_distances) + 0.5) / n_distances)
