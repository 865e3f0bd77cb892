"""Laplacian and Matern kernels, stable for every smoothness and every distance."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.polynomial import Polynomial
from numpy.typing import ArrayLike
from scipy import special

from krein._validation import check_positive
from krein.kernels.base import Array, RadialKernel, as_distances

LARGE_NU = 20.0  # from here on Debye's expansion has full precision
N_TERMS = 14  # of Debye's expansion
FAR = 1e4  # exp(-FAR) is 0, whatever power multiplies it


@dataclass(frozen=True)
class Laplacian(RadialKernel):
    """Laplacian kernel k(z) = exp(-z / scale), the Matern kernel with nu = 1/2; positive definite in every dimension.

    The distance is the Euclidean one; scikit-learn's ``laplacian_kernel`` takes the sum of absolute differences.

    Parameters
    ----------
    scale : float, default=1.0

    Examples
    --------
    >>> from krein.kernels import Laplacian
    >>> Laplacian(scale=2.0)([[0.0, 0.0], [3.0, 4.0]]).round(4)
    array([[1.    , 0.0821],
           [0.0821, 1.    ]])
    """

    scale: float = 1.0

    def _check_parameters(self) -> None:
        check_positive(self.scale, "scale")

    def profile(self, z: ArrayLike) -> Array:
        return np.exp(-as_distances(z) / self.scale)


@dataclass(frozen=True)
class Matern(RadialKernel):
    """Matern kernel k(z) = 2^(1-nu) / Gamma(nu) s^nu K_nu(s), s = sqrt(2 nu) z / scale; positive definite.

    Parameters
    ----------
    scale : float, default=1.0
    nu : float, default=1.5
        Smoothness, any number > 0: ``nu=0.5`` is the Laplacian kernel, and for large ``nu`` the kernel tends to
        ``Gaussian(scale)``. Both parameters are scikit-learn's ``length_scale`` and ``nu``.

    Notes
    -----
    Closed forms for nu = 1/2, 3/2, 5/2, the Bessel function K_nu for the other nu < 20, and Debye's expansion from
    nu = 20 on. The absolute error is below 1e-13.

    Examples
    --------
    >>> from krein.kernels import Matern
    >>> Matern(scale=1.0, nu=2.5).profile([0.0, 1.0]).round(4)
    array([1.   , 0.524])
    """

    scale: float = 1.0
    nu: float = 1.5

    def _check_parameters(self) -> None:
        check_positive(self.scale, "scale")
        check_positive(self.nu, "nu")

    def profile(self, z: ArrayLike) -> Array:
        u = as_distances(z) / self.scale
        if self.nu >= LARGE_NU:
            return _debye(self.nu, u)
        s: Array = np.minimum(np.sqrt(2 * self.nu) * u, FAR)
        if self.nu == 0.5:
            return np.exp(-s)
        if self.nu == 1.5:
            return (1 + s) * np.exp(-s)
        if self.nu == 2.5:
            return (1 + s + s**2 / 3) * np.exp(-s)
        return _bessel(self.nu, s)


def _bessel(nu: float, s: Array) -> Array:
    """2^(1-nu) / Gamma(nu) s^nu K_nu(s); where K_nu overflows (s < 1e-14 at nu = 20), 1 - k is below 1e-16."""
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = special.kve(nu, s) * np.exp(-s / 2)  # kve = e^s K_nu; e^-s in two halves, s^nu between them
        values = 2 ** (1 - nu) / special.gamma(nu) * (s**nu * np.exp(-s / 2)) * scaled
    return np.where(np.isfinite(scaled), values, 1.0)


def _debye(nu: float, u: Array) -> Array:
    """Matern kernel at z = u scale from the uniform expansion of K_nu(nu x), x = sqrt(2/nu) u, w = sqrt(1 + x^2).

    K_nu(nu x) ~ sqrt(pi / (2 nu w)) exp(-nu (w + log(x / (1 + w)))) S(1/w), S(p) = sum_k (-1)^k u_k(p) / nu^k. The
    powers of x and nu cancel against s^nu / Gamma(nu): k = exp(-nu (w - 1 - log((1+w)/2))) S(1/w) / (sqrt(w) S(1)).
    """
    x: Array = np.sqrt(2 / nu) * u
    w = np.hypot(1.0, x)
    excess = x / (1 + w) * x  # w - 1
    series = sum((poly * ((-1 / nu) ** k) for k, poly in enumerate(_debye_polynomials())), start=Polynomial([0.0]))
    values: Array = np.exp(-nu * (excess - np.log1p(excess / 2))) * series(1 / w) / (np.sqrt(w) * series(1.0))
    return values


@cache
def _debye_polynomials() -> tuple[Polynomial, ...]:
    """u_0 = 1, u_{k+1}(p) = p^2 (1 - p^2) u_k'(p) / 2 + int_0^p (1 - 5 t^2) u_k(t) dt / 8."""
    p = Polynomial([0.0, 1.0])
    terms = [Polynomial([1.0])]
    while len(terms) < N_TERMS:
        last = terms[-1]
        terms.append(p**2 * (1 - p**2) * last.deriv() / 2 + ((1 - 5 * p**2) * last).integ() / 8)
    return tuple(terms)
