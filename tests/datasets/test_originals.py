"""The public files of the data sets, where KREIN_DATA names a folder that has them, against independent digests."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_svmlight_file

from krein.datasets import DATASETS, load
from krein.datasets.readers import read_housing, read_shipped_letter, read_usps

Original = Callable[[str], Path]


def digest(array: np.ndarray) -> str:
    """sha256 of the values as float64, little-endian, in C order."""
    return hashlib.sha256(np.ascontiguousarray(array, dtype="<f8").tobytes()).hexdigest()


def test_the_shipped_letters_are_those_of_the_original_file(original: Original) -> None:
    rows = np.loadtxt(original("letter-recognition.data"), delimiter=",", dtype=str)
    features = rows[:, 1:].astype(float)
    assert digest(features) == "692f7bb7abde2df4d93a3251c561b91d3e6a76a1110ac657679550e1d35921d0"
    ((X, y),) = read_shipped_letter(())
    np.testing.assert_array_equal(X, features)
    np.testing.assert_array_equal(y == 1, rows[:, 0] <= "M")


@pytest.mark.parametrize("name", ["letter", "ijcnn1", "usps", "housing"])
def test_registered_checksums_and_sizes(original: Original, name: str) -> None:
    for file in DATASETS[name].files:
        content = original(file.name).read_bytes()
        assert len(content) == file.size
        assert hashlib.sha256(content).hexdigest() == file.sha256


def test_ijcnn1_is_taken_as_it_is(original: Original) -> None:
    folder = original("ijcnn1.t.bz2").parent
    data = load("ijcnn1", data_home=folder, normalize=None)
    assert digest(data.X_train) == "30eab6a8f2d4cff93758a24e7514b67815a7dd5eeb6130ecea80e92ef9b4b308"
    assert digest(data.X_test) == "5028059116270a28ce2886f7e7d9e9930568032ed8bca09d42daf8fca3db0943"
    _, labels = load_svmlight_file(str(folder / "ijcnn1.bz2"))
    np.testing.assert_array_equal(data.y_train, labels)
    assert set(data.y_test) == {-1.0, 1.0}


def test_usps_is_raised_by_one(original: Original) -> None:
    data = load("usps", data_home=original("zip.train.gz").parent, normalize=None)
    assert digest(data.X_train) == "1f0ef86fb05d51d6d2fe89113f92e109e8db70d6a4be0d77b36b80da292bcffa"
    assert digest(data.X_test) == "4a44543a60ade0b378990299e0eca7dec08a54e461323da2c35b0f1c407ba31e"
    # Numbers of the digits 5, 6, 7, 8, 9 in the documentation of the data set.
    assert np.sum(data.y_train == 1) == 556 + 664 + 645 + 542 + 644
    assert np.sum(data.y_test == 1) == 160 + 170 + 147 + 166 + 177


def test_usps_without_the_rounding_has_another_digest(original: Original) -> None:
    """The digest sees one unit in the last place, so that the test above says where the rounding belongs."""
    path = original("zip.test.gz")
    ((rounded, _),) = read_usps([path])
    plain = np.loadtxt(path)[:, 1:] + 1
    assert digest(plain) != digest(rounded)
    np.testing.assert_allclose(plain, rounded, atol=2 * np.finfo(float).eps)


def test_housing_columns(original: Original) -> None:
    ((X, y),) = read_housing([original("housing.data")])
    assert digest(X) == "58d9abef45a8e00c844d74ff0027c96d21a8a237d7ba7e4c0c30b11dcdafde10"
    np.testing.assert_array_equal(y[:3], [24.0, 21.6, 34.7])
    data = load("housing", data_home=original("housing.data").parent, normalize=None)
    assert (len(data.X_train), len(data.X_test)) == (405, 101)
    np.testing.assert_array_equal(data.X_train.min(axis=0), 0)
    np.testing.assert_array_equal(data.X_train.max(axis=0), 1)


@pytest.mark.parametrize("name", ["ijcnn1", "usps", "housing"])
def test_no_row_is_zero(original: Original, name: str) -> None:
    folder = original(DATASETS[name].files[0].name).parent
    for split in range(10 if name == "housing" else 1):
        data = load(name, split=split, data_home=folder)  # a zero row would be an error
        assert np.isfinite(data.X_train).all()
