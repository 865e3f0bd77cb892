"""Jordan parts x directions x radii -> Frequencies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from krein._random import Streams
from krein._validation import check_choice
from krein.sampling.directions import DIRECTIONS
from krein.sampling.frequencies import Frequencies
from krein.sampling.radii import RADII
from krein.spectral import Jordan


def sample_frequencies(
    parts: Jordan, counts: Sequence[int], *, directions: str = "blocks", radii: str = "iid", random_state: Any = None
) -> Frequencies:
    """Draw ``counts`` frequencies per Jordan part; each gets the coefficient +-mass/count of its part.

    Parameters
    ----------
    parts : Jordan
    counts : sequence of int
        One per part with mass, the positive part first.
    directions : {"blocks", "iid", "joint", "shared"}
    radii : {"iid", "stratified"}
    random_state : int, Generator, RandomState or None

    Examples
    --------
    >>> from krein.kernels import DeltaGaussian
    >>> from krein.sampling import sample_frequencies
    >>> from krein.spectral import jordan_parts
    >>> parts = jordan_parts(DeltaGaussian(), dim=16)
    >>> sample_frequencies(parts, [8, 8], random_state=0).weights.shape
    (16, 16)
    """
    check_choice(directions, "directions", DIRECTIONS)
    check_choice(radii, "radii", RADII)
    laws = parts.parts
    if len(counts) != len(laws) or min(counts) < 1:
        raise ValueError(f"counts must be {len(laws)} integers >= 1, one per part with mass; got {list(counts)}.")
    streams = Streams(random_state)
    units = DIRECTIONS[directions](laws[0].dim, counts, streams("directions"))
    weights, coefficients = [], []
    for law, unit, count in zip(laws, units, counts, strict=True):
        name = "positive" if law.sign > 0 else "negative"
        weights.append(unit * RADII[radii](law, count, streams(f"radii of the {name} part"))[:, None])
        coefficients.append(np.full(count, law.sign * law.mass / count))
    return Frequencies(np.concatenate(weights), np.concatenate(coefficients), parts.constant)
