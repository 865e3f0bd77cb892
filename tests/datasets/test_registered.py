"""Registered sets: the split, scaling and labels that the experiments rely on."""

from __future__ import annotations

import bz2
import dataclasses
import gzip
import hashlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import sklearn.datasets
from sklearn.preprocessing import MinMaxScaler, normalize

from krein.datasets import DATASETS, Dataset, DatasetError, RemoteFile, load
from krein.datasets.dataset import Table, min_max, random_split, unit_rows
from krein.datasets.readers import read_shipped_letter

SHIPPED = [name for name, source in DATASETS.items() if source.shipped]
EPS = np.finfo(float).eps


def numbered(n: int) -> Table:
    """A table whose rows and labels are their own number."""
    return np.arange(n, dtype=float)[:, None], np.arange(n, dtype=float)


@pytest.mark.parametrize("name", SHIPPED)
def test_sizes_are_those_of_the_registry(name: str) -> None:
    source, data = DATASETS[name], load(name)
    assert data.name == name
    assert data.X_train.shape == (source.n_train, source.n_features)
    assert data.X_test.shape == (source.n_test, source.n_features)
    assert data.y_train.shape == (source.n_train,)
    assert data.y_test.shape == (source.n_test,)


@pytest.mark.parametrize("name", SHIPPED)
def test_rows_have_length_one(name: str) -> None:
    data = load(name)
    for X in (data.X_train, data.X_test):
        assert X.dtype == np.float64
        # length: d squares, d - 1 sums, a root; d more roundings from the division: relative error below (d + 2) eps
        np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1, rtol=(X.shape[1] + 2) * EPS)


@pytest.mark.parametrize("split", [0, 7])
def test_letter_protocol_step_by_step_with_scikit_learn(split: int) -> None:
    (raw,) = read_shipped_letter(())
    (X_train, y_train), (X_test, y_test) = random_split(raw, 12000, 6000, split)
    scaler = MinMaxScaler((-1, 1)).fit(X_train)
    data = load("letter", split=split)
    # a few roundings at numbers of size 1, divided by a length of at least 0.4
    np.testing.assert_allclose(data.X_train, normalize(scaler.transform(X_train)), atol=20 * EPS)
    np.testing.assert_allclose(data.X_test, normalize(scaler.transform(X_test)), atol=20 * EPS)
    np.testing.assert_array_equal(data.y_train, y_train)
    np.testing.assert_array_equal(data.y_test, y_test)
    on_all_rows = MinMaxScaler((-1, 1)).fit(raw[0])  # differs: in both splits an extreme value is left to other rows
    assert not np.allclose(data.X_test, normalize(on_all_rows.transform(X_test)), atol=1e-4)


def test_letters_are_the_published_ones() -> None:
    ((X, y),) = read_shipped_letter(())
    assert X.shape == (20000, 16)
    assert set(np.unique(X)) == set(range(16))
    # Frequencies of A, B, ..., M in the documentation of the data set; the first rows are T, I, D, N.
    assert np.sum(y == 1) == 789 + 766 + 736 + 805 + 768 + 775 + 773 + 734 + 755 + 747 + 739 + 761 + 792
    np.testing.assert_array_equal(y[:4], [-1, 1, 1, -1])
    np.testing.assert_array_equal(X[0], [2, 8, 3, 5, 1, 8, 13, 0, 6, 6, 10, 8, 0, 8, 0, 8])


@pytest.mark.parametrize("mutant", ["features", "labels"])
def test_a_changed_copy_of_letter_is_refused(mutant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from krein.datasets import readers

    with np.load(Path(readers.__file__).parent / "data" / "letter.npz") as arrays:
        changed = {key: arrays[key].copy() for key in arrays.files}
    changed[mutant].flat[-1] += 1
    (tmp_path / "data").mkdir()
    np.savez_compressed(tmp_path / "data" / "letter.npz", **changed)
    monkeypatch.setattr(readers, "files", lambda package: tmp_path)
    with pytest.raises(DatasetError, match=r"letter\.npz must be the file that comes with krein"):
        read_shipped_letter(())


@pytest.mark.parametrize("name", ["digits", "breast_cancer", "wine", "iris", "diabetes"])
def test_bundled_sets_keep_every_row_and_its_label(name: str) -> None:
    X, y = getattr(sklearn.datasets, f"load_{name}")(return_X_y=True)
    data = load(name, split=2, normalize=None)
    mine = np.column_stack([np.vstack([data.X_train, data.X_test]), np.concatenate([data.y_train, data.y_test])])
    theirs = np.column_stack([X, y])
    np.testing.assert_array_equal(mine[np.lexsort(mine.T)], theirs[np.lexsort(theirs.T)])


def test_split_is_a_seeded_partition() -> None:
    (X, y), (X_test, y_test) = random_split(numbered(100), 60, 40, 3)
    assert sorted([*y, *y_test]) == list(range(100))
    np.testing.assert_array_equal(X[:, 0], y)
    np.testing.assert_array_equal(X_test[:, 0], y_test)
    np.testing.assert_array_equal(y, random_split(numbered(100), 60, 40, 3)[0][1])
    assert not np.array_equal(y, random_split(numbered(100), 60, 40, 4)[0][1])


def split_z(split: Callable[[Table, int, int, int], tuple[Table, Table]]) -> float:
    """z-value of the mean number of the test rows, whose variance is (n + 1)(n - n_test) / (12 n_test)."""
    n, n_test, seeds = 101, 20, 400
    means = [split(numbered(n), n - n_test, n_test, seed)[1][1].mean() for seed in range(seeds)]
    variance = (n + 1) * (n - n_test) / (12 * n_test)
    return float((np.mean(means) - (n - 1) / 2) / np.sqrt(variance / seeds))


def test_every_row_is_as_likely_to_be_tested() -> None:
    assert abs(split_z(random_split)) < 5


def test_a_split_in_the_order_of_the_file_is_seen() -> None:
    def unshuffled(table: Table, n_train: int, n_test: int, seed: int) -> tuple[Table, Table]:
        X, y = table
        return (X[:n_train], y[:n_train]), (X[n_train:], y[n_train:])

    assert abs(split_z(unshuffled)) > 5


@pytest.mark.parametrize("interval", [(-1.0, 1.0), (0.0, 1.0)])
def test_min_max_is_fitted_on_the_training_rows(interval: tuple[float, float]) -> None:
    rng = np.random.default_rng(12345)
    train, test = rng.normal(size=(30, 4)), 2 * rng.normal(size=(20, 4))
    train[:, 3] = 5.0  # constant: shifted to the lower end
    for X in (train, test):
        expected = MinMaxScaler(interval).fit(train).transform(X)
        scale = np.abs(X).max() / np.ptp(train[:, :3], axis=0).min()
        np.testing.assert_allclose(min_max(X, train, interval)[:, :3], expected[:, :3], atol=20 * scale * EPS)
    np.testing.assert_array_equal(min_max(train, train, interval)[:, 3], interval[0])
    assert min_max(test, train, interval)[:, :3].max() > interval[1]


def test_the_middle_of_the_range_is_exactly_zero() -> None:
    """So that a zero row is recognised as one, and not blown up from rounding errors to length 1."""
    column = np.arange(15.0)[:, None]
    assert min_max(column, column, (-1.0, 1.0))[7, 0] == 0.0


def test_zero_rows_are_refused() -> None:
    X = np.array([[3.0, 4.0], [0.0, 0.0], [0.0, -2.0]])
    np.testing.assert_array_equal(unit_rows(X[[0, 2]], "X"), [[0.6, 0.8], [0.0, -1.0]])
    with pytest.raises(DatasetError, match=r"Rows of X must not be zero .* 1 zero rows of 3: 1\..* normalize=None"):
        unit_rows(X, "X")


def test_arrays_are_the_callers_own() -> None:
    first = load("iris", normalize=None)
    first.X_train[:], first.y_test[:] = -1.0, -1.0
    again = load("iris", normalize=None)
    assert again.X_train.min() > 0
    assert again.y_test.min() == 0
    with pytest.raises(dataclasses.FrozenInstanceError):
        first.name = "mine"  # type: ignore[misc]


def synthetic(name: str, folder: Path) -> tuple[tuple[RemoteFile, ...], list[np.ndarray], list[np.ndarray]]:
    """Small files in the published formats, and the rows and labels that must come out of them before unit rows."""
    if name == "ijcnn1":
        texts = {"ijcnn1.bz2": b"-1 1:1 22:-0.5\n1 3:0.25\n", "ijcnn1.t.bz2": b"1 2:1\n"}
        rows = [np.zeros((2, 22)), np.zeros((1, 22))]
        rows[0][0, 0], rows[0][0, 21], rows[0][1, 2], rows[1][0, 1] = 1, -0.5, 0.25, 1
        labels = [np.array([-1.0, 1.0]), np.array([1.0])]
        contents = {key: bz2.compress(text) for key, text in texts.items()}
    elif name == "usps":
        digits = np.arange(10)
        pixels = np.round(np.linspace(-1, 1, 2560), 3).reshape(10, 256)
        lines = [
            " ".join([f"{d:.4f}", *(f"{p:.3f}" for p in row)]) + " \n" for d, row in zip(digits, pixels, strict=True)
        ]
        contents = {
            "zip.train.gz": gzip.compress("".join(lines).encode()),
            "zip.test.gz": gzip.compress("".join(lines[3:7]).encode()),
        }
        raised = np.array([[float(f"{1 + p:.3f}") for p in row] for row in pixels])
        rows, labels = [raised, raised[3:7]], [np.repeat([-1.0, 1.0], 5), np.repeat([-1.0, 1.0], 2)]
    else:
        table = np.random.default_rng(12345).uniform(1, 9, size=(8, 14)).round(2)
        contents = {"housing.data": "\n".join(" ".join(f"{x:8.2f}" for x in row) for row in table).encode()}
        rows, labels = [table[:, :13]], [table[:, 13]]
    remote = []
    for file, content in contents.items():
        (folder / file).write_bytes(content)
        remote.append(RemoteFile(f"https://example.org/{file}", hashlib.sha256(content).hexdigest(), len(content)))
    return tuple(remote), rows, labels


@pytest.mark.parametrize("name", ["ijcnn1", "usps"])
def test_given_train_and_test_files(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files, rows, labels = synthetic(name, tmp_path)
    monkeypatch.setitem(DATASETS, name, dataclasses.replace(DATASETS[name], files=files))
    for split in (0, 1):  # the split is given: it is the same for every seed
        data = load(name, split=split, data_home=tmp_path, normalize=None)
        np.testing.assert_array_equal(data.X_train, rows[0])
        np.testing.assert_array_equal(data.X_test, rows[1])
        np.testing.assert_array_equal(data.y_train, labels[0])
        np.testing.assert_array_equal(data.y_test, labels[1])
        for mine in (data.X_train, data.X_test, data.y_train, data.y_test):
            mine[:] = 9.0  # is not seen by the next load


def test_housing_protocol(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files, (X,), (y,) = synthetic("housing", tmp_path)
    small = dataclasses.replace(DATASETS["housing"], files=files, n_train=6, n_test=2)
    monkeypatch.setitem(DATASETS, "housing", small)
    monkeypatch.setenv("KREIN_DATA", str(tmp_path))
    (X_train, y_train), (X_test, y_test) = random_split((X, y), 6, 2, 5)
    scaler = MinMaxScaler().fit(X_train)
    data = load("housing", split=5)
    np.testing.assert_allclose(data.X_train, normalize(scaler.transform(X_train)), atol=20 * EPS)
    # test rows may leave [0, 1] by the ratio of the ranges, at most 8 / 0.01 here; the length divides it out again
    np.testing.assert_allclose(data.X_test, normalize(scaler.transform(X_test)), atol=100 * EPS)
    np.testing.assert_array_equal(data.y_train, y_train)
    np.testing.assert_array_equal(data.y_test, y_test)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"name": "lettr"}, DatasetError, r"name must be one of \['breast_cancer', .* path of a file; got 'lettr'"),
        ({"name": Path("letter")}, DatasetError, "path of a file; got 'letter'"),  # a path is never a registered name
        ({"name": "letter", "split": -1}, ValueError, "split must be an integer >= 0; got -1"),
        ({"name": "letter", "normalize": "l1"}, ValueError, "normalize must be 'unit' or None; got 'l1'"),
        ({"name": "letter", "target": 0}, DatasetError, "target must be None for letter"),
    ],
)
def test_wrong_arguments(arguments: dict[str, object], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        load(**arguments)  # type: ignore[arg-type]


def test_repr() -> None:
    data = Dataset("two", np.zeros((2, 3)), np.zeros(2), np.zeros((1, 3)), np.zeros(1))
    assert repr(data) == "Dataset('two', 2 + 1 rows, 3 columns)"
