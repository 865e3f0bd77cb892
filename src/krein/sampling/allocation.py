"""How many frequencies each Jordan part gets."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from krein.sampling.variance import pair_covariance, single_variance
from krein.spectral import Jordan

Array = NDArray[np.float64]
Allocation = Callable[[Jordan, int, Array], list[int]]


def equal(parts: Jordan, n: int, distances: Array) -> list[int]:
    """The same number for every part, as in the paper; a remainder is left unused."""
    return [n // len(parts.parts)] * len(parts.parts)


def by_mass(parts: Jordan, n: int, distances: Array) -> list[int]:
    """Proportional to the masses: every frequency has a coefficient of about the same size."""
    return apportion(np.array([law.mass for law in parts.parts]), n)


def by_variance(parts: Jordan, n: int, distances: Array) -> list[int]:
    """Proportional to mass times sqrt(v), which minimises sum_p mass_p^2 v_p / s_p.

    v is the variance of one frequency in a full orthonormal block, v(z) + (d - 1) cov_0(z), averaged over
    ``distances``.
    """
    if len(parts.parts) == 1:
        return [n]
    shares = []
    for law in parts.parts:
        v = single_variance(law, distances) + (law.dim - 1) * pair_covariance(law, law, distances)
        shares.append(law.mass * np.sqrt(max(float(v.mean()), 1e-12)))
    return apportion(np.array(shares), n)


def apportion(shares: Array, n: int) -> list[int]:
    """Integers >= 1 that sum to n and are as near to proportional as rounding allows."""
    exact = shares / shares.sum() * n
    counts = np.maximum(np.floor(exact).astype(int), 1)
    while counts.sum() < n:
        counts[np.argmax(exact - counts)] += 1
    while counts.sum() > n:
        counts[np.argmax(counts)] -= 1
    return [int(count) for count in counts]


ALLOCATIONS: dict[str, Allocation] = {"equal": equal, "mass": by_mass, "variance": by_variance}
