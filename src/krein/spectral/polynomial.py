"""The polynomial kernel on the sphere, extended by zero beyond distance 2 as in the paper, and the paper's own recipe.

The Fourier density of (1 - z^2/a^2)^m 1[z <= 2] in R^d is, up to a constant and with nu = d/2 + i,

    p(r) = sum_i m!/(m-i)! (1 - 4/a^2)^(m-i) (2/a^2)^i (2/r)^nu J_nu(2r),

and the law of the radius is 2^(1-d/2)/Gamma(d/2) r^(d-1) p(r). The paper leaves the Jacobian r^(d-1) out.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.special import gammaln, jv, xlogy

from krein.exceptions import InfiniteMassError
from krein.spectral.bessel import omega
from krein.spectral.jordan import jordan
from krein.spectral.measure import Array, RadialMeasure, tabulated

STEP = 0.05  # the density has zeros about pi/2 apart
MAX_RADIUS = 5000.0
TAIL = 1e-13  # share of the mass that a cut-off below MAX_RADIUS may leave out

ADVICE = (
    "No unbiased Fourier features of finite variance exist for this extension. Use scheme "
    "'optimal', which needs the kernel on a bounded range of distances only, or a map without frequencies: 'nystroem', "
    "or 'rm' and 'ts' for a kernel of the inner product."
)


def zero_extended_polynomial(a: float, degree: int, dim: int, cutoff: float | None = None) -> RadialMeasure:
    """Radial measure of (1 - z^2/a^2)^degree 1[z <= 2], up to the frequency radius ``cutoff``.

    Without a cut-off its mass must be finite. It is where the jump at z = 2 vanishes to a high enough order: a = 2 and
    degree > (dim - 1)/2. Otherwise InfiniteMassError.
    """
    if cutoff is None:
        if a != 2 or degree <= (dim - 1) / 2:
            raise InfiniteMassError(
                f"The zero-extended polynomial kernel (a={a:g}, degree={degree}) has infinite mass in dimension {dim}: "
                f"finite mass needs a = 2 and degree > (dim - 1)/2 = {(dim - 1) / 2:g}. {ADVICE}"
            )
        cutoff, error = _far_enough(degree, dim)
    elif cutoff > 0:
        error = np.inf
    else:
        raise ValueError(f"cutoff must be > 0; got {cutoff!r}.")
    r = np.linspace(0.0, cutoff, max(64, int(np.ceil(cutoff / STEP)) + 1))
    with np.errstate(divide="ignore"):
        log_jacobian = (1 - dim / 2) * np.log(2) - gammaln(dim / 2) + xlogy(dim - 1, r)
    return tabulated(dim, r, fourier_density(a, degree, dim, r, log_jacobian), log=False, error=error)


@lru_cache(maxsize=32)
def published_polynomial(a: float, degree: int, dim: int) -> RadialMeasure:
    """The paper's recipe for its polynomial rows: law p(r) dr with no Jacobian, masses scaled to ||p_+|| + ||p_-|| = 1.

    It is *biased*; it exists only to reproduce the published numbers.
    """
    cutoff = 60.0 + dim  # p falls like r^-(d+1)/2
    r = np.linspace(0.0, cutoff, int(np.ceil(cutoff / STEP)) + 1)
    p = fourier_density(a, degree, dim, r, gammaln(dim / 2 + 1) - dim / 2 * np.log(2))
    measure = tabulated(dim, r, p, log=False)
    return measure * (1 / jordan(measure).total_mass)


def fourier_density(a: float, degree: int, dim: int, r: Array, log_factor: Array | float) -> Array:
    """exp(log_factor) p(r); the factor is added in log domain because p alone leaves the range of a double.

    (2/r)^nu J_nu(2r) = 2^nu Omega_(2 nu + 2)(2r) / Gamma(nu + 1).
    """
    total = np.zeros_like(r)
    jump = 1 - 4 / a**2
    for i in range(degree + 1):
        if jump == 0 and i < degree:
            continue
        nu = dim / 2 + i
        log_term = (
            gammaln(degree + 1) - gammaln(degree - i + 1) + i * np.log(2 / a**2) + nu * np.log(2) - gammaln(nu + 1)
        )
        weight = jump ** (degree - i) if i < degree else 1.0
        sign, log_omega = _log_omega(dim + 2 * i + 2, 2 * r)
        total += weight * sign * np.exp(log_factor + log_term + log_omega)
    return total


def _log_omega(dim: int, t: Array) -> tuple[Array, Array]:
    """Sign and ln|Omega_dim(t)| with a small *relative* error far into the tail, which a Jacobian r^(d-1) lifts."""
    nu = dim / 2 - 1
    far = t**2 > 8 * dim
    values, log_scale = np.empty_like(t), np.zeros_like(t)
    values[~far] = omega(dim, t[~far])
    values[far] = jv(nu, t[far])
    log_scale[far] = gammaln(nu + 1) - nu * np.log(t[far] / 2)
    with np.errstate(divide="ignore"):
        return np.sign(values), np.log(np.abs(values)) + log_scale


def _far_enough(degree: int, dim: int) -> tuple[float, float]:
    """A cut-off for a = 2, and a bound on the error of the profile that it causes.

    Far out the density is c r^-q cos(2r + phase), q = degree + 3/2 - d/2 > 1: a share c R^(1-q)/(q - 1) is beyond R.
    The error is smaller, because the tail oscillates: about c R^-q per half-period, except near z = 2, where
    Omega_d(rz), of size (rz)^-((d-1)/2), oscillates alike.
    """
    q = degree + 1.5 - dim / 2
    log_c = gammaln(degree + 1) + (1 + degree) * np.log(2) - degree * np.log(2) - gammaln(dim / 2) - np.log(np.pi) / 2
    radius = np.exp((log_c - np.log((q - 1) * TAIL)) / (q - 1))
    cutoff = max(min(float(radius), MAX_RADIUS), 2.0 * dim + 4.0 * degree)
    envelope = np.exp(log_c - q * np.log(cutoff))
    resonant = envelope * cutoff ** (1 - (dim - 1) / 2) / 2
    return cutoff, float(min(np.pi * envelope + resonant, envelope * cutoff / (q - 1)))
