"""Z^T diag(w) Z and Z^T diag(w) Y in float64, by blocks of rows: Z itself is never kept."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg.blas import dsyrk

from krein.features.base import FeatureMap
from krein.kernels.base import row_blocks

Array = NDArray[np.float64]
BLOCK_ROWS = 1024  # rows of Z at a time: with 1000 columns, 8 MB


class GramAccumulator:
    """Sums over rows of Z that arrive in blocks, in any order.

    Attributes
    ----------
    G : ndarray of shape (n_columns, n_columns)
        Z^T diag(w) Z.
    R : ndarray of shape (n_columns,) or (n_columns, n_targets), or None
        Z^T diag(w) Y.
    column_sums : ndarray of shape (n_columns,)
        Z^T w.
    weight_sum : float
        Sum of w, the number of rows where there are no weights.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.features import GramAccumulator
    >>> sums = GramAccumulator()
    >>> sums.add(np.array([[1.0, 2.0]]))
    >>> sums.add(np.array([[0.0, 1.0]]), sample_weight=np.array([3.0]))
    >>> sums.G
    array([[1., 2.],
           [2., 7.]])
    >>> sums.column_sums, sums.weight_sum
    (array([1., 5.]), 4.0)
    """

    def __init__(self) -> None:
        self._upper: Array | None = None
        self.R: Array | None = None
        self.column_sums: Array = np.zeros(0)
        self.weight_sum = 0.0

    def add(self, Z: ArrayLike, Y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> None:
        """Add the rows of Z, with targets Y and weights >= 0."""
        Z = np.ascontiguousarray(Z, dtype=np.float64)
        w = np.ones(len(Z)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        scaled = Z if sample_weight is None else Z * np.sqrt(w)[:, None]
        first = self._upper is None
        start = np.zeros((Z.shape[1], Z.shape[1]), order="F") if first else self._upper
        right = None if Y is None else Z.T @ (np.asarray(Y, dtype=np.float64).T * w).T
        self._upper = dsyrk(1.0, scaled.T, beta=1.0, c=start, overwrite_c=True)
        self.R = right if first or right is None or self.R is None else self.R + right
        self.column_sums = Z.T @ w if first else self.column_sums + Z.T @ w
        self.weight_sum += float(w.sum())

    @property
    def G(self) -> Array:
        """Z^T diag(w) Z."""
        if self._upper is None:
            raise ValueError("GramAccumulator must be given rows first; got none.")
        return np.triu(self._upper) + np.triu(self._upper, 1).T


def gram(
    features: FeatureMap, X: Any, Y: ArrayLike | None = None, *, sample_weight: ArrayLike | None = None
) -> tuple[Array, Array | None]:
    """Z^T diag(w) Z and Z^T diag(w) Y for Z = features.transform(X), with the memory of one block of rows.

    Parameters
    ----------
    features : FeatureMap
        A fitted map with real columns.
    X : array or CSR matrix of shape (n_samples, n_features)
    Y : array-like of shape (n_samples,) or (n_samples, n_targets), default=None
    sample_weight : array-like of shape (n_samples,), default=None
        Weights >= 0.

    Returns
    -------
    G : ndarray of shape (n_columns, n_columns), float64
    R : ndarray of shape (n_columns,) or (n_columns, n_targets), float64, or None
        None where Y is.

    Examples
    --------
    >>> import numpy as np
    >>> from krein import RandomFeatures
    >>> from krein.features import gram
    >>> X = np.random.default_rng(0).normal(size=(5000, 3))
    >>> features = RandomFeatures(n_components=8, random_state=0).fit(X)
    >>> Z = features.transform(X)
    >>> G, R = gram(features, X, X[:, 0])
    >>> bool(np.allclose(G, Z.T @ Z)), bool(np.allclose(R, Z.T @ X[:, 0]))
    (True, True)
    """
    Y = None if Y is None else np.asarray(Y, dtype=np.float64)
    w = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    sums = GramAccumulator()
    for rows in row_blocks(X.shape[0], BLOCK_ROWS):
        sums.add(features.transform(X[rows]), None if Y is None else Y[rows], None if w is None else w[rows])
    return sums.G, sums.R
