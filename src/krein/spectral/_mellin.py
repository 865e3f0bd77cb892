"""The log-grid transform behind :mod:`krein.spectral.fourier`: from samples of k along a ray to g(x) and its error.

K(w) is an FFT of the samples, U(w) = C_d 2^(d/2+iw) Gamma((d+iw)/2) / Gamma(-iw/2) is made in log domain, and
g(x) = (1 / 2 pi) int conj(K(w)) U(w) e^(-iwx) dw is another FFT. Notation as in :mod:`krein.spectral.fourier`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfc, gammaln, loggamma

from krein.spectral._profile import Array, Profile, Shape, evaluate, on_ray

Spectrum = NDArray[np.complex128]

_RAYS = (*(np.array([0.9, 0.97, 0.75, 0.55, 0.3]) * np.pi / 4), 0.0)  # angles to try, in this order; 0 is real z
_MAX_POINTS = 2**17


@dataclass(frozen=True)
class _Grid:
    """n points y = y_0 + i h of ln z and x = x_0 + i h of ln r, and the n/2 + 1 frequencies w of a real FFT."""

    n: int
    step: float
    y: Array
    x: Array
    w: Array


@dataclass(frozen=True)
class Candidate:
    """One way to compute g: the angle of the ray, the result, and what is known of its error (L1, relative)."""

    ray: float
    grid: _Grid
    g: Array
    noise: float
    error: float
    smoothness: float
    cut_by_grid: bool


def best_candidate(profile: Profile, shape: Shape, dim: int, tolerance: float) -> Candidate:
    """The angle with the smallest estimated error, on a grid as fine as the tolerance and the profile ask for."""
    step = min(0.005, 0.1 / np.sqrt(2 * dim))
    best = _best_angle(profile, shape, dim, _make_grid(shape, dim, step), _RAYS, tolerance)
    while best.cut_by_grid and best.error > tolerance and 2 * best.grid.n <= _MAX_POINTS:
        step /= 2
        best = _best_angle(profile, shape, dim, _make_grid(shape, dim, step), (best.ray,), tolerance)
    return best


def _best_angle(
    profile: Profile, shape: Shape, dim: int, grid: _Grid, rays: tuple[float, ...], tolerance: float
) -> Candidate:
    """The first angle that is far more accurate than asked for, else the best; real z is the last resort."""
    real, real_floor = _mellin_real(profile, shape, grid)
    candidates = []
    for ray in rays:
        if ray == 0:
            candidates.append(_invert(shape, dim, grid, 0.0, real, real_floor))
            continue
        found = _mellin_ray(profile, shape, grid, ray)
        if found is None or not _agree(real, found[0], grid.w, ray):
            continue
        candidates.append(_invert(shape, dim, grid, ray, *found))
        if candidates[-1].error <= 1e-3 * tolerance:
            break
    if not candidates:
        candidates.append(_invert(shape, dim, grid, 0.0, real, real_floor))
    return min(candidates, key=lambda candidate: candidate.error)


def _make_grid(shape: Shape, dim: int, step: float) -> _Grid:
    """Room to the right of the profile because g falls like r^d for r -> 0, and because k falls later on a ray."""
    left, right = 3.0, 2.5 + 40 / dim
    n = 2 * int((shape.high - shape.low + left + right) / (2 * step) + 1)
    y: Array = shape.low - left + step * np.arange(n, dtype=np.float64)
    return _Grid(n, step, y, -y[::-1], np.arange(n // 2 + 1, dtype=np.float64) * (2 * np.pi / (n * step)))


def _log_multiplier(dim: int, w: Array) -> Spectrum:
    """Logarithm of U(w) = C_d 2^(d/2+iw) Gamma((d+iw)/2) / Gamma(-iw/2); U(0) = 0."""
    safe = np.where(w == 0, 1.0, w)
    log_c = (1 - dim / 2) * np.log(2) - gammaln(dim / 2)
    value = log_c + (dim / 2 + 1j * safe) * np.log(2) + loggamma((dim + 1j * safe) / 2) - loggamma(-0.5j * safe)
    return np.where(w == 0, -np.inf, value)


def _mellin_real(profile: Profile, shape: Shape, grid: _Grid) -> tuple[Spectrum, float]:
    """K(w) for w >= 0 from real z, and its noise level, which the rounding of k bounds from below."""
    inside = (grid.y >= shape.low) & (grid.y <= shape.high)
    values = np.zeros(grid.n)
    values[inside] = shape.remainder(lambda z: evaluate(profile, z), np.exp(grid.y[inside]))
    spectrum, floor = _spectrum(values, shape, grid)
    return spectrum, max(floor, 1e-16 * shape.largest)


def _mellin_ray(profile: Profile, shape: Shape, grid: _Grid, ray: float) -> tuple[Spectrum, float] | None:
    """exp(ray w) K(w) for w >= 0 from z = e^(y + i ray), and its noise level; None if k cannot be had there."""
    inside = (grid.y >= shape.low) & (grid.y <= shape.high + 1.8)
    found = on_ray(profile, shape, np.exp(grid.y[inside] + 1j * ray))
    if found is None:
        return None
    values = np.zeros(grid.n, dtype=np.complex128)
    values[inside] = found
    return _spectrum(values, shape, grid)


def _spectrum(values: NDArray[np.inexact], shape: Shape, grid: _Grid) -> tuple[Spectrum, float]:
    """Return int values e^(iwy) dy for w >= 0, and the level of its noise.

    The level is that of the spectrum itself in the middle of the band if it is flat there (if it falls, it is signal),
    and at least the rounding of the samples. The first samples are faded in: where k(0) - k(z) is about 1e-15, rounding
    makes a staircase of it, whose noise is not white.
    """
    values = values * (erfc(2 * (shape.low + 1.8 - grid.y)) / 2)
    spectrum = grid.step * grid.n * np.fft.ifft(values)[: len(grid.w)] * np.exp(1j * grid.w * grid.y[0])
    n_band = grid.n // 16
    below, above = (float(np.linalg.norm(spectrum[i * n_band : (i + 1) * n_band])) for i in (3, 4))
    level = above / np.sqrt(n_band)
    flat = below < (1.15 if level > 1e-11 * np.abs(spectrum).max() else 2) * above
    return spectrum, max(level * flat, 1e-16 * grid.step * float(np.linalg.norm(values)))


@np.errstate(over="ignore", invalid="ignore")  # where k does not determine g, U overflows: the error is then inf
def _invert(shape: Shape, dim: int, grid: _Grid, ray: float, spectrum: Spectrum, floor: float) -> Candidate:
    """Compute g from K on a ray: multiply by U, cut where K drowns in noise, transform back, add the chi law."""
    w = grid.w
    amplitude = _running_rms(np.abs(spectrum), max(3, int(1 / w[1])))
    drowned = np.flatnonzero(amplitude < 2 * floor)
    cut = float(np.clip(w[drowned[0]] if len(drowned) else np.inf, 2.0, 0.8 * w[-1]))
    log_u = np.where(w < cut, _log_multiplier(dim, w) - ray * w, -np.inf)
    u: Spectrum = np.exp(log_u)
    g = _back(grid, np.conj(spectrum) * u * _taper(w, cut))
    blurred = _back(grid, np.conj(spectrum) * u * _taper(w, 0.92 * cut))
    noise = floor * np.sqrt(2 * np.sum(np.abs(u) ** 2)) / (grid.n * grid.step)
    truncation = grid.step * np.abs(g - blurred).sum()
    g = g + (shape.origin - shape.limit) * _chi_law(dim, grid.x + np.log(shape.sigma))
    noise += (3e-15 + 5e-18 * dim) * np.abs(g).max()  # rounding, also of exponents that are proportional to d
    smoothness = _algebraic_order(w, amplitude, cut)
    if smoothness < np.inf:  # g has a tail r^-s beyond the cut, of which the blurring sees only a part
        truncation *= max(1.0, 12 / max(smoothness - (dim - 1) / 2, 0.1))
    error = _relative_error(g, grid.step, noise, truncation, abs(shape.limit))
    if ray and smoothness < np.inf:  # on a ray, K of an analytic profile falls exponentially
        error = np.inf
    return Candidate(ray, grid, g, float(noise), error, smoothness, cut > 0.7 * w[-1])


def _relative_error(g: Array, step: float, noise: float, truncation: float, atom: float) -> float:
    """L1 error of g by noise and truncation over the total variation; inf where g is lost in either."""
    kept = np.abs(g) > 8 * noise
    variation = atom + step * np.abs(g[kept]).sum()
    if not np.isfinite(g).all() or (variation == 0 and noise > 0):
        return np.inf
    if variation == 0:
        return 0.0
    length = step * np.count_nonzero(np.logical_or.accumulate(kept) & np.logical_or.accumulate(kept[::-1])[::-1])
    error = float((noise * (length + 16) + truncation) / variation)
    return error if np.isfinite(error) else np.inf


def _back(grid: _Grid, transform: Spectrum) -> Array:
    """(1 / 2 pi) int G(w) e^(-iwx) dw on the grid of x."""
    return np.fft.irfft(np.conj(transform * np.exp(-1j * grid.w * grid.x[0])), grid.n) / grid.step


def _taper(w: Array, cut: float) -> Array:
    """1 up to 0.92 cut, then down to 0 at the cut as a cosine."""
    return (1 + np.cos(np.pi * np.clip((w / cut - 0.92) / 0.08, 0, 1))) / 2


def _running_rms(values: Array, width: int) -> Array:
    smooth: Array = np.sqrt(np.convolve(values**2, np.ones(width) / width, "same"))
    return smooth


def _chi_law(dim: int, x: Array) -> Array:
    """Density, times r, of the chi law with d degrees of freedom at r = e^x."""
    law: Array = np.exp(dim * x - np.exp(np.minimum(2 * x, 700)) / 2 - (dim / 2 - 1) * np.log(2) - gammaln(dim / 2))
    return law


def _algebraic_order(w: Array, amplitude: Array, cut: float) -> float:
    """Order n if abs(K) falls like w^-(n+1), as for a jump of the n-th derivative; inf if it falls ever faster.

    A straight line is fitted to ln abs(K) over ln w and over w; the first must be the better one by far.
    """
    used = (w > 0.2 * cut) & (w < 0.7 * cut)
    logs = np.log(np.maximum(amplitude[used], 1e-300))
    power, power_misfit = np.polyfit(np.log(w[used]), logs, 1, full=True)[:2]
    _, exponential_misfit = np.polyfit(w[used], logs, 1, full=True)[:2]
    return float(-power[0] - 1) if power_misfit.sum() < 0.25 * exponential_misfit.sum() else np.inf


def _agree(real: Spectrum, rotated: Spectrum, w: Array, ray: float) -> bool:
    """Cauchy's theorem: K from the ray equals K from real z, where both are far above the noise."""
    low = w < 6
    return bool(np.abs(rotated[low] * np.exp(-ray * w[low]) - real[low]).max() <= 1e-9 * np.abs(real[low]).max())
