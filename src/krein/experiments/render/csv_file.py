"""All tables, and the curves of Figure 1, as CSV."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

from krein.experiments.render.model import Table
from krein.experiments.store import Row

HEADER = ("table", "data", "method", "source", "size", "columns", "mean", "std", "n", "best", "differs")
CURVES = ("kernel", "dimension", "scheme", "rep", "distance", "exact", "simulated", "standard_error")


def write_tables(tables: Iterable[Table], path: Path) -> None:
    """One line per entry, numbers in full precision."""
    lines = [
        (
            table.name,
            line.group,
            line.label,
            line.source,
            size,
            entry.columns,
            entry.mean,
            entry.std,
            entry.n,
            int(entry.best),
            int(entry.differs),
        )
        for table in tables
        for line in table.lines
        for size, entry in zip(table.sizes, line.entries, strict=True)
        if entry is not None
    ]
    _write(path, HEADER, lines)


def write_curves(rows: Sequence[Row], path: Path) -> None:
    """The variances of Figure 1, one line per distance and repetition."""
    lines = [
        (row["kernel"], row["data"], row["method"], row["rep"], *values)
        for row in rows
        for values in zip(row["distance"], row["exact"], row["simulated"], row["standard_error"], strict=True)
    ]
    _write(path, CURVES, lines)


def _write(path: Path, header: Sequence[str], lines: Iterable[Sequence[object]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(header)
        writer.writerows(lines)
