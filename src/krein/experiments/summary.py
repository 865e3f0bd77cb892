"""Means and standard deviations over repetitions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, stdev

from krein.experiments.cells import cell_of
from krein.experiments.progress import Group, group_of
from krein.experiments.registry import EXPERIMENTS
from krein.experiments.store import Row


@dataclass(frozen=True)
class Mean:
    """What the repetitions of one cell gave.

    Parameters
    ----------
    mean, std : float
        ``std`` is that of one repetition, 0 for a single one.
    n : int
    columns : int
        Real columns, the largest of the repetitions.
    """

    mean: float
    std: float
    n: int
    columns: int

    @property
    def standard_error(self) -> float:
        """Of the mean."""
        return self.std / sqrt(self.n)


def summarize(rows: Iterable[Row]) -> dict[Group, Mean]:
    """The mean of the value of every experiment that has one, by experiment, kernel, data, method and size."""
    values: dict[Group, list[float]] = {}
    columns: dict[Group, int] = {}
    for row in rows:
        group = group_of(cell_of(row))
        if value := EXPERIMENTS[row["experiment"]].value:
            values.setdefault(group, []).append(row[value])
            columns[group] = max(columns.get(group, 0), row["columns"])
    return {
        group: Mean(fmean(found), stdev(found) if len(found) > 1 else 0.0, len(found), columns[group])
        for group, found in values.items()
    }
