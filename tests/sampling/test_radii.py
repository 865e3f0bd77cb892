"""Radius schemes: every radius alone has the exact law; strata lower the variance."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from krein.kernels import DeltaGaussian, FromProfile, Gaussian, Laplacian, Matern
from krein.sampling import RADII, sample_frequencies
from krein.sampling.radii import UNBIASED_RADII
from krein.spectral import jordan_parts
from krein.spectral.bessel import omega
from krein.testing import assert_unbiased, z_scores

LAWS = {
    "gaussian": jordan_parts(Gaussian(), 16).positive,
    "heavy": jordan_parts(Matern(1.0, 0.7), 2).positive,
    "negative part": jordan_parts(DeltaGaussian((1.0, -0.5), (1.0, 2.0)), 3).negative,
}
LEVELS = np.arange(1, 20) / 20


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("scheme", UNBIASED_RADII)
def test_marginal_law_is_exact(scheme, name):
    law, rng = LAWS[name], np.random.default_rng(12345)
    thresholds = law.quantile(LEVELS)
    # 2000 replicates of 7 radii: strata do not fall on the levels
    r = RADII["iid"](law, 14_000, rng).reshape(2000, 7) if scheme == "iid" else replicates(law, 7, 2000, rng)
    share = (r[:, :, None] <= thresholds).mean(axis=1)
    assert np.abs(z_scores(share, LEVELS)).max() < 5
    # in random order, so that each single radius has the law, not only all of them together
    for position in (0, 6):
        assert np.abs(z_scores(r[:, position, None] <= thresholds, LEVELS)).max() < 5
    assert np.abs(z_scores((1.1 * r[:, :, None] <= thresholds).mean(axis=1), LEVELS)).max() > 5


def replicates(law, count, size, rng):
    """Stratified radii of ``size`` independent draws with one call of the quantile."""
    probabilities = np.array([rng.permutation(count) + rng.random(count) for _ in range(size)]) / count
    return law.quantile(probabilities)


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("count", [1, 2, 50])
def test_one_radius_per_stratum(name, count):
    law = LAWS[name]
    u = law.cdf(RADII["stratified"](law, count, np.random.default_rng(12345)))
    assert_array_equal(np.sort(np.floor(u * count)).astype(int), np.arange(count))


def test_strata_come_in_random_order():
    law = LAWS["gaussian"]
    rng = np.random.default_rng(12345)
    first = [law.cdf(RADII["stratified"](law, 5, rng))[0] for _ in range(200)]
    assert {int(u * 5) for u in first} == {0, 1, 2, 3, 4}


@pytest.mark.parametrize("name", LAWS)
def test_strata_lower_the_variance_of_means(name):
    law, rng = LAWS[name], np.random.default_rng(12345)
    for function in (np.cos, np.arctan):
        iid = function(RADII["iid"](law, 8000, rng)).reshape(1000, 8).mean(axis=1)
        strata = function(replicates(law, 8, 1000, rng)).mean(axis=1)
        # var / iid variance is below 1/2 here, and both are known to 5 %
        assert strata.var() < 0.75 * iid.var()


@pytest.mark.parametrize("scheme", UNBIASED_RADII)
def test_radii_depend_on_the_generator_alone(scheme):
    law = LAWS["gaussian"]
    a, b, c = (RADII[scheme](law, 20, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert_array_equal(a, b)
    assert (a != c).all()


@pytest.mark.parametrize("dim", [1, 2, 16, 300])
def test_root_mean_square_radius_of_a_gaussian(dim):
    radii = RADII["rms"](jordan_parts(Gaussian(0.5), dim).positive, 3, np.random.default_rng(0))
    np.testing.assert_allclose(radii, np.full(3, 2 * np.sqrt(dim)), rtol=1e-6)


def test_mean_of_equal_radii_is_not_the_kernel():
    """It is Omega_d(sqrt(E r^2) z), and a test against the kernel itself must fail."""
    dim = 5
    mean = FromProfile(lambda z: omega(dim, np.sqrt(dim) * z))

    def draw(seed):
        parts = jordan_parts(Gaussian(), dim)
        return sample_frequencies(parts, [100], directions="blocks", radii="rms", random_state=seed)

    assert_unbiased(draw, mean, dim, n_draws=100, random_state=12345)
    with pytest.raises(AssertionError, match="biased"):
        assert_unbiased(draw, Gaussian(), dim, n_draws=100, random_state=12345)


def test_an_infinite_second_moment_is_refused():
    law = jordan_parts(Laplacian(), 3).positive
    with pytest.raises(ValueError, match=r"radii='rms' need a finite moment E r\^2"):
        RADII["rms"](law, 3, np.random.default_rng(0))
