"""The numerical route from a profile to its radial measure, against laws that are derived here, not in the library."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import special, stats

from krein.spectral import _mellin
from krein.spectral.bessel import omega
from krein.spectral.fourier import hankel_density

DIMS = [3, 16, 256]


def float_only(profile):
    """The same profile, but one that cannot be had at complex z."""
    return lambda z: profile(np.asarray(z, dtype=float))


# ---- laws with the Jacobian in them, as densities r m(r) of ln r ----------------------------------------------------
# exp(-z^2/2) = E cos(w.z) for a standard normal w in R^d, so its radius has the chi law.


def chi(dim, r, width=1.0):
    return r * width * stats.chi.pdf(r * width, dim)


def student(dim, r, degrees):
    """Matern(nu) is the characteristic function of the multivariate t law with 2 nu degrees: r^2/d has an F law."""
    return 2 * r**2 / dim * stats.f.pdf(r**2 / dim, dim, degrees)


def precision_mixture(dim, r, weights, precisions):
    """sum_j weights_j exp(-precisions_j z^2 / 2)."""
    return sum(w * chi(dim, r, p**-0.5) for w, p in zip(weights, precisions, strict=True))


def cauchy_times_gaussian(dim, r):
    """1/(1+z^2) = int_0^inf e^(-s) e^(-s z^2) ds, so the product is a mixture of Gaussians of precision 1 + 2 s."""
    nodes, weights = special.roots_legendre(1200)
    s, ds = 20 * (nodes + 1), 20 * weights
    return precision_mixture(dim, r, ds * np.exp(-s), 1 + 2 * s)


def complex_omega(dim, t):
    """Omega_d at complex t: its series where that is short, scipy's J elsewhere."""
    t = np.asarray(t)
    near = np.abs(t) ** 2 < 4 * dim
    small, large = np.where(near, t, 0), np.where(near, 100.0, t)
    term, total = np.ones_like(small), np.ones_like(small)
    for k in range(1, 60):
        term = term * -(small**2) / (2 * k * (dim + 2 * (k - 1)))
        total = total + term
    nu = dim / 2 - 1
    return np.where(near, total, np.exp(special.gammaln(nu + 1) - nu * np.log(large / 2)) * special.jv(nu, large))


# name: (profile as a function of the dimension, law)
SMOOTH = {
    "gaussian": (lambda d: lambda z: np.exp(-(z**2) / 2), chi),
    # -2 d/ds exp(-s z^2/2) at s = 1; the density of sqrt(s) chi_d is proportional to s^(-d/2) r^(d-1) e^(-r^2/(2s))
    "z^2 gaussian": (lambda d: lambda z: z**2 * np.exp(-(z**2) / 2), lambda d, r: (d - r**2) * chi(d, r)),
    "two scales": (
        lambda d: lambda z: np.exp(-(z**2) / 2) - 0.7 * np.exp(-(z**2) / 8),
        lambda d, r: chi(d, r) - 0.7 * chi(d, r, 2.0),
    ),
    "far scales": (
        lambda d: lambda z: np.exp(-(z**2) / 2) - np.exp(-(z**2) / 200),
        lambda d, r: chi(d, r) - chi(d, r, 10.0),
    ),
    "laplacian": (lambda d: lambda z: np.exp(-z), lambda d, r: student(d, r, 1)),
    "matern 3/2": (
        lambda d: lambda z: (1 + np.sqrt(3) * z) * np.exp(-np.sqrt(3) * z),
        lambda d, r: student(d, r, 3),
    ),
    "cauchy times gaussian": (lambda d: lambda z: np.exp(-(z**2) / 2) / (1 + z**2), cauchy_times_gaussian),
    # w + 5 u with u uniform on the sphere: r^2 has the noncentral chi-square law
    "damped wave": (
        lambda d: lambda z: np.exp(-(z**2) / 2) * complex_omega(d, 5 * z),
        lambda d, r: 2 * r**2 * stats.ncx2.pdf(r**2, d, 25.0),
    ),
}


def l1_distance(density, law):
    """int abs(g - g_exact) dx / int abs(g_exact) dx; what lies outside the grid counts as missing."""
    x = density.log_radii
    step = (x[-1] - x[0]) / (len(x) - 1)
    outside = step * np.arange(1, 400)
    below, above = (law(density.dim, np.exp(side)) for side in (x[0] - outside, x[-1] + outside))
    exact = law(density.dim, np.exp(x))
    missing = np.abs(below).sum() + np.abs(above).sum()
    distance = np.abs(density.density_per_log_radius - exact).sum() + missing
    return distance / (np.abs(exact).sum() + missing)


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("name", SMOOTH)
def test_density_of_smooth_profiles(name, dim):
    make_profile, law = SMOOTH[name]
    density = hankel_density(make_profile(dim), dim)
    assert density.finite
    assert density.reason == ""
    assert density.error <= 1e-8  # the default tolerance
    assert l1_distance(density, law) <= 1e-10


@pytest.mark.parametrize("dim", [1, 2, 7, 64, 1024, 4096])
def test_density_in_other_dimensions(dim):
    for name in ("gaussian", "z^2 gaussian", "matern 3/2"):
        make_profile, law = SMOOTH[name]
        density = hankel_density(make_profile(dim), dim)
        assert density.error <= 1e-8
        assert l1_distance(density, law) <= 1e-10


@pytest.mark.parametrize("dim", DIMS)
def test_mutants_of_the_law_are_rejected(dim):
    density = hankel_density(SMOOTH["z^2 gaussian"][0](dim), dim)
    mutants = {
        "next dimension": lambda d, r: SMOOTH["z^2 gaussian"][1](d + 1, r),
        "no Jacobian": lambda d, r: (d - r**2) * np.exp(-(r**2) / 2),
        "per radius": lambda d, r: (d - r**2) * chi(d, r) / r,
        "1e-6 wider": lambda d, r: SMOOTH["z^2 gaussian"][1](d, r * (1 + 1e-6)),
        "sign": lambda d, r: (r**2 - d) * chi(d, r),
    }
    for law in mutants.values():
        assert l1_distance(density, law) > 1e-7


def test_three_dimensions_against_mpmath():
    # In R^3: m(r) = (2 r / pi) int_0^inf z k(z) sin(r z) dz.
    density = hankel_density(SMOOTH["cauchy times gaussian"][0](3), 3)
    with mpmath.workdps(30):
        for i in np.linspace(0.3, 0.95, 6) * len(density.log_radii):
            r = np.exp(density.log_radii[int(i)])
            integral = mpmath.quad(
                lambda z, r=r: z * mpmath.exp(-(z**2) / 2) / (1 + z**2) * mpmath.sin(r * z), np.linspace(0, 20, 61)
            )
            assert_allclose(density.density_per_log_radius[int(i)], float(2 * r**2 / mpmath.pi * integral), atol=1e-12)


@pytest.mark.parametrize("dim", DIMS)
def test_reconstruction_mass_and_total_variation(dim):
    density = hankel_density(SMOOTH["two scales"][0](dim), dim)
    x, g = density.log_radii, density.density_per_log_radius
    step = (x[-1] - x[0]) / (len(x) - 1)
    z = np.random.default_rng(12345).uniform(0, 6, 20)
    found = step * omega(dim, np.exp(x) * z[:, None]) @ g
    assert_allclose(found, SMOOTH["two scales"][0](dim)(z), atol=1e-11)
    assert_allclose(step * g.sum(), 0.3, atol=1e-11)
    assert_allclose(density.total_variation, step * np.abs(g).sum(), rtol=1e-12)
    assert_array_equal(np.diff(x) > 0, True)


# ---- profiles that exist at real z only: accurate for small d, and never garbage with a small error -----------------


@pytest.mark.parametrize("name", ["gaussian", "z^2 gaussian", "two scales", "far scales", "matern 3/2"])
def test_error_is_honest_at_real_z(name):
    for dim, largest, smallest in [(1, 1e-10, 0), (3, 1e-10, 0), (16, 1e-6, 1e-9), (64, 0.05, 1e-4), (256, 2, 0.05)]:
        make_profile, law = SMOOTH[name]
        density = hankel_density(float_only(make_profile(dim)), dim)
        assert density.finite
        assert l1_distance(density, law) <= 2 * density.error
        assert smallest <= density.error <= largest
        assert (density.reason == "") == (density.error <= 1e-8)
        if name != "matern 3/2":  # the law is blurred, but it reproduces the profile
            assert density.reconstruction_error <= 1e-9


def test_far_scales_of_an_opaque_callable_are_reported_as_undetermined():
    density = hankel_density(float_only(lambda z: np.exp(-(z**2) / 2) - np.exp(-(z**2) / 200)), 256)
    assert density.density_error > 0.1
    assert "above the tolerance" in density.reason


def single_precision(z):
    return np.exp(-(np.asarray(z, dtype=np.float32) ** 2) / 2)


def test_noise_of_the_profile_is_seen():
    for dim in (3, 16, 64):
        density = hankel_density(single_precision, dim)
        assert density.error > 1e-7
        assert l1_distance(density, chi) <= 2 * density.error


@pytest.mark.parametrize(
    ("profile", "dim"),
    [
        (lambda z: np.exp(-np.abs(z)), 16),
        (lambda z: np.exp(-(np.real(z) ** 2) / 2), 16),
        (lambda z: np.maximum(1 - z * z, 0) ** 12, 16),
        (lambda z: np.maximum(1 - z * z, 0) ** 32, 64),
        (lambda z: np.where(z < 1, np.exp(-z), 0), 1),
    ],
)
def test_complex_values_that_do_not_continue_the_profile_are_not_used(profile, dim):
    found, expected = hankel_density(profile, dim), hankel_density(float_only(profile), dim)
    assert found.finite == expected.finite
    assert_array_equal(found.density_per_log_radius, expected.density_per_log_radius)


def test_a_wrong_transform_is_seen_by_the_error(monkeypatch):
    right = _mellin._log_multiplier
    for wrong in (lambda d, w: right(d + 1, w), lambda d, w: right(d, w) + 1e-4, lambda d, w: np.conj(right(d, w))):
        monkeypatch.setattr(_mellin, "_log_multiplier", wrong)
        for dim in DIMS:
            assert hankel_density(lambda z: np.exp(-z), dim).error > 1e-6


# ---- atoms, scales, arguments ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("dim", DIMS)
def test_a_limit_is_an_atom(dim):
    density = hankel_density(lambda z: 0.25 - np.exp(-(z**2) / 2), dim)
    assert_allclose(density.atom_at_zero, 0.25, rtol=1e-15)
    assert_allclose(density.total_variation, 1.25, atol=1e-10)
    assert l1_distance(density, lambda d, r: -chi(d, r)) <= 1e-10


@pytest.mark.parametrize("constant", [0.0, -2.0])
def test_a_constant_is_an_atom_alone(constant):
    density = hankel_density(lambda z: np.full(np.shape(z), constant), 7)
    assert density.finite
    assert density.atom_at_zero == constant
    assert_allclose(density.total_variation, abs(constant), rtol=1e-14)
    assert density.error <= 1e-14


@pytest.mark.parametrize("dim", DIMS)
def test_scales_and_determinism(dim):
    profile = SMOOTH["z^2 gaussian"][0](dim)
    density = hankel_density(profile, dim)
    for scale in (0.5, 3.0):
        assert l1_distance(hankel_density(profile, dim, scale=scale), SMOOTH["z^2 gaussian"][1]) <= 1e-10
    wide = hankel_density(lambda z: profile(z / 100), dim)
    assert l1_distance(wide, lambda d, r: SMOOTH["z^2 gaussian"][1](d, 100 * r)) <= 1e-10
    again = hankel_density(profile, dim)
    assert_array_equal(again.log_radii, density.log_radii)
    assert_array_equal(again.density_per_log_radius, density.density_per_log_radius)
    assert again.error == density.error


def test_arguments_are_checked():
    def gaussian(z):
        return np.exp(-(z**2) / 2)

    with pytest.raises(ValueError, match="dim must be an integer >= 1; got 0"):
        hankel_density(gaussian, 0)
    with pytest.raises(ValueError, match=r"tolerance must be a finite number > 0; got 0\.0"):
        hankel_density(gaussian, 3, tolerance=0.0)
    with pytest.raises(ValueError, match=r"scale must be a finite number > 0; got -1\.0"):
        hankel_density(gaussian, 3, scale=-1.0)
    with pytest.raises(ValueError, match="profile must return an array of the shape of its argument"):
        hankel_density(lambda z: 1.0, 3)
    with pytest.raises(ValueError, match="profile must be finite"):
        hankel_density(lambda z: np.where(z > 1e3, np.nan, gaussian(z)), 3)
