"""One measurement of an experiment by its names, and the seed that follows from them."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from typing import Any

NAMES = ("experiment", "kernel", "data", "method", "size", "rep")


@dataclass(frozen=True, order=True)
class Cell:
    """What one row of results is about; two cells with the same names are the same measurement.

    Parameters
    ----------
    experiment, kernel, data, method, size : str
    rep : int
        Number of the repetition, from 0.

    Examples
    --------
    >>> from krein.experiments.cells import Cell
    >>> cell = Cell("table2", "polynomial", "letter", "optimal", "2d", rep=3)
    >>> cell.key
    'table2/polynomial/letter/optimal/2d/3'
    >>> cell.seed == Cell("table2", "polynomial", "letter", "optimal", "2d", rep=4).seed
    False
    """

    experiment: str
    kernel: str
    data: str
    method: str
    size: str
    rep: int

    @property
    def key(self) -> str:
        """All names, separated by slashes."""
        return "/".join(map(str, self.names.values()))

    @property
    def names(self) -> dict[str, Any]:
        """The names as a dictionary."""
        return asdict(self)

    @property
    def seed(self) -> int:
        """An integer below 2^32 that depends on the names and nothing else."""
        return int.from_bytes(hashlib.sha256(self.key.encode()).digest()[:4], "big")


def cell_of(row: dict[str, Any]) -> Cell:
    """The cell that a row of results is about."""
    return Cell(**{name: row[name] for name in NAMES})
