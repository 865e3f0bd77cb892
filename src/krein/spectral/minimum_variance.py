"""The measure of least variance on a bounded range of distances, by a linear program, and the certificate of its bias.

On [0, R] the radial measure of a kernel is not unique: every extension of k beyond R gives one. Let v(r) be the
variance, averaged over a weight rho on distances, that one frequency of radius r adds in a full orthonormal block,

    v(r) = E_rho (1 + Omega(2 r z))/2 - Omega(r z)^2 + (d - 1) (Omega(sqrt(2) r z) - Omega(r z)^2).

n frequencies shared out in proportion to |c_j| sqrt(v(r_j)) have the variance (sum_j |c_j| sqrt(v(r_j)))^2 / n. So

    minimise sum_j |c_j| sqrt(v(r_j))    subject to    |c_0 + sum_j c_j Omega_d(r_j z) - k(z)| <= eps   on [0, R].

A constant costs no variance. The solution has a handful of atoms, also where the Fourier measure has infinite mass.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from krein._validation import check_integer, check_positive
from krein.exceptions import NoFrequenciesError
from krein.kernels.base import RadialKernel, check_radial
from krein.spectral.bessel import omega

Array = NDArray[np.float64]

N_RADII = 128
N_CONSTRAINTS = 56  # Chebyshev points of [0, R]: there the solution holds, between them the certificate is computed
SMALLEST, LARGEST = 0.15, 15.0  # radii of the grid, times sqrt(d)/R
LARGEST_PRODUCT = 500.0  # of a radius and R: what tables of Omega_d have to hold
LARGEST_SUM = 50.0  # of |c_j|, times max|k|: more would lose the digits of float32
MERGED = 1.12  # atoms of the same sign whose radii are this near become one
CERTIFICATE_POINTS, MOST_POINTS = 1024, 8192
CERTIFICATE_SLACK = 5e-4  # times max|k|: what the certificate may add between points, as far as MOST_POINTS allow
ENDS = 64  # further points, geometric, towards both ends of [0, R], where a profile may be singular


@dataclass(frozen=True, eq=False)
class MinimumVarianceMeasure:
    """Atoms and a constant: c_0 + sum_j masses_j Omega_d(radii_j z), within ``bias`` of k(z) on [0, reach].

    Parameters
    ----------
    dim : int
    reach : float
        R.
    radii, masses : ndarray
    constant : float
    bias : float
        Certified bound, between grid points too.
    asked : float
        The bias that was asked for. Where none that small is feasible, the smallest feasible was taken.
    variance : float
        Value of the program for the merged atoms: n frequencies have the variance ``variance / n``.
    """

    dim: int
    reach: float
    radii: Array
    masses: Array
    constant: float
    bias: float
    asked: float
    variance: float


def minimum_variance_measure(
    kernel: RadialKernel, dim: int, reach: float, eps: float, z: Array, rho: Array
) -> MinimumVarianceMeasure:
    """The measure of least variance whose expectation stays within about ``eps`` of the kernel on [0, reach].

    Parameters
    ----------
    kernel : RadialKernel
    dim : int
    reach : float
        Largest distance R.
    eps : float
        Bias to allow, absolute. If none that small is feasible, the smallest feasible one is taken.
    z, rho : ndarray
        Distances and their weights, over which the variance is averaged.

    Returns
    -------
    MinimumVarianceMeasure

    Examples
    --------
    >>> import numpy as np
    >>> from krein.kernels import PolynomialOnSphere
    >>> from krein.spectral.minimum_variance import minimum_variance_measure
    >>> z = np.linspace(0, 2, 50)
    >>> measure = minimum_variance_measure(PolynomialOnSphere(a=2.0, degree=5), 16, 2.0, 0.01, z, np.full(50, 1 / 50))
    >>> len(measure.radii) < 10, measure.bias < 0.02
    (True, True)
    """
    check_radial(kernel)
    check_integer(dim, "dim", 1)
    check_positive(reach, "reach")
    check_positive(eps, "eps")
    scale = largest_value(kernel, reach)
    radii = radius_grid(kernel, dim, reach)
    cost = np.sqrt(block_variance(dim, radii, z, rho)) + 1e-6
    points = reach * (1 - np.cos(np.linspace(0, np.pi, N_CONSTRAINTS))) / 2
    columns = omega(dim, np.outer(points, radii))
    target = kernel.profile(points)
    solution = _solve(cost, columns, target / scale, eps / scale)
    if solution is None:
        smallest = _smallest_bias(columns, target / scale)
        solution = _solve(cost, columns, target / scale, 1.05 * smallest + 1e-9)
        assert solution is not None
    kept = np.flatnonzero(np.abs(solution[:-1]) > 1e-9)
    if not len(kept):  # a constant is within eps: one atom of mass 0, for whoever finds a use for it
        kept = np.array([len(radii) - 1])
    r, c = merged(radii[kept], solution[kept])
    c, constant = c * scale, float(solution[-1] * scale)
    variance = float(np.abs(c) @ np.sqrt(block_variance(dim, r, z, rho))) ** 2
    bias = bias_bound(kernel, dim, r, c, constant, reach)
    return MinimumVarianceMeasure(dim, reach, r, c, constant, bias, eps, variance)


def largest_value(kernel: RadialKernel, reach: float) -> float:
    """Largest |k| on [0, reach]; an error where the kernel is constant there."""
    values = kernel.profile(np.linspace(0, reach, 512))
    if not np.isfinite(values).all():
        raise ValueError(f"kernel must be finite on [0, {reach:g}]; got {kernel!r}.")
    if np.ptp(values) <= 1e-14 * np.abs(values).max():
        raise NoFrequenciesError(f"{kernel!r} is constant on distances up to {reach:g}: there is no frequency to draw.")
    return float(np.abs(values).max())


def radius_grid(kernel: RadialKernel, dim: int, reach: float) -> Array:
    """Geometric grid of radii, up to what the smallest structure of the profile on [0, reach] needs."""
    z = np.append(0.0, np.geomspace(1e-4 * reach, reach, 400))
    variation = np.cumsum(np.abs(np.diff(kernel.profile(z))))
    width = float(z[1 + np.searchsorted(variation, 0.25 * variation[-1])])
    lowest, highest = LARGEST * np.sqrt(dim) / reach, min(50 * LARGEST * np.sqrt(dim), LARGEST_PRODUCT) / reach
    top = np.clip(5 * (np.sqrt(dim) + 3) / width, lowest, max(highest, lowest))
    return np.geomspace(SMALLEST * np.sqrt(dim) / reach, top, N_RADII)


def block_variance(dim: int, radii: Array, z: Array, rho: Array) -> Array:
    """v(r) >= 0 for every radius."""
    t = np.multiply.outer(z, radii)
    square = omega(dim, t) ** 2
    single = (1 + omega(dim, 2 * t)) / 2 - square
    pair = omega(dim, np.sqrt(2) * t) - square
    return np.maximum(rho @ (single + (dim - 1) * pair), 0.0)


def merged(radii: Array, masses: Array) -> tuple[Array, Array]:
    """Neighbouring atoms of the same sign as one atom at their root mean square radius, which keeps its z^2 term."""
    groups: list[list[int]] = []
    for i in range(len(radii)):
        last = groups[-1][-1] if groups else None
        if last is not None and radii[i] < MERGED * radii[last] and masses[i] * masses[last] > 0:
            groups[-1].append(i)
        else:
            groups.append([i])
    r = np.array([np.sqrt(np.average(radii[g] ** 2, weights=np.maximum(np.abs(masses[g]), 1e-300))) for g in groups])
    return r, np.array([masses[g].sum() for g in groups])


def bias_bound(kernel: RadialKernel, dim: int, radii: Array, masses: Array, constant: float, reach: float) -> float:
    """Certified bound of |c_0 + sum_j c_j Omega_d(r_j z) - k(z)| on [0, reach], between grid points too.

    Between points a and b at distance h the difference is at most its larger end plus the deviations from the chords:
    |Omega_d''| <= 1/d bounds that of the sum by h^2/8 sum |c_j| r_j^2/d. Where k keeps its curvature in between, its
    chord is at most twice as far from k as in the middle; an interval with an inflection takes the larger of its
    neighbours.
    """
    bend = float(np.abs(masses) @ radii**2) / dim
    scale = float(np.abs(kernel.profile(np.linspace(0, reach, 65))).max())
    needed = reach * np.sqrt(bend / (8 * CERTIFICATE_SLACK * max(scale, 1e-300)))
    even = np.linspace(0, reach, int(np.clip(needed, CERTIFICATE_POINTS, MOST_POINTS)) + 1)
    end = np.geomspace(1e-9 * reach, even[1], ENDS)
    z = np.unique(np.concatenate([even, end, reach - end]))
    h, middle = np.diff(z), (z[1:] + z[:-1]) / 2
    k = kernel.profile(z)
    error = np.abs(expectation(dim, radii, masses, constant, z) - k)
    chord = 2 * np.abs((k[1:] + k[:-1]) / 2 - kernel.profile(middle))
    around = np.maximum(chord, np.maximum(np.append(chord[1:], 0), np.append(0, chord[:-1])))
    return float(np.max(np.maximum(error[1:], error[:-1]) + around + h**2 / 8 * bend))


def expectation(dim: int, radii: Array, masses: Array, constant: float, z: Array) -> Array:
    """c_0 + sum_j c_j Omega_d(r_j z), by blocks of radii."""
    total = np.full(z.shape, constant)
    for start in range(0, len(radii), 256):
        part = slice(start, start + 256)
        total += omega(dim, np.multiply.outer(z, radii[part])) @ masses[part]
    return total


def _solve(cost: Array, columns: Array, target: Array, eps: float) -> Array | None:
    """Coefficients of the radii and the constant, or None where no bias as small as eps is feasible."""
    n = len(cost)
    A = np.hstack([columns, -columns, np.ones((len(target), 1))])
    found = linprog(
        np.concatenate([cost, cost, [0.0]]),
        A_ub=np.vstack([A, -A, np.append(np.ones(2 * n), 0.0)]),
        b_ub=np.concatenate([target + eps, eps - target, [LARGEST_SUM]]),
        bounds=[(0, None)] * (2 * n) + [(-2 * LARGEST_SUM, 2 * LARGEST_SUM)],
        method="highs",
    )
    return None if found.x is None else np.append(found.x[:n] - found.x[n : 2 * n], found.x[-1])


def _smallest_bias(columns: Array, target: Array) -> float:
    """The smallest feasible eps: one more linear program."""
    n = columns.shape[1]
    A = np.hstack([columns, -columns, np.ones((len(target), 1))])
    slack = np.full((len(target), 1), -1.0)
    found = linprog(
        np.append(np.zeros(2 * n + 1), 1.0),
        A_ub=np.vstack([np.hstack([A, slack]), np.hstack([-A, slack]), np.r_[np.ones(2 * n), 0.0, 0.0]]),
        b_ub=np.concatenate([target, -target, [LARGEST_SUM]]),
        bounds=[(0, None)] * (2 * n) + [(-2 * LARGEST_SUM, 2 * LARGEST_SUM), (0, None)],
        method="highs",
    )
    assert found.fun is not None
    return float(found.fun)
