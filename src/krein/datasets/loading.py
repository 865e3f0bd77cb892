"""One function for every data set: registered, bundled with scikit-learn, or a file of the user."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import Literal

from krein._validation import check_integer
from krein.datasets.dataset import Dataset, DatasetError, Table, min_max, random_split, unit_rows
from krein.datasets.files import locate
from krein.datasets.registry import DATASETS
from krein.datasets.user_files import Target, read_user_file


def load(
    name: str | os.PathLike[str],
    *,
    split: int = 0,
    data_home: str | os.PathLike[str] | None = None,
    normalize: Literal["unit"] | None = "unit",
    target: Target = None,
) -> Dataset:
    """Training and test rows of a data set, scaled and normalised as in the experiments of the paper.

    Parameters
    ----------
    name : str or path-like
        A key of ``krein.datasets.DATASETS`` or the path of a file. A registered name goes before a file of that name;
        write ``./letter`` for the file.
    split : int, default=0
        Seed of the random split. ijcnn1, usps and NPZ files with a test part have one given split, whatever the seed.
    data_home : path-like or None, default=None
        Folder in which the files of ijcnn1, usps and housing are looked for first, as they were downloaded. Then come
        the folder in the environment variable KREIN_DATA, a cache in scikit-learn's data home, and a download into it.
        The other sets need no folder.
    normalize : "unit" or None, default="unit"
        "unit" divides every row by its length; a zero row is then an error. None leaves the scaled rows as they are.
    target : int, str or None, default=None
        Which column of the user's CSV, NPY or Parquet file has the labels: its position, or its name in the header;
        None is the last one. LIBSVM and NPZ files (arrays X and y) say it themselves.

    Returns
    -------
    dataset : Dataset
        float64 arrays of your own: changing them changes nothing else.

    Raises
    ------
    DatasetError
        The set is unknown, or a file is missing, damaged or not what it must be. The message says how to supply it.

    Notes
    -----
    letter: 12000 + 6000 of the 20000 rows at random, letters A-M are +1, N-Z are -1; columns scaled to [-1, 1] on the
    training rows. ijcnn1: as it is. usps: pixels + 1, digits 5-9 are +1, 0-4 are -1. housing: 405 + 101 rows at random,
    columns scaled to [0, 1] on the training rows, the target is the median value. Sets of scikit-learn and files of the
    user: values as they are, a random quarter of the rows (rounded down) for testing. Then rows of length 1.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.datasets import load
    >>> letter = load("letter", split=3)
    >>> letter.X_train.shape, letter.X_test.shape
    ((12000, 16), (6000, 16))
    >>> np.unique(letter.y_train)
    array([-1.,  1.])
    >>> bool(np.allclose(np.linalg.norm(letter.X_test, axis=1), 1))
    True
    """
    check_integer(split, "split", 0)
    if normalize not in ("unit", None):
        raise ValueError(f"normalize must be 'unit' or None; got {normalize!r}.")
    if isinstance(name, str) and name in DATASETS:
        train, test = _registered(name, split, data_home, target)
    else:
        train, test = _from_file(name, split, target)
    (X_train, y_train), (X_test, y_test) = train, test
    if normalize == "unit":
        X_train, X_test = unit_rows(X_train, f"X_train of {name}"), unit_rows(X_test, f"X_test of {name}")
    return Dataset(str(name), X_train.copy(), y_train.copy(), X_test.copy(), y_test.copy())


def _registered(name: str, split: int, data_home: str | os.PathLike[str] | None, target: Target) -> tuple[Table, Table]:
    """Training and test rows of a registered set, scaled."""
    if target is not None:
        raise DatasetError(f"target must be None for {name}, whose labels are known; got {target!r}.")
    source = DATASETS[name]
    tables = _read(name, () if source.shipped else tuple(locate(file, data_home) for file in source.files))
    train, test = tables if len(tables) == 2 else random_split(tables[0], source.n_train, source.n_test, split)
    if source.interval is None:
        return train, test
    fitted_on = train[0]
    scaled = [(min_max(X, fitted_on, source.interval), y) for X, y in (train, test)]
    return scaled[0], scaled[1]


@lru_cache(maxsize=8)
def _read(name: str, paths: tuple[Path, ...]) -> tuple[Table, ...]:
    """Tables of a registered set. The checksums pin the content of the paths, so that it need not be read twice."""
    tables = DATASETS[name].read(paths)
    for array in (array for table in tables for array in table):
        array.flags.writeable = False
    return tables


def _from_file(name: str | os.PathLike[str], split: int, target: Target) -> tuple[Table, Table]:
    """Training and test rows of a file of the user, as they are."""
    path = Path(name).expanduser()
    if not path.is_file():
        raise DatasetError(f"name must be one of {sorted(DATASETS)} or the path of a file; got {str(name)!r}.")
    tables = read_user_file(path, target)
    if len(tables) == 2:
        return tables[0], tables[1]
    n_rows = len(tables[0][0])
    if n_rows < 4:
        raise DatasetError(f"{path} must have at least 4 rows, a quarter of them for testing; got {n_rows}.")
    return random_split(tables[0], n_rows - n_rows // 4, n_rows // 4, split)
