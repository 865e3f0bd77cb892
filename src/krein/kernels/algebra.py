"""Sums, real multiples and products of radial kernels: what ``+``, ``-`` and ``*`` make."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import ArrayLike

from krein._validation import Domain, Rows, check_finite
from krein.kernels.base import Array, Kernel, RadialKernel


@dataclass(frozen=True)
class _Pair(RadialKernel):
    """Two radial kernels; defined on the sphere only if either of them is."""

    left: RadialKernel
    right: RadialKernel

    def _check_parameters(self) -> None:
        _check_radial(self.left, "left")
        _check_radial(self.right, "right")

    @property
    def domain(self) -> Domain:
        return "sphere" if "sphere" in (self.left.domain, self.right.domain) else "euclidean"


@dataclass(frozen=True, repr=False)
class Sum(_Pair):
    """Sum k(z) = left(z) + right(z) of two kernels; ``left - right`` is ``Sum(left, Scaled(right, -1.0))``.

    Parameters
    ----------
    left, right : RadialKernel
        If either is defined on the sphere only, so is the sum.

    Examples
    --------
    >>> from krein.kernels import Gaussian, Laplacian
    >>> kernel = Gaussian() - 2 * Laplacian()
    >>> kernel
    Gaussian(scale=1.0) - 2.0 * Laplacian(scale=1.0)
    >>> float(kernel.profile(0.0))
    -1.0
    >>> kernel.set_params(left__scale=3.0).left
    Gaussian(scale=3.0)
    """

    def profile(self, z: ArrayLike) -> Array:
        return self.left.profile(z) + self.right.profile(z)

    def _gram_block(self, X: Rows, Y: Rows) -> Array:
        return self.left._gram_block(X, Y) + self.right._gram_block(X, Y)

    def __repr__(self) -> str:
        if isinstance(self.right, Scaled) and self.right.factor == -1:
            return f"{self.left!r} - {_bracketed(self.right.kernel, Sum)}"
        return f"{self.left!r} + {_bracketed(self.right, Sum)}"


@dataclass(frozen=True, repr=False)
class Scaled(RadialKernel):
    """Real multiple factor * kernel(z) of a kernel; a negative factor turns a positive definite kernel around.

    Parameters
    ----------
    kernel : RadialKernel
    factor : float
        Any finite number.

    Examples
    --------
    >>> from krein.kernels import Gaussian
    >>> -3 * Gaussian(scale=2.0)
    -3.0 * Gaussian(scale=2.0)
    >>> (-Gaussian()).get_params(deep=False)
    {'kernel': Gaussian(scale=1.0), 'factor': -1.0}
    """

    kernel: RadialKernel
    factor: float

    def _check_parameters(self) -> None:
        _check_radial(self.kernel, "kernel")
        check_finite(self.factor, "factor")

    @property
    def domain(self) -> Domain:
        return self.kernel.domain

    def profile(self, z: ArrayLike) -> Array:
        return self.factor * self.kernel.profile(z)

    def _gram_block(self, X: Rows, Y: Rows) -> Array:
        return self.factor * self.kernel._gram_block(X, Y)

    def __repr__(self) -> str:
        sign = "-" if self.factor == -1 else f"{self.factor!r} * "
        return sign + _bracketed(self.kernel, Sum, Scaled, Product)


@dataclass(frozen=True, repr=False)
class Product(_Pair):
    """Product k(z) = left(z) right(z) of two kernels, positive definite if both are.

    Parameters
    ----------
    left, right : RadialKernel
        If either is defined on the sphere only, so is the product.

    Examples
    --------
    >>> from krein.kernels import Cauchy, Gaussian
    >>> kernel = Gaussian(scale=2.0) * Cauchy()
    >>> kernel
    Gaussian(scale=2.0) * Cauchy(scale=1.0)
    >>> kernel.profile([0.0, 1.0]).round(6)
    array([1.      , 0.441248])
    """

    def profile(self, z: ArrayLike) -> Array:
        return self.left.profile(z) * self.right.profile(z)

    def _gram_block(self, X: Rows, Y: Rows) -> Array:
        return self.left._gram_block(X, Y) * self.right._gram_block(X, Y)

    def __repr__(self) -> str:
        return f"{_bracketed(self.left, Sum)} * {_bracketed(self.right, Sum, Scaled, Product)}"


def _check_radial(kernel: Kernel, name: str) -> None:
    if not isinstance(kernel, RadialKernel):
        raise ValueError(f"{name} must be a radial kernel; got {kernel!r}.")


def _bracketed(kernel: RadialKernel, *looser: type[RadialKernel]) -> str:
    """Repr of an operand, in brackets where Python would otherwise group it in another way."""
    return f"({kernel!r})" if isinstance(kernel, looser) else repr(kernel)
