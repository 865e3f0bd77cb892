"""Files of the user: every format gives the same numbers, every defect is named."""

from __future__ import annotations

import bz2
import gzip
import importlib
import lzma
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

from krein.datasets import DatasetError, load
from krein.datasets.user_files import read_user_file

RNG = np.random.default_rng(12345)
ROWS = np.where(RNG.random((40, 5)) < 0.3, 0.0, RNG.normal(size=(40, 5)))  # with zeros, which LIBSVM leaves out
ROWS[:, 1] = RNG.normal(size=40)  # no zero row
LABELS = np.where(RNG.random(40) < 0.5, 1.0, -1.0)
ROWS.flags.writeable = LABELS.flags.writeable = False
NAMES = ["one", "two", "three", "four", "five", "class"]


def text(delimiter: str = ",", header: bool = False, order: tuple[int, ...] = (0, 1, 2, 3, 4, 5)) -> str:
    lines = [[repr(float(x)) for x in row] for row in np.column_stack([ROWS, LABELS])]
    return "".join(delimiter.join(line[i] for i in order) + "\n" for line in ([NAMES] if header else []) + lines)


def write_libsvm(path: Path) -> None:
    dump_svmlight_file(ROWS, LABELS, str(path), zero_based=False)


def write_parquet(path: Path) -> None:
    polars = pytest.importorskip("polars", reason="writes the Parquet file that is read")
    table = dict(zip(NAMES[:5], ROWS.T, strict=True)) | {"class": LABELS.astype(int)}
    polars.DataFrame(table).write_parquet(path)


WRITERS: dict[str, Callable[[Path], object]] = {
    "plain.csv": lambda path: path.write_text(text()),
    "header.csv": lambda path: path.write_text(text(header=True)),
    "bom.csv": lambda path: path.write_text(text(), encoding="utf-8-sig"),
    "quoted.csv": lambda path: path.write_text('"' + '","'.join(NAMES) + '"\n' + text().replace("-1.0", '"-1.0"')),
    "comment.csv": lambda path: path.write_text("# made by hand\n\n" + text(header=True)),
    "semicolon.csv": lambda path: path.write_text(text(";", header=True)),
    "tab.tsv": lambda path: path.write_text(text("\t")),
    "spaces.data": lambda path: path.write_text(text("   ", header=True)),
    "no_suffix": lambda path: path.write_text(text()),
    "packed.csv.gz": lambda path: path.write_bytes(gzip.compress(text(header=True).encode())),
    "packed.csv.bz2": lambda path: path.write_bytes(bz2.compress(text().encode())),
    "packed.csv.xz": lambda path: path.write_bytes(lzma.compress(text().encode())),
    "array.npy": lambda path: np.save(path, np.column_stack([ROWS, LABELS])),
    "arrays.npz": lambda path: np.savez(path, X=ROWS, y=LABELS.astype(np.int8)),
    "rows.libsvm": write_libsvm,
    "libsvm": write_libsvm,
    "frame.parquet": write_parquet,
}
COMPRESSED_LIBSVM = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


@pytest.mark.parametrize("name", WRITERS)
def test_every_format_gives_the_same_table(name: str, tmp_path: Path) -> None:
    WRITERS[name](tmp_path / name)
    ((X, y),) = read_user_file(tmp_path / name, None)
    assert X.dtype == y.dtype == np.float64
    # dump_svmlight_file writes 16 digits, the others all that the number has
    np.testing.assert_allclose(X, ROWS, rtol=1e-15 if "libsvm" in name else 0)
    np.testing.assert_array_equal(y, LABELS)


@pytest.mark.parametrize("suffix", COMPRESSED_LIBSVM)
def test_compressed_libsvm(suffix: str, tmp_path: Path) -> None:
    write_libsvm(tmp_path / "plain")
    path = tmp_path / f"rows{suffix}"
    path.write_bytes(COMPRESSED_LIBSVM[suffix]((tmp_path / "plain").read_bytes()))
    ((X, y),) = read_user_file(path, None)
    np.testing.assert_allclose(X, ROWS, rtol=1e-15)
    np.testing.assert_array_equal(y, LABELS)


@pytest.mark.parametrize("target", ["class", 2, -4])
@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_target_by_name_or_position(target: str | int, name: str, tmp_path: Path) -> None:
    order = (0, 1, 5, 2, 3, 4)
    if name.endswith("csv"):
        (tmp_path / name).write_text(text(header=True, order=order))
    else:
        polars = pytest.importorskip("polars", reason="writes the Parquet file that is read")
        table = np.column_stack([ROWS, LABELS])
        polars.DataFrame({NAMES[i]: table[:, i] for i in order}).write_parquet(tmp_path / name)
    ((X, y),) = read_user_file(tmp_path / name, target)
    np.testing.assert_array_equal(X, ROWS)
    np.testing.assert_array_equal(y, LABELS)


def test_parquet_by_pandas(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pandas", reason="reads the Parquet file")
    pytest.importorskip("pyarrow", reason="pandas reads Parquet with it")
    write_parquet(tmp_path / "t.parquet")
    hide(monkeypatch, "polars")
    ((X, y),) = read_user_file(tmp_path / "t.parquet", "class")
    np.testing.assert_array_equal(X, ROWS)
    np.testing.assert_array_equal(y, LABELS)


def hide(monkeypatch: pytest.MonkeyPatch, *libraries: str) -> None:
    real = importlib.import_module

    def import_module(name: str) -> object:
        if name in libraries:
            raise ImportError(f"No module named {name!r}")
        return real(name)

    monkeypatch.setattr(importlib, "import_module", import_module)


def test_parquet_without_a_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hide(monkeypatch, "polars", "pandas")
    (tmp_path / "t.parquet").touch()
    with pytest.raises(DatasetError, match=r"must be read by polars, or by pandas with pyarrow; got .*pip install"):
        load(tmp_path / "t.parquet")


def test_a_quarter_of_the_rows_is_for_testing(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text())
    data = load(str(path), split=1, normalize=None)
    assert data.name == str(path)
    assert (data.X_train.shape, data.X_test.shape) == ((30, 5), (10, 5))
    mine = np.vstack([data.X_train, data.X_test])
    np.testing.assert_array_equal(mine[np.lexsort(mine.T)], ROWS[np.lexsort(ROWS.T)])
    unit = load(path, split=1).X_test
    np.testing.assert_allclose(unit, data.X_test / np.linalg.norm(data.X_test, axis=1, keepdims=True), rtol=1e-15)


def test_npz_with_a_given_split(tmp_path: Path) -> None:
    path = tmp_path / "t.npz"
    np.savez(path, X_train=ROWS[:25], y_train=LABELS[:25], X_test=ROWS[25:], y_test=LABELS[25:])
    data = load(path, split=4, normalize=None)
    np.testing.assert_array_equal(data.X_train, ROWS[:25])
    np.testing.assert_array_equal(data.X_test, ROWS[25:])
    np.testing.assert_array_equal(data.y_test, LABELS[25:])


def test_a_file_in_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "t.csv").write_text(text())
    assert load("~/t.csv").X_train.shape == (30, 5)


DEFECTS: dict[str, tuple[Callable[[Path], object], str]] = {
    "empty.csv": (lambda path: path.touch(), r"got: an array of shape \(0, \d\)"),
    "only_header.csv": (lambda path: path.write_text("a,b\n"), r"got: an array of shape \(0, \d\)"),
    "one_column.csv": (lambda path: path.write_text("1\n2\n3\n4\n"), r"rows of shape \(4, 0\)"),
    "few.csv": (lambda path: path.write_text("1,2\n3,4\n5,6\n"), "must have at least 4 rows, .* got 3"),
    "words.csv": (lambda path: path.write_text("1,2,yes\n3,4,no\n"), "could not convert string 'yes'"),
    "empty_cell.csv": (lambda path: path.write_text("1,,1\n3,4,0\n"), "could not convert string ''"),
    "nan.csv": (lambda path: path.write_text("1,nan,1\n3,4,0\n"), "1 rows with missing or infinite values"),
    "ragged.csv": (lambda path: path.write_text("1,2,3\n3,4\n"), "number of columns changed from 3 to 2"),
    "binary.csv": (lambda path: path.write_bytes(bytes(range(128, 256))), "codec can't decode"),
    "bad.gz": (lambda path: path.write_text("1,2\n"), "Not a gzipped file"),
    "bad.xz": (lambda path: path.write_text("1,2\n" * 50), "not supported by"),
    "cut.csv.gz": (lambda path: path.write_bytes(gzip.compress(text().encode())[:-20]), "Compressed file ended"),
    "cut.csv.bz2": (lambda path: path.write_bytes(bz2.compress(text().encode())[:-20]), "Compressed file ended"),
    "bad.libsvm": (lambda path: path.write_text("1 1:2\n1 1:x\n"), "must hold finite numbers"),
    "bad.npy": (lambda path: path.write_text("1,2\n"), "must hold finite numbers"),
    "vector.npy": (lambda path: np.save(path, np.ones(4)), r"got: an array of shape \(4,\)"),
    "words.npy": (lambda path: np.save(path, np.array([["a", "b"]])), "an array of dtype <U1"),
    "complex.npy": (lambda path: np.save(path, np.ones((4, 2), complex)), "an array of dtype complex128"),
    "object.npy": (lambda path: np.save(path, np.array([[{}]])), "Object arrays cannot be loaded"),
    "bad.npz": (lambda path: path.write_text("1,2\n"), "must hold finite numbers"),
    "names.npz": (
        lambda path: np.savez(path, data=ROWS, target=LABELS),
        r"arrays \['data', 'target'\] instead of X, y",
    ),
    "lengths.npz": (lambda path: np.savez(path, X=ROWS, y=LABELS[1:]), r"shape \(40, 5\) and labels of shape \(39,\)"),
    "columns.npz": (
        lambda path: np.savez(path, X_train=ROWS, y_train=LABELS, X_test=ROWS[:, 1:], y_test=LABELS),
        "different numbers of columns",
    ),
    "zero.csv": (lambda path: path.write_text("0,0,1\n" * 4), "must not be zero .* 3 zero rows of 3: 0, 1, 2"),
}


@pytest.mark.parametrize("name", DEFECTS)
def test_defects_are_named(name: str, tmp_path: Path) -> None:
    write, message = DEFECTS[name]
    write(tmp_path / name)
    with pytest.raises(DatasetError, match=rf"(?s){name}.*{message}"):
        load(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "target", "message"),
    [
        ("header.csv", "klass", r"target must be one of the columns \['one', .*'class'\]; got 'klass'"),
        ("plain.csv", "class", r"target must be one of the columns \[\]; got 'class'"),
        ("plain.csv", 6, "target must be one of the 6 columns, from -6; got 6"),
        ("array.npy", -7, "target must be one of the 6 columns, from -6; got -7"),
        ("arrays.npz", 0, "target must be None for an NPZ file"),
        ("libsvm", 0, "target must be None for a LIBSVM file"),
    ],
)
def test_wrong_target(name: str, target: int | str, message: str, tmp_path: Path) -> None:
    WRITERS[name](tmp_path / name)
    with pytest.raises(DatasetError, match=message):
        load(tmp_path / name, target=target)
