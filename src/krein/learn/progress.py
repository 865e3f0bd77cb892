"""What a long fit tells: a callback, and a bar when asked for."""

from __future__ import annotations

import sys
from collections.abc import Callable

Callback = Callable[[str, int, int], object]
WIDTH = 30


class Progress:
    """``callback(stage, done, total)`` after every step of a stage, and a bar on stderr if ``verbose``."""

    def __init__(self, callback: Callback | None, verbose: bool) -> None:
        if callback is not None and not callable(callback):
            raise ValueError(f"callback must be None or a callable(stage, done, total); got {callback!r}.")
        self.callback, self.verbose = callback, verbose

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Report; what the callback raises ends the fit, as Ctrl-C does."""
        if self.verbose:
            filled = WIDTH * done // total
            end = "\n" if done == total else ""
            print(f"\r{stage:10} [{'#' * filled}{'.' * (WIDTH - filled)}] {done} / {total}", end=end, file=sys.stderr)
        if self.callback is not None:
            self.callback(stage, done, total)
