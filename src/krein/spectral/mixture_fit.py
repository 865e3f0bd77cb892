"""The positive radial law closest to a profile on a bounded range: the model of spherical random features.

With tau >= 0 such that k + tau is not negative (Pennington, Yu & Kumar 2015; tau is ours),

    k(z) + tau ~ (k(0) + tau) int p(r) Omega_d(r z) dr        p = max(q, 0) / int max(q, 0)        q = sum_i c_i A_i

where A_i(r) = u^(d-1) exp(-u^2) / (Gamma(d/2) sigma_i), u = r / (2 sigma_i), is the law of ||w|| for w ~ N(0, 2 sigma_i^2 I_d),
Jacobian included: before clipping the model is sum_i c_i exp(-sigma_i^2 z^2). The c_i have any sign. (sigma, c) minimise

    cost = 1/2 int_0^L (k_fit - k)^2 dz        at k(0) + tau = 1, with p constant on each cell of an even grid of radii.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial

import numpy as np
from scipy.optimize import OptimizeResult, minimize, nnls
from scipy.special import gammaln
from sklearn.base import clone

from krein._validation import check_choice, check_finite, check_integer, check_positive
from krein.kernels.base import RadialKernel
from krein.spectral.bessel import omega
from krein.spectral.jordan import Jordan, RadialLaw
from krein.spectral.measure import Array, RadialMeasure

SOLVERS = ("mixture", "nnls")
N_CELLS = 2000
N_DISTANCES = 256
N_STARTS = 8
FLAT = 1e-3  # share of max |k| within which a profile has reached its limit
SMALLEST_SIGMA = 1e-3  # in units of one over the range
SHIFT_MARGIN = 1.2
EXACT = 5e-10  # cost at which a fit ends: a root mean squared error of 3e-5
NEAR_OPTIMUM = 1.01  # multiple of the smallest possible cost at which no further start is tried


@dataclass(frozen=True)
class SpectrumFit:
    """A positive law fitted to a kernel, and how far the fitted kernel is from it.

    Parameters
    ----------
    parts : Jordan
        The law with mass k(0) + tau as its positive part, no negative part, and the constant -tau.
    cost : float
        1/2 int (k_fit - k)^2 dz over the fitted range.
    smallest_cost : float
        The same for the best of all positive laws on the grid of radii (a convex problem).
    bias : float
        sup |k_fit(z) - k(z)| over all distances 0 <= z <= max_distance.
    """

    parts: Jordan
    cost: float
    smallest_cost: float
    bias: float

    def profile(self, z: Array) -> Array:
        """k_fit(z), the mean of features whose frequencies have the fitted law."""
        return fitted_profile(self.parts, z)


def fit_spectrum(
    kernel: RadialKernel,
    dim: int,
    max_distance: float,
    *,
    n_mixture: int = 10,
    solver: str = "mixture",
    shift: float | None = None,
) -> SpectrumFit:
    """Fit a positive radial law to k(z), 0 <= z <= max_distance; results are kept for later calls with equal arguments.

    Parameters
    ----------
    kernel : RadialKernel
        It need not be positive definite.
    dim : int
    max_distance : float
        Where the kernel reaches its limit long before, the range ends at four times the distance where it does.
    n_mixture : int, default=10
        Number of Gaussians.
    solver : {"mixture", "nnls"}, default="mixture"
        "nnls" gives the mass of every cell by non-negative least squares: the optimum over all positive laws.

    Examples
    --------
    >>> from krein.kernels import PolynomialOnSphere
    >>> from krein.spectral.mixture_fit import fit_spectrum
    >>> fit = fit_spectrum(PolynomialOnSphere(a=3.0, degree=1), dim=16, max_distance=2.0)
    >>> bool(fit.smallest_cost <= fit.cost < 1.05 * fit.smallest_cost)
    True
    """
    check_integer(dim, "dim", 1)
    check_integer(n_mixture, "n_mixture", 1)
    check_choice(solver, "solver", SOLVERS)
    check_positive(max_distance, "max_distance")
    if shift is not None:
        check_finite(shift, "shift")
    arguments = (dim, float(max_distance), n_mixture, solver, shift)
    try:
        return _cached_fit(clone(kernel), *arguments)
    except TypeError:  # unhashable parameters
        return _fit(kernel, *arguments)


def fitted_profile(parts: Jordan, z: Array) -> Array:
    """k_fit(z) = mass E Omega_d(R z) + constant; two Gauss nodes per cell, on which the density is constant."""
    radii, probabilities = parts.positive.nodes(2)
    return parts.constant + parts.positive.mass * (
        omega(parts.positive.dim, np.multiply.outer(z, radii)) @ probabilities
    )


def _fit(
    kernel: RadialKernel, dim: int, max_distance: float, n_mixture: int, solver: str, shift: float | None
) -> SpectrumFit:
    span, width = fitted_range(kernel, max_distance)
    shift = default_shift(kernel, span) if shift is None else shift
    mass = float(kernel.profile(0.0)) + shift
    if mass <= 0:
        raise ValueError(f"shift must be larger than -k(0) = {shift - mass:g} for {kernel!r}; got {shift!r}.")
    x = np.linspace(0.0, 1.0, N_DISTANCES)  # distances and radii in units of the range: z = span x
    problem = MixtureProblem(dim, x, (kernel.profile(span * x) + shift) / mass, max(2.4, span / width))
    best = problem.nonnegative_masses()
    masses = best if solver == "nnls" else problem.mixture_masses(n_mixture, problem.cost(best))
    law = cell_law(dim, problem.edges / span, mass * masses)
    empty = RadialLaw(law.measure, -1, np.empty(0), np.empty(0), np.empty(0))
    parts = Jordan(-shift, law, empty)
    z = np.union1d(np.linspace(0, span, 4 * N_DISTANCES), np.linspace(span, max_distance, N_DISTANCES))
    bias = float(np.abs(fitted_profile(parts, z) - kernel.profile(z)).max())
    return SpectrumFit(parts, mass**2 * span * problem.cost(masses), mass**2 * span * problem.cost(best), bias)


_cached_fit = lru_cache(maxsize=256)(_fit)


def fitted_range(kernel: RadialKernel, max_distance: float) -> tuple[float, float]:
    """Length of the range of distances to fit, and the distance where k has gone half the way from k(0) to its far end."""
    z = np.concatenate([[0.0], max_distance * np.geomspace(1e-8, 1.0, 2048)])
    k = kernel.profile(z)
    if not np.isfinite(k).all():
        raise ValueError(f"kernel must be finite for 0 <= z <= {max_distance:g}; got {kernel!r}.")
    not_flat = np.flatnonzero(np.abs(k - k[-1]) > FLAT * np.abs(k).max())
    reach = z[not_flat[-1] + 1] if len(not_flat) else max_distance
    change = np.abs(k - k[0])
    return min(max_distance, 4 * reach), float(z[np.argmax(2 * change >= change.max())] or max_distance)


def default_shift(kernel: RadialKernel, max_distance: float) -> float:
    """Tau: 0 where k >= 0 on the range, else 1.2 times the least shift with k + tau >= 0, but so that k(0) + tau > 0.

    Without the margin the fit is biased: few positive definite functions of many dimensions fall to 0 and stay there. With
    it, delta-Gaussian(1, 10) has tau = 1.01 on [0, 2] and a fit that is exact to four digits.
    """
    k = kernel.profile(np.linspace(0.0, max_distance, 4 * N_DISTANCES))
    largest = float(np.abs(k).max())
    if largest == 0:
        raise ValueError(f"kernel must not be 0 for all distances up to {max_distance:g}; got {kernel!r}.")
    shift = SHIFT_MARGIN * max(0.0, -float(k.min()))
    return shift if k[0] + shift > 1e-9 * largest else largest - float(k[0])


def cell_law(dim: int, edges: Array, masses: Array) -> RadialLaw:
    """A law that is uniform within each cell of radii; empty cells stay empty."""
    masses = np.where(masses > 1e-14 * masses.sum(), masses, 0.0)
    used = masses > 0
    measure = RadialMeasure(
        dim,
        density=partial(_cell_density, edges, masses / np.diff(edges)),
        cumulative=partial(np.interp, xp=edges, fp=np.concatenate([[0.0], np.cumsum(masses)])),
        grid=edges,
    )
    return RadialLaw(measure, 1, edges[:-1][used], edges[1:][used], masses[used])


def _cell_density(edges: Array, heights: Array, r: Array) -> Array:
    cell = np.searchsorted(edges, r, side="right") - 1
    return np.where((r >= edges[0]) & (r < edges[-1]), heights[np.clip(cell, 0, len(heights) - 1)], 0.0)


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

        For sum p = 1 the residual is M p, M = Omega - k 1^T. Of min ||M p||^2 + (sum p - 1)^2 over p >= 0 without the
        constraint only the length is different, because on a ray of fixed direction its minimum grows with ||M p|| / sum p.
        """
        M = np.sqrt(self.weights)[:, None] * (self.omegas.T - self.target[:, None])
        p, _ = nnls(np.vstack([M, np.ones(len(self.radii))]), np.append(np.zeros(len(self.x)), 1.0))
        return np.asarray(p / p.sum())

    def mixture_masses(self, n_mixture: int, smallest_cost: float) -> Array:
        """The best clipped mixture over a few starts; the search ends with the first one that is as good as it can be."""

        def stop_if_exact(intermediate_result: OptimizeResult) -> None:
            if intermediate_result.fun <= EXACT:
                raise StopIteration

        log_sigma_range = np.log([SMALLEST_SIGMA, self.largest_sigma])
        bounds = [tuple(log_sigma_range)] * n_mixture + [(None, None)] * n_mixture
        options = {"maxiter": 500, "ftol": 1e-14, "gtol": 1e-12}
        best, lowest = np.empty(0), np.inf
        for start in self.starts(n_mixture):
            found = minimize(
                self.mixture_cost,
                start,
                jac=True,
                method="L-BFGS-B",
                bounds=bounds,
                options=options,
                callback=stop_if_exact,
            )
            if found.fun < lowest:
                best, lowest = found.x, found.fun
            if lowest <= max(EXACT, NEAR_OPTIMUM * smallest_cost):
                break
        q = np.maximum(self.gaussian_laws(best[:n_mixture])[0] @ best[n_mixture:], 0)
        return np.asarray(q / q.sum())

    def starts(self, n_mixture: int) -> Iterator[Array]:
        """(log sigma, c): least squares without the clip, first with c >= 0 and then with free signs; then random ones."""
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
