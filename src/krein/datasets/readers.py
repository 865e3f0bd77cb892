"""From the files of the registered data sets to tables, with the labels and units of the paper's experiments."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from krein.datasets.dataset import Array, DatasetError, Table

# sha256 of the shipped letters: features as float64, little-endian, C order; labels as uint8.
LETTER_FEATURES = "692f7bb7abde2df4d93a3251c561b91d3e6a76a1110ac657679550e1d35921d0"
LETTER_LABELS = "df94c16abbaba25eb7fac565568f735e3ea7b459253d96cf769ae45f8aaacc0d"


def read_shipped_letter(paths: Sequence[Path]) -> tuple[Table]:
    """The 20000 letters in krein's own copy (``paths`` is empty): A-M are +1, N-Z are -1."""
    with (files("krein.datasets") / "data" / "letter.npz").open("rb") as stream, np.load(stream) as arrays:
        X, letters = arrays["features"].astype("<f8"), arrays["labels"]
    if (_digest(X), _digest(letters)) != (LETTER_FEATURES, LETTER_LABELS):
        raise DatasetError("letter.npz must be the file that comes with krein; got another content. Reinstall krein.")
    return ((X.astype(np.float64, copy=False), signs(letters < 13)),)


def read_ijcnn1(paths: Sequence[Path]) -> tuple[Table, ...]:
    """LIBSVM files of the training and the test rows, as they are; the labels are -1 and +1."""
    from sklearn.datasets import load_svmlight_file

    tables = (load_svmlight_file(str(path), n_features=22) for path in paths)
    return tuple((X.toarray(), y) for X, y in tables)


def read_usps(paths: Sequence[Path]) -> tuple[Table, ...]:
    """Pixels from [-1, 1] raised to [0, 2]; the digits 5-9 are +1, 0-4 are -1.

    The files give three decimals. Rounding ``pixel + 1`` to three decimals makes it the double nearest to that decimal.
    """
    rows = (np.loadtxt(path) for path in paths)
    return tuple((np.round(row[:, 1:] + 1.0, 3), signs(row[:, 0] >= 5)) for row in rows)


def read_housing(paths: Sequence[Path]) -> tuple[Table]:
    """13 columns and the median value of the homes, in 1000 dollars."""
    (path,) = paths
    rows = np.loadtxt(path)
    return ((rows[:, :-1], rows[:, -1]),)


def read_bundled(name: str, paths: Sequence[Path]) -> tuple[Table]:
    """A data set that comes with scikit-learn (``paths`` is empty)."""
    import sklearn.datasets

    X, y = getattr(sklearn.datasets, f"load_{name}")(return_X_y=True)
    return ((np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)),)


def signs(positive: NDArray[np.bool_]) -> Array:
    """+1 where true, -1 where false."""
    return np.where(positive, 1.0, -1.0)


def _digest(array: NDArray[np.generic]) -> str:
    return hashlib.sha256(array.tobytes()).hexdigest()
