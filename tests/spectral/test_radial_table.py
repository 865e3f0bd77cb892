"""Tables of the transform of a sample of distances, and of its slope, against the sums that they stand for."""

from __future__ import annotations

import numpy as np
import pytest

from krein.spectral.bessel import omega, omega_prime
from krein.spectral.radial_table import LARGEST, RadialTable

CASES = [(1, 3.0, 40.0), (2, 0.01, 900.0), (16, 2.0, 30.0), (22, 2.0, 250.0), (256, 2.0, 90.0), (784, 50.0, 3.0)]


@pytest.mark.parametrize("sample", [1, 7, 3000])
@pytest.mark.parametrize(("dim", "reach", "top"), CASES)
def test_values_and_slopes(dim: int, reach: float, top: float, sample: int) -> None:
    """Cubics on parts of 1/256 of a radian: errors of 6e-13 of the mass in F, and 256 times that in dF/dt."""
    rng = np.random.default_rng(dim)
    z, weights = rng.uniform(0, reach, sample), rng.standard_normal(sample) / sample
    t = np.concatenate([[0.0, 1e-9, top], rng.uniform(0, top, 50), top * rng.uniform(0, 1, 50) ** 8])
    value, slope = RadialTable(dim, z, weights, top**2)(t**2)
    mass = np.abs(weights).sum()
    np.testing.assert_allclose(value, omega(dim, np.multiply.outer(t, z)) @ weights, rtol=0, atol=2e-12 * mass)
    by_t = (omega_prime(dim, np.multiply.outer(t, z)) * z) @ weights  # dF/dt = 2 t dF/du
    np.testing.assert_allclose(2 * t * slope, by_t, rtol=0, atol=1e-9 * mass * reach)
    at_zero = -(weights @ z**2) / (2 * dim)  # Omega_d(t z) = 1 - u z^2/(2 d) + ...
    assert slope[0] == pytest.approx(at_zero, abs=1e-8 * mass * reach**2)


def test_beyond_the_top_it_is_constant() -> None:
    table = RadialTable(3, np.ones(1), np.ones(1), 100.0)
    assert table(np.array([1e4]))[0] == pytest.approx(table(np.array([1e6]))[0])


def test_shape_is_kept() -> None:
    value, slope = RadialTable(3, np.ones(1), np.ones(1), 9.0)(np.ones((2, 3)))
    assert value.shape == slope.shape == (2, 3)


def test_all_distances_zero() -> None:
    value, slope = RadialTable(4, np.zeros(200), np.full(200, 0.5), 9.0)(np.array([0.0, 4.0]))
    np.testing.assert_allclose(value, 100.0, rtol=1e-12)
    np.testing.assert_allclose(slope, 0.0, atol=1e-12)


def test_too_long_a_table() -> None:
    with pytest.raises(ValueError, match="times the largest distance must be at most"):
        RadialTable(3, np.ones(1), np.ones(1), (2.0 * LARGEST) ** 2)
