"""Errata 1 and 2: the masses and laws of the radius, and whether the masses are finite."""

from __future__ import annotations

import numpy as np
from scipy.interpolate import CubicSpline

from krein.experiments.errata.record import Row, Table
from krein.experiments.errata.setting import (
    DIM,
    POLYNOMIAL,
    SIZES,
    errors,
    letter_rows,
    mean_and_error,
    published_cell,
    relative,
)
from krein.experiments.setting import Array
from krein.kernels import Gaussian, PolynomialOnSphere
from krein.kernels.base import distances
from krein.sampling.variance import single_variance
from krein.spectral import jordan, jordan_parts, omega, published_polynomial, total_mass, zero_extended_polynomial


def limit_without_jacobian(a: float, z: Array) -> Array:
    """Expectation at distances z of the published recipe for k(z) = 1 - z^2/a^2: the law of R is p(r) dr, d = 16."""
    parts = jordan(published_polynomial(a, 1, DIM))
    grid = np.linspace(0, 2, 257)  # the limit is smooth on this scale: the spline is exact to 1e-9
    limit = parts.positive.mass * parts.positive.profile(grid) - parts.negative.mass * parts.negative.profile(grid)
    return np.asarray(CubicSpline(grid, limit)(z))


def gaussian_without_jacobian(z: float) -> float:
    """E Omega_16(R z) for R ~ exp(-r^2/2) dr on r > 0, which takes the place of R ~ chi_16."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    return float(weights @ omega(DIM, np.abs(nodes) * z) / weights.sum())


def error_of_variance(X: Array, s: int) -> float:
    """Root mean square error on rows X that independent frequencies of the published law have from variance alone."""
    parts = jordan(published_polynomial(POLYNOMIAL.a, POLYNOMIAL.degree, DIM)).parts
    grid = np.linspace(0, 2, 257)
    variance = np.sum([law.mass**2 * single_variance(law, grid) / s for law in parts], axis=0)
    on_rows = CubicSpline(grid, variance)(distances(X, X))
    return float(np.sqrt(on_rows.sum()) / np.linalg.norm(POLYNOMIAL(X)))


def show_jacobian(fast: bool) -> Table:
    """Limits of the published recipe, its floor on letter, and Table II from it."""
    chi = jordan_parts(Gaussian(), DIM).positive
    k = float(Gaussian().profile(1.0))
    rows = [
        Row("Gaussian, z = 1, law p(r) dr", gaussian_without_jacobian(1.0), reference=k, source="k(1)"),
        Row("Gaussian, z = 1, law r^15 p(r) dr", float(chi.profile(1.0)), reference=k, source="k(1)"),
    ]
    for a in (3.0, 4.0, 6.0, 10.0):
        limit, exact = limit_without_jacobian(a, np.ones(1))[0], PolynomialOnSphere(a).profile(1.0)
        rows.append(Row(f"polynomial a = {a:g}, z = 1, law p(r) dr", limit, reference=float(exact), source="k(1)"))

    X, draws = letter_rows(), 4 if fast else 10
    floor = relative(limit_without_jacobian(3.0, distances(X, X)), POLYNOMIAL(X))
    rows.append(Row("error on letter for s -> infinity", floor, reference=0.0, source="unbiased features"))
    large = mean_and_error(errors(POLYNOMIAL, X, "published-grff", 64 * DIM, draws))
    noise = error_of_variance(X, 64 * DIM)
    rows.append(Row("error on letter, GRFF, s = 64d", *large, reference=noise, source="its variance alone"))
    for method, scheme in (("GRFF", "published-grff"), ("GORF", "published-gorf")):
        for size, s in SIZES.items():
            found = mean_and_error(errors(POLYNOMIAL, X, scheme, s, draws))
            cell = published_cell("polynomial", method, size)
            rows.append(Row(f"error on letter, {method}, s = {size}", *found, *cell, "Table II, polynomial"))
    return tuple(rows)


def mass_up_to(radius: float) -> float:
    """Integral of |density| up to a radius, zero-extended polynomial a = 3, m = 1, d = 16."""
    measure = zero_extended_polynomial(POLYNOMIAL.a, POLYNOMIAL.degree, DIM, cutoff=radius)
    r = np.linspace(0, radius, int(40 * radius) + 1)[1:]  # sign changes are pi/2 apart
    return float(np.trapezoid(np.abs(measure.density(r)), r))


def show_infinite_mass(fast: bool) -> Table:
    """Growth of the mass with the cut-off, and where it is finite (exact: nothing is drawn, ``fast`` or not)."""
    masses = {radius: mass_up_to(radius) for radius in (25.0, 50.0, 100.0)}
    exponent = float(np.log2(masses[100.0] / masses[50.0]))
    rows = [Row(f"a = 3, m = 1: mass up to radius {radius:g}", mass) for radius, mass in masses.items()]
    rows.append(Row("its exponent, log2 of the last ratio", exponent, reference=(DIM - 1) / 2, source="(d - 1)/2"))
    for a, degree in ((3.0, 1), (2.0, 7), (2.0, 8)):
        finite = "finite" if a == 2 and degree > (DIM - 1) / 2 else "infinite"
        mass = total_mass(PolynomialOnSphere(a, degree), DIM)
        rows.append(Row(f"a = {a:g}, m = {degree}: total mass", mass, source=f"{finite} by the rule"))
    return tuple(rows)
