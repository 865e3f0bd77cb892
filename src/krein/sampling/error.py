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

from krein._validation import check_integer
from krein.kernels.base import RadialKernel, check_radial
from krein.sampling.frequencies import Frequencies
from krein.spectral import omega
from krein.spectral.radial_table import RadialTable

Array = NDArray[np.float64]

MAX_TABLE = 1000.0  # up to this value of t max(z), F and B are read from tables; beyond, they are summed directly
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
    """t -> int Omega_d(t z) m(dz) for a weighted sample m of distances: a table, and sums where t is far."""

    def __init__(self, dim: int, z: Array, weights: Array) -> None:
        self.dim, self.z, self.weights = dim, z, weights
        self.reach = float(z.max())
        self.top = 0.0
        self.table: RadialTable | None = None

    def __call__(self, t: Array) -> Array:
        t = np.asarray(t, float)
        if self.reach == 0:
            return np.full(t.shape, self.weights.sum())
        limit = MAX_TABLE / self.reach
        top = min(float(t.max(initial=0.0)), limit)
        if self.table is None or top > self.top:
            self.top = min(1.25 * top + 1 / self.reach, limit)
            self.table = RadialTable(self.dim, self.z, self.weights, self.top**2)
        values = self.table(np.minimum(t, self.top) ** 2)[0]
        far = t > self.top
        if far.any():
            values[far] = self._directly(t[far])
        return values

    def _directly(self, t: Array) -> Array:
        found = np.empty(len(t))
        step = max(1, PAIRS_AT_ONCE // len(self.z))
        for start in range(0, len(t), step):
            found[start : start + step] = omega(self.dim, t[start : start + step, None] * self.z) @ self.weights
        return found
