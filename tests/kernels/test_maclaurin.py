"""Maclaurin coefficients of dot-product kernels against mpmath.taylor."""

from __future__ import annotations

import time
from fractions import Fraction
from math import comb

import mpmath
import numpy as np
import pytest

from krein.kernels import NTK, ArcCosine, DotProductKernel, DotProductOnSphere, PolynomialOnSphere, Tanh
from krein.kernels._series import derivative, integral, inverse_root, product


def kappa0(t):
    return 1 - mpmath.acos(t) / mpmath.pi


def kappa1(t):
    return (mpmath.sqrt(1 - t * t) + (mpmath.pi - mpmath.acos(t)) * t) / mpmath.pi


def kappa2(t):
    return (3 * t * mpmath.sqrt(1 - t * t) + (mpmath.pi - mpmath.acos(t)) * (1 + 2 * t * t)) / mpmath.pi


def ntk(depth: int):
    def f(t):
        similarity = tangent = t
        for _ in range(depth):
            similarity, tangent = kappa1(similarity), kappa1(similarity) + tangent * kappa0(similarity)
        return tangent

    return f


def tanh(scale: float, offset: float):
    return lambda t: mpmath.tanh(scale * t + mpmath.mpf(offset))


def polynomial(a: float, degree: int):
    return lambda t: (1 - 2 * (1 - t) / mpmath.mpf(a) ** 2) ** degree


def taylor(function, n_terms: int) -> np.ndarray:
    with mpmath.workdps(80):
        coefficients = [float(mpmath.re(c)) for c in mpmath.taylor(function, 0, n_terms - 1)]
    return np.array([0.0 if abs(c) < 1e-40 else c for c in coefficients])


@pytest.mark.parametrize(
    ("kernel", "function", "n_terms"),
    [
        (ArcCosine(0), kappa0, 40),
        (ArcCosine(1), kappa1, 40),
        (ArcCosine(2), kappa2, 40),
        (NTK(1), ntk(1), 30),
        (NTK(2), ntk(2), 30),
        (NTK(5), ntk(5), 20),
        (Tanh(2.0, -0.5), tanh(2.0, -0.5), 40),
        (Tanh(1.0, 0.0), tanh(1.0, 0.0), 40),
        (Tanh(-0.5, 1.0), tanh(-0.5, 1.0), 40),
        (Tanh(3.0, 0.2), tanh(3.0, 0.2), 40),
        (Tanh(1.0, 20.0), tanh(1.0, 20.0), 20),
        (PolynomialOnSphere(3.0, 1), polynomial(3.0, 1), 4),
        (PolynomialOnSphere(1.0, 4), polynomial(1.0, 4), 7),
        (PolynomialOnSphere(2.5, 40), polynomial(2.5, 40), 41),
    ],
    ids=lambda value: repr(value) if isinstance(value, DotProductKernel) else None,
)
def test_coefficients(kernel, function, n_terms: int) -> None:
    exact = taylor(function, n_terms)
    # recursions of n steps in which at most a few digits cancel (Tanh with an offset): n_terms ulp of each coefficient,
    # or of the largest where the coefficient itself is a difference
    np.testing.assert_allclose(kernel.maclaurin(n_terms), exact, rtol=n_terms * 1e-15, atol=1e-16 * np.abs(exact).max())
    for few in (1, 2):  # not bit for bit: sums of another length may be added up in another order
        np.testing.assert_allclose(kernel.maclaurin(few), exact[:few], rtol=n_terms * 1e-15, atol=1e-16)
    np.testing.assert_array_equal(kernel.maclaurin(n_terms)[exact == 0], 0)


@pytest.mark.parametrize(
    "kernel",
    [ArcCosine(0), ArcCosine(1), ArcCosine(2), NTK(1), NTK(3), PolynomialOnSphere(1.1, 5), Tanh(0.7, 0.3)],
    ids=repr,
)
def test_series_sums_to_the_function(kernel) -> None:
    t = np.linspace(-0.8, 0.8, 17)
    # |a_n| <= a few, so the tail after 200 terms is below 0.8^200 / 0.2 times that, 1e-18
    np.testing.assert_allclose(np.polynomial.polynomial.polyval(t, kernel.maclaurin(200)), kernel.of_dot(t), atol=2e-14)


@pytest.mark.parametrize(
    ("a", "degree", "n_terms"),
    [(1.0, 4, 7), (2**0.5, 7, 9), (1.1, 30, 31), (2.5, 40, 43), (40.0, 1000, 60), (0.5, 200, 40), (1e3, 900, 901)],
)
def test_polynomial_coefficients_are_correctly_rounded(a: float, degree: int, n_terms: int) -> None:
    p = 2 / Fraction(a) ** 2
    exact = [float(comb(degree, n) * p**n * (1 - p) ** max(degree - n, 0)) for n in range(n_terms)]
    np.testing.assert_array_equal(PolynomialOnSphere(a, degree).maclaurin(n_terms), exact)


def test_large_degree_is_exact_and_fast() -> None:
    start = time.process_time()
    a = PolynomialOnSphere(a=200.0, degree=100_000).maclaurin(200)
    assert time.process_time() - start < 1
    with mpmath.workdps(40):
        p = mpmath.mpf(2) / 200**2
        exact = [float(mpmath.binomial(100_000, n) * p**n * (1 - p) ** (100_000 - n)) for n in range(200)]
    np.testing.assert_allclose(a, exact, rtol=1e-15)
    np.testing.assert_allclose(a.sum(), 1, rtol=1e-14)


@pytest.mark.parametrize(
    ("function", "exact"),
    [
        (np.exp, mpmath.exp),
        (np.arcsin, mpmath.asin),
        (lambda t: np.tanh(2 * t - 0.5), tanh(2.0, -0.5)),
        (lambda t: 1 / (1.5 - t), lambda t: 1 / (1.5 - t)),
        (lambda t: t**8 - t, lambda t: t**8 - t),
        (lambda t: 0 * t, lambda t: mpmath.mpf(0) * t),
        (lambda t: 1e-200 * np.cos(t), lambda t: mpmath.cos(t) * mpmath.mpf("1e-200")),
        (lambda t: 1 / (1 + (7 * t) ** 2), lambda t: 1 / (1 + (7 * t) ** 2)),
    ],
)
@pytest.mark.parametrize("n_terms", [1, 2, 9, 24, 60])
def test_coefficients_of_a_function(function, exact, n_terms: int) -> None:
    kernel = DotProductOnSphere(function)
    expected = taylor(exact, n_terms) if exact(0.5) > 1e-100 else 1e-200 * taylor(lambda t: exact(t) * 1e200, n_terms)
    circle = np.abs(function(np.exp(2j * np.pi * np.arange(64) / 64) * 0.1)).max()
    accuracy = 1e-10 * max(np.abs(expected).max(), circle)
    np.testing.assert_allclose(kernel.maclaurin(n_terms), expected, rtol=0, atol=accuracy)


def test_coefficients_that_are_noise_are_zero() -> None:
    np.testing.assert_array_equal(DotProductOnSphere(np.cos).maclaurin(30)[1::2], 0)
    np.testing.assert_array_equal(np.flatnonzero(DotProductOnSphere(lambda t: t**8 - 3 * t).maclaurin(20)), [1, 8])
    np.testing.assert_array_equal(DotProductOnSphere(np.exp).maclaurin(60)[30:], 0)  # below 1/30!


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (np.abs, "relative accuracy of 1e-10"),
        (lambda t: np.maximum(t, 0.0), "relative accuracy of 1e-10"),
        (lambda t: np.real(t) ** 2, "relative accuracy of 1e-10"),
        (lambda t: 1 / t, "relative accuracy of 1e-10"),
        (lambda t: 1 / (t + 1e-30), "relative accuracy of 1e-10"),
        (lambda t: np.sqrt(t), "relative accuracy of 1e-10"),
        (lambda t: 1j * t, "relative accuracy of 1e-10"),
        (lambda t: np.round(np.exp(t), 11), "relative accuracy of 1e-10"),  # good to 1e-11, not its series
        (lambda t: np.exp(t.astype(np.complex64 if np.iscomplexobj(t) else np.float32)), "relative accuracy of 1e-10"),
        (lambda t: np.arctan2(t, 1), "must take complex arguments"),
        (lambda t: np.interp(t, [-1, 1], [0, 1]), "must take complex arguments"),
        (lambda t: 1.0, "one finite number per complex argument"),
        (lambda t: np.where(np.isreal(t), 1.0, np.nan), "one finite number per complex argument"),
    ],
)
def test_functions_without_a_series_are_refused(function, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        DotProductOnSphere(function).maclaurin(12)


@pytest.mark.parametrize(
    "kernel", [Tanh(), ArcCosine(), NTK(), PolynomialOnSphere(), DotProductOnSphere(np.exp)], ids=repr
)
@pytest.mark.parametrize("bad", [0, -1, 2.0, None])
def test_number_of_terms_is_checked(kernel, bad) -> None:
    with pytest.raises(ValueError, match="n_terms must be an integer >= 1; got"):
        kernel.maclaurin(bad)


def test_series_arithmetic() -> None:
    rng = np.random.default_rng(12345)
    f, g = rng.uniform(1, 2, 9), rng.uniform(1, 2, 9)
    np.testing.assert_allclose(product(f, g), np.polynomial.polynomial.polymul(f, g)[:9], rtol=1e-15)
    np.testing.assert_allclose(derivative(integral(f, 3.0))[:-1], f[:-1], rtol=1e-15)
    np.testing.assert_allclose(integral(derivative(f), f[0]), f, rtol=1e-15)
    root = inverse_root(f)
    # f g^2 = 1; coefficients of g reach 1e3, and each sum has 9 terms
    np.testing.assert_allclose(product(f, product(root, root)), np.eye(9)[0], atol=1e-15 * 9 * np.abs(root).max() ** 2)
