"""The command line: help, mistakes that are reported before anything is computed, and the check of a run."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import krein
from krein.cli import COMMANDS, main
from krein.datasets import DATASETS
from krein.experiments.registry import EXPERIMENTS
from krein.experiments.store import RowFile

Rows = Callable[..., list[dict[str, Any]]]


def status(*arguments: str) -> int:
    """Exit status, however it comes."""
    try:
        return main(arguments)
    except SystemExit as end:
        return int(end.code or 0)


def test_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert status("--help") == 0
    text = capsys.readouterr().out
    assert all(name in text and about in text for name, (_, about) in COMMANDS.items())
    assert status("reproduce", "--help") == 0
    text = capsys.readouterr().out
    assert all(name in text for name in EXPERIMENTS)
    assert max(map(len, text.splitlines())) < 120
    for command in ("compare", "errata"):
        assert status(command, "--help") == 0
        assert f"usage: krein {command}" in capsys.readouterr().out


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert status("--version") == 0
    assert capsys.readouterr().out == f"krein {krein.__version__}\n"


def test_the_module_is_the_command() -> None:
    done = subprocess.run([sys.executable, "-m", "krein", "errata", "99"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "krein errata: error: N must be between 1 and 11; got 99" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "the following arguments are required: COMMAND"),
        (["reprodce"], "invalid choice: 'reprodce'"),
        (["reproduce"], "Name an experiment, one of fig1, fig2, table2"),
        (["reproduce", "table5"], "experiment must be one of"),
        (["reproduce", "table2", "--methods", "gorff"], "method must be one of"),
        (["reproduce", "table2", "--datasets", "mnist"], "data set must be one of"),
        (["reproduce", "table3", "--datasets", "letter"], "Nothing is left to do"),
        (["reproduce", "table2", "--reps", "0"], "reps must be an integer >= 1; got 0"),
        (["reproduce", "table2", "--jobs", "0"], "--jobs must be at least 1; got 0"),
        (["reproduce", "--quick", "--datasets", "usps"], "--quick is for letter only; got --datasets usps"),
        (
            ["reproduce", "table2", "--data", "no/such/folder"],
            "--data must be an existing folder; got 'no/such/folder'",
        ),
        (["reproduce", "--check", "--out", "no/such/folder"], "needs rows in no/such/folder/rows.jsonl"),
    ],
)
def test_mistakes(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str], tmp_path: Path,
                  monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert status(*arguments) == 2
    assert message in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []  # nothing was begun


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError("no network")

    monkeypatch.setattr("sklearn.datasets.fetch_file", refuse)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "cache"))
    monkeypatch.delenv("KREIN_DATA", raising=False)
    monkeypatch.setenv("KREIN_DATA", "")


@pytest.mark.usefixtures("no_network")
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "housing.data could not be downloaded: no network"),
        (b"0.1 2", "housing.data is truncated: it must have 49082 bytes, got 5"),
        (b"x" * 49082, "housing.data is damaged: its sha256 must be"),
    ],
)
def test_data_files_are_checked_first(
    content: bytes | None, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, out = tmp_path / "data", tmp_path / "out"
    data.mkdir()
    if content is not None:
        (data / "housing.data").write_bytes(content)
    assert status("reproduce", "table3", "table2", "--data", str(data), "--out", str(out)) == 2
    error = capsys.readouterr().err
    assert message in error or "ijcnn1" in error
    assert DATASETS["housing"].files[0].url in error or "ijcnn1" in error
    assert not out.exists()
    assert status("reproduce", "table3", "--data", str(data), "--out", str(out)) == 2
    error = capsys.readouterr().err
    assert message in error
    assert f"Download {DATASETS['housing'].files[0].url}" in error
    assert "--data DIR" in error


def test_a_folder_that_cannot_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("not a folder", "utf-8")
    out = tmp_path / "file" / "report"
    assert status("reproduce", "errata", "--out", str(out)) == 2
    assert "krein reproduce: error: " in capsys.readouterr().err


def test_matplotlib_is_asked_for_before_anything_is_computed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert status("reproduce", "errata", "--out", str(tmp_path / "out")) == 2
    assert "pip install 'krein[report]'" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_check_needs_no_computing_and_fails_on_a_difference(
    table_2: Rows, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for factor, expected in ((1.0, 0), (2.0, 1)):
        folder = tmp_path / str(factor)
        folder.mkdir()
        with RowFile(folder / "rows.jsonl") as file:
            for row in table_2("grff", factor):
                file.append(row)
        assert status("reproduce", "--check", "--out", str(folder)) == expected
        assert ("differs: " in capsys.readouterr().out) is bool(expected)
        (folder / "rows.jsonl").write_text("tampered\n", "utf-8")
        assert status("reproduce", "--check", "--out", str(folder)) == 2
        assert "is no row of results" in capsys.readouterr().err


def test_a_small_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Twice into the same folder: the rows of the first run are kept; with --resume they are used."""
    pytest.importorskip("matplotlib", reason="the extra 'report' is not installed")
    arguments = ["reproduce", "errata", "--methods", "erratum-2", "--out", str(tmp_path), "--jobs", "1"]
    assert status(*arguments) == 0
    assert f"wrote {tmp_path / 'index.html'}" in capsys.readouterr().out
    first = (tmp_path / "rows.jsonl").read_bytes()
    assert status(*arguments, "--resume") == 0
    assert (tmp_path / "rows.jsonl").read_bytes() == first
    assert status(*arguments, "--check") == 0
    out = capsys.readouterr().out
    assert f"The rows of an earlier run are kept in {tmp_path / 'rows.1.jsonl'}" in out
    assert "numbers of the errata: 3 of 3 agree" in out
    assert (tmp_path / "rows.1.jsonl").read_bytes() == first
