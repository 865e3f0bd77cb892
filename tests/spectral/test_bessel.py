"""Omega_d against mpmath, against identities between dimensions, and against its definition."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from krein.spectral.bessel import omega, omega_prime

# Both sides of every change of method: 1, 2, 3 are elementary, 512 is the last with scipy's J; odd and even orders.
DIMS = [1, 2, 3, 4, 5, 16, 17, 22, 64, 256, 511, 512, 513, 784, 2048, 4096]


def exact(dim, t):
    """0F1(; d/2; -t^2/4), with digits to spare for the cancellation exp(t)."""
    with mpmath.workdps(40 + int(t / 2)):
        return float(mpmath.hyp0f1(mpmath.mpf(dim) / 2, -(mpmath.mpf(float(t)) ** 2) / 4))


def points(dim):
    """Random t over the promised range, the ends, and both sides of the edges of the series (t^2 = 8 d and 12 d)."""
    rng = np.random.default_rng(12345)
    small, top = np.sqrt(2 * dim), 10 * np.sqrt(dim) + 100
    edges = np.sqrt(np.array([8, 12]) * dim)
    special = [0.0, 1e-9, small, *edges, *np.nextafter(edges, np.inf), *(edges * 1.02), 0.9 * (dim / 2 - 1), top]
    return np.abs(np.concatenate([special, rng.uniform(0, small, 6), rng.uniform(small, top, 8)]))


def check_values(function, dim):
    t = points(dim)
    expected = np.array([exact(dim, x) for x in t])
    error = np.abs(function(dim, t) - expected)
    assert error.max() <= 1e-12
    near = t <= np.sqrt(2 * dim)
    assert np.max(error[near] / np.abs(expected[near])) <= 1e-10


@pytest.mark.parametrize("dim", DIMS)
def test_values_against_mpmath(dim):
    check_values(omega, dim)


MUTANTS = {
    "next dimension": lambda dim, t: omega(dim + 1, t),
    "argument off by 1e-9": lambda dim, t: omega(dim, t * (1 + 1e-9)),
    "Gaussian limit": lambda dim, t: np.exp(-(t**2) / (2 * dim)),
    "absolute value": lambda dim, t: np.abs(omega(dim, t)),
    "cut too early": lambda dim, t: np.where(t**2 > 12 * dim, 0, omega(dim, t)),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_mutants_are_rejected(mutant):
    with pytest.raises(AssertionError):
        check_values(MUTANTS[mutant], 22)


@pytest.mark.parametrize("dim", [1, 2, 3, 16, 511, 513, 4096])
def test_derivative_against_mpmath(dim):
    t = points(dim)
    expected = np.array([-x / dim * exact(dim + 2, x) for x in t])
    np.testing.assert_allclose(omega_prime(dim, t), expected, rtol=0, atol=1e-12 * max(1, t.max() / dim))


@pytest.mark.parametrize("dim", [3, 4, 22, 300, 511, 700])
def test_recurrence_in_the_dimension(dim):
    # J_(nu-1) + J_(nu+1) = (2 nu / t) J_nu with nu = d/2 - 1 is, in Omega,
    # Omega_d(t) = Omega_(d-2)(t) + t^2 / (d (d-2)) Omega_(d+2)(t). Each term carries the promised 1e-12.
    t = np.linspace(0, 8 * np.sqrt(dim), 5000)
    factor = t**2 / (dim * (dim - 2))
    right = omega(dim - 2, t) + factor * omega(dim + 2, t)
    assert np.all(np.abs(omega(dim, t) - right) <= 1e-12 * (2 + factor))


def test_definition_as_a_mean_over_the_sphere():
    rng = np.random.default_rng(12345)
    u = rng.standard_normal((200_000, 5))
    first = u[:, 0] / np.linalg.norm(u, axis=1)
    for t in (0.5, 2.0, 6.0, 15.0):
        values = np.cos(t * first)
        z = (values.mean() - omega(5, t)) / (values.std() / np.sqrt(len(values)))
        assert abs(z) < 5
        wrong = (values.mean() - omega(6, t)) / (values.std() / np.sqrt(len(values)))
        assert abs(wrong) > 5


@pytest.mark.parametrize("dim", [1, 2, 3, 4, 5, 16, 256, 512, 513, 4096])
def test_bounded_and_finite_for_any_large_argument(dim):
    t = np.geomspace(1, 1e308, 3000)
    values = omega(dim, t)
    assert np.all(np.abs(values) <= 1)
    if dim > 1:  # abs(Omega_d(t)) is about (2/t)^((d-1)/2) Gamma(d/2) / sqrt(pi) at most, 8e-7 for d = 2
        assert np.all(np.abs(values[t > 1e12]) < 1e-6)


def test_even_and_one_at_the_origin():
    t = np.linspace(0, 200, 301)
    for dim in (1, 2, 3, 22, 600):
        np.testing.assert_array_equal(omega(dim, -t), omega(dim, t))
        np.testing.assert_array_equal(omega_prime(dim, -t), -omega_prime(dim, t))
        assert omega(dim, 0.0) == 1
        assert omega_prime(dim, 0.0) == 0


@pytest.mark.parametrize("dim", [1, 2, 3, 22, 512, 513])
def test_shapes_and_independence_of_neighbours(dim):
    t = np.random.default_rng(12345).uniform(0, 150, (3, 10_000))
    values = omega(dim, t)
    assert values.shape == t.shape
    assert values.dtype == np.float64
    assert omega(dim, 2.0).shape == ()
    assert omega(dim, []).shape == (0,)
    np.testing.assert_array_equal(omega(dim, t[:, ::7]), values[:, ::7])
    np.testing.assert_array_equal(omega(dim, t.astype(np.float32)), omega(dim, t.astype(np.float32).astype(float)))


@pytest.mark.parametrize("dim", [1, 2, 3, 22, 513])
def test_nan_stays_nan(dim):
    values = omega(dim, [1.0, np.nan, 140.0, 1e4])
    np.testing.assert_array_equal(np.isnan(values), [False, True, False, False])


@pytest.mark.parametrize("function", [omega, omega_prime])
@pytest.mark.parametrize("dim", [0, -3, 2.5, True, "3"])
def test_dimension_must_be_a_positive_integer(function, dim):
    with pytest.raises(ValueError, match="dim must be an integer >= 1; got"):
        function(dim, 1.0)
