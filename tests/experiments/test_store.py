"""A file of rows is readable after any crash, and says what is wrong with it otherwise."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from krein.experiments.cells import Cell
from krein.experiments.store import RowFile, RowsError, make_row, read_rows, set_aside

Row = dict[str, Any]


def row(rep: int, error: float = 0.25) -> Row:
    cell = Cell("table2", "polynomial", "letter", "optimal", "d", rep)
    return make_row(cell.names, cell.seed, 0.5, {"error": error, "columns": 65})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "rows.jsonl"
    with RowFile(path) as file:
        for rep in range(3):
            file.append(row(rep, 0.1 / (rep + 1)))
    return path


def test_rows_come_back_as_they_were(path: Path) -> None:
    assert read_rows(path) == [row(rep, 0.1 / (rep + 1)) for rep in range(3)]
    assert read_rows(path.with_name("none")) == []


@pytest.mark.parametrize("cut", [1, 5, 100])
def test_a_torn_last_line_is_dropped_and_cut_off(path: Path, cut: int) -> None:
    content = path.read_bytes()
    path.write_bytes(content[:-cut])
    assert len(read_rows(path)) == 2
    with RowFile(path) as file:
        assert len(file.rows) == 2
        file.append(row(2, 0.1 / 3))
    assert path.read_bytes() == content


def damage(path: Path, **changes: object) -> None:
    """Change the second row; its digest stays."""
    lines = path.read_text("utf-8").splitlines()
    lines[1] = json.dumps({**json.loads(lines[1]), **changes})
    path.write_text("\n".join(lines) + "\n", "utf-8")


@pytest.mark.parametrize("changes", [{"error": 0.04}, {"rep": 7}, {"seed": 1}, {"more": 1}, {"method": "gorf"}])
def test_a_changed_row_is_noticed(path: Path, changes: Row) -> None:
    damage(path, **changes)
    with pytest.raises(RowsError, match=r"Line 2 of .* was changed after it was written.*--resume computes"):
        read_rows(path)


@pytest.mark.parametrize("line", ["", "{}", "[1, 2]", "3", "null", "{not json", '{"error": 1}', "\x00\x00"])
def test_a_line_that_is_no_row(path: Path, line: str) -> None:
    lines = path.read_text("utf-8").splitlines()
    path.write_text("\n".join([lines[0], line, lines[2]]) + "\n", "utf-8")
    with pytest.raises(RowsError, match=r"Line 2 of .* is no row of results"):
        read_rows(path)


def test_bytes_that_are_no_text(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"\xff\xfe\n")
    with pytest.raises(RowsError, match=r"Line 4 of .* is no row of results"):
        read_rows(path)


def test_a_row_that_is_there_twice(path: Path) -> None:
    path.write_text(path.read_text("utf-8") + path.read_text("utf-8").splitlines()[0] + "\n", "utf-8")
    with pytest.raises(RowsError, match=r"Line 4 of .* repeats the row table2/polynomial/letter/optimal/d/0"):
        read_rows(path)


def test_versions_are_not_mixed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("krein.experiments.store.__version__", "9.9")
    with pytest.raises(RowsError, match=r"was written by krein .*, this is 9\.9.*--out"):
        read_rows(path)


def test_one_run_at_a_time(path: Path) -> None:
    pytest.importorskip("fcntl", reason="this system has no such locks")
    with RowFile(path), pytest.raises(RowsError, match="in use by another run"):
        RowFile(path)
    with RowFile(path):
        pass


def test_numbers_that_json_has_not_are_refused(path: Path) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        row(3, float("nan"))


def test_an_earlier_file_is_kept(path: Path) -> None:
    content = path.read_bytes()
    assert set_aside(path) == path.with_name("rows.1.jsonl")
    assert set_aside(path) is None
    path.write_bytes(b"second\n")
    assert set_aside(path) == path.with_name("rows.2.jsonl")
    assert path.with_name("rows.1.jsonl").read_bytes() == content
