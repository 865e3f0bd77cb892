"""Predicted error: the exact mean squared error of a fixed set of frequencies under one Haar rotation of all of it.

With rho a weight on distances and c_0 treated as one more coefficient with w = 0:

    F(t) = int Omega_d(t z) rho(dz)            A_ij = (F(||w_i - w_j||) + F(||w_i + w_j||)) / 2
    B(t) = int k(z) Omega_d(t z) rho(dz)       b_i  = B(||w_i||)
    E_Q int (k_hat - k)^2 rho = c^T A c - 2 c^T b + int k^2 rho
    E_Q k_hat(z)              = c_0 + sum_i c_i Omega_d(||w_i|| z)

It holds for every Frequencies whose law is invariant under rotations, that is for all schemes of ``DIRECTIONS``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.fft import dct
from scipy.interpolate import CubicSpline

from krein._validation import check_integer
from krein.kernels.base import RadialKernel, check_radial
from krein.sampling.frequencies import Frequencies
from krein.spectral import omega

Array = NDArray[np.float64]

MAX_TABLE = 1000.0  # up to this value of t max(z), F and B are read from splines; beyond, they are summed directly
STEP = 0.02  # of the splines, in units of 1/max(z): error STEP^4/384 < 1e-9
PAIRS_AT_ONCE = 1 << 20


@dataclass(frozen=True)
class PredictedError:
    """Mean squared error over a weight on distances, exact over Haar rotations.

    ``mean_squared = variance + squared_bias``. ``relative`` is the root of its ratio to the mean of k^2: the quantity
    that ``krein.relative_error`` measures.
    """

    mean_squared: float
    squared_bias: float
    kernel_mean_square: float

    @property
    def variance(self) -> float:
        """The part that independent rotations average out."""
        return self.mean_squared - self.squared_bias

    @property
    def relative(self) -> float:
        """Root mean squared error relative to the root mean square of the kernel."""
        if self.kernel_mean_square == 0:
            return float("inf") if self.mean_squared > 0 else 0.0
        return float(np.sqrt(max(self.mean_squared, 0.0) / self.kernel_mean_square))


def predicted_error(
    frequencies: Frequencies, dim: int, kernel: RadialKernel, distances: ArrayLike, *, weights: ArrayLike | None = None
) -> PredictedError:
    """Exact expected error of ``frequencies`` under a Haar rotation, averaged over distances; no data rows are needed.

    Parameters
    ----------
    frequencies : Frequencies
    dim : int
        Dimension of the rows; must be that of the frequencies.
    kernel : RadialKernel
    distances : array-like
        Sample of distances ||x - y|| (with zeros where the diagonal counts), or nodes of a weight.
    weights : array-like, optional
        Weight of every distance; default equal. They are normalised to sum 1.

    Returns
    -------
    PredictedError

    Notes
    -----
    Guaranteed where the law of the frequencies is invariant under rotations. Not for quasi-Monte Carlo points or
    structured projections, which are not.

    Examples
    --------
    >>> import numpy as np
    >>> from krein import RandomFeatures
    >>> from krein.kernels import Gaussian
    >>> from krein.theory import predicted_error
    >>> X = np.random.default_rng(0).normal(size=(10, 4))
    >>> features = RandomFeatures(Gaussian(), n_components=64, random_state=0).fit(X)
    >>> error = predicted_error(features.frequencies_, 4, Gaussian(), distances=np.linspace(0, 3, 50))
    >>> bool(0.03 < error.relative < 0.3)
    True
    """
    check_radial(kernel)
    if not isinstance(frequencies, Frequencies):
        raise TypeError(f"frequencies must be Frequencies, as features.frequencies_ is; got {frequencies!r}.")
    check_integer(dim, "dim", 1)
    if dim != frequencies.dim:
        raise ValueError(f"dim must be the dimension of the frequencies ({frequencies.dim}); got {dim}.")
    if frequencies.phases is not None or not frequencies.rotated:
        raise ValueError(
            "The error can only be predicted for frequencies whose law is invariant under rotations, without phases; "
            "it cannot for structured and quasi-Monte Carlo schemes, nor for frequencies fitted to rows (digmm)."
        )
    z, rho = weighted_distances(distances, weights)
    k = kernel.profile(z)
    w, c = np.asarray(frequencies.weights), frequencies.coefficients
    if frequencies.constant:
        w, c = np.vstack([w, np.zeros(dim)]), np.append(c, frequencies.constant)
    F = OmegaTransform(dim, z, rho)
    B = OmegaTransform(dim, z, rho * k)
    quadratic = pair_sum(w, c, F)
    linear = float(c @ B(np.linalg.norm(w, axis=1)))
    k_squared = float(rho @ k**2)
    bias = frequencies.expectation(z) - k
    return PredictedError(quadratic - 2 * linear + k_squared, float(rho @ bias**2), k_squared)


def weighted_distances(distances: ArrayLike, weights: ArrayLike | None = None) -> tuple[Array, Array]:
    """Distances and weights as flat arrays; the weights sum to 1."""
    z = np.asarray(distances, float).ravel()
    rho = np.ones(z.shape) if weights is None else np.asarray(weights, float).ravel()
    if not z.size or not np.isfinite(z).all() or (z < 0).any():
        raise ValueError("distances must be a non-empty array of finite numbers >= 0.")
    if rho.shape != z.shape or not np.isfinite(rho).all() or (rho < 0).any() or rho.sum() <= 0:
        raise ValueError("weights must be one finite number >= 0 per distance, with a positive sum.")
    return z, rho / rho.sum()


def pair_sum(w: Array, c: Array, F: OmegaTransform) -> float:
    """c^T A c with A_ij = (F(||w_i - w_j||) + F(||w_i + w_j||)) / 2, by blocks of rows."""
    squares = np.einsum("ij,ij->i", w, w)
    total = 0.0
    step = max(1, PAIRS_AT_ONCE // len(w))
    for start in range(0, len(w), step):
        rows = slice(start, start + step)
        inner = 2 * w[rows] @ w.T
        sums = squares[rows, None] + squares
        for sign in (1, -1):
            total += 0.5 * float(c[rows] @ F(np.sqrt(np.maximum(sums + sign * inner, 0))) @ c)
    return total


class OmegaTransform:
    """t -> int Omega_d(t z) m(dz) for a weighted sample m of distances.

    As a function of z, Omega_d(t z) is band-limited (bandwidth t): it is interpolated exactly to rounding from
    Chebyshev nodes on [0, max z], so the sample is first condensed to weights on these nodes; as a function of t it
    goes through a spline.
    """

    def __init__(self, dim: int, z: Array, weights: Array) -> None:
        self.dim, self.z, self.weights = dim, z, weights
        self.reach = float(z.max())
        self.top = 0.0
        self.spline: CubicSpline | None = None

    def __call__(self, t: Array) -> Array:
        t = np.asarray(t, float)
        if self.reach == 0:
            return np.full(t.shape, self.weights.sum())
        limit = MAX_TABLE / self.reach
        top = min(float(t.max(initial=0.0)), limit)
        if self.spline is None or top > self.top:
            self._tabulate(min(1.25 * top + 1 / self.reach, limit))
        assert self.spline is not None
        values = np.asarray(self.spline(np.minimum(t, self.top)))
        far = t > self.top
        if far.any():
            values[far] = self._directly(t[far])
        return values

    def _tabulate(self, top: float) -> None:
        self.top = top
        half = top * self.reach / 2  # a wave of so many radians has a Chebyshev series that ends cbrt(half) further on
        size = int(half + 12 * np.cbrt(half)) + 32
        nodes = self.reach * (1 - np.cos(np.pi * (np.arange(size) + 0.5) / size)) / 2
        condensed = _chebyshev_weights(1 - 2 * self.z / self.reach, self.weights, size)
        t_nodes = top * (1 - np.cos(np.pi * (np.arange(size) + 0.5) / size)) / 2
        values = omega(self.dim, np.multiply.outer(t_nodes, nodes)) @ condensed  # size < 700: at most 4 MB
        series = np.polynomial.chebyshev.Chebyshev(_chebyshev_coefficients(values), domain=[top, 0])
        t = np.linspace(0, top, int(np.ceil(top * self.reach / STEP)) + 8)
        self.spline = CubicSpline(t, series(t))

    def _directly(self, t: Array) -> Array:
        found = np.empty(len(t))
        step = max(1, PAIRS_AT_ONCE // len(self.z))
        for start in range(0, len(t), step):
            found[start : start + step] = omega(self.dim, t[start : start + step, None] * self.z) @ self.weights
        return found


def _chebyshev_coefficients(values: Array) -> Array:
    """Coefficients of the interpolant through values at the nodes cos(pi (j + 1/2)/n)."""
    coefficients = np.asarray(dct(values, type=2)) / len(values)
    coefficients[0] /= 2
    return coefficients


def _chebyshev_weights(x: Array, weights: Array, size: int) -> Array:
    """Weights on the nodes cos(pi (j + 1/2)/n) that integrate polynomials of degree < n as the given sample does."""
    before, current = np.ones_like(x), x.copy()
    moments = np.empty(size)
    for degree in range(size):
        moments[degree] = weights @ before  # int T_degree
        before, current = current, 2 * x * current - before
    return np.asarray(dct(moments, type=3)) / size
