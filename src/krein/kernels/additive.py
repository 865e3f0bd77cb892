"""Additive homogeneous kernels of rows without negative entries, for histograms and counts.

    k(x, y) = sum_i (x_i y_i)^(degree/2) F(log(y_i / x_i)),        so that k(c x, c y) = c^degree k(x, y)

F is even, positive definite and F(0) = 1; a coordinate that is 0 in x or in y adds nothing. F is given by its values
and by a cosine series F(w) ~ c_0 + sum_j c_j cos(j step w): its Fourier transform sampled at multiples of ``step``,
which makes it periodic in w with the period 2 pi / step.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

from krein._validation import Domain, Rows, check_positive
from krein.kernels.base import Array, Kernel


@dataclass(frozen=True)
class AdditiveKernel(Kernel):
    """Base class of the additive homogeneous kernels; a subclass defines ``_ratio_values`` and ``harmonics``."""

    degree: float = 1.0

    def _check_parameters(self) -> None:
        check_positive(self.degree, "degree")

    @property
    def domain(self) -> Domain:
        return "nonnegative"

    @abstractmethod
    def _ratio_values(self, r: Array) -> Array:
        """F at w = +-2 log r, for 0 < r <= 1: r^2 is the smaller of two entries over the larger."""

    @abstractmethod
    def harmonics(self, step: float, order: int) -> Array:
        """The coefficients c_0, ..., c_{order-1} of the cosine series with this step."""

    def ratio_profile(self, w: Array) -> Array:
        """F(w), w = log(y_i / x_i)."""
        return self._ratio_values(np.exp(-np.abs(w) / 2))

    def _gram_block(self, X: Rows, Y: Rows) -> Array:
        K = np.zeros((X.shape[0], Y.shape[0]))
        X, Y = (A.tocsc() if hasattr(A, "tocsc") else A for A in (X, Y))
        for i in range(X.shape[1]):
            (rows, x), (columns, y) = _column(X, i), _column(Y, i)
            if len(rows) and len(columns):
                x, y = np.sqrt(x)[:, None], np.sqrt(y)
                F = self._ratio_values(np.minimum(x, y) / np.maximum(x, y))
                K[rows[:, None], columns] += (x * y) ** self.degree * F
        return K

    def _diagonal_block(self, X: Rows) -> Array:
        """sum_i x_i^degree, as F(0) = 1."""
        X = X.astype(np.float64, copy=False)
        powers = X.power(self.degree) if hasattr(X, "power") else X**self.degree
        return np.asarray(powers.sum(axis=1)).ravel()


@dataclass(frozen=True)
class AdditiveChi2(AdditiveKernel):
    """Additive chi-squared kernel k(x, y) = sum_i 2 x_i y_i / (x_i + y_i): F(w) = sech(w/2), spectrum sech(pi l).

    Parameters
    ----------
    degree : float, default=1.0
        Of homogeneity: terms are multiplied by (x_i y_i)^((degree - 1)/2).

    Examples
    --------
    >>> from krein.kernels import AdditiveChi2
    >>> AdditiveChi2()([[1.0, 3.0]], [[1.0, 1.0]])
    array([[2.5]])
    """

    def _ratio_values(self, r: Array) -> Array:
        return 2 * r / (1 + r**2)

    def harmonics(self, step: float, order: int) -> Array:
        return _sampled(_sech(np.pi * _multiples(step, order)), step)


@dataclass(frozen=True)
class Intersection(AdditiveKernel):
    """Histogram intersection k(x, y) = sum_i min(x_i, y_i): F(w) = exp(-|w|/2), spectrum 2 / (pi (1 + 4 l^2)).

    Parameters
    ----------
    degree : float, default=1.0
        Of homogeneity: terms are multiplied by (x_i y_i)^((degree - 1)/2).

    Examples
    --------
    >>> from krein.kernels import Intersection
    >>> Intersection()([[1.0, 3.0]], [[1.0, 1.0]])
    array([[2.]])
    """

    def _ratio_values(self, r: Array) -> Array:
        return r

    def harmonics(self, step: float, order: int) -> Array:
        return _sampled(2 / (np.pi * (1 + 4 * _multiples(step, order) ** 2)), step)


@dataclass(frozen=True)
class JensenShannon(AdditiveKernel):
    """Jensen-Shannon kernel k(x, y) = sum_i (x_i log2((x_i + y_i)/x_i) + y_i log2((x_i + y_i)/y_i)) / 2.

    Its spectrum is 2 sech(pi l) / (log 4 (1 + 4 l^2)).

    Parameters
    ----------
    degree : float, default=1.0
        Of homogeneity: terms are multiplied by (x_i y_i)^((degree - 1)/2).

    Examples
    --------
    >>> from krein.kernels import JensenShannon
    >>> JensenShannon()([[1.0, 3.0]], [[1.0, 1.0]]).round(4)
    array([[2.6226]])
    """

    def _ratio_values(self, r: Array) -> Array:
        common = np.log1p(r**2)
        values: Array = (common / r + r * (common - 2 * np.log(r))) / log(4)
        return values

    def harmonics(self, step: float, order: int) -> Array:
        frequencies = _multiples(step, order)
        return _sampled(2 * _sech(np.pi * frequencies) / (log(4) * (1 + 4 * frequencies**2)), step)


@dataclass(frozen=True)
class Hellinger(AdditiveKernel):
    """Hellinger or Bhattacharyya kernel k(x, y) = sum_i sqrt(x_i y_i): F = 1.

    Parameters
    ----------
    degree : float, default=1.0
        Of homogeneity: terms are (x_i y_i)^(degree/2).

    Examples
    --------
    >>> from krein.kernels import Hellinger
    >>> Hellinger()([[1.0, 4.0]], [[1.0, 1.0]])
    array([[3.]])
    """

    def _ratio_values(self, r: Array) -> Array:
        return np.ones_like(r)

    def harmonics(self, step: float, order: int) -> Array:
        """1, 0, ..., 0: exact, whatever the step."""
        return np.eye(1, order).ravel()


def _sampled(spectrum: Array, step: float) -> Array:
    """The coefficients step kappa(0), 2 step kappa(step), 2 step kappa(2 step), ..."""
    coefficients: Array = 2 * step * spectrum
    coefficients[0] /= 2
    return coefficients


def _multiples(step: float, order: int) -> Array:
    """The frequencies 0, step, 2 step, ..."""
    return np.asarray(step * np.arange(order), dtype=np.float64)


def _sech(t: Array) -> Array:
    """1 / cosh t for t >= 0, which does not overflow."""
    values: Array = 2 * np.exp(-t) / (1 + np.exp(-2 * t))
    return values


def _column(X: Rows, i: int) -> tuple[NDArray[np.intp], Array]:
    """Where column i is not 0, and its values there; X is an array or a CSC matrix."""
    if hasattr(X, "indptr"):
        entries = slice(X.indptr[i], X.indptr[i + 1])
        stored, values = X.indices[entries], np.asarray(X.data[entries], dtype=np.float64)
        return stored[values > 0], values[values > 0]
    rows = np.flatnonzero(X[:, i])
    return rows, np.asarray(X[rows, i], dtype=np.float64)
