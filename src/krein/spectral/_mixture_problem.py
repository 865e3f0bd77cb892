"""The optimisation behind ``mixture_fit``: masses of cells of radii such that a law is closest to a profile."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from scipy.optimize import OptimizeResult, minimize, nnls
from scipy.special import gammaln

from krein.spectral.bessel import omega
from krein.spectral.measure import Array

N_CELLS = 2000
N_STARTS = 8
SMALLEST_SIGMA = 1e-3  # in units of one over the range
EXACT = 5e-10  # cost at which a fit ends: a root mean squared error of 3e-5
NEAR_OPTIMUM = 1.01  # multiple of the smallest possible cost at which no further start is tried


@dataclass(frozen=True)
class MixtureProblem:
    """Cell masses p >= 0 with sum 1 that minimise 1/2 int_0^1 (k_fit - k)^2 dx; k(0) = 1.

    Parameters
    ----------
    dim : int
    x : ndarray of shape (n_distances,)
        An even grid of [0, 1].
    target : ndarray of shape (n_distances,)
        k on that grid.
    largest_sigma : float
        Bound on the sigma_i; it also sets the largest radius.
    """

    dim: int
    x: Array
    target: Array
    largest_sigma: float

    @cached_property
    def edges(self) -> Array:
        """Edges of the cells: up to the radius that the widest Gaussian exceeds with negligible probability."""
        half = self.dim / 2
        return np.linspace(0.0, 2 * self.largest_sigma * np.sqrt(half + 6 * np.sqrt(half) + 10), N_CELLS + 1)

    @cached_property
    def radii(self) -> Array:
        """Midpoints of the cells."""
        return (self.edges[:-1] + self.edges[1:]) / 2

    @cached_property
    def omegas(self) -> Array:
        """Omega_d(r x), one row per cell."""
        return omega(self.dim, np.outer(self.radii, self.x))

    @cached_property
    def weights(self) -> Array:
        """Of the trapezoidal rule on x."""
        return np.gradient(self.x) * np.where((self.x == 0) | (self.x == 1), 0.5, 1.0)

    def cost(self, masses: Array) -> float:
        """1/2 int (k_fit - k)^2 dx of cell masses with sum 1."""
        return float(self.weights @ (masses @ self.omegas - self.target) ** 2 / 2)

    def nonnegative_masses(self) -> Array:
        """The optimum over all cell masses.

        For sum p = 1 the residual is M p, M = Omega - k 1^T. min ||M p||^2 + (sum p - 1)^2 over p >= 0 without the
        constraint differs in length only: on a ray of fixed direction its minimum grows with ||M p|| / sum p.
        """
        M = np.sqrt(self.weights)[:, None] * (self.omegas.T - self.target[:, None])
        p, _ = nnls(np.vstack([M, np.ones(len(self.radii))]), np.append(np.zeros(len(self.x)), 1.0))
        return np.asarray(p / p.sum())

    def mixture_masses(self, n_mixture: int, smallest_cost: float) -> Array:
        """The best clipped mixture over a few starts; the search ends with the first that is as good as it can be."""

        def stop_if_exact(intermediate_result: OptimizeResult) -> None:
            if intermediate_result.fun <= EXACT:
                raise StopIteration

        free: tuple[float | None, float | None] = (None, None)
        bounds = [(float(np.log(SMALLEST_SIGMA)), float(np.log(self.largest_sigma)))] * n_mixture + [free] * n_mixture
        best, lowest = np.empty(0), np.inf
        for start in self.starts(n_mixture):
            found = minimize(
                self.mixture_cost,
                start,
                jac=True,
                method="L-BFGS-B",
                bounds=bounds,
                callback=stop_if_exact,
                options={"maxiter": 500, "ftol": 1e-14, "gtol": 1e-12},
            )
            if found.fun < lowest:
                best, lowest = found.x, found.fun
            if lowest <= max(EXACT, NEAR_OPTIMUM * smallest_cost):
                break
        q = np.maximum(self.gaussian_laws(best[:n_mixture])[0] @ best[n_mixture:], 0)
        return np.asarray(q / q.sum())

    def starts(self, n_mixture: int) -> Iterator[Array]:
        """(log sigma, c): least squares without the clip, with c >= 0 and then with free signs; then random ones."""
        root, log_largest = np.sqrt(self.weights), np.log(self.largest_sigma)
        for n_sigma, constrained in ((60, True), (n_mixture, False)):
            log_sigma = log_largest - np.linspace(0, np.log(100 if constrained else 20), n_sigma)
            profiles = root[:, None] * np.exp(-(np.outer(self.x, np.exp(log_sigma)) ** 2))
            solve = nnls if constrained else partial(np.linalg.lstsq, rcond=1e-4)
            c = solve(profiles, root * self.target)[0]
            largest = np.argsort(-np.abs(c), kind="stable")[:n_mixture]
            yield np.append(np.resize(log_sigma[largest], n_mixture), np.resize(c[largest], n_mixture))
        rng = np.random.default_rng(0)
        for _ in range(N_STARTS - 2):
            log_sigma = log_largest - rng.uniform(0, np.log(20), n_mixture)
            c = rng.normal(size=n_mixture)
            yield np.append(log_sigma, c if (self.gaussian_laws(log_sigma)[0] @ c).max() > 0 else -c)

    def gaussian_laws(self, log_sigma: Array) -> tuple[Array, Array]:
        """A_i at the midpoints of the cells, one column per Gaussian, and u^2 = (r / (2 sigma_i))^2."""
        u_squared = np.multiply.outer(self.radii**2 / 4, np.exp(-2 * log_sigma))
        log_factor = -gammaln(self.dim / 2) - self.dim * log_sigma
        return np.exp(np.add.outer((self.dim - 1) * np.log(self.radii / 2), log_factor) - u_squared), u_squared

    def mixture_cost(self, parameters: Array) -> tuple[float, Array]:
        """Cost of the clipped mixture at (log sigma, c), and its gradient.

        With e = weights (k_fit - k), S = sum max(q, 0) and g_j = [q_j > 0] ((Omega e)_j - k_fit . e) / S:
        dcost/dc_i = A_i . g and dcost/dlog sigma_i = c_i (A_i (2 u^2 - d)) . g.
        """
        log_sigma, c = np.split(parameters, 2)
        laws, u_squared = self.gaussian_laws(log_sigma)
        q = np.maximum(laws @ c, 0)
        total = q.sum()
        if total <= 0:  # more than any law has, because |k_fit| <= 1
            return float((1 + np.abs(self.target).max()) ** 2), np.zeros_like(parameters)
        k_fit = q @ self.omegas / total
        e = self.weights * (k_fit - self.target)
        g = (q > 0) * (self.omegas @ e - k_fit @ e) / total
        by_log_sigma = c * ((laws * (2 * u_squared - self.dim)).T @ g)
        return float(e @ (k_fit - self.target)) / 2, np.concatenate([by_log_sigma, laws.T @ g])
