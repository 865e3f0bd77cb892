"""Every direction scheme is unbiased for every kernel of finite mass, and wrong laws are rejected.

A replicate is a small set of frequencies that is independent of the others: the standard error of a z-score comes from
the spread over replicates, because frequencies within one are correlated. Directions do not depend on the kernel, so
they are drawn once per scheme and dimension; only their inner product with the direction of x - y matters.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from krein import make_features
from krein.kernels import (
    Cauchy,
    DeltaGaussian,
    Epanechnikov,
    FromProfile,
    Gaussian,
    InverseMultiquadric,
    Laplacian,
    Matern,
    PolynomialOnSphere,
    RationalQuadratic,
)
from krein.sampling import DIRECTIONS, Frequencies, sample_frequencies
from krein.sampling.radii import UNBIASED_RADII
from krein.spectral import jordan, jordan_parts, published_polynomial
from krein.testing import assert_unbiased, rows_at_distances, spanning_lags, z_scores

DIMS = (2, 3, 16, 256)
PER_PART = {2: 31, 3: 31, 16: 40, 256: 256}  # frequencies of one replicate: full orthonormal blocks, and a cut one
REPLICATES = {2: 6400, 3: 6400, 16: 2500, 256: 200}
FEWER = {2: 800, 3: 800, 16: 600, 256: 120}  # for the tests of all kernels: 2.5e4 frequencies per part and scheme

KERNELS = [
    Gaussian(1.3),
    DeltaGaussian(),
    DeltaGaussian((1.0, -0.5), (1.0, 2.0)),
    DeltaGaussian((1.0, -0.5, 0.3), (1.0, 2.0, 7.0)),
    2 * Gaussian(1.0) * DeltaGaussian((1.0, -1.0), (10.0, 2.0)),
    Laplacian(1.2),
    Matern(1.0, 1.5),
    Matern(1.0, 0.3),
    RationalQuadratic(0.7, 0.5),
    Cauchy(1.5),
    InverseMultiquadric(0.8),
    Matern(1.0, 2.5) - 0.5 * Gaussian(2.0),
]
BOUNDED_DIMENSION = [  # finite mass up to a dimension only
    (Epanechnikov(1.3), 2),
    (PolynomialOnSphere(2.0, 1), 2),
    (PolynomialOnSphere(2.0, 3), 3),
    (PolynomialOnSphere(2.0, 12), 16),
    (PolynomialOnSphere(2.0, 4) - Gaussian(1.0), 3),
]


def damped(z):
    return np.exp(-(z**2) / 2) * (1 - z**2 / 4) + 0.25


NUMERICAL = [FromProfile(damped), Gaussian() * Cauchy()]  # no closed form; `damped` has a constant at infinity


@cache
def cosines_of_directions(scheme: str, dim: int) -> np.ndarray:
    """Inner products of directions with one fixed unit vector: (replicates, 2 parts, frequencies)."""
    rng = np.random.default_rng(12345)
    fixed = rng.standard_normal(dim)
    fixed /= np.linalg.norm(fixed)
    counts = [PER_PART[dim]] * 2
    return np.array([[u @ fixed for u in DIRECTIONS[scheme](dim, counts, rng)] for _ in range(REPLICATES[dim])])


def replicates(radii, signed_masses, scheme: str, dim: int, z, constant: float = 0.0):
    """k_hat(z) of every replicate: ``radii`` has one array per part, ``signed_masses`` their coefficients."""
    count = radii[0].size // PER_PART[dim]
    total = np.full((count, len(z)), constant)
    for part, (r, mass) in enumerate(zip(radii, signed_masses, strict=True)):
        w = cosines_of_directions(scheme, dim)[:count, part] * r.reshape(count, PER_PART[dim])
        total += mass * np.array([np.cos(w * distance).mean(axis=1) for distance in z]).T
    return total


def check_all_schemes(kernel, dim):
    parts, z = jordan_parts(kernel, dim), spanning_lags(kernel)
    rng = np.random.default_rng(12345)
    radii = [law.sample(FEWER[dim] * PER_PART[dim], rng) for law in parts.parts]
    masses = [law.sign * law.mass for law in parts.parts]
    for scheme in DIRECTIONS:
        scores = z_scores(replicates(radii, masses, scheme, dim, z, parts.constant), kernel.profile(z))
        assert np.abs(scores).max() < 5, scheme


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_kernels_with_finite_mass_in_every_dimension(kernel, dim):
    check_all_schemes(kernel, dim)


@pytest.mark.parametrize(("kernel", "dim"), BOUNDED_DIMENSION, ids=repr)
def test_kernels_with_finite_mass_in_low_dimension(kernel, dim):
    check_all_schemes(kernel, dim)


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("kernel", NUMERICAL, ids=["damped", "gaussian times cauchy"])
def test_kernels_without_a_closed_form(kernel, dim):
    check_all_schemes(kernel, dim)


# ---- mutants --------------------------------------------------------------------------------------------------------


@cache
def gaussian_radii(dim: int) -> np.ndarray:
    rng = np.random.default_rng(12345)
    return jordan_parts(Gaussian(), dim).positive.sample(REPLICATES[dim] * PER_PART[dim], rng)


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("scheme", DIRECTIONS)
def test_a_scale_2_percent_off_is_rejected(scheme, dim):
    z = spanning_lags(Gaussian())
    radii = gaussian_radii(dim)

    def worst(r):
        return np.abs(z_scores(replicates([r], [1.0], scheme, dim, z), Gaussian().profile(z))).max()

    assert worst(radii) < 5
    if (scheme, dim) != ("iid", 256):  # 5e4 independent frequencies are too few for it
        assert worst(radii / 1.02) > 5
    assert worst(radii / 1.05) > 5


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("scheme", DIRECTIONS)
def test_a_dropped_jacobian_is_rejected(scheme, dim):
    # the Fourier density at a point taken for the law of the radius: |N(0, 1)| instead of chi_d
    z = spanning_lags(Gaussian())
    radii = np.abs(np.random.default_rng(12345).standard_normal(FEWER[dim] * PER_PART[dim]))
    assert np.abs(z_scores(replicates([radii], [1.0], scheme, dim, z), Gaussian().profile(z))).max() > 5


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("scheme", DIRECTIONS)
def test_swapped_masses_and_equal_masses_are_rejected(scheme, dim):
    kernel = DeltaGaussian((1.0, -0.5), (1.0, 2.0))
    parts, z = jordan_parts(kernel, dim), spanning_lags(kernel)
    rng = np.random.default_rng(12345)
    radii = [law.sample(FEWER[dim] * PER_PART[dim], rng) for law in parts.parts]
    p, n = parts.positive.mass, parts.negative.mass

    def worst(masses):
        return np.abs(z_scores(replicates(radii, masses, scheme, dim, z), kernel.profile(z))).max()

    assert worst([p, -n]) < 5
    assert worst([n, -p]) > 5
    assert worst([(p + n) / 2, -(p + n) / 2]) > 5
    assert worst([p, n]) > 5


def test_2_percent_at_d_256_is_rejected_by_2e5_independent_frequencies():
    rng = np.random.default_rng(12345)
    z = spanning_lags(Gaussian())
    first = np.concatenate([DIRECTIONS["iid"](256, [2000], rng)[0][:, 0] for _ in range(100)])
    w = first * jordan_parts(Gaussian(), 256).positive.sample(200_000, rng)

    def worst(frequencies):
        return np.abs(z_scores(np.cos(np.multiply.outer(frequencies, z)), Gaussian().profile(z))).max()

    assert worst(w) < 5
    assert worst(w / 1.02) > 5


# ---- whole maps, through the public assertion -----------------------------------------------------------------------


def draw_frequencies(kernel, dim, counts, **options):
    parts = jordan_parts(kernel, dim)
    return lambda seed: sample_frequencies(parts, counts, random_state=seed, **options)


@pytest.mark.parametrize("radii", UNBIASED_RADII)
@pytest.mark.parametrize("directions", DIRECTIONS)
def test_sampled_frequencies(directions, radii):
    kernel = DeltaGaussian((1.0, -0.5), (1.0, 2.0))
    draw = draw_frequencies(kernel, 16, [160, 160], directions=directions, radii=radii)
    assert_unbiased(draw, kernel, 16, n_draws=100, random_state=12345)


def test_unequal_counts_and_a_constant():
    kernel = FromProfile(damped)
    parts = jordan_parts(kernel, 16)
    assert parts.constant == pytest.approx(0.25)
    assert_unbiased(draw_frequencies(kernel, 16, [50, 20]), kernel, 16, n_draws=100, random_state=12345)


def test_random_features_on_the_sphere():
    kernel = PolynomialOnSphere(2.0, 4)

    def draw(seed):
        return make_features("gorf-blocks", kernel, 240, random_state=seed).fit(np.eye(1, 3))

    assert_unbiased(draw, kernel, 3, n_draws=100, random_state=12345)


@pytest.mark.parametrize("directions", ["iid", "joint"])
def test_the_published_recipe_is_biased(directions):
    parts = jordan(published_polynomial(3.0, 1, 16))
    with pytest.raises(AssertionError, match="biased"):
        assert_unbiased(
            lambda seed: sample_frequencies(parts, [32, 32], directions=directions, random_state=seed),
            PolynomialOnSphere(3.0, 1),
            16,
            n_draws=100,
            random_state=12345,
        )


class Rademacher:
    """Random Maclaurin features of (x.y)^2, not cosines: 8 products of two random projections on signs."""

    def __init__(self, seed: int, dim: int, factor: float = 1.0) -> None:
        self.signs = np.random.default_rng(seed).choice([-1.0, 1.0], (2, dim, 8))
        self.factor = factor

    def approximate_kernel(self, X, Y):
        Z, W = ((A @ self.signs[0]) * (A @ self.signs[1]) for A in (X, Y))
        return self.factor * Z @ W.T / 8


def squared(z):
    return (1 - z**2 / 2) ** 2


def test_maps_that_are_not_cosines():
    kernel = FromProfile(squared, on="sphere")
    assert_unbiased(lambda seed: Rademacher(seed, 5), kernel, 5, n_draws=4000, random_state=12345)
    with pytest.raises(AssertionError, match="biased"):
        assert_unbiased(lambda seed: Rademacher(seed, 5, 1.1), kernel, 5, n_draws=4000, random_state=12345)


class Exact:
    """The kernel itself, to rounding: a map without randomness."""

    def __init__(self, kernel, error: float = 0.0) -> None:
        self.kernel, self.error = kernel, error

    def approximate_kernel(self, X, Y):
        return self.kernel(X, Y) + self.error


def test_maps_without_randomness():
    assert_unbiased(lambda seed: Exact(Gaussian(), 1e-13), Gaussian(), 4, random_state=12345)
    with pytest.raises(AssertionError, match="biased"):
        assert_unbiased(lambda seed: Exact(Gaussian(), 1e-8), Gaussian(), 4, random_state=12345)


def test_a_failure_names_the_worst_distance():
    frequencies = Frequencies(np.zeros((1, 4)), np.ones(1))
    message = r"biased: at distance 2 the mean of 100 draws is 1, the kernel is 0\.135335: z ="
    with pytest.raises(AssertionError, match=message):
        assert_unbiased(lambda seed: frequencies, Gaussian(), 4, lags=[0.0, 1.0, 2.0], n_draws=100, random_state=0)


def test_the_assertion_is_reproducible_and_uses_different_seeds():
    seen: list[int] = []

    def draw(seed):
        seen.append(seed)
        return Exact(Gaussian())

    for _ in range(2):
        assert_unbiased(draw, Gaussian(), 4, n_draws=100, random_state=7)
    assert seen[:100] == seen[100:]
    assert len(set(seen)) == 100
    assert all(type(seed) is int for seed in seen)


@pytest.mark.parametrize(
    ("options", "message"),
    [({"n_draws": 99}, "n_draws must be an integer >= 100"), ({"threshold": 0}, "threshold must")],
)
def test_arguments_of_the_assertion(options, message):
    with pytest.raises(ValueError, match=message):
        assert_unbiased(lambda seed: Exact(Gaussian()), Gaussian(), 4, random_state=0, **options)


# ---- the pieces of the assertion ------------------------------------------------------------------------------------


@pytest.mark.parametrize("domain", ["euclidean", "sphere"])
@pytest.mark.parametrize("dim", [2, 3, 256])
def test_rows_have_the_distances_asked_for(domain, dim):
    z = np.linspace(0, 2, 21)
    X, Y = rows_at_distances(z, dim, domain, np.random.default_rng(12345))
    np.testing.assert_allclose(np.linalg.norm(X - Y, axis=1), z, atol=1e-14)
    if domain == "sphere":
        np.testing.assert_allclose(np.linalg.norm([X, Y], axis=2), 1, atol=1e-14)


@pytest.mark.parametrize(
    ("z", "dim", "domain"),
    [([2.1], 3, "sphere"), ([1.0], 1, "sphere"), ([-1.0], 3, "euclidean"), ([[1.0]], 3, "euclidean")],
)
def test_impossible_distances_are_refused(z, dim, domain):
    with pytest.raises(ValueError, match=r"Distances must|dim must"):
        rows_at_distances(z, dim, domain, np.random.default_rng(0))


def test_lags_span_the_range_of_the_kernel():
    share = (np.arange(20) + 0.5) / 20
    np.testing.assert_allclose(Gaussian(0.01).profile(spanning_lags(Gaussian(0.01))), 1 - share, atol=1e-4)
    both = spanning_lags(DeltaGaussian())  # falls within 0..3.2 and rises again within 3.2..50
    assert (both < 3.2).sum() == 10
    assert both.max() > 20
    sphere = spanning_lags(PolynomialOnSphere(3.0, 1))
    assert sphere.max() < 2
    np.testing.assert_allclose(1 - sphere**2 / 9, 1 - 4 / 9 * share, atol=1e-4)
    with pytest.raises(ValueError, match="must vary"):
        spanning_lags(FromProfile(np.ones_like))


def test_z_scores_are_standard_normal():
    samples = np.random.default_rng(12345).standard_normal((400, 2000)) * 3 + 7
    scores = z_scores(samples, 7.0)
    assert abs(scores.mean()) * np.sqrt(2000) < 5
    assert abs(scores.var() - 400 / 398) / np.sqrt(2 / 2000) < 5  # t with 399 degrees of freedom
