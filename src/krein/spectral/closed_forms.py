"""Radial signed measures known in closed form. One function per family; ``radial_measure`` looks them up by type.

Every density here is the law of the radius: the Fourier density on R^d times S_(d-1) r^(d-1).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from scipy import special

from krein.exceptions import NoFrequenciesError
from krein.kernels.algebra import Product, Scaled, Sum
from krein.kernels.base import RadialKernel
from krein.kernels.gaussian import DeltaGaussian, Gaussian
from krein.spectral.measure import NEGLIGIBLE, Array, RadialMeasure, tabulated

GRID_POINTS = 2048
SQUARABLE = (1e-150, 1e150)  # radii whose square neither under- nor overflows


def gaussian_terms(kernel: RadialKernel) -> dict[float, float] | None:
    """{scale: weight} if the kernel is a finite signed mixture of Gaussians (sums and products are), else None."""
    if isinstance(kernel, Gaussian):
        return {kernel.scale: 1.0}
    if isinstance(kernel, DeltaGaussian):
        return _collect(zip(kernel.scales, kernel.weights, strict=True))
    if isinstance(kernel, Scaled):
        inner = gaussian_terms(kernel.kernel)
        return None if inner is None else _collect((scale, kernel.factor * weight) for scale, weight in inner.items())
    if isinstance(kernel, Sum | Product):
        left, right = gaussian_terms(kernel.left), gaussian_terms(kernel.right)
        if left is None or right is None:
            return None
        if isinstance(kernel, Sum):
            return _collect([*left.items(), *right.items()])
        return _collect((1 / np.hypot(1 / s, 1 / t), a * b) for s, a in left.items() for t, b in right.items())
    return None


def _collect(terms: Iterable[tuple[float, float]]) -> dict[float, float]:
    total: dict[float, float] = {}
    for scale, weight in terms:
        total[float(scale)] = total.get(float(scale), 0.0) + float(weight)
    return {scale: weight for scale, weight in total.items() if weight != 0}


def gaussian_mixture(terms: dict[float, float], dim: int) -> RadialMeasure:
    """Term a exp(-z^2/(2 s^2)): the radius is chi_d / s, so mu(dr) = sum a s chi_d(s r) dr."""
    if not terms:
        raise NoFrequenciesError("The kernel is identically zero: it has no frequencies.")
    scales, weights = np.array(list(terms)), np.array(list(terms.values()))
    log_norm = (dim / 2 - 1) * np.log(2) + special.gammaln(dim / 2)

    def density(r: Array) -> Array:
        x = np.multiply.outer(np.asarray(r, float), scales)
        with np.errstate(divide="ignore"):
            chi = np.exp((dim - 1) * np.log(x) - x**2 / 2 - log_norm) if dim > 1 else np.exp(-(x**2) / 2 - log_norm)
        return np.asarray(chi @ (weights * scales))

    def cumulative(r: Array) -> Array:
        return np.asarray(special.gammainc(dim / 2, np.multiply.outer(np.asarray(r, float), scales) ** 2 / 2) @ weights)

    low = np.sqrt(2 * special.gammaincinv(dim / 2, NEGLIGIBLE)) / scales.max()
    high = np.sqrt(2 * special.gammainccinv(dim / 2, NEGLIGIBLE)) / scales.min()
    return RadialMeasure(dim, density, cumulative, np.geomspace(low, high, GRID_POINTS))


def student(scale: float, nu: float, dim: int) -> RadialMeasure:
    """Matern, a multivariate t with 2 nu degrees of freedom: r^2 scale^2/(2 nu) = B/(1 - B), B ~ Beta(d/2, nu)."""
    a, b, unit = dim / 2, nu, 2 * nu / scale**2  # x = r^2 / unit
    log_beta = special.betaln(a, b)

    def density(r: Array) -> Array:
        x = np.asarray(r, float) ** 2 / unit
        return np.asarray(np.exp((a - 0.5) * np.log(x) - (a + b) * np.log1p(x) - log_beta) * 2 / np.sqrt(unit))

    def cumulative(r: Array) -> Array:
        x = np.asarray(r, float) ** 2 / unit
        return np.where(x < 1, special.betainc(a, b, x / (1 + x)), 1 - special.betainc(b, a, 1 / (1 + x)))

    low, high = special.betaincinv(a, b, NEGLIGIBLE), special.betaincinv(b, a, NEGLIGIBLE)  # B and 1 - B
    with np.errstate(divide="ignore"):
        ends = np.clip(np.sqrt(unit * np.array([low / (1 - low), (1 - high) / high])), *SQUARABLE)
    return RadialMeasure(dim, density, cumulative, np.geomspace(ends[0], ends[1], GRID_POINTS))


def gamma_mixture(scale: float, alpha: float, dim: int) -> RadialMeasure:
    """RationalQuadratic, a gamma mixture of Gaussians: r^2 = 2 G T/(alpha scale^2), G ~ Gamma(d/2), T ~ Gamma(alpha).

    ln G + ln T is a sum of independent variables: its density is a convolution of two analytic functions, which the
    trapezoidal rule on an even grid computes to rounding. The grid is ln(r^2) = 2 ln r.
    """
    shapes = (dim / 2, alpha)
    lows = [special.gammaincinv(a, NEGLIGIBLE) for a in shapes]
    highs = [special.gammainccinv(a, NEGLIGIBLE) for a in shapes]
    step = min(0.1 / np.sqrt(max(shapes)), 0.1)
    densities, starts = [], []
    for a, low, high in zip(shapes, lows, highs, strict=True):
        y = np.arange(np.floor(np.log(max(low, 1e-300)) / step), np.ceil(np.log(high) / step) + 1) * step
        densities.append(np.exp(a * y - np.exp(y) - special.gammaln(a)))
        starts.append(y[0])
    g = step * np.convolve(*densities)
    x = (sum(starts) + step * np.arange(len(g)) + np.log(2 / (alpha * scale**2))) / 2
    measure = tabulated(dim, x, 2 * g, log=True)
    at_zero = 1.0 - float(measure.cumulative(measure.grid[-1]))
    if alpha > 0.06:
        return measure
    return replace(measure, atoms=((0.0, at_zero),))  # T may underflow: that share is a constant
