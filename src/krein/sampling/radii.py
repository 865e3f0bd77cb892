"""Radii of the frequencies of one Jordan part, through its exact quantile."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from krein.spectral import RadialLaw

Array = NDArray[np.float64]
RadiusScheme = Callable[[RadialLaw, int, np.random.Generator], Array]


def iid(law: RadialLaw, count: int, rng: np.random.Generator) -> Array:
    """Independent radii."""
    return law.quantile(rng.random(count))


def stratified(law: RadialLaw, count: int, rng: np.random.Generator) -> Array:
    """One radius from each of ``count`` strata of equal probability, in random order: each alone has the exact law."""
    return law.quantile((rng.permutation(count) + rng.random(count)) / count)


RADII: dict[str, RadiusScheme] = {"iid": iid, "stratified": stratified}
