"""Training and test rows as arrays, and the steps that every data set shares: split, min-max, unit rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from krein._random import Streams
from krein._validation import row_norms
from krein.exceptions import KreinError

Array = NDArray[np.float64]
Table = tuple[Array, Array]  # rows (n, d) and their labels or targets (n,)


class DatasetError(KreinError, ValueError):
    """A data set is unknown, its file is missing or damaged, or its rows are not what they must be."""


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Rows to train on, rows to test on.

    Parameters
    ----------
    name : str
    X_train, X_test : ndarray of shape (n_train, d) and (n_test, d), float64
    y_train, y_test : ndarray of shape (n_train,) and (n_test,), float64
        Class labels or real targets.

    Examples
    --------
    >>> from krein.datasets import load
    >>> iris = load("iris")
    >>> iris
    Dataset('iris', 113 + 37 rows, 4 columns)
    >>> iris.X_train.shape, iris.y_test.shape
    ((113, 4), (37,))
    """

    name: str
    X_train: Array
    y_train: Array
    X_test: Array
    y_test: Array

    def __repr__(self) -> str:
        n_train, n_features = self.X_train.shape
        return f"Dataset({self.name!r}, {n_train} + {len(self.X_test)} rows, {n_features} columns)"


def random_split(table: Table, n_train: int, n_test: int, seed: int) -> tuple[Table, Table]:
    """The first n_train and the next n_test rows of a table in random order, the same for the same seed."""
    X, y = table
    order = Streams(seed)("split").permutation(len(X))[: n_train + n_test]
    train, test = order[:n_train], order[n_train:]
    return (X[train], y[train]), (X[test], y[test])


def min_max(X: Array, fitted_on: Array, interval: tuple[float, float]) -> Array:
    """Each column mapped by the affine map that takes its range in ``fitted_on`` to ``interval``.

    ``a + (b - a) (x - min) / (max - min)`` with interval (a, b). Rows outside that range leave the interval; a column
    that is constant in ``fitted_on`` is only shifted, to a.
    """
    low, high = fitted_on.min(axis=0), fitted_on.max(axis=0)
    a, b = interval
    scaled: Array = a + (b - a) * ((X - low) / np.where(high > low, high - low, b - a))
    return scaled


def unit_rows(X: Array, name: str) -> Array:
    """Rows divided by their length; a zero row has no direction, and is refused rather than dropped."""
    norms = row_norms(X)
    zero = np.flatnonzero(norms == 0)
    if len(zero):
        shown = ", ".join(map(str, zero[:5])) + (", ..." if len(zero) > 5 else "")
        raise DatasetError(
            f"Rows of {name} must not be zero to get length 1; got {len(zero)} zero rows of {len(X)}: {shown}. "
            "Remove them from the data, or load with normalize=None."
        )
    result: Array = X / norms[:, None]
    return result
