"""Dot-product kernels k(x, y) = f(x.y) on all of R^d; off the unit sphere they are not radial."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from krein._validation import Rows, check_finite, check_integer, row_norms
from krein.kernels.base import Array, Kernel, inner_products


@dataclass(frozen=True)
class Polynomial(Kernel):
    """Polynomial kernel k(x, y) = (gamma x.y + coef0)^degree on all of R^d.

    Positive definite if no Maclaurin coefficient is negative, as with gamma, coef0 >= 0; else indefinite. Not radial:
    it has no profile, and maps of Fourier features cannot approximate it. ``PolynomialOnSphere`` is the polynomial
    kernel of rows of norm 1.

    Parameters
    ----------
    degree : int, default=2
        At least 1.
    gamma : float, default=1.0
    coef0 : float, default=1.0
        Any finite numbers, named as in scikit-learn.

    Examples
    --------
    >>> from krein.kernels import Polynomial
    >>> kernel = Polynomial(degree=2, gamma=2.0, coef0=-1.0)  # 1 - 4 t + 4 t^2
    >>> kernel([[1.0, 0.0]], [[1.0, 0.0], [2.0, 3.0]])
    array([[1., 9.]])
    >>> kernel.maclaurin(4)
    array([ 1., -4.,  4.,  0.])
    """

    degree: int = 2
    gamma: float = 1.0
    coef0: float = 1.0

    def _check_parameters(self) -> None:
        check_integer(self.degree, "degree", 1)
        check_finite(self.gamma, "gamma")
        check_finite(self.coef0, "coef0")

    def of_dot(self, t: ArrayLike) -> Array:
        """Values f(t) = (gamma t + coef0)^degree at inner products t, in float64, elementwise."""
        values: Array = (self.gamma * np.asarray(t, float) + self.coef0) ** self.degree
        return values

    def maclaurin(self, n_terms: int) -> Array:
        """Coefficients a_n = binom(degree, n) gamma^n coef0^(degree-n) of f(t) = sum_n a_n t^n, each rounded once."""
        check_integer(n_terms, "n_terms", 1)
        g, c = Fraction(self.gamma), Fraction(self.coef0)
        a = np.zeros(n_terms)
        for n in range(min(n_terms, self.degree + 1)):
            a[n] = _rounded(math.comb(self.degree, n) * g**n * c ** (self.degree - n))
        return a

    def _gram_block(self, X: Rows, Y: Rows) -> Array:
        return self.of_dot(inner_products(X, Y))

    def _diagonal_block(self, X: Rows) -> Array:
        return self.of_dot(row_norms(X) ** 2)


@dataclass(frozen=True)
class PowerSeries(Kernel):
    """Kernel k(x, y) = sum_n a_n (x.y)^n on all of R^d, with finitely many coefficients of any sign.

    Positive definite in every dimension if and only if no coefficient is negative. Not radial. For a series without
    end, such as exp(x.y) with a_n = 1/n!, give as many coefficients as the lengths of the rows need.

    Parameters
    ----------
    coefficients : sequence of float, default=(1.0, 1.0, 0.5)
        a_0, a_1, ..., at least one. The default is the start of exp.

    Examples
    --------
    >>> from krein.kernels import PowerSeries
    >>> kernel = PowerSeries((1.0, 0.0, -0.5))  # 1 - t^2 / 2
    >>> kernel([[1.0, 0.0]], [[1.0, 0.0], [2.0, 3.0]])
    array([[ 0.5, -1. ]])
    >>> kernel.maclaurin(4)
    array([ 1. ,  0. , -0.5,  0. ])
    """

    coefficients: tuple[float, ...] = (1.0, 1.0, 0.5)

    def _check_parameters(self) -> None:
        given: object = self.coefficients
        if not isinstance(given, tuple) or not given:
            raise ValueError(f"coefficients must be a sequence of at least one number; got {given!r}.")
        for n, a in enumerate(self.coefficients):
            check_finite(a, f"coefficients[{n}]")

    @property
    def degree(self) -> int:
        """Of the last coefficient."""
        return len(self.coefficients) - 1

    def of_dot(self, t: ArrayLike) -> Array:
        """Values f(t) = sum_n a_n t^n at inner products t, in float64, elementwise."""
        return np.asarray(np.polynomial.polynomial.polyval(np.asarray(t, float), self.coefficients))

    def maclaurin(self, n_terms: int) -> Array:
        """The first ``n_terms`` coefficients; 0 after the last."""
        check_integer(n_terms, "n_terms", 1)
        a = np.zeros(n_terms)
        given = self.coefficients[:n_terms]
        a[: len(given)] = given
        return a

    def _gram_block(self, X: Rows, Y: Rows) -> Array:
        return self.of_dot(inner_products(X, Y))

    def _diagonal_block(self, X: Rows) -> Array:
        return self.of_dot(row_norms(X) ** 2)


def _rounded(value: Fraction) -> float:
    """The nearest float, infinite where there is none."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
