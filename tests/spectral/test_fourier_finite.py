"""Which profiles have a measure of finite total variation: limits, growth, jumps and kinks."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import special

from krein.spectral.fourier import hankel_density


def float_only(profile):
    """The same profile, but one that cannot be had at complex z."""
    return lambda z: profile(np.asarray(z, dtype=float))


def compact(n):
    return float_only(lambda z: np.where(z < 1, np.maximum(1 - z**2, 0) ** n, 0.0))


@pytest.mark.parametrize("dim", [1, 2, 3, 4, 5, 16, 22, 64, 255, 256])
def test_compact_support_is_finite_above_half_of_d_minus_one(dim):
    # (1 - z^2)_+^n has m ~ r^(d/2 - n - 3/2) cos(r + ...), integrable if and only if n > (d-1)/2.
    threshold = (dim - 1) / 2
    for n in sorted({0, 1, int(threshold), int(threshold + 1), int(threshold) + 2, 2 * dim}):
        density = hankel_density(compact(n), dim)
        assert density.finite == (n > threshold), n
        if not density.finite:
            assert "not smooth enough" in density.reason
            assert np.isinf(density.total_variation)
            assert np.isinf(density.error)
            assert len(density.log_radii) == 0


def test_compact_support_law():
    # Sonine: int_0^1 (1-z^2)^n z^(d/2) J_(d/2-1)(r z) dz = 2^n Gamma(n+1) r^(-n-1) J_(d/2+n)(r)
    for dim, n in [(1, 2), (2, 3), (3, 3), (5, 5), (16, 12)]:
        log_factor = (1 - dim / 2 + n) * np.log(2) + special.gammaln(n + 1) - special.gammaln(dim / 2)
        density = hankel_density(compact(n), dim)
        r = np.exp(density.log_radii)
        exact = np.exp(log_factor) * r ** (dim / 2 - n) * special.jv(dim / 2 + n, r)
        step = density.log_radii[1] - density.log_radii[0]
        distance = step * np.abs(density.density_per_log_radius - exact)[r < 1e4].sum()
        assert distance <= 3 * density.error * density.total_variation
        assert density.error < 1e-3


FINITE = {
    "gaussian": lambda z: np.exp(-(z**2) / 2),
    "exponential": lambda z: np.exp(-z),
    "cauchy": lambda z: 1 / (1 + z**2),
    "inverse multiquadric": lambda z: 1 / np.sqrt(1 + z**2),
    "slow tail": lambda z: (1 + z**2) ** -0.1,
    "cusp": lambda z: np.exp(-np.sqrt(z)),
    "fourth power": lambda z: 1 / (1 + z**4),
    "tanh": lambda z: 1 - np.tanh(z),
    "minute scale": lambda z: np.exp(-((z * 1e6) ** 2)),
    "huge scale": lambda z: np.exp(-z / 1e6),
}
INFINITE = {
    "log": (lambda z: -np.log1p(z**2), "grows without bound"),
    "thin plate": (lambda z: np.where(z > 0, z**2 * np.log(np.where(z > 0, z, 1)), 0), "grows without bound"),
    "multiquadric": (lambda z: np.sqrt(1 + z**2), "grows without bound"),
    "exp": (lambda z: np.exp(z), "grows without bound"),
    "pole": (lambda z: z**-0.5, "not finite"),
    "nugget": (lambda z: np.where(z == 0, 1, 0.5 * np.exp(-z)), "not continuous"),
    "cosine": (np.cos, "no limit"),
    "jump at the edge": (lambda z: np.where(np.real(z) < 1, 1.0, 0.0), "not smooth enough"),
    "jump inside": (lambda z: np.exp(-(z**2) / 2) + 0.1 * (np.real(z) < 1), "not smooth enough"),
}


@pytest.mark.parametrize("dim", [1, 3, 16, 256])
@pytest.mark.parametrize("name", FINITE)
def test_finite_measures(name, dim):
    density = hankel_density(FINITE[name], dim)
    assert density.finite
    assert density.error <= 1e-8
    assert_allclose(density.atom_at_zero, 0, atol=1e-15)
    if name not in ("fourth power", "tanh"):  # positive definite: k(0) is the mass
        assert_allclose(density.total_variation, 1, atol=1e-8)


@pytest.mark.parametrize("dim", [1, 3, 16, 256])
@pytest.mark.parametrize("name", INFINITE)
def test_infinite_measures(name, dim):
    profile, reason = INFINITE[name]
    density = hankel_density(profile, dim)
    assert not density.finite
    assert reason in density.reason


def test_kink_inside():
    profile = float_only(lambda z: np.abs(1 - z) * np.exp(-z))
    assert [hankel_density(profile, dim).finite for dim in (1, 2, 3, 16)] == [True, True, False, False]


@pytest.mark.parametrize("dim", [16, 256])
@pytest.mark.parametrize(
    "profile",
    [
        lambda z: np.sinc(z / np.pi),  # an atom at r = 1 in R^3, no measure at all in higher dimensions
        float_only(lambda z: np.where(z < 1, np.exp(-1 / np.maximum(1 - z**2, 1e-300)), 0)),  # smooth, of huge mass
        float_only(lambda z: np.exp(-((z / 100) ** 2) / 2) * np.cos(5 * z)),  # huge mass on a thin shell
    ],
)
def test_what_cannot_be_computed_has_a_large_error(profile, dim):
    density = hankel_density(profile, dim)
    assert density.error > 0.1
    assert density.reason
