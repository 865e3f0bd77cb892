"""What a numerical transform must know of a profile k(z) before it starts: limits, range, smoothness at an edge."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Profile = Callable[[Any], Any]

_PROBES = 10.0 ** np.linspace(-150, 150, 1201)  # four per decade; their squares stay within the range of a double


@dataclass(frozen=True)
class Shape:
    """What there is to know: values, the width of the Gaussian to subtract, the range of y = ln z, and the support.

    ``edge`` is the last z where abs(k - k(inf)) is above ``floor``, inf if there is none.
    """

    origin: float
    limit: float
    largest: float
    sigma: float
    low: float
    high: float
    edge: float
    floor: float

    def remainder(self, profile: Profile, z: Any) -> Any:
        """The profile minus its limit minus the Gaussian with the same value at 0, for real or complex z."""
        with np.errstate(all="ignore"):
            return profile(z) - self.limit - (self.origin - self.limit) * np.exp(-((z / self.sigma) ** 2) / 2)


def evaluate(profile: Profile, z: Array) -> Array:
    """k(z) at real z in float64, floating point warnings off (k may overflow on the way to a finite value)."""
    with np.errstate(all="ignore"):
        values = np.asarray(profile(z), dtype=np.float64)
    if values.shape != z.shape:
        raise ValueError(f"profile must return an array of the shape of its argument, {z.shape}; got {values.shape}.")
    return values


def inspect_profile(profile: Profile, scale: float | None) -> Shape | str:
    """Shape of a profile, or the reason why its measure is infinite."""
    k = evaluate(profile, _PROBES)
    at_zero = evaluate(profile, np.zeros(1))[0]
    origin = float(k[0] if np.isnan(at_zero) else at_zero)
    if not np.isfinite(origin):
        return "k(0) is not finite"
    finite = np.isfinite(k)
    first = int(np.argmax(finite))
    end = first + int(np.argmin(np.append(finite[first:], False)))
    if end < len(k) and np.isinf(k[end]):
        return "k grows without bound or has no limit as z -> inf"
    if not finite[first] or _PROBES[first] > 1e-6 or _PROBES[end - 1] < 1e8:
        raise ValueError("profile must be finite for 1e-6 < z < 1e8; got nan or inf there.")
    z, k = _PROBES[first:end], k[first:end]
    limit, largest = float(k[-1]), float(max(np.abs(k).max(), abs(origin))) or 1.0
    if np.ptp(k[z >= z[-1] ** 0.8]) > 0.01 * largest:
        return "k grows without bound or has no limit as z -> inf"
    if np.ptp(np.append(k[z < 1e30 * z[0]], origin)) > 0.01 * largest:
        return "k is not continuous at z = 0"
    floor = largest * (1e-290 if limit == 0 else 1e-10)  # differences from the limit that are not mere rounding
    edge = _support_edge(profile, z, k, limit, floor)
    shape = Shape(origin, limit, largest, scale or _width(z, k, origin, limit, largest), 0.0, 0.0, edge, floor)
    varies = np.flatnonzero(np.abs(shape.remainder(lambda _: k, z)) > 4e-16 * largest)
    margin = float(np.log(z[1] / z[0]))
    if not len(varies):
        return replace(shape, low=float(np.log(shape.sigma)) - 1, high=float(np.log(shape.sigma)) + 1)
    return replace(shape, low=float(np.log(z[varies[0]])) - margin, high=float(np.log(z[varies[-1]])) + margin)


def _width(z: Array, k: Array, origin: float, limit: float, largest: float) -> float:
    """Width of the Gaussian that is half way down where k is; if k(0) = k(inf), the place of the largest deviation."""
    if abs(origin - limit) <= 1e-12 * largest:
        return float(z[np.argmax(np.abs(k - limit))]) if np.any(k != limit) else 1.0
    half_way = int(np.argmax(np.abs(k - origin) >= abs(origin - limit) / 2))
    return float(z[half_way] / np.sqrt(2 * np.log(2)))


def _support_edge(profile: Profile, z: Array, k: Array, limit: float, floor: float) -> float:
    """Largest z where k differs from its limit by more than the floor, by bisection; inf if the last z is one."""
    last = int(np.flatnonzero(np.append(True, np.abs(k - limit) > floor))[-1]) - 1
    if last < 0 or last == len(z) - 1:
        return np.inf
    inside, outside = float(z[last]), float(z[last + 1])
    for _ in range(60):
        middle = (inside + outside) / 2
        if abs(evaluate(profile, np.array([middle]))[0] - limit) > floor:
            inside = middle
        else:
            outside = middle
    return inside


def edge_exponent(profile: Profile, shape: Shape) -> float:
    """Exponent n in k - k(inf) ~ (z_0 - z)^n at the end z_0 of the support, 0 for a jump, inf if there is no end.

    With v = z^2, 1 / (d/dv ln abs(k - k(inf))) = (v - v_0) / n + O((v - v_0)^2) is fitted by a cubic, of which v_0 is a
    root. This works also if k underflows before it reaches z_0; and where it only underflows, as a Gaussian does, there
    is no root near by.
    """
    if not np.isfinite(shape.edge):
        return np.inf

    def size(z: Array) -> Array:
        return np.abs(evaluate(profile, z) - shape.limit)

    end, near, far = size(shape.edge * (1 - np.array([0, 1e-12, 1e-3])))
    if end > 1e-9 * shape.largest and near > far / 2:
        return 0.0
    u = np.linspace(0.004, 0.1, 25)  # z^2 = edge^2 (1 - u)
    estimates = []
    for step in (1e-4, 2e-4):
        with np.errstate(all="ignore"):
            above, below = (np.log(size(shape.edge * np.sqrt(1 - u + shift))) for shift in (step, -step))
            inverse_slope = 2 * step / (above - below)
        if not np.isfinite(inverse_slope).all():
            return np.inf
        cubic = np.polynomial.Polynomial.fit(u, inverse_slope, 3).convert()
        roots = cubic.roots()
        roots = roots[(np.abs(roots.imag) < 1e-6) & (np.abs(roots.real + 0.18) < 0.2)].real
        slope = -float(cubic.deriv()(roots.max())) if len(roots) else 0.0
        estimates.append(1 / slope if slope > 0 else np.inf)
    return estimates[0] if abs(estimates[0] - estimates[1]) < 0.01 * estimates[0] else np.inf


def on_ray(profile: Profile, shape: Shape, z: NDArray[np.complex128]) -> NDArray[np.complex128] | None:
    """The remainder at complex z, or None if the profile does not accept complex numbers or is useless there."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            values = np.asarray(shape.remainder(profile, z))
    except Exception:  # whatever a callable raises that was written for real numbers
        return None
    if values.shape != z.shape or values.dtype.kind != "c" or not np.isfinite(values).all():
        return None
    return values if np.abs(values).max() <= 1e14 * shape.largest else None  # beyond, rounding leaves nothing
