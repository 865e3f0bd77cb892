"""Quasi-Monte Carlo points and spherical-radial quadrature: identities in every draw, and unbiasedness over draws."""

from __future__ import annotations

from math import gamma

import numpy as np
import pytest
from scipy.special import ndtr, ndtri
from scipy.stats import chi, qmc

from krein import make_features
from krein.kernels import DeltaGaussian, Gaussian, Laplacian, Matern
from krein.sampling import RULES, Frequencies, predicted_error, sample_with_rule
from krein.sampling.rules import mysovskikh, size_biased
from krein.spectral import jordan_parts
from krein.testing import rows_at_distances, spanning_lags, z_scores

DELTA = DeltaGaussian((1.0, -0.5), (1.0, 3.0))
SMOOTH = Matern(1.0, 2.5)
POINTS = ["sobol", "halton"]
ENGINES = {"sobol": qmc.Sobol, "halton": qmc.Halton}
RADIAL = ["spherical-radial-3", "spherical-radial-5"]


# ---- quasi-Monte Carlo ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", POINTS)
def test_points_of_a_gaussian_are_normal_quantiles(rule):
    """The radius F^-1(chi_d(|g|)) is |g| where F is chi_d: direction and radius together are Phi^-1(u)."""
    law = jordan_parts(Gaussian(2.0), 5).positive
    weights, coefficients, constant = RULES[rule].points(law, 64, np.random.default_rng(12345))
    u = ENGINES[rule](d=5, scramble=True, rng=np.random.default_rng(12345)).random(64)
    np.testing.assert_allclose(weights, ndtri(u) / 2, rtol=0, atol=1e-8)
    np.testing.assert_allclose(coefficients, 1 / 64)
    assert constant == 0


@pytest.mark.parametrize("count", [64, 256])
def test_sobol_points_are_stratified(count):
    """Each of the ``count`` intervals of equal probability of a coordinate has one frequency; other points do not."""
    law = jordan_parts(Gaussian(), 3).positive

    def strata(weights):
        return np.sort(np.floor(ndtr(weights) * count), axis=0)

    expected = np.tile(np.arange(count)[:, None], 3)
    weights, _, _ = RULES["sobol"].points(law, count, np.random.default_rng(12345))
    np.testing.assert_array_equal(strata(weights), expected)
    assert (strata(np.random.default_rng(12345).standard_normal((count, 3))) != expected).any()


def variance_times_count(rule, count, n_draws=150):
    law = jordan_parts(Gaussian(), 2).positive
    rng = np.random.default_rng(12345)
    direction = np.array([0.6, 0.8])
    k_hat = [np.cos(RULES[rule].points(law, count, rng)[0] @ direction).mean() for _ in range(n_draws)]
    return count * np.var(k_hat, ddof=1)


@pytest.mark.parametrize("rule", POINTS)
def test_the_variance_falls_faster_than_one_over_the_count(rule):
    """Independent frequencies keep count * variance at (1 + k(2))/2 - k(1)^2 = .2."""
    few, more, many = (variance_times_count(rule, count) for count in (64, 256, 1024))
    assert few < 0.1 * 0.2
    assert more < 0.6 * few  # 150 draws: the ratio of two variances is good to a factor 1.3; measured .2
    assert many < 0.6 * more


def draws_of(rule, kernel, dim, count, n_draws=100):
    parts = jordan_parts(kernel, dim)
    rng = np.random.default_rng(12345)
    return [sample_with_rule(parts, [count] * len(parts.parts), rule, random_state=rng) for _ in range(n_draws)]


def scores_of(draws, kernel, dim, exact=None):
    z = spanning_lags(kernel)
    X, Y = rows_at_distances(z, dim, "euclidean", np.random.default_rng(12345))
    k_hat = np.array([found.evaluate(X - Y) for found in draws])
    return np.abs(z_scores(k_hat, (exact or kernel).profile(z))).max()


@pytest.mark.parametrize("dim", [2, 3, 16])
@pytest.mark.parametrize("rule", POINTS)
def test_scrambled_points_are_unbiased(rule, dim):
    """Also where the count is no power of two; a wrong scale, weight or sign is rejected."""
    draws = draws_of(rule, DELTA, dim, 150)
    assert scores_of(draws, DELTA, dim) < 5
    for mutant in (DeltaGaussian((1.0, -0.5), (1.1, 3.0)), DeltaGaussian((1.0, -0.4), (1.0, 3.0)), Gaussian()):
        assert scores_of(draws, DELTA, dim, mutant) > 5


@pytest.mark.parametrize("rule", POINTS)
def test_scrambled_points_are_unbiased_for_heavy_tails(rule):
    assert scores_of(draws_of(rule, Laplacian(), 3, 96), Laplacian(), 3) < 5


def test_points_that_are_not_scrambled_are_biased():
    """The same points in every draw, only the order of the coordinates differs."""
    rng = np.random.default_rng(12345)
    g = ndtri(np.clip(qmc.Sobol(d=3, scramble=False).random(64)[1:], 1e-12, 1 - 1e-12))
    draws = [Frequencies(g[:, rng.permutation(3)], np.full(63, 1 / 63)) for _ in range(100)]
    assert scores_of(draws, Gaussian(), 3) > 5


# ---- moments --------------------------------------------------------------------------------------------------------


def fourth_moments(weights, coefficients):
    return np.einsum("i,ia,ib,ic,ie->abce", coefficients, weights, weights, weights, weights)


def isotropic_fourth_moments(dim):
    """delta_ab delta_ce + delta_ac delta_be + delta_ae delta_bc: E u_a u_b u_c u_e times d (d + 2)."""
    eye = np.eye(dim)
    return sum(np.einsum(f"{pairs}->abce", eye, eye) for pairs in ("ab,ce", "ac,be", "ae,bc"))


@pytest.mark.parametrize("dim", [1, 2, 3, 7, 8, 16])
def test_mysovskikh_rule_has_degree_5(dim):
    directions, weights = mysovskikh(dim)
    assert len(directions) == (1 if dim == 1 else (dim + 1) * (dim + 2) // 2)
    np.testing.assert_allclose(np.linalg.norm(directions, axis=1), 1, rtol=1e-13)
    assert weights.sum() == pytest.approx(1, abs=1e-12)
    np.testing.assert_allclose(np.einsum("i,ia,ib->ab", weights, directions, directions), np.eye(dim) / dim, atol=1e-13)
    expected = isotropic_fourth_moments(dim) / (dim * (dim + 2))
    np.testing.assert_allclose(fourth_moments(directions, weights), expected, rtol=0, atol=1e-13)
    assert (weights.min() < 0) == (dim > 7)
    if dim > 2:  # not of degree 7, nor are the vertices alone of degree 5
        sixth = weights @ directions[:, 0] ** 6
        assert abs(sixth - 15 / (dim * (dim + 2) * (dim + 4))) > 1e-4
        vertices = directions[: dim + 1]
        assert np.abs(fourth_moments(vertices, np.full(dim + 1, 1 / (dim + 1))) - expected).max() > 1e-3


@pytest.mark.parametrize("power", [2, 4, 6])
@pytest.mark.parametrize("dim", [1, 2, 16, 300])
def test_size_biased_law_of_a_gaussian_is_chi_with_more_degrees_of_freedom(dim, power):
    law = size_biased(jordan_parts(Gaussian(2.0), dim).positive, power)
    expected = chi(dim + power, scale=0.5)
    moment = np.prod([dim + 2 * i for i in range(power // 2)]) / 2.0**power  # E r^2k = d (d + 2) ... / scale^2k
    left_out = 1e-14 * chi(dim, scale=0.5).isf(1e-14) ** power  # radii of probability below 1e-14, about
    assert law.mass == pytest.approx(moment, abs=3 * left_out, rel=1e-12)
    u = np.array([0.001, 0.1, 0.5, 0.9, 0.999])
    np.testing.assert_allclose(law.quantile(u), expected.ppf(u), rtol=1e-8)
    assert np.abs(law.quantile(u) - chi(dim, scale=0.5).ppf(u)).max() > 1e-3


def test_size_biased_moments_of_a_matern_kernel():
    """w has the law of Student's t with 2 nu degrees of freedom: E r^2 = d nu/(nu - 1)."""
    assert size_biased(jordan_parts(SMOOTH, 3).positive, 2).mass == pytest.approx(3 * 2.5 / 1.5, rel=1e-6)
    # nu = 1.5: the tail beyond probability 1e-14 carries 1e-14^(1/3) ~ 2e-5 of the moment, times a constant
    assert size_biased(jordan_parts(Matern(1.0, 1.5), 3).positive, 2).mass == pytest.approx(9, rel=1e-4)


# ---- quadrature -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_groups", [1, 3])
@pytest.mark.parametrize("dim", [1, 2, 3, 9])
@pytest.mark.parametrize("rule", RADIAL)
def test_polynomials_are_exact_in_every_draw(rule, dim, n_groups):
    """sum_i c_i p(w_i) + c_0 p(0) = int p dmu for p of degree 3 (5): odd degrees vanish, cosines are even.

    The moments of DeltaGaussian, sum_j a_j s_j^-2k, stand for its derivatives at 0: k_hat agrees there to O(z^4) (z^6).
    """
    counts = [n_groups * RULES[rule].group(dim)] * 2
    second = 1 - 0.5 / 3.0**2
    fourth = (1 - 0.5 / 3.0**4) * isotropic_fourth_moments(dim)
    for seed in range(5):
        found = sample_with_rule(jordan_parts(DELTA, dim), counts, rule, random_state=seed)
        w, c = found.weights, found.coefficients
        scale = np.abs(c) @ found.radii**4
        assert found.constant + c.sum() == pytest.approx(0.5, abs=1e-12 * np.abs(c).sum())
        np.testing.assert_allclose(np.einsum("i,ia,ib->ab", c, w, w), second * np.eye(dim), rtol=0, atol=1e-11 * scale)
        error = np.abs(fourth_moments(w, c) - fourth).max()
        assert (error < 1e-10 * scale) == (rule == "spherical-radial-5")
        if rule == "spherical-radial-3":
            assert error > 1e-3


@pytest.mark.parametrize("dim", [2, 3, 16])
@pytest.mark.parametrize("kernel", [Gaussian(), DELTA, SMOOTH], ids=repr)
def test_degree_3_is_unbiased(kernel, dim):
    draws = [found for found in groups("spherical-radial-3", kernel, dim, 400)]
    assert scores_of(draws, kernel, dim) < 5


@pytest.mark.parametrize("dim", [2, 3, 8])
@pytest.mark.parametrize("kernel", [Gaussian(), DELTA], ids=repr)
def test_degree_5_is_unbiased(kernel, dim):
    assert scores_of(groups("spherical-radial-5", kernel, dim, 400), kernel, dim) < 5


def groups(rule, kernel, dim, n_draws):
    """Independent draws of one group per part: one draw of many groups, taken apart."""
    parts, group = jordan_parts(kernel, dim), RULES[rule].group(dim)
    n_parts = len(parts.parts)
    found = sample_with_rule(parts, [n_draws * group] * n_parts, rule, random_state=12345)
    weights = found.weights.reshape(n_parts, n_draws, group, dim).swapaxes(0, 1).reshape(n_draws, -1, dim)
    coefficients = found.coefficients.reshape(n_parts, n_draws, group).swapaxes(0, 1).reshape(n_draws, -1) * n_draws
    constants = kernel.profile(0.0) - coefficients.sum(axis=1)
    return [Frequencies(*each) for each in zip(weights, coefficients, constants, strict=True)]


def biased_weights(found):
    """The law r^2 p(r) sampled, its factor E r^2/rho^2 forgotten."""
    return Frequencies(found.weights, np.sign(found.coefficients) / len(found.coefficients), 0.0)


def one_vertex_missing(found):
    """Its weight goes to the constant: alone it varies so much at d = 2 that many draws would be needed."""
    return Frequencies(found.weights[1:], found.coefficients[1:], found.constant + found.coefficients[0])


def wrong_scale(found):
    return Frequencies(found.weights * 1.1, found.coefficients, found.constant)


@pytest.mark.parametrize("dim", [2, 3, 16])
@pytest.mark.parametrize("mutant", [biased_weights, one_vertex_missing, wrong_scale])
def test_quadrature_mutants_are_rejected(mutant, dim):
    draws = groups("spherical-radial-3", Gaussian(), dim, 1600)
    assert scores_of(draws, Gaussian(), dim) < 5
    assert scores_of([mutant(found) for found in draws], Gaussian(), dim) > 5


def test_the_constant_may_be_negative_and_has_mean_zero():
    """A control variate: E 1 - E r^2/rho^2 = 0. It adds no bias, and saves variance at small distances."""
    draws = groups("spherical-radial-3", Gaussian(), 3, 2000)
    constants = np.array([found.constant for found in draws])
    assert constants.min() < 0 < constants.max()
    assert abs(z_scores(constants, 0.0)) < 5
    near = np.array([[found.evaluate([0.1, 0, 0]), found.evaluate([0.1, 0, 0]) - found.constant] for found in draws])
    assert near.std(axis=0)[0] < 0.01 * near.std(axis=0)[1]
    features = [make_features("quadrature", Gaussian(), 9, random_state=s).fit(np.eye(1, 3)) for s in range(20)]
    assert {features_.signature_[-1] for features_ in features} == {-1.0, 1.0}


def test_radius_pairs_of_degree_5_have_their_joint_law():
    """The law r_1^2 r_2^2 (r_1^2 - r_2^2)^2 p(r_1) p(r_2), through its moments, symmetric in both radii."""
    dim, n = 3, 4000
    found = groups("spherical-radial-5", Gaussian(), dim, n)
    points = len(mysovskikh(dim)[1])
    squares = np.array([f.radii[[0, points]] ** 2 for f in found])
    m = {2 * k: 2**k * gamma(dim / 2 + k) / gamma(dim / 2) for k in range(7)}  # E r^2k of chi_d
    mass = 2 * (m[6] * m[2] - m[4] ** 2)
    product = 2 * (m[8] * m[4] - m[6] ** 2) / mass  # E r_1^2 r_2^2
    total = 2 * (m[8] * m[2] - m[6] * m[4]) / mass  # E r_1^2 + r_2^2
    values = np.stack([squares.prod(axis=1), squares.sum(axis=1), squares[:, 0] - squares[:, 1]], axis=1)
    assert np.abs(z_scores(values, [product, total, 0])).max() < 5
    assert abs(z_scores(values, [m[2] ** 2, 2 * m[2], 0])).max() > 5


@pytest.mark.parametrize(
    ("rule", "kernel"),
    [
        ("quadrature", Laplacian()),
        ("quadrature", Matern(1.0, 1.0)),
        ("quadrature-5", SMOOTH),
        ("quadrature", Gaussian() - 0.5 * Laplacian()),
    ],
    ids=repr,
)
def test_kernels_without_the_moments_are_refused(rule, kernel):
    with pytest.raises(ValueError, match=r"need a finite moment E r\^\d of the frequency radius.*Use 'gorf-blocks' or"):
        make_features(rule, kernel, 200, random_state=0).fit(np.eye(1, 3))


def test_too_few_frequencies_for_one_group_are_refused():
    with pytest.raises(ValueError, match="needs at least 4 frequencies per sign here; got 3"):
        sample_with_rule(jordan_parts(DELTA, 3), [3, 3], "spherical-radial-3")


@pytest.mark.parametrize("rule", RULES)
def test_whether_the_error_can_be_predicted(rule):
    counts = [RULES[rule].group(3)] * 2
    found = sample_with_rule(jordan_parts(DELTA, 3), counts, rule, random_state=0)
    if rule in RADIAL:
        assert predicted_error(found, 3, DELTA, [1.0]).mean_squared > 0
    else:
        with pytest.raises(ValueError, match="quasi-Monte Carlo"):
            predicted_error(found, 3, DELTA, [1.0])
