"""Tables from files of the user: text (CSV, LIBSVM), NPY, NPZ, Parquet."""

from __future__ import annotations

import bz2
import csv
import gzip
import importlib
import lzma
import re
import warnings
import zipfile
from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path
from typing import IO, Any

import numpy as np

from krein.datasets.dataset import Array, DatasetError, Table

Target = int | str | None
OPENERS: dict[str, Callable[..., IO[Any]]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
LIBSVM_LINE = re.compile(r"\S+\s+(qid:\d+\s+)?\d+:\S")  # label index:value ...
UNREADABLE = (ValueError, IndexError, OSError, EOFError, lzma.LZMAError, zipfile.BadZipFile)


def read_user_file(path: Path, target: Target) -> tuple[Table, ...]:
    """One table, to be split at random, or two: the training and the test rows (NPZ only).

    The suffix tells NPY, NPZ and Parquet; any other file is text: LIBSVM if its first line looks so, else a table with
    one row per line. Text may be compressed (.gz, .bz2, .xz).
    """
    readers = {".npy": _read_npy, ".npz": _read_npz, ".parquet": _read_parquet}
    try:
        tables = readers.get(path.suffix.lower(), _read_text)(path, target)
        for X, y in tables:
            _check(X, y)
        if len({X.shape[1] for X, _ in tables}) > 1:
            raise ValueError("X_train and X_test with different numbers of columns")
    except UNREADABLE as error:
        raise DatasetError(f"{path} must hold finite numbers, rows and one label for each; got: {error}") from error
    return tables


def _check(X: Array, y: Array) -> None:
    if X.ndim != 2 or y.shape != X.shape[:1] or 0 in X.shape:
        raise ValueError(f"rows of shape {X.shape} and labels of shape {y.shape}")
    if bad := np.count_nonzero(~np.isfinite(X).all(axis=1) | ~np.isfinite(y)):
        raise ValueError(f"{bad} rows with missing or infinite values")


def _read_text(path: Path, target: Target) -> tuple[Table, ...]:
    opened = OPENERS.get(path.suffix.lower(), open)
    with opened(path, "rt", encoding="utf-8-sig") as lines:
        first = next((line for line in lines if line.strip() and not line.startswith("#")), "")
        if not LIBSVM_LINE.match(first):
            return (_read_rows(first, lines, target),)
    _refuse(target, "a LIBSVM file")
    from sklearn.datasets import load_svmlight_file

    with opened(path, "rb") as stream:
        X, y = load_svmlight_file(stream)
    return ((X.toarray(), y),)


def _read_rows(first: str, others: IO[str], target: Target) -> Table:
    """Lines of numbers, separated by what the first line has of comma, semicolon and tab, else by spaces.

    A first line without any number is a header.
    """
    delimiter = next((mark for mark in ",;\t" if mark in first), None)
    cells = next(csv.reader([first.strip()], delimiter=delimiter)) if delimiter else first.split()
    is_header = not any(map(_is_number, cells))
    lines = others if is_header else chain([first], others)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # no data: the check of the shape says so
        rows = np.loadtxt(lines, delimiter=delimiter, ndmin=2, quotechar='"')
    return _take_target(rows, target, [cell.strip() for cell in cells] if is_header else [])


def _read_npy(path: Path, target: Target) -> tuple[Table, ...]:
    return (_take_target(_numbers(np.load(path, allow_pickle=False)), target, []),)


def _read_npz(path: Path, target: Target) -> tuple[Table, ...]:
    """Arrays X and y, or X_train, y_train, X_test and y_test."""
    _refuse(target, "an NPZ file")
    with np.load(path, allow_pickle=False) as arrays:
        given = set(arrays.files)
        for parts in (("",), ("_train", "_test")):
            if given == {f"{letter}{part}" for part in parts for letter in "Xy"}:
                return tuple((_numbers(arrays[f"X{part}"]), _numbers(arrays[f"y{part}"])) for part in parts)
    raise ValueError(f"arrays {sorted(given)} instead of X, y or X_train, y_train, X_test, y_test")


def _read_parquet(path: Path, target: Target) -> tuple[Table, ...]:
    for library in ("polars", "pandas"):  # both have this much in common; pandas needs pyarrow for it
        try:
            frame = importlib.import_module(library).read_parquet(path)
        except ImportError:
            continue
        names = list(frame.columns)
        rows = np.column_stack([_numbers(frame[name].to_numpy(), f"column {name!r}") for name in names])
        return (_take_target(rows, target, names),)
    raise DatasetError(
        f"Parquet files must be read by polars, or by pandas with pyarrow; got {path} and neither is installed. "
        "Install one (pip install polars), or save the table as CSV, NPY or NPZ."
    )


def _take_target(rows: Array, target: Target, names: Sequence[str]) -> Table:
    """Split off the column of the labels: by position, by name, or the last."""
    if rows.ndim != 2 or 0 in rows.shape:
        raise ValueError(f"an array of shape {rows.shape}")
    n_columns = rows.shape[1]
    if isinstance(target, str):
        if target not in names:
            raise DatasetError(f"target must be one of the columns {list(names)}; got {target!r}.")
        column = names.index(target)
    else:
        column = n_columns - 1 if target is None else target
    if not -n_columns <= column < n_columns:
        raise DatasetError(f"target must be one of the {n_columns} columns, from {-n_columns}; got {target!r}.")
    return np.delete(rows, column, axis=1), rows[:, column]


def _refuse(target: Target, what: str) -> None:
    if target is not None:
        raise DatasetError(f"target must be None for {what}, which says what its labels are; got {target!r}.")


def _numbers(array: Any, what: str = "an array") -> Array:
    array = np.asarray(array)
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{what} of dtype {array.dtype}")
    numbers: Array = array.astype(np.float64)
    return numbers


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
