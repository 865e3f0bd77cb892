"""Rows of results in a JSONL file: appended one by one, each on the disk before the next, readable after any crash."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from types import TracebackType
from typing import Any

from krein import __version__
from krein.experiments.cells import cell_of
from krein.experiments.registry import EXPERIMENTS

Row = dict[str, Any]


class RowsError(ValueError):
    """The file of rows cannot be used as it is; the message says why and what to do."""


def make_row(names: Row, seed: int, seconds: float, values: Row) -> Row:
    """A complete row: names, seed, version, time, values and a digest over all of them."""
    row = {**names, "seed": seed, "version": __version__, "seconds": round(seconds, 6), **values}
    return {**row, "digest": _digest(row)}


def _digest(row: Row) -> str:
    content = {name: value for name, value in row.items() if name != "digest"}
    text = json.dumps(content, sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def read_rows(path: Path) -> list[Row]:
    """All complete rows of a file, checked; a last line that was not written to its end is left out.

    Raises
    ------
    RowsError
        A line is damaged, was changed, is there twice, or comes from another version of krein.
    """
    if not path.exists():
        return []
    lines = path.read_bytes().split(b"\n")
    rows: dict[str, Row] = {}
    for number, line in enumerate(lines[:-1], start=1):  # what follows the last newline is torn, or nothing
        row = _checked(line, f"Line {number} of {path}")
        key = cell_of(row).key
        if key in rows:
            raise RowsError(f"Line {number} of {path} repeats the row {key}. {_advice(path)}")
        rows[key] = row
    return list(rows.values())


def _checked(line: bytes, where: str) -> Row:
    advice = "Remove that line, and --resume computes its row again."
    try:
        row = json.loads(line)
        cell, digest = cell_of(row), _digest(row)
    except (ValueError, TypeError, KeyError) as error:
        raise RowsError(f"{where} is no row of results. {advice}") from error
    if row.get("digest") != digest or row.get("seed") != cell.seed:
        raise RowsError(f"{where} was changed after it was written: its digest does not fit. {advice}")
    if row["version"] != __version__:
        raise RowsError(
            f"{where} was written by krein {row['version']}, this is {__version__}: rows of two versions are not "
            "mixed. "
            "Give another folder as --out."
        )
    if cell.experiment not in EXPERIMENTS:
        raise RowsError(f"{where} has an unknown experiment, {cell.experiment!r}. {advice}")
    return dict(row)


def _advice(path: Path) -> str:
    return f"Remove one of the two lines, or start anew in another folder than {path.parent}."


class RowFile:
    """A file of rows, open for appending by one process at a time.

    Parameters
    ----------
    path : Path
        The torn end of an interrupted run is cut off when it is opened.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows = read_rows(path)
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o644)
        try:
            _lock(self._descriptor, path)
            content = path.read_bytes()
            os.ftruncate(self._descriptor, content.rfind(b"\n") + 1)
            os.lseek(self._descriptor, 0, os.SEEK_END)
        except BaseException:
            os.close(self._descriptor)
            raise

    def append(self, row: Row) -> None:
        """Write one row and wait until it is on the disk."""
        line = json.dumps(row, allow_nan=False).encode() + b"\n"
        while line:
            line = line[os.write(self._descriptor, line) :]
        os.fsync(self._descriptor)
        self.rows.append(row)

    def __enter__(self) -> RowFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._descriptor)


def _lock(descriptor: int, path: Path) -> None:
    """Refuse a file that another run has open (where the system has such locks)."""
    try:
        import fcntl
    except ImportError:  # not on Windows
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise RowsError(
            f"{path} is in use by another run of krein; wait for it or give another folder as --out."
        ) from error


def set_aside(path: Path) -> Path | None:
    """Rename a file of an earlier run to the first free ``rows.N.jsonl``, so that nothing is lost."""
    if not path.exists() or not path.stat().st_size:
        return None
    number = 1
    while (kept := path.with_suffix(f".{number}{path.suffix}")).exists():
        number += 1
    path.rename(kept)
    return kept
