"""Runs in processes: the same numbers as without them, resumable after any end, defects of one cell reported."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from krein.experiments.cells import cell_of
from krein.experiments.progress import Progress, clock
from krein.experiments.registry import plan
from krein.experiments.runner import CellsFailed, measure, run
from krein.experiments.store import RowFile, read_rows

Row = dict[str, Any]
METHODS = ["grff", "gorf-blocks"]
REPS = 12
CELLS = plan(["table2"], REPS, ["letter"], METHODS)
COMMAND = [sys.executable, "-m", "krein", "reproduce", "table2", "--datasets", "letter", "--methods", *METHODS]
needs_matplotlib = pytest.mark.skipif(find_spec("matplotlib") is None, reason="the extra 'report' is not installed")
posix = pytest.mark.skipif(os.name != "posix", reason="signals of this kind are POSIX's")


def values(rows: list[Row]) -> dict[str, tuple[float, int]]:
    return {cell_of(row).key: (row["error"], row["columns"]) for row in rows}


def start(folder: Path, *more: str) -> subprocess.Popen[str]:
    command = [*COMMAND, "--reps", str(REPS), "--jobs", "2", "--out", str(folder), *more]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)


def wait_for_rows(path: Path, n: int, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 120
    while not path.exists() or path.read_bytes().count(b"\n") < n:
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < deadline
        time.sleep(0.002)


def processes_of(group: int) -> list[int]:
    """Living processes of a process group."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text("utf-8").rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[2]) == group and fields[0] != "Z":
            found.append(int(path.parent.name))
    return found


@posix
@needs_matplotlib
def test_killed_and_resumed_is_as_never_killed(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    process = start(tmp_path)
    wait_for_rows(path, 5, process)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    before = read_rows(path)
    assert 5 <= len(before) < len(CELLS)
    path.write_bytes(path.read_bytes() + b'{"experiment": "table2", "kernel": "del')  # torn, as a crash may leave it
    if Path("/proc").is_dir():  # the workers do not outlive their parent
        deadline = time.monotonic() + 30
        while processes_of(process.pid):
            assert time.monotonic() < deadline
            time.sleep(0.05)

    process = start(tmp_path, "--resume", "--check")
    _, errors = process.communicate(timeout=240)
    assert process.returncode in (0, 1), errors  # 1: two methods alone need not reach 44 of 48
    rows = read_rows(path)
    assert sorted(cell_of(row).key for row in rows) == sorted(cell.key for cell in CELLS)  # none lost, none doubled
    assert rows[: len(before)] == before  # and none computed again
    for cell in CELLS[:3] + CELLS[-3:]:  # the same seeds give the same numbers, whichever process computes them
        assert values(rows)[cell.key] == pytest.approx(values([measure(cell)])[cell.key], rel=1e-9)
    assert (tmp_path / "index.html").is_file()


@posix
@needs_matplotlib
def test_ctrl_c_leaves_a_usable_state(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    process = start(tmp_path)
    wait_for_rows(path, 3, process)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal sends it: to the whole group
    begin = time.monotonic()
    _, errors = process.communicate(timeout=60)
    assert time.monotonic() - begin < 20
    assert process.returncode == 130
    assert "--resume goes on" in errors
    assert "Traceback" not in errors
    assert 3 <= len(read_rows(path)) < len(CELLS)


def test_a_cell_that_fails_does_not_stop_the_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from dataclasses import replace

    wrong = replace(CELLS[0], data="./no such file")
    path = tmp_path / "rows.jsonl"
    with pytest.raises(CellsFailed, match=r"1 of 2 rows could not be computed:\n  table2.*no such file.*DatasetError"):
        run([wrong, CELLS[0]], path, jobs=1)
    assert [cell_of(row) for row in read_rows(path)] == [CELLS[0]]
    assert "2/2 rows" in capsys.readouterr().err


def test_nothing_left_starts_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "rows.jsonl"
    row = measure(CELLS[0])
    with RowFile(path) as file:
        file.append(row)
    monkeypatch.delattr("krein.experiments.runner.ProcessPoolExecutor")
    assert run(CELLS[:1], path, jobs=2) == [json.loads(json.dumps(row))]


def test_progress() -> None:
    """The time left is what the like of each remaining cell took, shared by the processes."""
    stream = StringIO()
    cells = [cell for cell in CELLS if cell.method == "grff" and cell.size in ("d", "8d") and cell.rep < 2][:4]
    cheap = [cell for cell in cells if cell.size == "d"]
    dear = [cell for cell in cells if cell.size == "8d"]
    progress = Progress([*cheap, *dear], jobs=2, stream=stream)
    assert progress.time_left() == 0.0  # nothing is known yet
    progress.finished(cheap[0], 1.0)
    assert progress.time_left() == pytest.approx((1.0 + 1.0 + 1.0) / 2)  # the unknown ones as the mean of the known
    progress.finished(dear[0], 9.0)
    assert progress.time_left() == pytest.approx((1.0 + 9.0) / 2)
    for cell in (cheap[1], dear[1]):
        progress.finished(cell, 1.0)
    assert stream.getvalue().startswith("4/4 rows")
    assert clock(59.6) == "1 min 00 s"
    assert clock(3599.6) == "1 h 00 min"
