"""Empirical variances of k_hat over independent draws against the exact formulas, and mutated formulas rejected.

A statistic is ln(sample variance / exact variance) over its standard error from the fourth moment. (The logarithm makes
its law symmetric; the error of a sample variance is larger where the sample variance is.)
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose

from krein.kernels import Cauchy, DeltaGaussian, Gaussian, Matern
from krein.sampling import DIRECTIONS, variance
from krein.sampling.variance import (
    block_sizes,
    gauss_rule,
    joint_correlations,
    pair_covariance,
    single_variance,
)
from krein.spectral import jordan_parts, omega
from krein.testing import spanning_lags

SCHEMES = ("iid", "blocks", "joint", "shared")
KERNELS = [DeltaGaussian(), DeltaGaussian((1.0, -0.5), (1.0, 2.0)), Gaussian(1.3), Matern(1.0, 2.5)]
DRAWS = {2: 5000, 3: 5000, 16: 4000, 64: 500}
COUNTS = {2: (1, 2, 5), 3: (2, 3, 7), 16: (5, 16, 40), 64: (20, 64, 150)}  # below d, d, and above it but no multiple
CASES = [(dim, count) for dim in (2, 16, 64) for count in COUNTS[dim]]


@cache
def cosines_of_directions(scheme: str, dim: int, counts: tuple[int, int]) -> list[np.ndarray]:
    """Inner products of all directions with one fixed unit vector: one array (draws, count) per part."""
    rng = np.random.default_rng(12345)
    fixed = np.ones(dim) / np.sqrt(dim)
    drawn = [DIRECTIONS[scheme](dim, counts, rng) for _ in range(DRAWS[dim])]
    return [np.array([pair[part] @ fixed for pair in drawn]) for part in range(2)]


@cache
def radius_pool(kernel, dim: int) -> list[np.ndarray]:
    """20000 radii per part at probabilities (i + 1/2)/20000: a law that is right to 1e-4, and quick to sample."""
    return [law.quantile((np.arange(20_000) + 0.5) / 20_000) for law in jordan_parts(kernel, dim).parts]


def estimates(kernel, scheme, dim, counts, z):
    """k_hat(z) without its constant, shape (draws, len(z))."""
    rng = np.random.default_rng(54321)
    laws = jordan_parts(kernel, dim).parts
    total = np.zeros((DRAWS[dim], len(z)))
    for law, pool, cosine in zip(
        laws, radius_pool(kernel, dim), cosines_of_directions(scheme, dim, counts), strict=False
    ):
        w = cosine * rng.choice(pool, cosine.shape)
        total += law.sign * law.mass * np.array([np.cos(w * distance).mean(axis=1) for distance in z]).T
    return total


def scores(samples, exact):
    centred = samples - samples.mean(axis=0)
    found = (centred**2).mean(axis=0) * len(samples) / (len(samples) - 1)
    spread = np.sqrt(((centred**4).mean(axis=0) - found**2) / len(samples))
    return np.log(found / exact) / (spread / found)


def lags(kernel):
    return spanning_lags(kernel, 7)


# ---- statistics ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("dim", "count"), CASES)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_empirical_variance(scheme, dim, count):
    for kernel in KERNELS:
        parts, z = jordan_parts(kernel, dim), lags(kernel)
        samples = estimates(kernel, scheme, dim, (count, count), z)
        assert np.abs(scores(samples, variance(parts, scheme, count, z))).max() < 5, kernel


@pytest.mark.parametrize("counts", [(3, 10), (40, 7), (16, 24)])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_empirical_variance_with_unequal_counts(scheme, counts):
    kernel = DeltaGaussian((1.0, -0.5), (1.0, 2.0))
    samples = estimates(kernel, scheme, 16, counts, lags(kernel))
    assert np.abs(scores(samples, variance(jordan_parts(kernel, 16), scheme, counts, lags(kernel)))).max() < 5


# ---- mutants ---------------------------------------------------------------------------------------------------------


def assembled(kernel, dim, count, *, within=1.0, swapped=False, across=0.0, squared=True):
    """The variance put together from its terms, with a factor on each of them."""
    parts, z = jordan_parts(kernel, dim), lags(kernel)
    total = np.zeros(len(z))
    for law in parts.parts:
        covariance = pair_covariance(law, law, z) * (-1 if swapped else 1)
        total += law.mass ** (2 if squared else 1) * (single_variance(law, z) / count + within * covariance)
    mixed = -2 * parts.positive.mass * parts.negative.mass * pair_covariance(parts.positive, parts.negative, z)
    return total + across * mixed


@pytest.mark.parametrize("dim", [2, 16])
@pytest.mark.parametrize("kernel", KERNELS[:2], ids=repr)
def test_wrong_variances_of_blocks_are_rejected(kernel, dim):
    samples = estimates(kernel, "blocks", dim, (dim, dim), lags(kernel))
    right = (dim - 1) / dim

    def worst(**changes):
        return np.abs(scores(samples, np.maximum(assembled(kernel, dim, dim, **changes), 1e-12))).max()

    assert worst(within=right) < 5
    assert worst(within=1.0) > 5  # (s - 1)/s forgotten
    assert worst(within=0.0) > 5  # independent directions
    assert worst(within=right, swapped=True) > 5  # G's terms exchanged, as the paper prints them
    if kernel.weights[1] != -1:  # the negative part of the default kernel has slow cosines and a mass near 1
        if dim == 2:  # in more dimensions little variance is left that a mass could multiply
            assert worst(within=right, squared=False) > 5
        else:  # two directions leave no room for a large effect
            assert worst(within=right, across=1.0) > 5  # orthogonal across the signs as well


@pytest.mark.parametrize(("dim", "count"), [(2, 5), (16, 40)])
def test_block_sizes_matter(dim, count):
    kernel = KERNELS[1]
    samples = estimates(kernel, "blocks", dim, (count, count), lags(kernel))
    sizes = block_sizes(count, dim)
    right = sum(m * (m - 1) for m in sizes) / count**2

    def worst(within):
        return np.abs(scores(samples, np.maximum(assembled(kernel, dim, count, within=within), 1e-12))).max()

    assert worst(right) < 5
    assert worst((count - 1) / count) > 5  # one block of s > d directions
    assert worst((dim - 1) / count) > 5  # as if the last block were full


def test_the_sign_of_h_matters():
    # equal radii on both sides, so that sharing directions has a large effect
    kernel, dim = KERNELS[1], 16
    samples = estimates(kernel, "shared", dim, (dim, dim), lags(kernel))
    parts, z = jordan_parts(kernel, dim), lags(kernel)
    right = variance(parts, "shared", dim, z)
    assert np.abs(scores(samples, right)).max() < 5
    blocks = variance(parts, "blocks", dim, z)
    assert np.abs(scores(samples, blocks)).max() > 5
    assert np.abs(scores(samples, 2 * blocks - right)).max() > 5


@pytest.mark.parametrize("law_of_q", ["iid", "orthogonal"])
def test_joint_is_neither_orthogonal_nor_independent(law_of_q):
    kernel, dim = KERNELS[1], 16
    samples = estimates(kernel, "joint", dim, (dim, dim), lags(kernel))
    within, across = {"iid": (0.0, 0.0), "orthogonal": ((dim - 1) / dim, 1.0)}[law_of_q]
    exact = np.maximum(assembled(kernel, dim, dim, within=within, across=across), 1e-12)
    assert np.abs(scores(samples, exact)).max() > 5


# ---- identities ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", SCHEMES)
def test_one_positive_frequency_has_the_variance_of_a_cosine(scheme):
    parts, z = jordan_parts(Gaussian(), 5), np.linspace(0, 4, 9)
    exact = (1 + np.exp(-2 * z**2)) / 2 - np.exp(-(z**2))
    assert_allclose(variance(parts, scheme, 1, z), exact, atol=1e-12)


@pytest.mark.parametrize("count", [1, 4, 10])
def test_iid_variance_of_gaussian_mixtures(count):
    kernel = DeltaGaussian((2.0, -1.0), (1.0, 3.0))
    parts, z = jordan_parts(kernel, 300), np.linspace(0, 6, 13)  # the parts are the two Gaussians at this dimension

    def single(scale):
        return (1 + np.exp(-2 * (z / scale) ** 2)) / 2 - np.exp(-((z / scale) ** 2))

    assert_allclose(variance(parts, "iid", count, z), (4 * single(1.0) + single(3.0)) / count, atol=1e-11)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_no_variance_at_distance_0(scheme):
    for kernel in KERNELS:
        assert_allclose(variance(jordan_parts(kernel, 16), scheme, 16, 0.0), 0, atol=1e-12)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("shape", [(), (3,), (2, 2)])
def test_shape_of_the_distances(scheme, shape):
    parts = jordan_parts(DeltaGaussian(), 4)
    z = np.full(shape, 0.8)
    found = variance(parts, scheme, 6, z)
    assert np.shape(found) == shape
    assert_allclose(found, float(variance(parts, scheme, (6, 6), 0.8)))


@pytest.mark.parametrize("scheme", ["blocks", "joint", "shared"])
def test_direction_schemes_are_all_the_same_in_dimension_1(scheme):
    # cos(w z) does not see the sign of w, and |w| is independent
    parts, z = jordan_parts(Gaussian() - 0.5 * Gaussian(0.5), 1), np.linspace(0, 3, 7)
    assert_allclose(variance(parts, scheme, 4, z), variance(parts, "iid", 4, z), atol=1e-12)


def test_covariance_of_two_cosines_by_direct_quadrature():
    # two orthogonal Gaussian frequencies: R1^2 + R2^2 is chi2 with 2d degrees of freedom, the law of dimension 2d
    law, z = jordan_parts(Gaussian(), 6).positive, np.linspace(0, 3, 7)
    both = jordan_parts(Gaussian(), 12).positive
    exact = both.expect(lambda r: omega(6, z[:, None] * r)) - np.exp(-(z**2))
    assert_allclose(pair_covariance(law, law, z), exact, atol=1e-9)  # PAIR_ORDER nodes per panel


def test_parallel_frequencies_of_equal_radius_are_one_frequency():
    kernel, z = Gaussian(), np.linspace(0, 3, 7)
    shared = variance(jordan_parts(kernel, 8), "shared", 8, z)
    assert_allclose(shared, variance(jordan_parts(kernel, 8), "blocks", 8, z), rtol=1e-12)  # one part: nothing to share


@pytest.mark.parametrize(("dim", "sizes"), [(2, [2, 2]), (3, [9, 4]), (16, [16, 16]), (64, [10, 100]), (256, [256])])
def test_moments_of_the_joint_correlation(dim, sizes):
    # rows of a 2m x d matrix with orthonormal columns; a = ||x||^2 ~ Beta(d/2, m - d/2), v_1^2 ~ Beta(1/2, (d-1)/2)
    m = max(*sizes, dim)
    nodes, weights = joint_correlations(dim, sizes)
    assert (nodes >= 0).all()
    assert (nodes <= 1).all()
    rng = np.random.default_rng(12345)
    a, v2 = rng.beta(dim / 2, m - dim / 2, 200_000), rng.beta(0.5, (dim - 1) / 2, 200_000)
    q2 = (1 - a) * v2 / (1 - a * v2)
    for power in (1, 2, 3, 4):
        samples = q2**power
        error = samples.std() / np.sqrt(len(samples))
        assert abs(samples.mean() - weights @ nodes ** (2 * power)) < 5 * error


def test_gauss_rules_are_exact_for_the_moments_they_can_have():
    rng = np.random.default_rng(12345)
    points, weights = rng.random(50), rng.random(50)
    nodes, rule = gauss_rule(points, weights, 4)
    for power in range(8):
        assert_allclose(rule @ nodes**power, (weights / weights.sum()) @ points**power, rtol=1e-12)


@pytest.mark.parametrize(
    ("s", "dim", "sizes"), [(1, 3, [1]), (3, 3, [3]), (7, 3, [3, 3, 1]), (2, 5, [2]), (4, 1, [1, 1, 1, 1])]
)
def test_block_sizes(s, dim, sizes):
    assert block_sizes(s, dim) == sizes


@pytest.mark.parametrize("dim", [1, 2, 3, 256, 2048])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_any_dimension(scheme, dim):
    found = variance(jordan_parts(DeltaGaussian(), dim), scheme, 4, [0.5, 1.0])
    assert (found > 0).all()
    assert (found < 4).all()


@pytest.mark.parametrize(
    ("scheme", "counts", "message"),
    [
        ("gorf", 4, "scheme must be one of"),
        ("iid", (4, 4, 4), "one entry per part with mass \\(2\\); got 3"),
        ("iid", 0, "counts must be an integer >= 1"),
        ("iid", (4, 2.5), "counts must be an integer >= 1"),
        ("iid", 2.5, "counts must be an integer >= 1; got 2.5"),
        ("iid", None, "counts must be an integer >= 1; got None"),
    ],
)
def test_errors(scheme, counts, message):
    with pytest.raises(ValueError, match=message):
        variance(jordan_parts(DeltaGaussian(), 4), scheme, counts, 1.0)


def test_heavy_tails_have_a_variance_too():
    # v(z) = (1 + k(2z))/2 - k(z)^2 holds for every law
    z = np.linspace(0.2, 3, 6)
    k = Cauchy().profile
    assert_allclose(variance(jordan_parts(Cauchy(), 16), "iid", 1, z), (1 + k(2 * z)) / 2 - k(z) ** 2, atol=1e-10)
