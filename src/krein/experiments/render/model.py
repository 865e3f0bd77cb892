"""Tables of the report, before they become HTML, LaTeX or CSV."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import hypot, sqrt

from krein.experiments.expectations import Expectation
from krein.experiments.summary import Mean

STANDARD_ERRORS = 2.0  # beyond which a reproduced mean is marked as different from the published one


@dataclass(frozen=True)
class Entry:
    """A number of a table.

    Parameters
    ----------
    mean : float
    std : float or None
    n : int or None
        Repetitions.
    columns : int or None, default=None
        Real columns of the feature map.
    best : bool, default=False
        The best of its column within its group of lines.
    differs : bool, default=False
        Further from the published mean than two standard errors of the difference.
    """

    mean: float
    std: float | None
    n: int | None
    columns: int | None = None
    best: bool = False
    differs: bool = False


@dataclass(frozen=True)
class Line:
    """One method in one table: its label, where its numbers are from, and an entry (or None) for each size."""

    group: str
    label: str
    source: str
    entries: tuple[Entry | None, ...]


@dataclass(frozen=True)
class Table:
    """A table with one column per size.

    Parameters
    ----------
    name : str
        Stem of its files.
    caption : str
    sizes : tuple of str
    lines : tuple of Line
        Lines of one group stand together.
    digits : int
        After the decimal point.
    larger_is_better : bool, default=False
    factor : float, default=1
        What means and standard deviations are multiplied with when they are shown, 100 for per cent.
    """

    name: str
    caption: str
    sizes: tuple[str, ...]
    lines: tuple[Line, ...]
    digits: int
    larger_is_better: bool = False
    factor: float = 1.0
    notes: tuple[str, ...] = field(default=())

    def number(self, value: float) -> str:
        """A mean or standard deviation as it is shown; two significant digits where the fixed ones would be zeros."""
        shown = self.factor * value
        return f"{shown:.{self.digits}f}" if abs(shown) >= 10.0**-self.digits or not shown else f"{shown:.1e}"

    def with_best(self) -> Table:
        """The same table with the best mean of every size and group marked."""
        best: dict[tuple[str, int], float] = {}
        choose = max if self.larger_is_better else min
        for line in self.lines:
            for i, entry in enumerate(line.entries):
                if entry is not None:
                    key = line.group, i
                    best[key] = choose(best.get(key, entry.mean), entry.mean)
        lines = tuple(
            replace(
                line,
                entries=tuple(
                    entry and replace(entry, best=entry.mean == best[line.group, i])
                    for i, entry in enumerate(line.entries)
                ),
            )
            for line in self.lines
        )
        return replace(self, lines=lines)


def published_entry(cell: Expectation | None) -> Entry | None:
    """A published number."""
    return None if cell is None else Entry(cell.mean, cell.std, cell.n)


def measured_entry(mean: Mean | None, cell: Expectation | None = None) -> Entry | None:
    """A measured number, marked where it differs from the published one."""
    if mean is None:
        return None
    return Entry(mean.mean, mean.std, mean.n, mean.columns, differs=cell is not None and differs(mean, cell))


def differs(mean: Mean, cell: Expectation) -> bool:
    """Whether two means are further apart than two standard errors of their difference."""
    if cell.std is None or cell.n is None:
        return False
    return abs(mean.mean - cell.mean) > STANDARD_ERRORS * hypot(mean.standard_error, cell.std / sqrt(cell.n))


def groups(lines: Sequence[Line]) -> dict[str, list[Line]]:
    """Lines by their group, in order."""
    found: dict[str, list[Line]] = {}
    for line in lines:
        found.setdefault(line.group, []).append(line)
    return found
