"""An erratum as a cell of the experiments."""

from __future__ import annotations

from dataclasses import astuple
from typing import Any

from krein.experiments.cells import Cell
from krein.experiments.errata.registry import ERRATA


def measure_erratum(cell: Cell) -> dict[str, Any]:
    """The table of an erratum, row by row, an infinite number as the text ``inf``."""
    table = ERRATA[int(cell.method.removeprefix("erratum-"))].show(cell.size == "fast")
    return {"rows": [[_finite(entry) for entry in astuple(row)] for row in table]}


def _finite(entry: Any) -> Any:
    return str(entry) if isinstance(entry, float) and entry in (float("inf"), float("-inf")) else entry
