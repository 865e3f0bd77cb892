"""The kernel of one frequency radius: Omega_d(t) = E cos(t u.e) for u uniform on the unit sphere of R^d.

    Omega_d(t) = Gamma(d/2) (2/t)^(d/2-1) J_(d/2-1)(t) = 0F1(; d/2; -t^2/4),        Omega_d(0) = 1, |Omega_d| <= 1

A radial kernel is k(z) = int Omega_d(r z) mu(dr); no Jacobian is hidden in Omega_d. How it is computed:

    d = 1, 2, 3                   cos t, J_0(t), sin(t)/t
    t^2 <= 8 d  (12 d if d > 512) power series in t^2/(2d); rounding error about 1e-16 exp(t^2/(2d)), at most 1e-13
    d <= 512, then                polynomials on pieces of length 1, made once per dimension from scipy's J; far out J
    d > 512, then                 Debye's expansion of J_nu(nu sech a) in log domain, and 0 where |Omega_d| < 1e-22

Every value depends on (d, t) only, not on what else is in the array.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln, j0, jv

from krein._validation import check_integer

Array = NDArray[np.float64]

_BLOCK = 8192  # points worked on at a time, so that they stay in cache
_LARGE_DIM = 512  # above, J_nu needs more range than a double has
_DEGREE = 13  # Omega_d is of exponential type 1: on a piece of length 1 the next term is below 2 (1/4)^14 / 14! = 1e-19
_FAR = 1e9  # |Omega_4(t)| < (2/t)^(3/2) / sqrt(pi) < 1e-13 beyond, and Omega_d is smaller still for d > 4


def omega(dim: int, t: ArrayLike) -> Array:
    """Omega_d(t) = E cos(t u.e), u uniform on the unit sphere of R^d, elementwise.

    Parameters
    ----------
    dim : int
        Dimension d >= 1.
    t : array-like
        Any shape; Omega_d is even, and nan gives nan.

    Returns
    -------
    ndarray of the shape of t
        In float64.

    Notes
    -----
    For d <= 4096 and |t| <= 10 sqrt(d) + 100 the absolute error is at most 1e-12, and the relative error at most 1e-10
    where |t| <= sqrt(2 d). For any larger finite t the result stays within [-1, 1] and decays.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.spectral.bessel import omega
    >>> omega(3, [0.0, np.pi / 2, np.pi]).round(6)  # sin(t) / t
    array([1.     , 0.63662, 0.     ])
    >>> float(omega(256, 16.0).round(6))  # near exp(-t^2 / (2 d))
    0.60594
    """
    check_integer(dim, "dim", 1)
    t = np.asarray(t, dtype=np.float64)
    flat: Array = np.abs(t).ravel()
    out: Array = np.empty_like(flat)
    for start in range(0, flat.size, _BLOCK):
        out[start : start + _BLOCK] = _omega_block(dim, flat[start : start + _BLOCK])
    return out.reshape(t.shape)


def omega_prime(dim: int, t: ArrayLike) -> Array:
    """Derivative of Omega_d: d/dt Omega_d(t) = -(t/d) Omega_(d+2)(t), elementwise.

    Parameters
    ----------
    dim : int
        Dimension d >= 1.
    t : array-like
        Any shape; the derivative is odd.

    Returns
    -------
    ndarray of the shape of t
        In float64.

    Examples
    --------
    >>> from krein.spectral.bessel import omega_prime
    >>> omega_prime(1, [0.0, 1.0]).round(6)  # -sin(t)
    array([-0.      , -0.841471])
    """
    check_integer(dim, "dim", 1)
    t = np.asarray(t, dtype=np.float64)
    return -(t / dim) * omega(dim + 2, t)


def _omega_block(dim: int, t: Array) -> Array:
    """Omega_d for a few thousand t >= 0."""
    if dim == 1:
        return np.cos(t)
    if dim == 2:
        return np.asarray(j0(t))
    if dim == 3:
        return np.sinc(t / np.pi)
    edge = _series_edge(dim)
    near = t <= edge
    if near.all():
        return _series(dim, t)
    out = np.empty_like(t)
    out[near] = _series(dim, t[near])
    out[~near] = (_pieces if dim <= _LARGE_DIM else _debye)(dim, t[~near])
    return out


def _series_edge(dim: int) -> float:
    return float(np.sqrt((8 if dim <= _LARGE_DIM else 12) * dim))


def _series(dim: int, t: Array) -> Array:
    """0F1(; d/2; -t^2/4) by its power series, as a polynomial in t^2."""
    coefficients = _series_coefficients(dim)
    u = t * t
    u *= 1 / (2 * dim)
    out = np.full_like(u, coefficients[-1])
    for c in coefficients[-2::-1]:
        out *= u
        out += c
    return out


@lru_cache(maxsize=256)
def _series_coefficients(dim: int) -> tuple[float, ...]:
    """(-d/2)^k / (k! (d/2)_k), k = 0, 1, ..., until the term is below 1e-18 at the edge of the series."""
    u_max = _series_edge(dim) ** 2 / (2 * dim)
    coefficients, largest, k = [1.0], 1.0, 0
    while largest > 1e-18:
        k += 1
        ratio = -dim / (k * (dim + 2 * (k - 1)))
        coefficients.append(coefficients[-1] * ratio)
        largest *= abs(ratio) * u_max
    return tuple(coefficients)


def _from_bessel(dim: int, t: Array) -> Array:
    """Gamma(d/2) (2/t)^(d/2-1) J_(d/2-1)(t), the factor in log domain; 0 where it is below 1e-13 for sure."""
    nu = dim / 2 - 1
    factor = np.exp(gammaln(nu + 1) - nu * np.log(t / 2))
    needed = (factor > 1e-30) & (t <= _FAR)  # abs(J) <= 1
    out = np.where(np.isnan(t), t, 0.0)
    out[needed] = factor[needed] * jv(nu, t[needed])
    return out


def _pieces(dim: int, t: Array) -> Array:
    """Piecewise polynomials on [edge of the series, 10 sqrt(d) + 100], scipy's J beyond."""
    edge = _series_edge(dim)
    table = _piece_table(dim)
    inside = t < edge + table.shape[1]
    out: Array
    if not inside.all():
        out = np.empty_like(t)
        out[inside] = _pieces(dim, t[inside])
        out[~inside] = _from_bessel(dim, t[~inside])
        return out
    v = t - edge
    piece = v.astype(np.intp)
    v -= piece
    v *= 2
    v -= 1
    out = table[-1].take(piece)
    for row in table[-2::-1]:
        out *= v
        out += row.take(piece)
    return out


@lru_cache(maxsize=16)
def _piece_table(dim: int) -> Array:
    """Coefficients (power of v, piece) of the interpolant at Chebyshev points, v in [-1, 1] on each piece."""
    edge = _series_edge(dim)
    n_pieces = int(10 * np.sqrt(dim) + 101 - edge)
    v = chebyshev.chebpts1(_DEGREE + 1)
    values = _from_bessel(dim, edge + np.arange(n_pieces) + (v[:, None] + 1) / 2)
    basis = chebyshev.chebvander(v, _DEGREE)  # discretely orthogonal: column k has squared norm (n, n/2, n/2, ...)
    coefficients = basis.T @ values / np.sum(basis**2, axis=0)[:, None]
    to_powers = np.zeros((_DEGREE + 1, _DEGREE + 1))
    for k, row in enumerate(np.eye(_DEGREE + 1)):
        to_powers[: k + 1, k] = chebyshev.cheb2poly(row[: k + 1])
    table: Array = to_powers @ coefficients
    table.flags.writeable = False
    return table


def _debye(dim: int, t: Array) -> Array:
    """Debye's expansion (DLMF 10.19.3) with the terms U_0 ... U_3, for large nu = d/2 - 1; 0 for t > 0.9 nu.

    J_nu(nu sech a) ~ exp(nu (tanh a - a)) / sqrt(2 pi nu tanh a) * sum_k U_k(coth a) / nu^k
    """
    nu = dim / 2 - 1
    s = np.minimum(t / nu, 0.9)  # sech a
    tanh = np.sqrt(1 - s * s)
    p = 1 / tanh
    p2 = p * p
    u1 = p * (3 - 5 * p2) / 24
    u2 = p2 * (81 + p2 * (-462 + p2 * 385)) / 1152
    u3 = p * p2 * (30375 + p2 * (-369603 + p2 * (765765 - p2 * 425425))) / 414720
    log_j = nu * (tanh - np.arctanh(tanh)) - 0.5 * np.log(2 * np.pi * nu * tanh)
    log_factor = gammaln(nu + 1) - nu * np.log(nu * s / 2)
    value = np.exp(log_j + log_factor) * (1 + (u1 + (u2 + u3 / nu) / nu) / nu)
    out: Array = np.where(t > 0.9 * nu, 0.0, value)
    return out
