"""The algebra of radial measures, and measures from a table."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import integrate

from krein.kernels import Gaussian, Matern
from krein.spectral import RadialMeasure, jordan, radial_measure
from krein.spectral.measure import tabulated

RADII = np.geomspace(0.05, 12.0, 25)


def with_atoms(measure: RadialMeasure, *atoms: tuple[float, float], error: float = 0.0) -> RadialMeasure:
    return RadialMeasure(measure.dim, measure.density, measure.cumulative, measure.grid, atoms, error)


@pytest.mark.parametrize("dim", [1, 2, 3, 16, 256])
@pytest.mark.parametrize("kernel", [Gaussian(0.7), Matern(1.3, 1.5), Matern(1.0, 0.3)])
def test_cumulative_is_the_integral_of_the_density(kernel, dim):
    measure = radial_measure(kernel, dim)
    edges = jordan(measure).positive.quantile(np.array([0.01, 0.2, 0.5, 0.8, 0.99]))
    for a, b in pairwise(edges):
        exact, _ = integrate.quad(lambda r: float(measure.density(np.array(r))), a, b, epsabs=1e-13, epsrel=1e-12)
        assert_allclose(np.diff(measure.cumulative(np.array([a, b])))[0], exact, rtol=1e-10)


def test_multiples_scale_everything():
    measure = with_atoms(radial_measure(Gaussian(), 3), (0.0, 0.5), (2.0, -1.0), error=0.25)
    for scaled in (-3.0 * measure, measure * -3.0):
        assert_allclose(scaled.density(RADII), -3 * measure.density(RADII), rtol=1e-15)
        assert_allclose(scaled.cumulative(RADII), -3 * measure.cumulative(RADII), rtol=1e-15)
        assert scaled.atoms == ((0.0, -1.5), (2.0, 3.0))
        assert scaled.error == 0.75
    assert measure.atoms == ((0.0, 0.5), (2.0, -1.0))


def test_sums_add_everything_and_cover_both_supports():
    wide, narrow = radial_measure(Gaussian(0.01), 3), radial_measure(Gaussian(10.0), 3)
    total = with_atoms(wide, (0.0, 1.0), error=0.25) + with_atoms(narrow, (0.0, 2.0), (1.0, 3.0), error=0.5)
    assert_allclose(total.density(RADII), wide.density(RADII) + narrow.density(RADII), rtol=1e-15)
    assert_allclose(total.cumulative(RADII), wide.cumulative(RADII) + narrow.cumulative(RADII), rtol=1e-15)
    assert total.error == 0.75
    assert total.support == (narrow.support[0], wide.support[1])
    parts = jordan(total)
    assert parts.constant == 3.0
    assert_allclose(parts.positive.mass, 2 + 3, rtol=1e-14)


def test_sums_of_different_dimensions_are_refused():
    with pytest.raises(ValueError, match="same dimension; got 3 and 4"):
        radial_measure(Gaussian(), 3) + radial_measure(Gaussian(), 4)


@pytest.mark.parametrize("factor", [0.01, 0.5, 40.0])
def test_rescaling_is_the_measure_of_the_rescaled_kernel(factor):
    # k(z factor) has the scale 1/factor, hence frequencies factor times as long; r^(d-1) turns 2 eps into 2 d eps
    rescaled, direct = radial_measure(Gaussian(), 16).rescaled(factor), radial_measure(Gaussian(1 / factor), 16)
    r = RADII * factor
    assert_allclose(rescaled.density(r), direct.density(r), rtol=1e-12)
    assert_allclose(rescaled.cumulative(r), direct.cumulative(r), rtol=1e-12)
    assert_allclose(rescaled.support, direct.support, rtol=1e-13)
    atoms = with_atoms(radial_measure(Gaussian(), 16), (0.0, 1.0), (3.0, 2.0)).rescaled(factor).atoms
    assert atoms == ((0.0, 1.0), (3.0 * factor, 2.0))


@pytest.mark.parametrize("log", [True, False])
def test_tables_agree_with_the_function_they_are_made_of(log):
    gaussian = radial_measure(Gaussian(), 3)
    x = np.linspace(np.log(1e-6), np.log(12.0), 4001) if log else np.linspace(0.0, 12.0, 4001)
    r = np.exp(x) if log else x
    measure = tabulated(3, x, gaussian.density(r) * (r if log else 1), log=log, atoms=((0.0, 2.0),), error=0.1)
    # a quintic spline of step h has an error of the order of h^6 max|f^(6)|: (4e-3)^6 * 1e3 = 4e-12
    assert_allclose(measure.density(RADII), gaussian.density(RADII), atol=1e-11)
    assert_allclose(measure.cumulative(RADII), gaussian.cumulative(RADII), atol=1e-11)
    assert (measure.atoms, measure.error, measure.dim) == (((0.0, 2.0),), 0.1, 3)


@pytest.mark.parametrize("log", [True, False])
def test_tables_end_where_their_grid_ends(log):
    x = np.linspace(0.0, 1.0, 101)
    low, high = (1.0, np.e) if log else (0.0, 1.0)
    measure = tabulated(2, x, np.exp(x) if log else np.ones(101), log=log)  # density 1 in both cases
    assert_allclose(measure.support, (low, high), rtol=1e-15)
    outside = np.array([low - 0.5, high + 1e-9, 50.0])
    assert_array_equal(measure.density(outside), 0.0)
    assert_allclose(measure.cumulative(outside), [0.0, high - low, high - low], atol=1e-12)
    assert_allclose(measure.density(np.array([low, (low + high) / 2, high])), 1.0, atol=1e-12)
