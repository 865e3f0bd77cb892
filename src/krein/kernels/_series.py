"""Truncated power series: arrays a of coefficients, f(t) = sum_n a_n t^n + O(t^len(a))."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
ACCURACY = 1e-10  # of the coefficients found from values of f, relative to the largest one and to |f|
OVERSAMPLING = 16  # points on the circle per coefficient
N_RADII = 60  # radii that are tried at most: r^n_terms is 10^-3, 10^-6, ...
MIN_RADIUS = 0.01  # on too small a circle any function computed in few digits looks constant
TINY = float(np.finfo(float).tiny)


def product(f: Array, g: Array) -> Array:
    """Series of f g."""
    return np.convolve(f, g)[: len(f)]


def integral(f: Array, constant: float) -> Array:
    """Series of the antiderivative of f that is ``constant`` at 0."""
    return np.concatenate([[constant], f[:-1] / np.arange(1, len(f))])


def derivative(f: Array) -> Array:
    """Series of f', where its last coefficient is unknown and set to 0."""
    return np.append(f[1:] * np.arange(1, len(f)), 0.0)


def inverse_root(f: Array) -> Array:
    """Series of g = f^(-1/2), f_0 > 0, from 2 f g' = -f' g.

    Coefficient n-1 of that equation: 2 n f_0 g_n = -sum_{k=1}^n (2n - k) f_k g_{n-k}. Where f_k <= 0 for k >= 1, as in
    1 - S^2 with S_k >= 0, no two terms cancel.
    """
    g = np.zeros(len(f))
    g[0] = 1 / np.sqrt(f[0])
    for n in range(1, len(f)):
        k = np.arange(1, n + 1)
        g[n] = -((2 * n - k) * f[1 : n + 1]) @ g[n - k] / (2 * n * f[0])
    return g


def maclaurin_on_circle(function: Callable[[Any], Any], n_terms: int) -> Array:
    """Coefficients a_0, ..., a_{n_terms-1} by the discrete Fourier transform of function(r e^(i phi)).

    With N points, coefficient k of the transform is a_k r^k + a_{k+N} r^(k+N) + ... for an analytic f. Its last quarter
    is then rounding and what is left of the series, and bounds the error of every a_k r^k. A pole inside the circle
    shows up there too, and any other trouble in the comparison with f at real arguments. The radius shrinks until
    ACCURACY is reached. Coefficients that cannot be told from noise are 0.
    """
    n_points = OVERSAMPLING * max(8, 2 ** math.ceil(math.log2(n_terms)))
    circle = np.exp(2j * np.pi * np.arange(n_points) / n_points)
    reached = math.inf
    radii = 10.0 ** (-3 * np.arange(1, N_RADII + 1) / max(8, n_terms))
    for radius in radii[radii > MIN_RADIUS]:
        scaled, scale = _coefficients_on(radius * circle, function)
        noise = max(np.abs(scaled[-n_points // 4 :]).max(), np.abs(scaled.imag).max())
        powers = radius ** np.arange(n_terms)
        a: Array = np.where(np.abs(scaled[:n_terms]) > 4 * noise, scaled[:n_terms].real / powers, 0.0)
        error = max(
            5 * noise / powers[-1] / max(scale, np.abs(a).max(), TINY),
            _mismatch(function, radius, scaled.real) / max(scale, TINY),
        )
        if error <= ACCURACY:
            return a
        reached = min(reached, error)
    raise ValueError(
        f"{n_terms} Maclaurin coefficients must be found to a relative accuracy of {ACCURACY:g}; got {reached:.1g}. "
        "The function must be analytic at 0 (no abs, where, clip, real) and exact to rounding; or ask for fewer."
    )


def _coefficients_on(
    points: NDArray[np.complex128], function: Callable[[Any], Any]
) -> tuple[NDArray[np.complex128], float]:
    """Discrete Fourier transform of the function at the points, and its largest absolute value there."""
    try:
        with np.errstate(all="ignore"):  # a pole or an overflow is found by the checks, not reported twice
            values = np.asarray(function(points), dtype=np.complex128)
    except (TypeError, ValueError) as error:
        raise ValueError(f"function must take complex arguments for its Maclaurin series; got {error!r}.") from error
    if values.shape != points.shape or not np.isfinite(values).all():
        raise ValueError(
            f"function must return one finite number per complex argument; got shape {values.shape} "
            f"and {np.count_nonzero(~np.isfinite(values))} values that are not finite."
        )
    return np.fft.fft(values) / len(points), float(np.abs(values).max())


def _mismatch(function: Callable[[Any], Any], radius: float, scaled: Array) -> float:
    """Largest difference, at real arguments up to radius/2, of the function and the series; inf where it is nan."""
    u = np.linspace(-0.5, 0.5, 17)
    with np.errstate(all="ignore"):
        values = np.asarray(function(radius * u))
    difference = np.abs(np.polynomial.polynomial.polyval(u, scaled[: len(scaled) // 2]) - values).max()
    return float(difference) if np.isfinite(difference) else math.inf
