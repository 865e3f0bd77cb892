"""Dot-product kernels k(x, y) = f(x.y) on the unit sphere; they are radial there, since x.y = 1 - ||x-y||^2 / 2."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from krein._validation import Domain, Rows, check_finite, check_integer, check_positive
from krein.kernels._series import maclaurin_on_circle
from krein.kernels.base import Array, RadialKernel, inner_products
from krein.kernels.stationary import check_callable, evaluate


@dataclass(frozen=True)
class DotProductKernel(RadialKernel):
    """Base class of the kernels k(x, y) = f(t), t = x.y, on the unit sphere.

    A subclass defines ``_f(t)`` for t in [-1, 1] and ``maclaurin``. The Gram matrix is made from inner products.
    """

    @property
    def domain(self) -> Domain:
        return "sphere"

    @abstractmethod
    def _f(self, t: Array) -> Array:
        """Values f(t) for t in [-1, 1]."""

    @abstractmethod
    def maclaurin(self, n_terms: int) -> Array:
        """Coefficients a_0, ..., a_{n_terms-1} of f(t) = sum_n a_n t^n.

        By Schoenberg's theorem the kernel is positive definite on the spheres of all dimensions if and only if no
        coefficient is negative. The series need not converge on the whole of [-1, 1].
        """

    def of_dot(self, t: ArrayLike) -> Array:
        """Values f(t) at inner products t of unit vectors; t is clipped to [-1, 1], which rounding may have left."""
        return self._f(np.clip(np.asarray(t, float), -1.0, 1.0))

    def profile(self, z: ArrayLike) -> Array:
        return self.of_dot(1 - np.asarray(z, float) ** 2 / 2)

    def _gram_block(self, X: Rows, Y: Rows) -> Array:
        return self.of_dot(inner_products(X, Y))


@dataclass(frozen=True)
class DotProductOnSphere(DotProductKernel):
    """The dot-product kernel f(x.y) on the unit sphere for a given function f.

    Parameters
    ----------
    function : callable
        f(t): takes a one-dimensional float64 array of inner products in [-1, 1] and returns as many finite real
        numbers. ``maclaurin`` also calls it with complex arguments, |t| < 1. A kernel can be pickled only if its
        function can; a lambda cannot.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.kernels import DotProductOnSphere
    >>> kernel = DotProductOnSphere(np.exp)
    >>> kernel([[1.0, 0.0], [0.0, 1.0]]).round(4)
    array([[2.7183, 1.    ],
           [1.    , 2.7183]])
    >>> kernel.maclaurin(4).round(6)
    array([1.      , 1.      , 0.5     , 0.166667])
    """

    function: Callable[[Any], Any]

    def _check_parameters(self) -> None:
        check_callable(self.function, "function")

    def _f(self, t: Array) -> Array:
        return evaluate(self.function, t)

    def maclaurin(self, n_terms: int) -> Array:
        """Coefficients a_0, ..., a_{n_terms-1} of f(t) = sum_n a_n t^n, from values of f on a circle |t| = r < 1.

        Every coefficient has an absolute error of at most 1e-10 times the largest of the coefficients and of |f| on
        the circle, and is 0 where it cannot be told from rounding. ValueError where that accuracy cannot be reached: f
        must be analytic for |t| < 0.01 at least, exact to rounding, and take complex arguments.
        """
        check_integer(n_terms, "n_terms", 1)
        return maclaurin_on_circle(self.function, n_terms)


@dataclass(frozen=True)
class Tanh(DotProductKernel):
    """Sigmoid kernel f(t) = tanh(scale t + offset) on the unit sphere.

    For no scale but 0 is it positive definite on the spheres of all dimensions.

    Parameters
    ----------
    scale : float, default=2.0
    offset : float, default=-0.5
        Any finite numbers; scikit-learn calls them ``gamma`` and ``coef0``.

    Notes
    -----
    tanh has poles at +-i pi/2, so the Maclaurin series converges for |scale t| < sqrt(offset^2 + pi^2/4) only: with
    the default parameters for |t| < 0.82.

    Examples
    --------
    >>> from krein.kernels import Tanh
    >>> Tanh(scale=2.0, offset=-0.5).of_dot([-1.0, 0.25, 1.0]).round(4)
    array([-0.9866,  0.    ,  0.9051])
    """

    scale: float = 2.0
    offset: float = -0.5

    def _check_parameters(self) -> None:
        check_finite(self.scale, "scale")
        check_finite(self.offset, "offset")

    def _f(self, t: Array) -> Array:
        return np.tanh(self.scale * t + self.offset)

    def maclaurin(self, n_terms: int) -> Array:
        """Coefficients of f(t) = sum_n a_n t^n from f' = scale (1 - f^2)."""
        check_integer(n_terms, "n_terms", 1)
        decay = np.exp(-2 * abs(self.offset))
        a = np.zeros(n_terms + 1)
        a[:2] = np.tanh(self.offset), self.scale * 4 * decay / (1 + decay) ** 2  # 1 - tanh^2 without its cancellation
        for n in range(1, n_terms):
            a[n + 1] = -self.scale * (a[: n + 1] @ a[n::-1]) / (n + 1)
        return a[:n_terms]


@dataclass(frozen=True)
class PolynomialOnSphere(DotProductKernel):
    """Polynomial kernel k(z) = (1 - z^2/a^2)^degree on the unit sphere, z = ||x - y||.

    In the inner product t it is alpha (q + t)^degree with q = a^2/2 - 1 and alpha = (2/a^2)^degree: indefinite if and
    only if a < sqrt(2).

    Parameters
    ----------
    a : float, default=3.0
        With ``a=2`` the kernel falls to 0 at opposite points.
    degree : int, default=1
        At least 1.

    Examples
    --------
    >>> from krein.kernels import PolynomialOnSphere
    >>> PolynomialOnSphere(a=2.0, degree=2).profile([0.0, 1.0, 2.0])
    array([1.    , 0.5625, 0.    ])
    >>> PolynomialOnSphere(a=1.0, degree=2).maclaurin(4)  # (-1 + 2 t)^2
    array([ 1., -4.,  4.,  0.])
    """

    a: float = 3.0
    degree: int = 1

    def _check_parameters(self) -> None:
        check_positive(self.a, "a")
        check_integer(self.degree, "degree", 1)

    def _f(self, t: Array) -> Array:
        return (1 - 2 * (1 - t) / self.a**2) ** self.degree

    def profile(self, z: ArrayLike) -> Array:
        u: Array = np.clip(np.asarray(z, float), 0.0, 2.0) / self.a
        return (1 - u**2) ** self.degree

    def maclaurin(self, n_terms: int) -> Array:
        """Coefficients binom(degree, n) p^n (1-p)^(degree-n), p = 2/a^2, in decimal arithmetic that cannot overflow."""
        check_integer(n_terms, "n_terms", 1)
        decimal = Context(prec=50, Emin=MIN_EMIN, Emax=MAX_EMAX)
        p = decimal.divide(2, decimal.power(Decimal(self.a), 2))
        q = decimal.subtract(1, p)  # never 0: no float has the square 2
        a = np.zeros(n_terms)
        for n in range(min(n_terms, self.degree + 1)):
            powers = decimal.multiply(decimal.power(p, n), decimal.power(q, self.degree - n))
            a[n] = float(decimal.multiply(Decimal(math.comb(self.degree, n)), powers))
        return a
