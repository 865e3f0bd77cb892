"""How far a run is and how long it will take."""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Iterable
from statistics import fmean
from typing import TextIO

from krein.experiments.cells import Cell

Group = tuple[str, str, str, str, str]


def group_of(cell: Cell) -> Group:
    """A cell without its repetition: its rows take about the same time."""
    return cell.experiment, cell.kernel, cell.data, cell.method, cell.size


class Progress:
    """A line on the terminal, or one every ten seconds where there is none.

    Parameters
    ----------
    left : iterable of Cell
        What has to be computed.
    jobs : int
        Number of processes.
    known : iterable of (Cell, float)
        Seconds that finished cells took, also those of an earlier run.
    stream : file, default=sys.stderr
    """

    def __init__(
        self, left: Iterable[Cell], jobs: int, known: Iterable[tuple[Cell, float]] = (), stream: TextIO | None = None
    ) -> None:
        self.left = set(left)
        self.total, self.jobs, self.stream = len(self.left), jobs, stream or sys.stderr
        self.seconds: dict[Group, list[float]] = defaultdict(list)
        for cell, seconds in known:
            self.seconds[group_of(cell)].append(seconds)
        self.start = self.last = time.monotonic()

    def finished(self, cell: Cell, seconds: float) -> None:
        """Count a cell and show the line."""
        self.left.discard(cell)
        self.seconds[group_of(cell)].append(seconds)
        now = time.monotonic()
        if self.stream.isatty():
            self.stream.write(f"\r\x1b[K{self.line(cell, now)}" + "\n" * (not self.left))
        elif now - self.last > 10 or not self.left:
            self.stream.write(self.line(cell, now) + "\n")
            self.last = now
        self.stream.flush()

    def line(self, cell: Cell, now: float) -> str:
        """Rows done, time used, time left, and what was finished last."""
        done = self.total - len(self.left)
        return (
            f"{done}/{self.total} rows, {clock(now - self.start)} gone, about {clock(self.time_left())} left: "
            f"{cell.experiment} {cell.data} {cell.method} {cell.size}"
        )

    def time_left(self) -> float:
        """Seconds: what the like of each remaining cell took on average, shared by the processes."""
        means = {group: fmean(seconds) for group, seconds in self.seconds.items()}
        unknown = fmean(means.values()) if means else 0.0
        return sum(means.get(group_of(cell), unknown) for cell in self.left) / self.jobs


def clock(seconds: float) -> str:
    """Minutes and seconds, or hours and minutes.

    Examples
    --------
    >>> from krein.experiments.progress import clock
    >>> clock(75), clock(7260)
    ('1 min 15 s', '2 h 01 min')
    """
    minutes, rest = divmod(int(seconds + 0.5), 60)
    if minutes >= 60:
        return f"{minutes // 60} h {minutes % 60:02} min"
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"
