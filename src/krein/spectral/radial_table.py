"""Tables of t^2 -> int Omega_d(t z) m(dz), exact to rounding, with their derivative.

Omega_d(t z) is an entire function of u = t^2, and a function of exponential type z of t. Cells are therefore even in
x = sqrt(u + a^2), a = sqrt(d)/max z: where t is large, x is t, and near t = 0, where sqrt(u) is singular, x is not.
"""

from __future__ import annotations

from math import comb

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray
from scipy.fft import dct

from krein.spectral.bessel import omega

Array = NDArray[np.float64]

DEGREE = 13  # on cells of length 1/max z: the next term is below 2 (1/4)^14 / 14! = 1e-19
PARTS = 256  # cubics per cell, which are what is evaluated: error (1/512)^4 / 4! = 6e-13 of the total mass
LARGEST = 1 << 14  # cells
ROWS = 64  # of a matrix of values of Omega_d, at a time
SMALLEST_REACH = 1e-150
CHUNK = 1 << 13  # points evaluated at a time, so that they stay in cache


class RadialTable:
    """u -> F(u) = int Omega_d(sqrt(u) z) m(dz) and dF/du, for 0 <= u <= top; constant beyond.

    Parameters
    ----------
    dim : int
    z : ndarray of shape (m,)
        Distances.
    weights : ndarray of shape (m,)
        Their weights, of any sign.
    top : float
        Largest squared radius.
    """

    def __init__(self, dim: int, z: Array, weights: Array, top: float) -> None:
        reach = max(float(z.max(initial=0.0)), SMALLEST_REACH)
        self.shift = dim / reach**2
        self.start = np.sqrt(self.shift)
        n_cells = int((np.sqrt(top + self.shift) - self.start) * reach) + 1
        if n_cells > LARGEST:
            raise ValueError(f"sqrt(top) times the largest distance must be at most {LARGEST}; got {n_cells}.")
        self.step = 1 / (reach * PARTS)
        v = chebyshev.chebpts1(DEGREE + 1)
        x = self.start + (np.arange(n_cells)[:, None] + (v + 1) / 2) / reach
        t = np.sqrt(np.maximum(x**2 - self.shift, 0.0))
        values = _transform(dim, z, weights, t.ravel())
        self.cubics = _cubics(_powers(values.reshape(n_cells, DEGREE + 1), v))

    def __call__(self, u: Array) -> tuple[Array, Array]:
        """F(u) and dF/du, of the shape of u."""
        flat = u.ravel()
        value, slope = np.empty_like(flat), np.empty_like(flat)
        for start in range(0, len(flat), CHUNK):
            piece = slice(start, start + CHUNK)
            root = np.sqrt(flat[piece] + self.shift)
            x = (root - self.start) / self.step
            np.clip(x, 0, len(self.cubics) - 0.5, out=x)
            cell = x.astype(np.intp)
            x -= cell
            x -= 0.5
            a, b, c, e = self.cubics.take(cell, axis=0).T
            cubic = c + x * e
            value[piece] = a + x * (b + x * cubic)
            slope[piece] = (b + x * (2 * cubic + x * e)) / root
        slope /= 2 * self.step
        return value.reshape(u.shape), slope.reshape(u.shape)


def _transform(dim: int, z: Array, weights: Array, t: Array) -> Array:
    """Int Omega_d(t z) m(dz) at many t.

    Omega_d(t z) is band-limited, as a function of z (bandwidth t) and as one of t: a wave of h radians has a Chebyshev
    series that ends cbrt(h) further on. So a large sample is first condensed to weights on Chebyshev nodes, and the
    integral is taken at Chebyshev nodes in t only.
    """
    reach, top = max(float(z.max(initial=0.0)), SMALLEST_REACH), float(t.max())
    half = top * reach / 2
    size = int(half + 12 * np.cbrt(half)) + 32
    if len(t) * len(z) <= size**2:
        return np.asarray(omega(dim, np.multiply.outer(t, z)) @ weights)
    nodes = (1 - np.cos(np.pi * (np.arange(size) + 0.5) / size)) / 2
    condensed = _condensed(1 - 2 * z / reach, weights, size)
    parts = np.array_split(top * nodes, -(-size // ROWS))
    values = np.concatenate([omega(dim, np.multiply.outer(part, reach * nodes)) @ condensed for part in parts])
    coefficients = np.asarray(dct(values, type=2)) / size
    coefficients[0] /= 2
    return np.asarray(chebyshev.chebval(1 - 2 * t / top, coefficients))


def _condensed(x: Array, weights: Array, size: int) -> Array:
    """Weights on the nodes cos(pi (j + 1/2)/n) that integrate polynomials of degree < n as the given sample does."""
    before, current = np.ones_like(x), x.copy()
    moments = np.empty(size)
    for degree in range(size):
        moments[degree] = weights @ before  # int T_degree
        before, current = current, 2 * x * current - before
    return np.asarray(dct(moments, type=3)) / size


def _powers(values: Array, v: Array) -> Array:
    """Coefficients of powers, from values (cell, point) at the Chebyshev points v.

    Through coefficients of Chebyshev polynomials, which fall fast: powers straight from values, by one matrix, have
    entries of 1e4 that cancel, and lose four digits.
    """
    basis = chebyshev.chebvander(v, len(v) - 1)
    series = values @ (basis / np.sum(basis**2, axis=0))  # the basis is discretely orthogonal
    powers = np.array([np.pad(chebyshev.cheb2poly(row), (0, len(v)))[: len(v)] for row in np.eye(len(v))])
    return np.asarray(series @ powers)


def _cubics(cells: Array) -> Array:
    """Taylor coefficients of degree 3 around the middles of the parts of every cell, in units of a part."""
    middles = (2 * np.arange(PARTS) + 1) / PARTS - 1  # in [-1, 1]; a part has length 2/PARTS there
    table = np.empty((len(cells), PARTS, 4))
    for order in range(4):
        shift = [comb(k, order) * middles ** (k - order) if k >= order else np.zeros(PARTS) for k in range(DEGREE + 1)]
        table[:, :, order] = cells @ np.array(shift) * (2 / PARTS) ** order
    return table.reshape(-1, 4)
