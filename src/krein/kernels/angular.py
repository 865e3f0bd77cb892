"""Arc-cosine and neural tangent kernels: functions of the angle between two unit vectors."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from krein._validation import Rows, check_choice, check_integer
from krein.kernels._series import derivative, integral, inverse_root, product
from krein.kernels.base import CANCELLED, Array, inner_products, subtract_close_rows
from krein.kernels.sphere import DotProductKernel


@dataclass(frozen=True)
class AngularKernel(DotProductKernel):
    """Base class of dot-product kernels with a closed form in the angle theta = arccos(x.y).

    The angle is found from whatever keeps its digits: from z in ``profile``, from 1 - t and 1 + t in ``of_dot``, and in
    the Gram matrix from ||x - y|| where two rows are close: an error e in t = 1 would be an error sqrt(2 e) in theta.
    """

    @abstractmethod
    def _of_angle(self, theta: Array) -> Array:
        """Values at angles 0 <= theta <= pi."""

    def _f(self, t: Array) -> Array:
        return self._of_angle(2 * np.arctan2(np.sqrt(1 - t), np.sqrt(1 + t)))

    def profile(self, z: ArrayLike) -> Array:
        return self._of_angle(_angle(np.clip(np.asarray(z, float), 0.0, 2.0)))

    def _gram_block(self, X: Rows, Y: Rows) -> Array:
        squares = np.clip(2 - 2 * inner_products(X, Y), 0.0, 4.0)  # ||x - y||^2
        subtract_close_rows(squares, X, Y, squares < 2 * CANCELLED)
        return self._of_angle(_angle(np.sqrt(squares)))


@dataclass(frozen=True)
class ArcCosine(AngularKernel):
    """Arc-cosine kernel of Cho and Saul on unit rows: 2 E[step(w.x) step(w.y) (w.x)^n (w.y)^n], w ~ N(0, I), n = order.

    In the angle theta, with phi = pi - theta:

    - order 0: phi / pi
    - order 1: (sin theta + phi cos theta) / pi
    - order 2: (3 sin theta cos theta + phi (1 + 2 cos^2 theta)) / pi

    Positive definite in every dimension. The value at theta = 0 is 1, 1, 3.

    Parameters
    ----------
    order : {0, 1, 2}, default=1
        0 is a network of steps, 1 of rectified linear units, 2 of their squares.

    Examples
    --------
    >>> from krein.kernels import ArcCosine
    >>> ArcCosine(order=1)([[1.0, 0.0], [0.0, 1.0]]).round(4)
    array([[1.    , 0.3183],
           [0.3183, 1.    ]])
    """

    order: int = 1

    def _check_parameters(self) -> None:
        check_choice(self.order, "order", (0, 1, 2))

    def _of_angle(self, theta: Array) -> Array:
        if self.order == 0:
            return kappa0(theta)
        if self.order == 1:
            return 1 - one_minus_kappa1(theta)
        cos: Array = np.cos(theta)
        return (3 * np.sin(theta) * cos + (np.pi - theta) * (1 + 2 * cos**2)) / np.pi

    def maclaurin(self, n_terms: int) -> Array:
        """Coefficients of f(t) = sum_n a_n t^n: f_0 = 1/2 + arcsin(t)/pi, f_1' = f_0 and f_2' = 4 f_1."""
        check_integer(n_terms, "n_terms", 1)
        t = np.zeros(n_terms)
        t[1:2] = 1.0
        first, second = compose_kappas(t)
        return (first, second, integral(4 * second, constant=0.5))[self.order]


@dataclass(frozen=True)
class NTK(AngularKernel):
    """Neural tangent kernel of a fully connected network of rectified linear units, on the unit sphere.

    With kappa_n the arc-cosine kernel of order n: S_0 = T_0 = t, S_l = kappa_1(S_{l-1}),
    T_l = S_l + T_{l-1} kappa_0(S_{l-1}), and f = T_depth. Positive definite in every dimension; f(1) = depth + 1.

    Parameters
    ----------
    depth : int, default=1
        Number of hidden layers, at least 1.

    Notes
    -----
    Layers have no bias, and weights are scaled so that every layer keeps the norm of its input (variance 2 / width).

    Examples
    --------
    >>> from krein.kernels import NTK
    >>> NTK(depth=2).of_dot([-1.0, 0.0, 1.0]).round(4)
    array([0.3183, 0.6857, 3.    ])
    """

    depth: int = 1

    def _check_parameters(self) -> None:
        check_integer(self.depth, "depth", 1)

    def _of_angle(self, theta: Array) -> Array:
        total: Array = np.cos(theta)
        for _ in range(self.depth):
            gap = one_minus_kappa1(theta)  # 1 - S_l
            total = 1 - gap + total * kappa0(theta)
            theta = _angle(np.sqrt(2 * gap))
        return total

    def maclaurin(self, n_terms: int) -> Array:
        """Coefficients of f(t) = sum_n a_n t^n: the recursion in truncated power series, where no two terms cancel."""
        check_integer(n_terms, "n_terms", 1)
        similarity = np.zeros(n_terms)
        similarity[1:2] = 1.0
        total = similarity
        for _ in range(self.depth):
            first, similarity = compose_kappas(similarity)
            total = similarity + product(total, first)
        return total


def kappa0(theta: Array) -> Array:
    """Arc-cosine kernel of order 0 at an angle."""
    return 1 - theta / np.pi


def one_minus_kappa1(theta: Array) -> Array:
    """1 - kappa_1 = 2 sin^2(theta/2) - (sin theta - theta cos theta)/pi, to eps theta: its root is good to eps."""
    return 2 * np.sin(theta / 2) ** 2 - (np.sin(theta) - theta * np.cos(theta)) / np.pi


def compose_kappas(s: Array) -> tuple[Array, Array]:
    """Power series of kappa_0(s(t)) and kappa_1(s(t)); kappa_0'(s) = 1 / (pi sqrt(1 - s^2)), kappa_1' = kappa_0."""
    slope = derivative(s)
    base = -product(s, s)
    base[0] = (1 - s[0]) * (1 + s[0])
    angle0 = np.arccos(s[0])
    first = integral(product(inverse_root(base), slope) / np.pi, constant=float(kappa0(angle0)))
    return first, integral(product(first, slope), constant=1 - float(one_minus_kappa1(angle0)))


def _angle(z: Array) -> Array:
    """Angle between unit vectors at distance z."""
    return 2 * np.arctan2(z, np.sqrt((2 - z) * (2 + z)))
