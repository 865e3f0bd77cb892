"""How frequencies are shared between the signs."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from krein import theory
from krein.kernels import DeltaGaussian, Gaussian, Matern
from krein.sampling import ALLOCATIONS
from krein.sampling.variance import pair_covariance, single_variance
from krein.spectral import jordan_parts
from krein.testing import spanning_lags

SYMMETRIC = jordan_parts(DeltaGaussian(), 256)
ASYMMETRIC = jordan_parts(DeltaGaussian((1.0, -0.1), (1.0, 2.0)), 256)  # masses 1 and 0.1
ONE_SIGN = jordan_parts(Gaussian(), 16)
Z = np.linspace(0.1, 3.0, 12)


@pytest.mark.parametrize("name", ALLOCATIONS)
@pytest.mark.parametrize("n", [2, 3, 4, 5, 7, 20, 101, 1000])
@pytest.mark.parametrize("parts", [SYMMETRIC, ASYMMETRIC])
def test_every_sign_gets_one_and_the_total_is_kept(name, n, parts):
    counts = ALLOCATIONS[name](parts, n, Z)
    assert all(type(count) is int and count >= 1 for count in counts)
    assert len(counts) == 2
    assert sum(counts) == (n // 2 * 2 if name == "equal" else n)


@pytest.mark.parametrize("name", ALLOCATIONS)
@pytest.mark.parametrize("n", [1, 2, 17])
def test_one_sign_gets_all(name, n):
    assert ALLOCATIONS[name](ONE_SIGN, n, Z) == [n]


@pytest.mark.parametrize("n", [4, 5, 100])
def test_equal_is_equal(n):
    assert ALLOCATIONS["equal"](ASYMMETRIC, n, Z) == [n // 2, n // 2]


def test_by_mass_is_proportional():
    assert ALLOCATIONS["mass"](ASYMMETRIC, 1100, Z) == [1000, 100]
    assert ALLOCATIONS["mass"](ASYMMETRIC, 11, Z) == [10, 1]
    assert ALLOCATIONS["mass"](SYMMETRIC, 11, Z) in ([6, 5], [5, 6])
    assert ALLOCATIONS["mass"](ASYMMETRIC, 2, Z) == [1, 1]
    assert ALLOCATIONS["mass"](ASYMMETRIC, 3, Z) == [2, 1]


def test_by_variance_is_proportional_to_mass_times_deviation():
    dim = 256
    shares = []
    for law in ASYMMETRIC.parts:
        v = single_variance(law, Z) + (dim - 1) * pair_covariance(law, law, Z)
        shares.append(law.mass * np.sqrt(v.mean()))
    exact = 10_000 * np.array(shares) / np.sum(shares)
    assert_allclose(ALLOCATIONS["variance"](ASYMMETRIC, 10_000, Z), exact, atol=1)


@pytest.mark.parametrize(
    ("kernel", "dim"),
    [
        (DeltaGaussian((1.0, -0.1), (1.0, 2.0)), 16),
        (DeltaGaussian(), 16),
        (DeltaGaussian((0.2, -1.0), (3.0, 1.0)), 4),
        (Matern(1.0, 2.5) - 0.3 * Gaussian(2.0), 16),
    ],
)
def test_allocation_by_variance_has_the_smallest_variance(kernel, dim):
    parts, z, n = jordan_parts(kernel, dim), spanning_lags(kernel, 8), 500 * dim  # cut blocks are negligible
    counts = {name: allocate(parts, n, z) for name, allocate in ALLOCATIONS.items()}

    def mean(split):
        return theory.variance(kernel, dim, "gorf-blocks", split, z).mean()

    best = mean(counts["variance"])
    assert best < 0.95 * mean(counts["equal"])
    assert best < 1.02 * mean(counts["mass"])
    share = counts["variance"][0] / n
    for other in (0.7 * share, share + 0.3 * (1 - share)):  # the optimum is flat, but it is one
        first = max(1, round(n * other))
        assert best < mean([first, n - first])


def test_distances_matter_to_allocation_by_variance():
    # far out both cosines are noise of variance 1/2; near 0 the narrow kernel alone varies
    near, far = (ALLOCATIONS["variance"](SYMMETRIC, 1000, np.full(1, z)) for z in (0.3, 60.0))
    assert near[0] > 900
    assert_allclose(far, [500, 500], atol=25)


def test_a_part_without_variance_still_gets_a_frequency():
    assert min(ALLOCATIONS["variance"](SYMMETRIC, 10, np.zeros(1))) >= 1
