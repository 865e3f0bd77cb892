"""The exact error of frequencies under rotations as a function of the frequencies alone, with its gradient.

For frequencies w_1 ... w_n with coefficients c and a constant c_0 (one more frequency, w = 0), of which ``copies`` are
rotated independently, and h a weight on the bias,

    E = (c^T A c - 2 c^T b + int k^2 rho) / B           mean squared error over B copies: the variance falls,
      + int (E k_hat - k)^2 ((1 - 1/B) rho + h)         the squared bias does not

A and b as in ``krein.sampling.error``. All of it is quadratic in c, so the best c is one linear solve, and the gradient
in w is that at the best c (variable projection): a few dozen quasi-Newton steps are enough.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize

from krein.kernels.base import RadialKernel
from krein.sampling.distance_weight import DistanceWeight
from krein.spectral.radial_table import RadialTable

Array = NDArray[np.float64]

BIAS_POINTS = 64  # Chebyshev points of [0, reach] that carry the weight on the bias
RIDGE = 1e-12  # times the squared coefficients: keeps nearly equal frequencies from large opposite coefficients
PROGRESS = 2e-5  # of the logarithm of E, which is what is minimised: a step that gains less ends the search
FLOOR = 1e-11  # times the mean of k^2, about the rounding error of E, is added to E under the logarithm


@dataclass(frozen=True, eq=False)
class Fit:
    """Best coefficients for given frequencies: c, c_0 (0 without a constant), and the value E."""

    coefficients: Array
    constant: float
    value: float


class ErrorTables:
    """F, B and Omega_d of a kernel, a dimension and a weight on distances, for radii up to the largest.

    Parameters
    ----------
    kernel : RadialKernel
    dim : int
    weight : DistanceWeight
    largest_radius : float
        Of the tables; frequencies beyond it are treated as if they had it.
    """

    def __init__(self, kernel: RadialKernel, dim: int, weight: DistanceWeight, largest_radius: float) -> None:
        self.kernel, self.dim, self.weight, self.largest_radius = kernel, dim, weight, largest_radius
        self.k = kernel.profile(weight.z)
        self.mean, self.mean_square = weight.mean(self.k), weight.mean(self.k**2)

    @cached_property
    def F(self) -> RadialTable:
        """Of ||w_i - w_j||^2 and ||w_i + w_j||^2."""
        return RadialTable(self.dim, self.weight.z, self.weight.rho, (2 * self.largest_radius) ** 2)

    @cached_property
    def B(self) -> RadialTable:
        """Of ||w_i||^2."""
        return RadialTable(self.dim, self.weight.z, self.weight.rho * self.k, self.largest_radius**2)

    @cached_property
    def omega(self) -> RadialTable:
        """Omega_d, of (||w_i|| z)^2."""
        return RadialTable(self.dim, np.ones(1), np.ones(1), (self.largest_radius * self.weight.reach) ** 2)


class DesignObjective:
    """E(w) for given tables and number of copies.

    Parameters
    ----------
    tables : ErrorTables
    copies : int
        B.
    constant : bool
        Whether there is a constant c_0.
    """

    def __init__(self, tables: ErrorTables, copies: int = 1, constant: bool = True) -> None:
        self.tables, self.copies, self.constant = tables, copies, constant
        weight = tables.weight
        points = weight.reach * (1 - np.cos(np.pi * (np.arange(BIAS_POINTS) + 0.5) / BIAS_POINTS)) / 2
        self.squared_points, self.target = points**2, tables.kernel.profile(points)
        self.share = _on_points(weight, points)
        self.bias_weight = np.zeros(BIAS_POINTS)
        self.ridge = RIDGE

    def fit(self, w: Array) -> Fit:
        """The best coefficients for frequencies w."""
        return self._evaluate(w)[0]

    def bias(self, w: Array) -> Array:
        """E k_hat - k at the points that carry the weight on the bias, for the best coefficients."""
        fit = self.fit(w)
        squares = np.einsum("ij,ij->i", w, w)
        expected, _ = self.tables.omega(np.multiply.outer(squares, self.squared_points))
        return np.asarray(fit.coefficients @ expected + fit.constant - self.target)

    def minimise(self, w: Array, iterations: int) -> tuple[Array, Fit]:
        """Frequencies that (locally) minimise E, from w on, and their coefficients."""
        floor, largest = FLOOR * self.tables.mean_square, self.tables.largest_radius

        def value_and_gradient(x: Array) -> tuple[float, Array]:
            fit, gradient = self._evaluate(x.reshape(w.shape), gradient=True)
            penalty = self.ridge * float(fit.coefficients @ fit.coefficients + fit.constant**2)
            value = max(fit.value + penalty, 0.0) + floor
            return float(np.log(value)), gradient.ravel() / value

        options: Any = {"maxiter": iterations, "maxcor": 20, "ftol": PROGRESS, "gtol": 0.0}
        found = minimize(value_and_gradient, w.ravel(), jac=True, method="L-BFGS-B", options=options)
        best = found.x.reshape(w.shape)
        lengths = np.linalg.norm(best, axis=1, keepdims=True)
        best = best * np.minimum(1, largest / np.maximum(lengths, largest))
        return best, self.fit(best)

    def _evaluate(self, w: Array, *, gradient: bool = False) -> tuple[Fit, Array]:
        n, B = len(w), self.copies
        inner = w @ w.T
        squares = np.diagonal(inner).copy()
        upper = np.triu_indices(n)
        sums, inner = (squares[:, None] + squares)[upper], 2 * inner[upper]
        f_minus, slope_minus = self.tables.F(sums - inner)
        f_plus, slope_plus = self.tables.F(sums + inner)
        at_w, slope_at_w = self.tables.F(squares)
        b, slope_b = self.tables.B(squares)
        expected, slope_expected = self.tables.omega(np.multiply.outer(squares, self.squared_points))
        h = (1 - 1 / B) * self.share + self.bias_weight

        H = np.empty((n + 1, n + 1))
        H[upper] = (f_minus + f_plus) / (2 * B)
        H[:n, :n] = np.triu(H[:n, :n]) + np.triu(H[:n, :n], 1).T + (expected * h) @ expected.T
        H[n, :n] = H[:n, n] = at_w / B + expected @ h
        H[n, n] = 1 / B + h.sum()
        g = np.append(b / B + expected @ (h * self.target), self.tables.mean / B + h @ self.target)
        if not self.constant:
            H, g = H[:n, :n], g[:n]
        c = _solve(H, g, self.ridge)
        value = float(c @ (H @ c) - 2 * g @ c + self.tables.mean_square / B + h @ self.target**2)
        fit = Fit(c[:n], float(c[n]) if self.constant else 0.0, value)
        if not gradient:
            return fit, np.empty(0)

        pairs = np.zeros((n, n))  # 2 c_i c_j dF/du at ||w_i - w_j||^2, and at ||w_i + w_j||^2
        pairs[upper] = slope_minus
        minus = (np.triu(pairs, 1) + np.triu(pairs, 1).T) * np.outer(fit.coefficients, fit.coefficients)
        pairs[upper] = slope_plus
        plus = (np.triu(pairs) + np.triu(pairs, 1).T) * np.outer(fit.coefficients, fit.coefficients)
        error = fit.coefficients @ expected + fit.constant - self.target
        along = (4 * fit.constant * slope_at_w - 4 * slope_b) / B
        along = fit.coefficients * (along + 4 * (slope_expected * self.squared_points) @ (h * error))
        return fit, (2 / B) * ((minus + plus).sum(axis=1)[:, None] * w + (plus - minus) @ w) + along[:, None] * w


def _solve(H: Array, g: Array, ridge: float) -> Array:
    """(H + ridge I)^-1 g for a positive semidefinite H; the ridge grows until rounding allows it."""
    while True:
        try:
            return np.asarray(cho_solve(cho_factor(H + ridge * np.eye(len(H))), g))
        except np.linalg.LinAlgError:
            ridge *= 100


def _on_points(weight: DistanceWeight, points: Array) -> Array:
    """The weight moved to the given points, each share between its two neighbours so that the mean is kept."""
    z = np.clip(weight.z, points[0], points[-1])
    right = np.clip(np.searchsorted(points, z), 1, len(points) - 1)
    part = (z - points[right - 1]) / (points[right] - points[right - 1])
    shares = np.bincount(right - 1, weight.rho * (1 - part), len(points))
    return np.asarray(shares + np.bincount(right, weight.rho * part, len(points)))
