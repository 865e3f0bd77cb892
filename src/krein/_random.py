"""random_state -> independent, named streams, so that a new draw in one stage does not shift the draws of another."""

from __future__ import annotations

from typing import Any

import numpy as np

RandomState = int | np.random.Generator | np.random.RandomState | None


class Streams:
    """Named child generators of one ``random_state``.

    An int or None seeds a root; a Generator or RandomState is advanced once to give one, so that successive fits
    differ.
    """

    def __init__(self, random_state: Any = None) -> None:
        self._entropy = _entropy(random_state)

    def __call__(self, name: str) -> np.random.Generator:
        """The generator of this name: the same name gives the same stream."""
        return np.random.default_rng(np.random.SeedSequence(self._entropy, spawn_key=tuple(name.encode())))


def _entropy(random_state: Any) -> int:
    if random_state is None:
        return int(np.random.SeedSequence().entropy)  # type: ignore[arg-type]
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool) and random_state >= 0:
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int.from_bytes(random_state.bytes(16), "little")
    if isinstance(random_state, np.random.RandomState):
        return int.from_bytes(random_state.bytes(16), "little")
    raise ValueError(
        "random_state must be a non-negative int, a numpy Generator, a RandomState or None; "
        f"got {random_state!r} of type {type(random_state).__name__}."
    )
