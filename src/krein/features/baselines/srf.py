"""Spherical random features (Pennington, Yu & Kumar 2015): a positive law is fitted to the kernel, and sampled."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from krein._random import RandomState, Streams
from krein._validation import Rows, check_choice, check_positive, row_norms
from krein.features.baselines._cosines import CosineFeatures, draw_phases
from krein.kernels import Gaussian, Kernel
from krein.kernels.base import distances
from krein.sampling import ALL_DIRECTIONS, sample_frequencies
from krein.spectral import RadialLaw
from krein.spectral.mixture_fit import cell_law, fit_spectrum


class SphericalRandomFeatures(CosineFeatures):
    """Spherical random features: cosines whose radii have the positive law closest to the kernel.

    The law is a mixture of Gaussians, with weights of any sign, clipped where its radial density is negative. It is
    fitted to k(z) on the distances 0 <= z <= ``max_distance``; fits are kept, so that a further draw costs nothing.

    Parameters
    ----------
    kernel : RadialKernel, default=Gaussian()
        What to approximate; it need not be positive definite.
    n_components : int, default=100
        Largest number of output columns. A kernel with negative values takes one for a constant.
    n_mixture : int, default=10
        Number of Gaussians.
    solver : {"mixture", "nnls"}, default="mixture"
        "nnls" fits the law itself instead of a mixture, a convex problem: the smallest error a positive law can have.
    form : {"pair", "phase"}, default="pair"
        "phase" (the authors' form) gives a frequency one column with a random phase, "pair" a cosine and a sine. At
        equal width a pair has the lower error where k(x, y) is near k(x, x). A single column has a phase.
    directions : str, default="iid"
        A key of ``krein.sampling.ALL_DIRECTIONS``, such as "blocks" or "sorf". The authors' are independent.
    max_distance : float or None, default=None
        Largest distance between rows. None is 2 for kernels on the unit sphere, else a bound from the rows that ``fit``
        gets: twice the greatest length of a row, or twice the greatest distance from the mean row where that is less.
    shift : float or None, default=None
        tau: the law is fitted to k + tau, and a constant column of negative sign takes tau off again. None is 0 for a
        kernel without negative values on the range, else 1.2 times the least tau with k + tau >= 0.
    random_state : int, Generator, RandomState or None, default=None
    n_jobs : int or None, default=None
        Threads of ``transform``; -1 is all cores, None one unless joblib's ``parallel_config`` says otherwise.
    output : {"real", "complex"}, default="real"
        "complex" multiplies the columns of negative sign by 1j, so that K_hat = Z Z^T without conjugation.

    Attributes
    ----------
    frequencies_ : Frequencies
        Weights, coefficients, constant and phases: the approximation itself.
    model_ : RadialLaw
        The fitted law of the radii; its mass is k(0) + tau.
    bias_ : float
        sup |k_fit(z) - k(z)| over 0 <= z <= ``max_distance``: what no number of columns removes.
    signature_ : ndarray of shape (n_columns,)
        +1, and -1 for the constant.
    n_features_in_ : int

    Notes
    -----
    The mean over draws is k_fit, a positive definite function minus a constant, and not k: see ``bias_``. Rows further
    apart than ``max_distance`` get whatever k_fit is there. Where a kernel comes to its limit long before
    ``max_distance``, it is fitted up to four times the distance where it does. A kernel that is larger somewhere than
    at 0 is near no k_fit.

    A larger ``shift`` allows a better fit and costs variance, in proportion to (k(0) + tau)^2: for Tanh(2, -0.5) on
    letter, 255 columns and directions "blocks", the error is 0.44 with the default and 0.30 with ``shift=4``.

    References
    ----------
    J. Pennington, F. X. Yu and S. Kumar: Spherical random features for polynomial kernels. NIPS 28 (2015).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.preprocessing import normalize
    >>> from krein import relative_error
    >>> from krein.features.baselines import SphericalRandomFeatures
    >>> from krein.kernels import PolynomialOnSphere
    >>> X = normalize(np.random.default_rng(0).normal(size=(200, 16)))
    >>> kernel = PolynomialOnSphere(a=3.0, degree=1)
    >>> features = SphericalRandomFeatures(kernel, n_components=256, random_state=0).fit(X)
    >>> bool(relative_error(kernel, features, X) < 0.1)
    True
    >>> round(features.bias_, 2)
    0.03
    """

    model_: RadialLaw
    bias_: float

    def __init__(
        self,
        kernel: Kernel = Gaussian(),  # noqa: B008  (immutable)
        n_components: int = 100,
        *,
        n_mixture: int = 10,
        solver: str = "mixture",
        form: str = "pair",
        directions: str = "iid",
        max_distance: float | None = None,
        shift: float | None = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        output: str = "real",
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.n_mixture = n_mixture
        self.solver = solver
        self.form = form
        self.directions = directions
        self.max_distance = max_distance
        self.shift = shift
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.output = output

    def _fit(self, X: Rows) -> None:
        kernel = self._check_radial()
        check_choice(self.directions, "directions", ALL_DIRECTIONS)
        streams = Streams(self.random_state)
        fit = fit_spectrum(
            kernel, X.shape[1], self._range(X), n_mixture=self.n_mixture, solver=self.solver, shift=self.shift
        )
        count, phased = self._frequencies_per_part(1, constant=fit.parts.constant != 0)
        frequencies = sample_frequencies(
            fit.parts, [count], directions=self.directions, random_state=streams("frequencies")
        )
        if phased:
            frequencies = replace(frequencies, phases=draw_phases(count, streams("phases")))
        self.model_, self.bias_ = fit.parts.positive, fit.bias
        self.frequencies_ = frequencies
        self.signature_ = frequencies.signature

    def _range(self, X: Rows) -> float:
        if self.max_distance is not None:
            check_positive(self.max_distance, "max_distance")
            return self.max_distance
        return 2.0 if self.kernel.domain == "sphere" else extent(X)

    def _get_state(self) -> dict[str, NDArray[Any]]:
        measure = self.model_.measure
        model = {
            "edges": measure.grid,
            "masses": np.diff(measure.cumulative(measure.grid)),
            "bias": np.array(self.bias_),
        }
        return {**super()._get_state(), **model}

    def _set_state(self, arrays: dict[str, NDArray[Any]]) -> None:
        super()._set_state(arrays)
        self.model_ = cell_law(self.frequencies_.dim, arrays["edges"], arrays["masses"])
        self.bias_ = float(arrays["bias"])


def extent(X: Rows) -> float:
    """A bound on the distances between rows, to three digits so that like rows share a fit; 1 where all are equal."""
    mean = np.asarray(X.mean(axis=0, dtype=np.float64)).reshape(1, -1)
    radius = min(row_norms(X).max(), distances(X, mean).max())
    return float(f"{2 * radius:.3g}") if radius > 0 else 1.0
