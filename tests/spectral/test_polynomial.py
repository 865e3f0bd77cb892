"""The zero-extended polynomial kernel and the published recipe, against quadrature with scipy's Bessel functions."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import gammaln, jv

from krein.exceptions import InfiniteMassError
from krein.spectral import jordan, omega, published_polynomial, zero_extended_polynomial


def direct_density(a, degree, dim, r, *, jacobian=True):
    """The formula of the module docstring, term by term, in log domain."""
    total = np.zeros(len(r))
    for i in range(degree + 1):
        nu = dim / 2 + i
        jump = (1 - 4 / a**2) ** (degree - i)
        log_term = gammaln(degree + 1) - gammaln(degree - i + 1) + i * np.log(2 / a**2) - gammaln(dim / 2)
        log_term = log_term + (1 - dim / 2) * np.log(2) + nu * np.log(2 / r)
        log_term = log_term + ((dim - 1) * np.log(r) if jacobian else 0.0)
        total += jump * np.exp(log_term) * jv(nu, 2 * r)
    return total


def zero_extended(a, degree, z):
    return np.where(z <= 2, (1 - np.minimum(z, 2.0) ** 2 / a**2) ** degree, 0.0)


def reconstructed(parts, z):
    return parts.constant + sum(law.sign * law.mass * law.profile(z) for law in parts.parts)


# a and degree of mass finite in dim, from the edge of it to far inside
FINITE = [(1, 1), (1, 2), (2, 1), (2, 2), (3, 2), (3, 6), (4, 2), (16, 8), (16, 12), (48, 34), (128, 74)]
LARGE = [(128, 256), (200, 100), (200, 200), (256, 140)]  # d/2 + degree + 1 beyond the range of Omega_d's tables
SMALL_DISTANCES = np.concatenate([np.linspace(0.0, 1.95, 14), [2.0, 2.05, 2.3, 3.0]])


@pytest.mark.parametrize(("dim", "degree"), [*FINITE, *LARGE])
def test_finite_measures_give_the_profile_back_within_their_error(dim, degree):
    measure = zero_extended_polynomial(2.0, degree, dim)
    parts = jordan(measure)
    # beyond the cut-off, whose share `error` bounds: 1e5 samples of an oscillation, each good to 1e-15
    tolerance = 1.1 * measure.error + 1e-10
    assert tolerance < 2e-3
    assert_allclose(reconstructed(parts, SMALL_DISTANCES), zero_extended(2.0, degree, SMALL_DISTANCES), atol=tolerance)
    assert_allclose(parts.positive.mass - parts.negative.mass, 1.0, atol=tolerance)


@pytest.mark.parametrize(("dim", "degree"), [*FINITE, *LARGE])
def test_densities(dim, degree):
    measure = zero_extended_polynomial(2.0, degree, dim)
    peak = max(1.0, np.sqrt(dim * degree) / 2)
    r = np.linspace(peak / 4, 3 * peak, 400) + 0.007
    exact = direct_density(2.0, degree, dim, r)
    # a quintic spline of step h = 0.05 in sin(2r): (2h)^6 / 720 = 1.4e-9 inside, a few times more at its ends
    assert_allclose(measure.density(r), exact, atol=1e-8 * np.abs(exact).max())


@pytest.mark.parametrize("a", [1.0, np.sqrt(2), 2.0, 3.0])
@pytest.mark.parametrize(("dim", "degree"), [(2, 3), (5, 1), (16, 1), (16, 2)])
def test_cut_off_densities_and_their_integral(a, dim, degree):
    measure = zero_extended_polynomial(a, degree, dim, cutoff=30.0)
    assert measure.support == (0.0, 30.0)
    r = np.linspace(0.0, 30.0, 30_001)
    exact = np.concatenate([measure.density(r[:1]), direct_density(a, degree, dim, r[1:])])
    scale = np.abs(exact).max()
    assert_allclose(measure.density(r), exact, atol=1e-8 * scale)  # as above
    integral = np.concatenate([[0.0], np.cumsum((exact[1:] + exact[:-1]) / 2 * 1e-3)])
    assert_allclose(measure.cumulative(r), integral, atol=2e-6 * scale)  # trapezoidal rule: h^2/12 of a slope 2 scale


@pytest.mark.parametrize(("cutoff", "published"), [(25.0, 3e5), (50.0, 6e7), (100.0, 1e10)])
def test_mass_of_the_papers_extension_explodes(cutoff, published):
    parts = jordan(zero_extended_polynomial(3.0, 1, 16, cutoff=cutoff))
    r = np.linspace(0.0, cutoff, 100_001)[1:]
    exact = np.trapezoid(np.abs(direct_density(3.0, 1, 16, r)), r)
    # trapezoidal rule with step 1e-3, which also sees the kinks of |m|: h^2 slope / 8 at each of 2 cutoff/pi of them
    assert_allclose(parts.total_mass, exact, rtol=1e-4)
    assert published == float(f"{exact:.0e}")
    assert len(parts.positive.left) + len(parts.negative.left) == pytest.approx(2 * cutoff / np.pi, abs=6)


@pytest.mark.parametrize("dim", [1, 2, 3, 4, 5, 16, 17])
def test_mass_is_finite_from_degree_d_minus_1_over_2_on(dim):
    for degree in range(1, 11):
        if degree > (dim - 1) / 2:
            assert np.isfinite(jordan(zero_extended_polynomial(2.0, degree, dim)).total_mass)
        else:
            with pytest.raises(InfiniteMassError, match="finite mass needs a = 2 and degree"):
                zero_extended_polynomial(2.0, degree, dim)


@pytest.mark.parametrize("a", [1.0, np.sqrt(2), 1.999, 3.0])
@pytest.mark.parametrize("dim", [1, 2, 16])
def test_a_jump_at_opposite_points_has_infinite_mass_whatever_the_degree(a, dim):
    with pytest.raises(InfiniteMassError, match=f"dimension {dim}"):
        zero_extended_polynomial(a, 20, dim)


@pytest.mark.parametrize("cutoff", [0.0, -1.0, np.nan])
def test_cut_offs_must_be_positive(cutoff):
    with pytest.raises(ValueError, match="cutoff must be > 0"):
        zero_extended_polynomial(3.0, 1, 4, cutoff=cutoff)


def test_mass_grows_slower_than_the_cut_off_of_a_finite_measure():
    masses = [jordan(zero_extended_polynomial(2.0, 9, 16, cutoff=c)).total_mass for c in (50.0, 100.0, 200.0, 400.0)]
    steps = np.diff(masses)
    assert (steps > 0).all()
    # |m| falls like r^-q, q = degree + 3/2 - d/2 = 5/2: each octave has 2^(1-q) of the mass of the one before
    assert_allclose(steps[1:] / steps[:-1], 2**-1.5, rtol=0.05)


# ---- the published recipe -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("dim", "negative", "digits"), [(16, 7.7e-4, 1), (22, 1.7e-4, 1), (256, 0.0, 12)])
def test_published_masses(dim, negative, digits):
    parts = jordan(published_polynomial(3.0, 1, dim))
    assert_allclose(parts.total_mass, 1.0, rtol=1e-12)
    if negative:
        assert float(f"{parts.negative.mass:.{digits}e}") == negative
        r = np.linspace(0.0, 60.0 + dim, 400_001)[1:]
        p = direct_density(3.0, 1, dim, r, jacobian=False)
        share = np.maximum(-p, 0).sum() / np.abs(p).sum()
        assert_allclose(parts.negative.mass, share, rtol=1e-4)
    else:
        assert parts.negative.mass < 1e-12


@pytest.mark.parametrize("dim", [16, 22])
@pytest.mark.parametrize(("a", "degree"), [(3.0, 1), (3.0, 2), (2.0, 5)])
def test_published_recipe_has_another_kernel_as_its_limit(a, degree, dim):
    z = np.linspace(0.0, 2.0, 9)
    r = np.linspace(0.0, 60.0 + dim, 60_001)[1:]
    p = direct_density(a, degree, dim, r, jacobian=False)
    limit = np.array([np.sum(omega(dim, r * distance) * p) for distance in z]) / np.abs(p).sum()
    found = reconstructed(jordan(published_polynomial(a, degree, dim)), z)
    # rectangle rule with step 1e-3 on a density that starts at its maximum: half a step of mass 2 is missing, 1e-3 / 2
    assert_allclose(found, limit, atol=1e-3)
    assert np.abs(found - (1 - z**2 / a**2) ** degree).max() > 0.1  # the bias that the published rows carry


def test_published_law_lacks_exactly_the_jacobian():
    dim, r = 16, np.linspace(1.0, 20.0, 50)
    published = published_polynomial(3.0, 1, dim).density(r)
    cut_off = zero_extended_polynomial(3.0, 1, dim, cutoff=30.0).density(r)
    ratio = cut_off / (published * r ** (dim - 1))
    # both are splines of step 0.05 of one function, good to 1e-7 of the largest value nearby
    large = np.abs(published) > 1e-3 * np.abs(published).max()
    assert large.sum() > 5
    assert_allclose(ratio[large] / np.median(ratio[large]), 1.0, atol=1e-3)
