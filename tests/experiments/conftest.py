"""Rows as an experiment writes them, made up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from krein.experiments.cells import Cell
from krein.experiments.expectations import published
from krein.experiments.methods import METHODS
from krein.experiments.registry import plan
from krein.experiments.store import make_row

Row = dict[str, Any]
WIGGLE = (-1.0, 0.0, 1.0)  # of three repetitions, in standard deviations


def error_row(cell: Cell, error: float) -> Row:
    columns = METHODS[cell.kernel][cell.method].columns(8)
    return make_row(cell.names, cell.seed, 0.1, {"error": error, "columns": columns, "fit_seconds": 0.01})


def as_published(cell: Cell) -> float:
    """The published error, one standard deviation up or down; a tiny one for what has none and must be better."""
    name = METHODS[cell.kernel][cell.method].published
    known = published("table2", cell.kernel, cell.data, name, cell.size) if name else None
    if known is None or known.std is None:
        return 1e-5 * (2 + WIGGLE[cell.rep])
    return known.mean + WIGGLE[cell.rep] * known.std


@pytest.fixture(scope="session")
def table_2() -> Callable[..., list[Row]]:
    """Rows of Table II for all data sets: the published numbers, those of one method times a factor."""

    def rows(method: str = "", factor: float = 1.0) -> list[Row]:
        cells = [cell for cell in plan(["table2"], 3) if cell.method != "gorf"]
        return [error_row(cell, as_published(cell) * (factor if cell.method == method else 1)) for cell in cells]

    return rows
