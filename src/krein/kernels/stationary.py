"""Stationary kernels on R^d with one formula each, and any other profile as a function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from krein._validation import Domain, check_choice, check_positive
from krein.kernels.base import Array, RadialKernel, as_distances


@dataclass(frozen=True)
class RationalQuadratic(RadialKernel):
    """Rational quadratic kernel k(z) = (1 + z^2 / (2 alpha scale^2))^(-alpha), a mixture of Gaussians over their scale.

    Positive definite in every dimension; for large ``alpha`` it tends to ``Gaussian(scale)``.

    Parameters
    ----------
    scale : float, default=1.0
    alpha : float, default=1.0
        How fast the kernel decays; both are scikit-learn's ``length_scale`` and ``alpha``.

    Examples
    --------
    >>> from krein.kernels import RationalQuadratic
    >>> RationalQuadratic(scale=1.0, alpha=2.0).profile([0.0, 2.0])
    array([1.  , 0.25])
    """

    scale: float = 1.0
    alpha: float = 1.0

    def _check_parameters(self) -> None:
        check_positive(self.scale, "scale")
        check_positive(self.alpha, "alpha")

    def profile(self, z: ArrayLike) -> Array:
        return np.exp(-self.alpha * np.log1p((as_distances(z) / self.scale) ** 2 / (2 * self.alpha)))


@dataclass(frozen=True)
class Cauchy(RadialKernel):
    """Cauchy kernel k(z) = 1 / (1 + z^2 / scale^2), positive definite in every dimension.

    Parameters
    ----------
    scale : float, default=1.0
        Distance at which the kernel has fallen to one half.

    Examples
    --------
    >>> from krein.kernels import Cauchy
    >>> Cauchy(scale=2.0).profile([0.0, 2.0])
    array([1. , 0.5])
    """

    scale: float = 1.0

    def _check_parameters(self) -> None:
        check_positive(self.scale, "scale")

    def profile(self, z: ArrayLike) -> Array:
        return 1 / (1 + (as_distances(z) / self.scale) ** 2)


@dataclass(frozen=True)
class InverseMultiquadric(RadialKernel):
    """Inverse multiquadric kernel k(z) = (1 + z^2 / scale^2)^(-1/2), positive definite in every dimension.

    Parameters
    ----------
    scale : float, default=1.0

    Examples
    --------
    >>> from krein.kernels import InverseMultiquadric
    >>> InverseMultiquadric(scale=3.0).profile([0.0, 4.0])
    array([1. , 0.6])
    """

    scale: float = 1.0

    def _check_parameters(self) -> None:
        check_positive(self.scale, "scale")

    def profile(self, z: ArrayLike) -> Array:
        return 1 / np.sqrt(1 + (as_distances(z) / self.scale) ** 2)


@dataclass(frozen=True)
class Log(RadialKernel):
    """Logarithmic kernel k(z) = -log(1 + z^2 / scale^2): unbounded below, 0 at z = 0, hence indefinite.

    It is conditionally positive definite: c^T K c >= 0 for every c that sums to 0.

    Parameters
    ----------
    scale : float, default=1.0

    Examples
    --------
    >>> from krein.kernels import Log
    >>> Log(scale=1.0).profile([1.0, 3.0]).round(4)
    array([-0.6931, -2.3026])
    """

    scale: float = 1.0

    def _check_parameters(self) -> None:
        check_positive(self.scale, "scale")

    def profile(self, z: ArrayLike) -> Array:
        return -np.log1p((np.asarray(z, float) / self.scale) ** 2)


@dataclass(frozen=True)
class ThinPlate(RadialKernel):
    """Thin plate spline kernel k(z) = (z / scale)^2 log(z / scale), 0 at z = 0, hence indefinite.

    It is conditionally positive definite of order 2: c^T K c >= 0 for every c orthogonal to the affine functions.

    Parameters
    ----------
    scale : float, default=1.0
        Distance at which the kernel crosses 0.

    Examples
    --------
    >>> from krein.kernels import ThinPlate
    >>> ThinPlate().profile([0.0, 0.5, 1.0, 2.0]).round(4)
    array([ 0.    , -0.1733,  0.    ,  2.7726])
    """

    scale: float = 1.0

    def _check_parameters(self) -> None:
        check_positive(self.scale, "scale")

    def profile(self, z: ArrayLike) -> Array:
        u = np.asarray(z, float) / self.scale
        return np.asarray(special.xlogy(u**2, u), dtype=np.float64)


@dataclass(frozen=True)
class Epanechnikov(RadialKernel):
    """Epanechnikov kernel k(z) = max(0, 1 - z^2 / scale^2), of bounded support and indefinite.

    Parameters
    ----------
    scale : float, default=1.0
        Distance from which on the kernel is 0.

    Examples
    --------
    >>> from krein.kernels import Epanechnikov
    >>> Epanechnikov(scale=2.0).profile([0.0, 1.0, 3.0])
    array([1.  , 0.75, 0.  ])
    """

    scale: float = 1.0

    def _check_parameters(self) -> None:
        check_positive(self.scale, "scale")

    def profile(self, z: ArrayLike) -> Array:
        return np.maximum(0.0, 1 - (np.asarray(z, float) / self.scale) ** 2)


@dataclass(frozen=True)
class FromProfile(RadialKernel):
    """The radial kernel whose profile is a given function.

    Parameters
    ----------
    function : callable
        k(z): takes a one-dimensional float64 array of distances and returns as many finite real numbers. A kernel can
        be pickled only if its function can; a lambda cannot. If it also takes complex arguments and is analytic
        (``np.exp(-z)``, not ``abs`` or ``maximum``), its Fourier transform is accurate in every dimension.
    on : {"euclidean", "sphere"}, default="euclidean"
        Where the kernel is defined. On the unit sphere the function sees distances from 0 to 2 only.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.kernels import FromProfile
    >>> FromProfile(np.sinc)([[0.0], [0.5]]).round(4)
    array([[1.    , 0.6366],
           [0.6366, 1.    ]])
    """

    function: Callable[[Any], Any]
    on: Domain = "euclidean"

    def _check_parameters(self) -> None:
        check_callable(self.function, "function")
        check_choice(self.on, "on", ("euclidean", "sphere"))

    @property
    def domain(self) -> Domain:
        return self.on

    def profile(self, z: ArrayLike) -> Array:
        z = as_distances(z)
        if np.iscomplexobj(z):
            return np.asarray(self.function(z))
        return evaluate(self.function, np.clip(z, 0.0, 2.0) if self.on == "sphere" else z)


def check_callable(value: Any, name: str) -> None:
    """Raise unless value can be called."""
    if not callable(value):
        raise ValueError(f"{name} must be a callable that takes and returns an array; got {value!r}.")


def evaluate(function: Callable[[Any], Any], argument: Array) -> Array:
    """Values of a user's vectorised function, after a check that they are real, finite and one per argument."""
    flat = argument.ravel()
    values = np.asarray(function(flat.copy()))  # a copy: the function may work in place
    if values.shape != flat.shape:
        raise ValueError(f"function must return an array of shape {flat.shape}, as its argument; got {values.shape}.")
    if values.dtype.kind not in "fiub":
        raise ValueError(f"function must return real numbers; got an array of dtype {values.dtype}.")
    values = values.astype(np.float64)
    if not np.isfinite(values).all():
        worst = np.flatnonzero(~np.isfinite(values))[0]
        raise ValueError(f"function must return finite numbers; got {values[worst]} at {flat[worst]!r}.")
    return values.reshape(argument.shape)
