"""Closed-form radial measures against the kernel itself, scipy.stats, mpmath, quadrature and simulation."""

from __future__ import annotations

from itertools import pairwise

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import integrate, special, stats

from krein.exceptions import NoFrequenciesError
from krein.kernels import (
    Cauchy,
    DeltaGaussian,
    Gaussian,
    InverseMultiquadric,
    Laplacian,
    Matern,
    RationalQuadratic,
    ThinPlate,
)
from krein.spectral import RadialLaw, jordan, radial_measure
from krein.spectral.closed_forms import gaussian_mixture, gaussian_terms
from krein.testing import z_scores

DIMS = [1, 2, 3, 16, 256]
LIGHT = [  # Gaussian tails
    Gaussian(1.3),
    DeltaGaussian(),
    DeltaGaussian((1.0, -0.5), (1.0, 2.0)),
    DeltaGaussian((1.0, -0.5, 0.3), (1.0, 2.0, 7.0)),
    Gaussian(1.0) - 0.5 * Gaussian(2.0),
    2.0 * Gaussian(1.0) * DeltaGaussian((1.0, -1.0), (10.0, 2.0)),
    Matern(0.7, 30.0),  # tails r^-61
]
HEAVY = [
    Laplacian(1.2),
    Matern(1.0, 0.3),
    Matern(1.0, 1.5),
    Matern(2.0, 2.5),
    RationalQuadratic(1.0, 0.1),
    RationalQuadratic(0.7, 0.5),
    RationalQuadratic(1.0, 3.0),
    Cauchy(1.5),
    InverseMultiquadric(0.8),
    Matern(1.0, 2.5) - 0.5 * Matern(2.0, 1.5),
    Laplacian(1.0) - Gaussian(1.0),
]
DISTANCES = np.concatenate([[0.0], np.geomspace(0.05, 10.0, 16)])
PROBABILITIES = np.array([1e-9, 1e-4, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 0.9999])


def law_of(kernel, dim) -> RadialLaw:
    """The law of the radius of a positive definite kernel."""
    parts = jordan(radial_measure(kernel, dim))
    assert parts.parts == (parts.positive,)
    return parts.positive


def reconstructed(kernel, dim, z):
    parts = jordan(radial_measure(kernel, dim))
    return parts.constant + sum(law.sign * law.mass * law.profile(z) for law in parts.parts)


# ---- identities ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("kernel", LIGHT, ids=repr)
def test_light_tailed_laws_give_the_profile_back(kernel, dim):
    # omega is good to 1e-12 (its own contract), and the Gauss rule has converged where the law has no power tail
    largest = np.abs(kernel.profile(DISTANCES)).max()
    mass = jordan(radial_measure(kernel, dim)).total_mass
    assert_allclose(reconstructed(kernel, dim, DISTANCES), kernel.profile(DISTANCES), atol=2e-12 * max(largest, mass))


@pytest.mark.parametrize("dim", DIMS)
def test_laws_of_two_scales_give_the_profile_back_over_both(dim):
    kernel = DeltaGaussian((1.0, -1.0), (1.0, 10.0))
    z = np.linspace(10.0, 20.0, 6)  # only the wide Gaussian is left: 12 nodes have to see that the narrow one cancels
    # n Gauss nodes integrate exp(iWx) on [-1, 1] to (eW/4n)^2n; panels are 0.7 wide at most, W = 7 at z = 20
    assert_allclose(reconstructed(kernel, dim, z), kernel.profile(z), atol=1e-9)


@pytest.mark.parametrize("dim", [16, 256])
@pytest.mark.parametrize("kernel", HEAVY, ids=repr)
def test_heavy_tailed_laws_give_the_profile_back(kernel, dim):
    # a panel [r, 2r] of the tail that the rule does not resolve (r z > 40) counts |Omega_d(t)| < t^-7.5 = 1e-12
    assert_allclose(reconstructed(kernel, dim, DISTANCES), kernel.profile(DISTANCES), atol=1e-10)


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("kernel", [*LIGHT, *HEAVY], ids=repr)
def test_masses_add_up_to_the_value_at_zero(kernel, dim):
    parts = jordan(radial_measure(kernel, dim))
    # the grid leaves out 1e-17 of the mass at both ends
    assert_allclose(parts.positive.mass - parts.negative.mass, kernel.profile(0.0), atol=1e-12 * parts.total_mass)


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("kernel", [*LIGHT, *HEAVY], ids=repr)
def test_quantile_inverts_cdf(kernel, dim):
    parts = jordan(radial_measure(kernel, dim))
    u = np.concatenate([[1e-10, 1e-4], np.linspace(0.005, 0.995, 100), [1 - 1e-6]])
    for law in parts.parts:
        # a difference of cumulatives of size ||mu|| is good to a few eps, which counts ||mu||/mass-fold in a small part
        tolerance = 1e-13 + 8 * np.finfo(float).eps * (parts.total_mass + dim**0.5) / law.mass
        assert_allclose(law.cdf(law.quantile(u)), u, rtol=0, atol=tolerance)
        assert (np.diff(law.quantile(u)) > 0).all()


@pytest.mark.parametrize("scale", [0.01, 1.0, 50.0])
@pytest.mark.parametrize("kernel", [Gaussian, Matern, Laplacian, RationalQuadratic, Cauchy, InverseMultiquadric])
def test_scales_divide_radii(kernel, scale):
    # ln(1/scale) shifts an even logarithmic grid of step 0.1 or less, on which a quintic spline is good to 1e-9
    exact = 1e-9 if kernel in (RationalQuadratic, Cauchy, InverseMultiquadric) else 1e-12
    unit, scaled = law_of(kernel(scale=1.0), 5), law_of(kernel(scale=scale), 5)
    assert_allclose(scaled.quantile(PROBABILITIES) * scale, unit.quantile(PROBABILITIES), rtol=exact)


@pytest.mark.parametrize("dim", [1, 2, 256])
@pytest.mark.parametrize("nu", [0.02, 0.05, 0.1, 50.0, 1e6])
def test_extreme_smoothness_keeps_its_mass(nu, dim):
    # radii whose square overflows, from 1e150 or so, are cut off: the tail r^(-2 nu) has mass 1e-6 there for nu = 0.02
    assert_allclose(law_of(Matern(1.0, nu), dim).mass, 1.0, atol=1e-12 + 2 * 1e150 ** (-2 * nu))


@pytest.mark.parametrize("dim", [1, 2, 256])
@pytest.mark.parametrize("alpha", [0.01, 0.02, 0.05, 0.1, 100.0, 1e5])
def test_extreme_decay_keeps_its_mass(alpha, dim):
    # exp(alpha y - e^y - ln Gamma(alpha)): terms of size alpha ln(alpha) are good to eps
    parts = jordan(radial_measure(RationalQuadratic(1.0, alpha), dim))
    assert_allclose(parts.constant + parts.positive.mass, 1.0, atol=1e-12 + 1e-15 * alpha * np.log(alpha + 2))


# ---- Gaussian mixtures ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("scale", [0.5, 1.0, 20.0])
def test_gaussian_radii_are_chi(scale, dim):
    law, chi = law_of(Gaussian(scale), dim), stats.chi(dim, scale=1 / scale)
    r = chi.ppf(PROBABILITIES)
    assert_allclose(law.cdf(r), PROBABILITIES, atol=1e-13)
    assert_allclose(law.quantile(PROBABILITIES[1:]), r[1:], rtol=1e-11)  # 1e-17 is missing on the left: 1e-13 of 1e-4
    assert_allclose(law.measure.density(r), chi.pdf(r), rtol=1e-11)
    for power in (1, 2, 3, 4):
        # the rule is cut at probability 1e-14, that is at 7.7 / scale for d = 1: 1e-14 * 7.7^4 is 1.2e-11 of E R^4
        assert_allclose(law.moment(power), chi.moment(power), rtol=2e-11)


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize(
    ("weights", "scales"), [((1.0, -1.0), (1.0, 10.0)), ((1.0, -0.5), (1.0, 2.0)), ((0.3, -2.0), (3.0, 0.5))]
)
def test_masses_of_two_gaussians(weights, scales, dim):
    # one sign change at most, at r^2 = 2 (d ln(s1/s2) + ln|a1/a2|) / (s1^2 - s2^2)
    (a1, a2), (s1, s2) = weights, scales
    with mpmath.workdps(40):
        root = 2 * (dim * mpmath.log(mpmath.mpf(s1) / s2) + mpmath.log(mpmath.mpf(a1) / -a2)) / (s1**2 - s2**2)

        def below(scale):
            return mpmath.gammainc(mpmath.mpf(dim) / 2, 0, max(root, 0) * scale**2 / 2, regularized=True)

        low = [a1 * below(s1) + a2 * below(s2), a1 * (1 - below(s1)) + a2 * (1 - below(s2))]
        exact = float(sum(max(mass, 0) for mass in low)), float(-sum(min(mass, 0) for mass in low))
    parts = jordan(radial_measure(DeltaGaussian(weights, scales), dim))
    assert_allclose((parts.positive.mass, parts.negative.mass), exact, atol=1e-13)
    if root > 0:
        change = np.sqrt(float(root))
        ends = np.concatenate([parts.positive.left, parts.positive.right])
        nearest = ends[np.argmin(np.abs(ends - change))]
        # the density is known to d eps, and so is the root where its logarithm has a slope of d/r
        assert_allclose(nearest, change, rtol=1e-12)


@pytest.mark.parametrize("dim", DIMS)
def test_masses_of_three_gaussians(dim):
    weights, scales = (1.0, -0.9, 0.3), (1.0, 1.5, 4.0)
    grid = np.linspace(0, 60, 600_001)[1:]
    density = sum(a * stats.chi(dim, scale=1 / s).pdf(grid) for a, s in zip(weights, scales, strict=True))
    change = np.flatnonzero(np.diff(np.sign(density)) != 0)
    edges = np.concatenate([[0], grid[change], [np.inf]])
    chis = [a * np.diff(stats.chi(dim, scale=1 / s).cdf(edges)) for a, s in zip(weights, scales, strict=True)]
    masses = np.sum(chis, axis=0)
    parts = jordan(radial_measure(DeltaGaussian(weights, scales), dim))
    # at a root the density vanishes: moving it by 1e-4 changes the mass by 1e-8 |m'| / 2
    assert_allclose(parts.positive.mass, masses[masses > 0].sum(), atol=1e-8)
    assert_allclose(parts.negative.mass, -masses[masses < 0].sum(), atol=1e-8)


def test_sums_multiples_and_products_of_gaussians_are_one_mixture():
    kernel = 2 * (Gaussian(1.0) - DeltaGaussian((0.5, 3.0), (1.0, 2.0))) * Gaussian(2.0)
    terms = gaussian_terms(kernel)
    both = 1 / np.hypot(1.0, 1 / 2)
    assert_allclose(sorted(terms), sorted([both, 2 / np.sqrt(2)]))
    assert_allclose([terms[scale] for scale in sorted(terms)], [2 * 0.5, -2 * 3.0])
    assert gaussian_terms(Gaussian() + ThinPlate()) is None
    assert gaussian_terms(Gaussian() * Cauchy()) is None
    assert gaussian_terms(Gaussian(2.0) - Gaussian(2.0)) == {}


def test_the_zero_mixture_has_no_measure():
    for kernel in (Gaussian(2.0) - Gaussian(2.0), 0.0 * Gaussian(2.0), DeltaGaussian((0.0,), (1.0,))):
        with pytest.raises(NoFrequenciesError, match="identically zero"):
            radial_measure(kernel, 3)


# ---- Matern --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize(("scale", "nu"), [(1.0, 0.3), (1.2, 0.5), (1.0, 1.5), (0.2, 2.5), (3.0, 30.0)])
def test_matern_radii_are_those_of_a_multivariate_t(scale, nu, dim):
    # T = scale w is t with 2 nu degrees of freedom, ||T||^2 / d ~ F(d, 2 nu)
    law, f = law_of(Matern(scale, nu), dim), stats.f(dim, 2 * nu)
    squares = f.ppf(PROBABILITIES)
    r = np.sqrt(squares * dim) / scale
    assert_allclose(law.cdf(r), f.cdf(squares), atol=1e-12)
    assert_allclose(law.measure.density(r), f.pdf(squares) * 2 * r * scale**2 / dim, rtol=1e-9)
    assert_allclose(1 - law.cdf(r * 1e3), f.sf(squares * 1e6), atol=1e-12)


def test_laplacian_radii_are_those_of_a_multivariate_cauchy():
    r = np.geomspace(1e-3, 1e4, 50)
    assert_allclose(law_of(Laplacian(2.0), 1).cdf(r / 2), 2 / np.pi * np.arctan(r), atol=1e-14)
    assert_allclose(law_of(Laplacian(2.0), 2).cdf(r / 2), 1 - 1 / np.sqrt(1 + r**2), atol=1e-14)
    assert_allclose(law_of(Laplacian(2.0), 3).cdf(r / 2), 2 / np.pi * (np.arctan(r) - r / (1 + r**2)), atol=1e-14)


def student_radii(kernel, dim, size, rng, *, per_coordinate=False):
    """||T|| / scale for T = N / sqrt(chi2 / (2 nu)); the mutant draws a chi2 per coordinate, right for d = 1 only."""
    normal = rng.standard_normal((size, dim))
    chi2 = rng.chisquare(2 * kernel.nu, (size, dim if per_coordinate else 1))
    return np.linalg.norm(normal / np.sqrt(chi2 / (2 * kernel.nu)), axis=1) / kernel.scale


@pytest.mark.parametrize("dim", [2, 3, 16])
@pytest.mark.parametrize("kernel", [Laplacian(0.7), Matern(1.3, 1.5), Matern(1.0, 0.3)], ids=repr)
def test_simulated_multivariate_t(kernel, dim):
    rng = np.random.default_rng(12345)
    matern = Matern(kernel.scale, 0.5) if isinstance(kernel, Laplacian) else kernel
    thresholds = law_of(kernel, dim).quantile(np.arange(1, 20) / 20)
    right = student_radii(matern, dim, 300_000, rng)
    assert np.abs(z_scores(right[:, None] <= thresholds, np.arange(1, 20) / 20)).max() < 5
    independent = student_radii(matern, dim, 300_000, rng, per_coordinate=True)
    assert np.abs(z_scores(independent[:, None] <= thresholds, np.arange(1, 20) / 20)).max() > 5
    assert np.abs(z_scores(1.02 * right[:, None] <= thresholds, np.arange(1, 20) / 20)).max() > 5


# ---- mixtures of Gaussians over their scale ------------------------------------------------------------------------


def mixture_cdf(r, scale, alpha, dim):
    """P(R <= r) = int P(chi_d^2 <= r^2 / t) Gamma(alpha, rate alpha scale^2)(dt), over u = ln t."""
    rate = alpha * scale**2

    def integrand(u):
        t = np.exp(u)
        density = np.exp(alpha * (u + np.log(rate)) - rate * t - special.gammaln(alpha))
        return density * special.gammainc(dim / 2, r**2 / (2 * t))

    middle, mode = np.log(r**2 / dim), np.log(alpha / rate)  # where the cdf falls, and where the density peaks
    low, high = mode - 40 / alpha - 3, np.log((800 + 2 * alpha) / rate)  # the density is below e^-40 outside
    edges = np.unique(np.clip([low, middle - 3, middle, middle + 3, mode - 1, mode, mode + 1, high], low, high))
    return sum(integrate.quad(integrand, *ends, epsabs=1e-13, epsrel=1e-12, limit=200)[0] for ends in pairwise(edges))


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize(
    ("kernel", "scale", "alpha"),
    [
        (RationalQuadratic(1.0, 0.1), 1.0, 0.1),
        (RationalQuadratic(0.7, 0.5), 0.7, 0.5),
        (RationalQuadratic(1.0, 3.0), 1.0, 3.0),
        (RationalQuadratic(2.0, 40.0), 2.0, 40.0),
        (Cauchy(1.5), 1.5 / np.sqrt(2), 1.0),
        (InverseMultiquadric(0.8), 0.8, 0.5),
    ],
    ids=repr,
)
def test_gamma_mixtures_by_quadrature(kernel, scale, alpha, dim):
    law = law_of(kernel, dim)
    r = law.quantile(PROBABILITIES)
    exact = [mixture_cdf(radius, scale, alpha, dim) for radius in r]
    # the trapezoidal rule converges geometrically; the quintic spline between its nodes (whose step in ln r^2 is a
    # twentieth of the width of the law) has an error of 1e-9
    assert_allclose(law.cdf(r), exact, atol=2e-9)


def test_known_mixtures():
    r = np.geomspace(1e-2, 30, 40)
    assert_allclose(law_of(Cauchy(2.0), 1).cdf(r), stats.expon.cdf(2 * r), atol=1e-9)  # 1/(1+z^2): p = e^-r
    assert_allclose(law_of(Cauchy(2.0), 3).cdf(r), stats.gamma(2).cdf(2 * r), atol=1e-9)  # p = e^-r / r
    assert_allclose(law_of(InverseMultiquadric(2.0), 2).cdf(r), stats.expon.cdf(2 * r), atol=1e-9)


@pytest.mark.parametrize("dim", DIMS)
def test_gamma_mixture_density_by_bessel_function(dim):
    # m(r) = (4 / r) x^(alpha + d/2) K_(d/2 - alpha)(2 x) / (Gamma(alpha) Gamma(d/2)),  x = r scale sqrt(alpha/2)
    alpha, scale, half = 1.7, 0.6, mpmath.mpf(dim) / 2
    law = law_of(RationalQuadratic(scale, alpha), dim)
    for r in law.quantile(PROBABILITIES[2:-1]):
        x = mpmath.mpf(r) * scale * mpmath.sqrt(mpmath.mpf(alpha) / 2)
        bessel = mpmath.besselk(half - alpha, 2 * x)
        exact = 4 / r * x ** (alpha + half) * bessel / (mpmath.gamma(alpha) * mpmath.gamma(half))
        assert_allclose(law.measure.density(np.array(r)), float(exact), rtol=1e-7)


def test_mixtures_of_many_terms_need_no_kernel():
    terms = {float(s): (-1.0) ** i / (i + 1) for i, s in enumerate(np.geomspace(0.5, 8, 9))}
    z = np.linspace(0, 10, 21)
    exact = sum(a * np.exp(-((z / s) ** 2) / 2) for s, a in terms.items())
    parts = jordan(gaussian_mixture(terms, 4))
    assert_allclose(sum(law.sign * law.mass * law.profile(z) for law in parts.parts), exact, atol=2e-12)
