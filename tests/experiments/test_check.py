"""What is expected of the results, and that a wrong result is noticed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from krein.experiments.cells import Cell
from krein.experiments.check import Finding, check_rows, format_findings
from krein.experiments.registry import plan
from krein.experiments.runner import measure
from krein.experiments.store import make_row

Row = dict[str, Any]
Rows = Callable[..., list[Row]]
KINDS = ("Table II of the paper", "independent measurements", "the optimal design against published GORF")


def bad(rows: list[Row]) -> dict[str, list[Finding]]:
    """Findings that do not agree, by kind."""
    found: dict[str, list[Finding]] = {}
    for finding in check_rows(rows):
        if not finding.agrees:
            found.setdefault(finding.kind, []).append(finding)
    return found


def test_the_published_numbers_agree_with_themselves(table_2: Rows) -> None:
    findings = check_rows(table_2())
    assert {finding.kind for finding in findings} == set(KINDS)
    assert [finding for finding in findings if not finding.agrees] == []
    assert sum(finding.kind == KINDS[2] for finding in findings) == 24
    assert "48 of 48 cells" in findings[0].text


@pytest.mark.parametrize(
    ("method", "factor", "kinds"),
    [
        ("gorf-blocks", 1.5, {KINDS[0], KINDS[1]}),
        ("published-grff", 3.0, {KINDS[0], KINDS[1]}),
        ("published-gorf", 0.1, {KINDS[0], KINDS[1]}),
        ("optimal", 1000.0, {KINDS[2]}),
    ],
)
def test_wrong_errors_are_noticed(table_2: Rows, method: str, factor: float, kinds: set[str]) -> None:
    assert set(bad(table_2(method, factor))) == kinds


def test_four_cells_of_48_may_be_outside(table_2: Rows) -> None:
    def moved(n: int) -> list[Row]:
        rows = [row for row in table_2() if row["method"] == "grff"]
        chosen = list(dict.fromkeys((row["data"], row["size"]) for row in rows))[:n]
        return [{**row, "error": row["error"] + ((row["data"], row["size"]) in chosen)} for row in rows] + [
            row for row in table_2() if row["method"] != "grff"
        ]

    assert KINDS[0] not in bad(moved(4))
    assert KINDS[0] in bad(moved(5))


def figure_1(factor: float) -> list[Row]:
    """Simulated variances a factor away from the exact ones, two repetitions."""
    rows = []
    for rep in range(2):
        cell = Cell("fig1", "delta-gaussian", "d = 16", "grff", "d", rep)
        exact = np.linspace(0.1, 0.2, 20)
        values = {
            "distance": np.linspace(0.1, 2, 20).tolist(),
            "exact": exact.tolist(),
            "simulated": (factor * exact).tolist(),
            "standard_error": (0.02 * exact).tolist(),
        }
        rows.append(make_row(cell.names, cell.seed, 0.1, values))
    return rows


def test_variances() -> None:
    assert bad(figure_1(1.05)) == {}  # 3.5 standard errors of two repetitions
    assert len(bad(figure_1(1.08))["variances by formula and by simulation"]) == 1


def test_errata() -> None:
    rows = [measure(cell) for cell in plan(["errata"], 1, quick=True) if cell.method in ("erratum-2", "erratum-11")]
    findings = check_rows(rows)
    assert len(findings) == 9
    assert all(finding.agrees for finding in findings)
    for row in rows:
        row["rows"] = [[label, 1.5 * float(value), *rest] for label, value, *rest in row["rows"]]
    assert len(bad(rows)["numbers of the errata"]) > 6
    for row in rows:
        row["rows"] = []  # a number that is missing is a difference
    assert len(bad(rows)["numbers of the errata"]) == 9


def test_format(table_2: Rows) -> None:
    assert format_findings([]) == "There is nothing that could be compared."
    text = format_findings(check_rows(table_2("optimal", 1000.0)))
    assert "Table II of the paper: 1 of 1 agree" in text
    assert "differs: polynomial, letter, optimal, s = d/2: " in text


def test_letter_agrees_with_the_paper() -> None:
    """Table II on letter, measured: six repetitions of the published methods, three of the optimal design."""
    published = ["published-grff", "published-gorf", "grff", "gorf", "gorf-blocks"]
    cells = plan(["table2"], 6, ["letter"], published)
    cells += [cell for cell in plan(["table2"], 3, ["letter"], ["optimal"]) if cell.size != "8d"]  # it takes seconds
    findings = check_rows([measure(cell) for cell in cells])
    assert [finding for finding in findings if not finding.agrees] == []
    assert len(findings) == 1 + (8 + 4 + 4) + 6
