"""Radial measure of any profile, numerically: a Hankel transform on a log grid with an error estimate.

With x = ln r, y = ln z and g(x) = r m(r), where m is the density of the radial measure (Jacobian r^(d-1) included),

    m(r) = C_d r^(d/2) int_0^inf k(z) z^(d/2) J_(d/2-1)(r z) dz,          C_d = 2^(1-d/2) / Gamma(d/2)
    g(x) = int k(e^y) h(e^(x+y)) dy,                                      h(t) = C_d t^(d/2+1) J_(d/2-1)(t)

is a convolution. In the Mellin variable w (Fourier in x and in y)

    G(w) = conj(K(w)) U(w),     K(w) = int k(e^y) e^(iwy) dy,     U(w) = C_d 2^(d/2+iw) Gamma((d+iw)/2) / Gamma(-iw/2).

U is made in log domain. Two things make this stable:

1. The limit k(inf) (an atom at r = 0) and a Gaussian with the same k(0) (a chi law, known exactly) are subtracted. What
   is left vanishes at z = 0 and z = inf, needs no tilt, and has total mass U(0) = 0 exactly.
2. abs(U) grows like exp(pi w/4), so from real z every digit of k is used up at w = 46, which blurs the density for
   d > 20. If k is analytic in the sector 0 <= arg z <= a < pi/4, then (Cauchy)
   K(w) = exp(-a w) int k(e^(y+ia)) e^(iwy) dy: sampled along that ray, the factor exp(-a w) cancels the growth, and
   d = 256 is as accurate as d = 3. Whether a callable is analytic is tested, not assumed: K from the ray must equal K
   from real z.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import erfc

from krein._validation import check_integer, check_positive
from krein.spectral._mellin import Candidate, best_candidate
from krein.spectral._profile import Array, Profile, Shape, edge_exponent, evaluate, inspect_profile
from krein.spectral.bessel import omega


@dataclass(frozen=True, eq=False)
class NumericalDensity:
    """Radial signed measure k(z) = atom + int Omega_d(e^x z) g(x) dx of a profile, on a log grid.

    Attributes
    ----------
    dim : int
        Dimension d.
    log_radii : ndarray
        Equally spaced x = ln r; g is negligible outside. Empty if the measure is not finite.
    density_per_log_radius : ndarray
        g(x) = r m(r), any sign, with the Jacobian r^(d-1) in it; the mass of the density is the integral of g over x.
    atom_at_zero : float
        Mass at r = 0, the limit of k at infinity.
    total_variation : float
        abs(atom) + int abs(g) dx; inf if the measure is not finite.
    reconstruction_error : float
        sup abs(atom + int Omega_d(r z) m(r) dr - k(z)) / max abs(k) over z = 0 and z that were not used to make g.
    density_error : float
        Estimate of the L1 error of g relative to the total variation.
    finite : bool
        Whether the total variation is finite.
    reason : str
        Why the measure is not finite, or why ``error`` is above the tolerance; empty otherwise.
    """

    dim: int
    log_radii: Array
    density_per_log_radius: Array
    atom_at_zero: float
    total_variation: float
    reconstruction_error: float
    density_error: float
    finite: bool
    reason: str

    @property
    def error(self) -> float:
        """The larger of ``reconstruction_error`` and ``density_error``.

        A density that reproduces k but is blurred has a small first and a large second: k in double precision at real z
        does not determine it better.
        """
        return max(self.reconstruction_error, self.density_error)


def hankel_density(
    profile: Profile, dim: int, *, tolerance: float = 1e-8, scale: float | None = None
) -> NumericalDensity:
    """Density of the radial signed measure of a profile in dimension d, computed numerically.

    Parameters
    ----------
    profile : callable
        k(z) for an array of distances z >= 0, elementwise. If it also accepts complex z and is analytic there
        (``np.exp(-z)``, not ``abs``, ``maximum`` or ``asarray(z, float)``), the result is accurate in every dimension;
        otherwise the density is blurred for d > 20, which ``density_error`` tells.
    dim : int
        Dimension d >= 1.
    tolerance : float, default=1e-8
        The grid is refined until ``error`` is below it, as far as memory allows.
    scale : float, default=None
        Width of the Gaussian that is subtracted; ``None`` makes it half way down where k is. Any length over which k
        varies gives the same density.

    Returns
    -------
    NumericalDensity
        ``finite=False`` with a reason, and no density, if the measure has no finite total variation.

    Notes
    -----
    Infinite are: k that is unbounded, or has no limit at infinity, or is not continuous at 0; a k whose n-th derivative
    jumps, with n <= (d-1)/2, for example (1 - z^2)_+^n. A call takes 5 to 100 ms for a smooth profile, up to 500 ms for
    one with a jump in a derivative, beyond the cost of the profile itself.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.spectral.fourier import hankel_density
    >>> density = hankel_density(lambda z: np.exp(-z), 256)  # Laplacian kernel: a multivariate Cauchy law
    >>> density.finite, density.error < 1e-8, round(density.total_variation, 6)
    (True, True, 1.0)
    >>> hankel_density(lambda z: -np.log1p(z**2), 3).reason
    'k grows without bound or has no limit as z -> inf'
    """
    check_integer(dim, "dim", 1)
    check_positive(tolerance, "tolerance")
    if scale is not None:
        check_positive(scale, "scale")
    shape = inspect_profile(profile, scale)
    if isinstance(shape, str):
        return _infinite(dim, shape)
    smoothness = edge_exponent(profile, shape)
    if smoothness <= (dim - 1) / 2 + 0.01:
        return _infinite(dim, _kink_message(smoothness, dim))
    best = best_candidate(profile, shape, dim, tolerance)
    if best.ray == 0 and not np.isfinite(smoothness) and best.smoothness <= (dim - 1) / 2 + 0.25:
        return _infinite(dim, _kink_message(best.smoothness, dim))
    if not np.isfinite(best.g).all():
        return _infinite(dim, "k at real z does not determine the measure in this dimension: the transform overflows")
    return _assemble(profile, shape, dim, best, tolerance)


@np.errstate(over="ignore", invalid="ignore")
def _assemble(profile: Profile, shape: Shape, dim: int, best: Candidate, tolerance: float) -> NumericalDensity:
    """Keep the radii where g is above its noise, and compare the reconstruction with the profile."""
    kept = best.grid.x[np.abs(best.g) > 8 * best.noise]
    first, last = (kept[0], kept[-1]) if len(kept) > 1 else best.grid.x[[0, -1]]
    margin = 0.75 if best.ray == 0 else 0.0  # noise is of high frequency: behind a smooth edge, k does not see it
    part = (best.grid.x >= first - 2 * margin) & (best.grid.x <= last + 2 * margin)
    x, g = best.grid.x[part], best.g[part]
    if margin:
        g = g * erfc(4 * ((first - x) / margin - 1)) / 2 * erfc(4 * ((x - last) / margin - 1)) / 2
    variation = float(abs(shape.limit) + best.grid.step * np.abs(g).sum())
    reconstruction_error = _reconstruction_error(profile, shape, dim, x, g)
    error = max(reconstruction_error, best.error)
    reason = "" if error <= tolerance else f"estimated error {error:.1e} is above the tolerance {tolerance:.1e}"
    return NumericalDensity(dim, x, g, shape.limit, variation, reconstruction_error, best.error, True, reason)


def _reconstruction_error(profile: Profile, shape: Shape, dim: int, x: Array, g: Array) -> float:
    """Largest abs(limit + int Omega_d(e^x z) g(x) dx - k(z)) / max abs(k), by the trapezoidal rule.

    The z lie half way between those that g was made from, on a log grid of the same step h, so that r z stays on one
    grid of t and Omega_d is computed once. Where that grid no longer resolves Omega_d, near t = 1/h, it is faded out:
    there it averages to 0.
    """
    step = (x[-1] - x[0]) / (len(x) - 1)
    n_steps = int((shape.high - shape.low) / step)
    shifts = np.arange(0, n_steps + 1, max(1, n_steps // 100))
    log_z = shape.low + step / 2 + step * shifts
    log_t = x[0] + log_z[0] + step * np.arange(len(x) + shifts[-1])
    wave = np.zeros(len(log_t))
    resolved = log_t < np.log(2.5 / step)
    wave[resolved] = omega(dim, np.exp(log_t[resolved])) * erfc(6 * (log_t[resolved] + np.log(step))) / 2
    found = np.array([step * g.sum(), *(step * np.dot(wave[i : i + len(g)], g) for i in shifts)]) + shape.limit
    expected = np.append(shape.origin, evaluate(profile, np.exp(log_z)))
    error = float(np.abs(found - expected).max() / shape.largest)
    return error if np.isfinite(error) else np.inf


def _infinite(dim: int, reason: str) -> NumericalDensity:
    empty = np.empty(0)
    return NumericalDensity(dim, empty, empty, np.nan, np.inf, np.inf, np.inf, False, reason)


def _kink_message(order: float, dim: int) -> str:
    return (
        f"k is not smooth enough: its derivative of order {order:.3g} jumps; the order of the first that jumps must be "
        f"above (d-1)/2 = {(dim - 1) / 2:g}"
    )
