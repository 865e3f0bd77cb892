"""Jordan parts x directions x radii, or x a rule for both -> Frequencies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from krein._random import Streams
from krein._validation import check_choice
from krein.sampling.directions import DIRECTIONS
from krein.sampling.frequencies import Frequencies
from krein.sampling.radii import RADII
from krein.sampling.rules import RULES
from krein.sampling.structured import StackedWeights
from krein.sampling.structured_directions import STRUCTURED_DIRECTIONS
from krein.spectral import Jordan

ALL_DIRECTIONS: dict[str, Any] = {**DIRECTIONS, **STRUCTURED_DIRECTIONS}


def sample_frequencies(
    parts: Jordan, counts: Sequence[int], *, directions: str = "blocks", radii: str = "iid", random_state: Any = None
) -> Frequencies:
    """Draw ``counts`` frequencies per Jordan part; each gets the coefficient +-mass/count of its part.

    Parameters
    ----------
    parts : Jordan
    counts : sequence of int
        One per part with mass, the positive part first.
    directions : str
        A key of ``DIRECTIONS`` or ``STRUCTURED_DIRECTIONS``.
    radii : {"iid", "stratified", "rms"}
        "rms" gives every frequency the root mean square radius, which is biased.
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
    check_choice(directions, "directions", ALL_DIRECTIONS)
    check_choice(radii, "radii", RADII)
    _check_counts(parts, counts)
    streams = Streams(random_state)
    units: list[Any] = ALL_DIRECTIONS[directions](parts.parts[0].dim, counts, streams("directions"))
    weights: list[Any] = []
    coefficients = []
    for law, unit, count in zip(parts.parts, units, counts, strict=True):
        name = "positive" if law.sign > 0 else "negative"
        radius = RADII[radii](law, count, streams(f"radii of the {name} part"))
        weights.append(unit * radius[:, None] if isinstance(unit, np.ndarray) else unit.rescaled(radius))
        coefficients.append(np.full(count, law.sign * law.mass / count))
    structured = directions in STRUCTURED_DIRECTIONS
    stacked: Any = StackedWeights(tuple(weights)) if structured else np.concatenate(weights)
    return Frequencies(stacked, np.concatenate(coefficients), parts.constant)


def sample_with_rule(parts: Jordan, counts: Sequence[int], rule: str, random_state: Any = None) -> Frequencies:
    """Frequencies of every Jordan part by a rule that chooses radii, directions and coefficients together.

    Parameters
    ----------
    parts : Jordan
    counts : sequence of int
        Largest number per part; a rule that works in groups uses as many whole groups as fit.
    rule : str
        A key of ``RULES``.
    random_state : int, Generator, RandomState or None
    """
    check_choice(rule, "rule", RULES)
    _check_counts(parts, counts)
    group = RULES[rule].group(parts.parts[0].dim)
    if min(counts) < group:
        raise ValueError(f"Rule {rule!r} needs at least {group} frequencies per sign here; got {min(counts)}.")
    streams = Streams(random_state)
    weights, coefficients, constant = [], [], parts.constant
    for law, count in zip(parts.parts, counts, strict=True):
        name = "positive" if law.sign > 0 else "negative"
        w, c, c0 = RULES[rule].points(law, count, streams(f"rule for the {name} part"))
        weights.append(w)
        coefficients.append(law.sign * law.mass * c)
        constant += law.sign * law.mass * c0
    return Frequencies(np.concatenate(weights), np.concatenate(coefficients), constant, rotated=RULES[rule].rotated)


def _check_counts(parts: Jordan, counts: Any) -> None:
    needed = len(parts.parts)
    given = list(counts) if isinstance(counts, Sequence | np.ndarray) else []
    if len(given) != needed or not all(isinstance(count, int | np.integer) and count >= 1 for count in given):
        raise ValueError(f"counts must be {needed} integers >= 1, one per part with mass; got {counts!r}.")
