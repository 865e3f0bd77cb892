"""The polynomial kernel on R^d: scikit-learn's, its Maclaurin coefficients, its parameters, and what it is not."""

from __future__ import annotations

from decimal import Context, Decimal
from math import comb

import numpy as np
import pytest
from sklearn.metrics.pairwise import polynomial_kernel

from krein import RandomFeatures
from krein.kernels import Gaussian, Polynomial, PolynomialOnSphere, PowerSeries, RadialKernel

KERNELS = [
    Polynomial(),
    Polynomial(3, -0.4, 0.5),
    Polynomial(4, 0.3, -1.1),
    Polynomial(5, 2.0, 0.0),
    Polynomial(1, 0.0, 2.0),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_gram_is_that_of_scikit_learn(kernel: Polynomial) -> None:
    rng = np.random.default_rng(12345)
    X, Y = rng.normal(size=(30, 4)), rng.normal(size=(20, 4))
    sign = np.sign(kernel.gamma or 1.0)  # scikit-learn's gamma is not negative
    expected = polynomial_kernel(X, sign * Y, degree=kernel.degree, gamma=abs(kernel.gamma), coef0=kernel.coef0)
    np.testing.assert_allclose(kernel(X, Y), expected, rtol=0, atol=1e-13 * np.abs(expected).max())
    np.testing.assert_allclose(np.diag(kernel(X)), kernel.of_dot((X**2).sum(1)), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_maclaurin_series_is_the_function(kernel: Polynomial) -> None:
    t = np.linspace(-3, 3, 50)
    a = kernel.maclaurin(8)
    assert (a[kernel.degree + 1 :] == 0).all()
    sums = np.polynomial.polynomial.polyval(t, a)
    scale = np.polynomial.polynomial.polyval(3.0, np.abs(a))
    np.testing.assert_allclose(sums, kernel.of_dot(t), rtol=0, atol=1e-14 * scale)
    np.testing.assert_array_equal(kernel.maclaurin(2), a[:2])


def test_every_coefficient_is_rounded_once() -> None:
    kernel = Polynomial(60, 0.1, -1.9)
    context = Context(prec=120)
    for n, a in enumerate(kernel.maclaurin(61)):
        powers = context.multiply(
            context.power(Decimal.from_float(0.1), n), context.power(Decimal.from_float(-1.9), 60 - n)
        )
        assert a == float(context.multiply(comb(60, n), powers))


def test_overflow_and_signs() -> None:
    np.testing.assert_array_equal(Polynomial(2, -1e200, 1.0).maclaurin(3), [1.0, -2e200, np.inf])
    assert Polynomial(3, -1e200, 0.0).maclaurin(4)[3] == -np.inf


def test_on_the_sphere_it_is_the_polynomial_of_the_sphere() -> None:
    X = np.eye(4)
    share = 2 / 3.0**2
    twin = Polynomial(3, share, 1 - share)
    np.testing.assert_allclose(twin(X), PolynomialOnSphere(3.0, 3)(X), rtol=1e-14)
    np.testing.assert_allclose(twin.maclaurin(4), PolynomialOnSphere(3.0, 3).maclaurin(4), rtol=1e-14)


def test_definite_where_no_coefficient_is_negative() -> None:
    X = np.random.default_rng(12345).normal(size=(40, 3))
    for kernel, definite in [(Polynomial(3, 0.5, 1.0), True), (Polynomial(2, 1.0, -1.0), False)]:
        eigenvalues = np.linalg.eigvalsh(kernel(X))
        assert (eigenvalues.min() > -1e-10 * eigenvalues.max()) == definite


@pytest.mark.parametrize("bad", [0, -1, 1.5, True, "2", None], ids=repr)
def test_degree(bad) -> None:
    with pytest.raises(ValueError, match="degree must be an integer >= 1; got"):
        Polynomial(degree=bad)


@pytest.mark.parametrize("bad", [np.nan, np.inf, True, "1", None], ids=repr)
def test_gamma_and_coef0(bad) -> None:
    for name in ("gamma", "coef0"):
        with pytest.raises(ValueError, match=f"{name} must be a finite number; got"):
            Polynomial(**{name: bad})


def test_n_terms() -> None:
    with pytest.raises(ValueError, match="n_terms must be an integer >= 1; got 0"):
        Polynomial().maclaurin(0)


def test_is_not_radial() -> None:
    assert not isinstance(Polynomial(), RadialKernel)
    assert not hasattr(Polynomial(), "profile")
    with pytest.raises(TypeError, match="unsupported operand"):
        Polynomial() + Gaussian()  # type: ignore[operator]
    with pytest.raises((TypeError, ValueError), match="Polynomial"):
        RandomFeatures(Polynomial(), 16).fit(np.eye(3))


class TestPowerSeries:
    def test_is_the_polynomial_with_the_same_coefficients(self) -> None:
        twin, X = Polynomial(3, -0.4, 0.5), np.random.default_rng(12345).normal(size=(30, 4))
        kernel = PowerSeries(twin.maclaurin(4))
        np.testing.assert_allclose(kernel(X), twin(X), rtol=0, atol=1e-13 * np.abs(twin(X)).max())
        np.testing.assert_array_equal(kernel.maclaurin(6), twin.maclaurin(6))
        np.testing.assert_array_equal(kernel.maclaurin(2), twin.maclaurin(2))
        assert kernel.degree == 3
        assert not isinstance(kernel, RadialKernel)

    @pytest.mark.parametrize("bad", [(), 1.0, None, "1"], ids=repr)
    def test_no_sequence(self, bad) -> None:
        with pytest.raises(ValueError, match="coefficients must be a sequence of at least one number; got"):
            PowerSeries(bad)

    @pytest.mark.parametrize("bad", [np.nan, np.inf, True, "1", None], ids=repr)
    def test_coefficients(self, bad) -> None:
        with pytest.raises(ValueError, match=r"coefficients\[1\] must be a finite number; got"):
            PowerSeries((1.0, bad))
