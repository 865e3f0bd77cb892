"""Radii of the frequencies of one Jordan part: through its exact quantile, or all equal."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from krein.sampling.rules import size_biased
from krein.spectral import RadialLaw

Array = NDArray[np.float64]
RadiusScheme = Callable[[RadialLaw, int, np.random.Generator], Array]


def iid(law: RadialLaw, count: int, rng: np.random.Generator) -> Array:
    """Independent radii."""
    return law.quantile(rng.random(count))


def stratified(law: RadialLaw, count: int, rng: np.random.Generator) -> Array:
    """One radius from each of ``count`` strata of equal probability, in random order: each alone has the exact law."""
    return law.quantile((rng.permutation(count) + rng.random(count)) / count)


def root_mean_square(law: RadialLaw, count: int, rng: np.random.Generator) -> Array:
    """All radii sqrt(E r^2), as in the published SORF, where that is sqrt(d)/scale; E r^2 must be finite.

    Biased: the mean is Omega_d(sqrt(E r^2) z), which agrees with the kernel up to z^2 only. The radii add no variance.
    """
    return np.full(count, np.sqrt(size_biased(law, 2).mass))


RADII: dict[str, RadiusScheme] = {"iid": iid, "rms": root_mean_square, "stratified": stratified}
UNBIASED_RADII = ("iid", "stratified")
