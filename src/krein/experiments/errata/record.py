"""What an erratum is: a claim, what is true, and a function that computes the numbers that show it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from textwrap import fill

WIDTH = 100


@dataclass(frozen=True)
class Row:
    """One number, and what it is to be compared with.

    Parameters
    ----------
    label : str
        What was computed; unique within a table.
    value : float
    error : float, default=0
        Standard error of ``value`` where it is an average over draws; 0 where it is exact.
    reference : float or None, default=None
        Published, exact or competing value.
    spread : float, default=0
        Standard deviation given with the reference.
    source : str, default=""
        Where the reference comes from.

    Examples
    --------
    >>> from krein.experiments.errata import Row
    >>> Row("accuracy", 84.9, error=0.3, reference=80.5, source="positive part").value
    84.9
    """

    label: str
    value: float
    error: float = 0.0
    reference: float | None = None
    spread: float = 0.0
    source: str = ""


Table = tuple[Row, ...]


@dataclass(frozen=True)
class Erratum:
    """A statement of the paper and its correction.

    Parameters
    ----------
    title : str
    claim : str
        What the paper says, and where.
    truth : str
        What is true.
    show : callable
        ``show(fast)`` computes the table; ``fast`` takes fewer random draws, where there are any. The same call gives
        the same numbers.

    Examples
    --------
    >>> from krein.experiments.errata import Erratum, Row
    >>> Erratum("A title", "A claim.", "The truth.", show=lambda fast: (Row("a number", 1.0),)).show(True)
    (Row(label='a number', value=1.0, error=0.0, reference=None, spread=0.0, source=''),)
    """

    title: str
    claim: str
    truth: str
    show: Callable[[bool], Table]


def format_erratum(number: int, erratum: Erratum, table: Table) -> str:
    """Title, claim, truth and the table as plain text.

    Examples
    --------
    >>> from krein.experiments.errata import Erratum, Row, format_erratum
    >>> table = (Row("accuracy", 84.9, 0.31, 80.5, source="positive part"),)
    >>> print(format_erratum(8, Erratum("Columns", "All.", "Half.", lambda fast: table), table))
    8. Columns
    ==========
    The paper All.
    In fact   Half.
    <BLANKLINE>
              value        compare with
    accuracy  84.9 ± 0.31  80.5          positive part
    """
    texts = [
        fill(f"{name:10}{text}", WIDTH, subsequent_indent=" " * 10)
        for name, text in (("The paper", erratum.claim), ("In fact", erratum.truth))
    ]
    title = f"{number}. {erratum.title}"
    return "\n".join([title, "=" * len(title), *texts, "", format_table(table)])


def format_table(table: Table) -> str:
    """Rows in aligned columns: label, value, reference, source."""
    cells = [("", "value", "compare with", "")]
    cells += [(row.label, _number(row.value, row.error), _reference(row), row.source) for row in table]
    widths = [max(len(cell) for cell in column) for column in zip(*cells, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in cells]
    return "\n".join(line.rstrip() for line in lines)


def _reference(row: Row) -> str:
    return "" if row.reference is None else _number(row.reference, row.spread)


def _number(value: float, error: float) -> str:
    return f"{value:.4g}" + (f" ± {error:.2g}" if error else "")
