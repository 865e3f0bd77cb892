"""Table II of the paper on letter, with as many draws as a reader of the benchmark gets by default."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from numpy.typing import NDArray

from krein.datasets import load

Errors = dict[tuple[str, str], NDArray[np.float64]]


@pytest.fixture(scope="module")
def table2(load_benchmark: Callable[[str], ModuleType]) -> ModuleType:
    return load_benchmark("table2")


@pytest.fixture(scope="module")
def errors(table2: ModuleType) -> Errors:
    found: Errors = table2.measure(load("letter").X_train, draws=40)
    return found


def test_every_cell_agrees(table2: ModuleType, errors: Errors) -> None:
    cells = list(table2.compare("letter", errors))
    assert len(cells) == 20
    assert all(cell.reference is not None for cell in cells)
    assert [cell for cell in cells if not cell.agrees] == []


def test_the_published_gorf_row_is_not_algorithm_1_as_printed(table2: ModuleType, errors: Errors) -> None:
    swapped = {("delta-gaussian", "gorf-blocks"): errors["delta-gaussian", "gorf"]}
    assert [cell.width for cell in table2.compare("letter", swapped) if not cell.agrees] == ["d", "2d", "8d"]


@pytest.mark.parametrize("other", ["grff", "gorf-blocks"])
def test_algorithm_1_as_printed_is_none_of_the_others(table2: ModuleType, errors: Errors, other: str) -> None:
    swapped = {("delta-gaussian", "gorf"): errors["delta-gaussian", other]}
    assert sum(not cell.agrees for cell in table2.compare("letter", swapped)) >= 2


def test_larger_errors_are_noticed(table2: ModuleType, errors: Errors) -> None:
    for row, found in errors.items():
        assert not all(cell.agrees for cell in table2.compare("letter", {row: 1.5 * found})), row


def test_widths(table2: ModuleType) -> None:
    assert table2.frequencies_per_sign(16) == [8, 16, 32, 128]


def test_command(repository: Path) -> None:
    command = [sys.executable, "benchmarks/table2.py", "--draws"]
    done = subprocess.run([*command, "2"], cwd=repository, capture_output=True, text=True, timeout=120)
    assert "published-gorf  8d" in done.stdout, done.stderr
    outside = done.stdout.count("False")  # two draws are too few for all cells to agree
    assert f"\n{20 - outside} cells agree, {outside} do not." in done.stdout
    assert done.returncode == int(outside > 0)
    wrong = subprocess.run([*command, "1"], cwd=repository, capture_output=True, text=True, timeout=120)
    assert wrong.returncode == 2
    assert "--draws must be at least 2" in wrong.stderr
