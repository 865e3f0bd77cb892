"""Streaming normal equations: Z^T diag(w) Z and Z^T diag(w) Y of features Z that are never held as a whole."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg.blas import dsyrk
from sklearn.utils.validation import check_array

from krein.features._native_map import INSTRUCTIONS
from krein.features._threads import in_threads, n_threads
from krein.features.base import FeatureMap

if INSTRUCTIONS:
    from krein import _native

Array = NDArray[np.float64]
BLOCK_BYTES = 1 << 21  # of features in float64: a block stays in the caches between the map and the products
FEWEST_ROWS, MOST_ROWS = 512, 1024


def gram(
    features: FeatureMap, X: Any, Y: ArrayLike | None = None, *, sample_weight: ArrayLike | None = None
) -> tuple[Array, Array | None]:
    """Z^T diag(w) Z and Z^T diag(w) Y in float64, for Z = features.transform(X), by blocks of rows.

    Parameters
    ----------
    features : feature map
        Fitted, with ``output="real"``.
    X : array-like or sparse matrix of shape (n_samples, n_features)
    Y : array-like of shape (n_samples,) or (n_samples, n_targets), default=None
    sample_weight : array-like of shape (n_samples,), default=None
        w, finite and not negative; ``None`` means 1.

    Returns
    -------
    G : ndarray of shape (n_columns, n_columns)
        Symmetric in every bit.
    R : ndarray of shape (n_columns,) or (n_columns, n_targets), or None
        None where Y is None.

    Notes
    -----
    The work space is two blocks of features and one matrix like G, however many rows there are. Sums are in float64
    also where the features are float32.

    Examples
    --------
    >>> import numpy as np
    >>> from krein import RandomFeatures
    >>> from krein.features import gram
    >>> X = np.random.default_rng(0).normal(size=(2000, 3))
    >>> features = RandomFeatures(n_components=8, random_state=0).fit(X)
    >>> Z = features.transform(X)
    >>> G, R = gram(features, X, X[:, 0])
    >>> bool(np.allclose(G, Z.T @ Z) and np.allclose(R, Z.T @ X[:, 0]))
    True
    """
    sums = GramAccumulator(getattr(features, "n_jobs", None))
    width = int(getattr(features, "_n_features_out", MOST_ROWS))
    step = int(np.clip(BLOCK_BYTES // (8 * max(1, width)), FEWEST_ROWS, MOST_ROWS))
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    targets = None if Y is None else _rows_of(Y, "Y", n)
    weights = None if sample_weight is None else _rows_of(sample_weight, "sample_weight", n)
    start = 0
    for Z in features.transform_blocks(X, step, reuse=True):
        rows = slice(start, start := start + Z.shape[0])
        sums.add(Z, None if targets is None else targets[rows], None if weights is None else weights[rows])
    return sums.G, sums.R


class GramAccumulator:
    """Sums over blocks of rows, from which regressions, with or without an intercept, are solved.

    Parameters
    ----------
    n_jobs : int or None, default=None
        Threads, as of a feature map.

    Attributes
    ----------
    G : ndarray of shape (n_columns, n_columns)
        Z^T diag(w) Z of all rows added so far, full and symmetric; a copy every time it is read.
    R : ndarray of shape (n_columns,) or (n_columns, n_targets), or None
        Z^T diag(w) Y; None where no Y was given.
    column_sums : ndarray of shape (n_columns,)
        Z^T w.
    target_sums : ndarray of shape () or (n_targets,), or None
        Y^T w.
    weight : float
        The sum of w.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.features import GramAccumulator
    >>> sums = GramAccumulator().add(np.eye(3)[:2]).add(np.eye(3)[1:], sample_weight=[1.0, 2.0])
    >>> sums.G.diagonal(), sums.column_sums, sums.weight
    (array([1., 2., 2.]), array([1., 2., 2.]), 5.0)
    """

    def __init__(self, n_jobs: int | None = None) -> None:
        self.n_jobs = n_jobs
        self._lower: Array | None = None
        self.R: Array | None = None
        self.column_sums: Array | None = None
        self.target_sums: Array | None = None
        self.weight = 0.0

    def add(self, Z: ArrayLike, Y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> GramAccumulator:
        """Add the rows of Z; all calls give Y, or none does.

        Parameters
        ----------
        Z : array-like of shape (n_rows, n_columns)
        Y : array-like of shape (n_rows,) or (n_rows, n_targets), default=None
        sample_weight : array-like of shape (n_rows,), default=None
            Finite and not negative; ``None`` means 1.

        Returns
        -------
        self
        """
        if np.iscomplexobj(Z):
            raise ValueError('Z must be real; got complex features. Use output="real" and the signature.')
        Z = np.ascontiguousarray(Z, dtype=np.float64)
        if Z.ndim != 2 or (self._lower is not None and Z.shape[1] != len(self._lower)):
            raise ValueError(f"Z must have shape (n_rows, {self._width()}); got {Z.shape}.")
        if self._lower is not None and (Y is None) != (self.R is None):
            raise ValueError("Y must be given in all calls, or in none; got both.")
        w = None if sample_weight is None else _weights(sample_weight, Z.shape[0])
        y = None if Y is None else _rows_of(Y, "Y", Z.shape[0])
        if y is not None and self.R is not None and y.shape[1:] != self.R.shape[1:]:
            raise ValueError(f"Y must have shape (n_rows, *{self.R.shape[1:]}) as before; got {y.shape}.")
        self._add(Z, y, w)
        return self

    @property
    def G(self) -> Array:
        """Z^T diag(w) Z."""
        if self._lower is None:
            raise ValueError("G needs rows: nothing was added yet.")
        lower = np.tril(self._lower)
        return lower + np.tril(lower, -1).T

    def _width(self) -> str:
        return "n_columns" if self._lower is None else str(len(self._lower))

    def _add(self, Z: Array, y: Array | None, w: Array | None) -> None:
        if self._lower is None:
            self._lower = np.zeros((Z.shape[1], Z.shape[1]))
            self.column_sums = np.zeros(Z.shape[1])
            self.R = None if y is None else np.zeros((Z.shape[1], *y.shape[1:]))
            self.target_sums = None if y is None else np.zeros(y.shape[1:])
        if not Z.shape[0]:
            return
        ones = np.ones(Z.shape[0]) if w is None else w
        self.weight += float(ones.sum())
        self.column_sums = np.asarray(ones @ Z if self.column_sums is None else self.column_sums + ones @ Z)
        if y is not None and self.R is not None and self.target_sums is not None:
            weighted = y if w is None else (w * y.T).T
            self.R = self.R + Z.T @ weighted
            self.target_sums = np.asarray(self.target_sums + weighted.sum(axis=0))
        add_gram(Z, w, self._lower, n_threads(self.n_jobs))


def add_gram(Z: Array, w: Array | None, lower: Array, threads: int) -> None:
    """Add Z^T diag(w) Z to the lower triangle of ``lower``; what is above the diagonal is left undefined."""
    if not INSTRUCTIONS:
        root = Z if w is None else np.sqrt(w)[:, None] * Z
        # the transposes are in Fortran order, so that BLAS works where they are: its upper triangle is our lower one
        dsyrk(1.0, root.T, beta=1.0, c=lower.T, lower=0, overwrite_c=1)
        return
    parts = 1 if threads == 1 else 4 * threads
    cuts = (len(lower) * np.sqrt(np.arange(parts + 1) / parts)).round().astype(int)  # of equal areas
    bands = [slice(int(a), int(b)) for a, b in pairwise(cuts)][::-1]
    in_threads(
        lambda rows: _native.gram(INSTRUCTIONS[0], Z, w, lower, rows.start, rows.stop), bands, threads, uses_blas=False
    )


def _rows_of(values: ArrayLike, name: str, n: int) -> Array:
    array = np.asarray(
        check_array(values, ensure_2d=False, allow_nd=True, dtype=float, ensure_min_samples=0, input_name=name)
    )
    if array.ndim not in (1, 2) or array.shape[0] != n:
        raise ValueError(f"{name} must have one or two axes and {n} rows; got shape {array.shape}.")
    return array


def _weights(values: ArrayLike, n: int) -> Array:
    w = _rows_of(values, "sample_weight", n)
    if w.ndim != 1 or (w < 0).any():
        raise ValueError(f"sample_weight must have shape ({n},) and no negative entry; got shape {w.shape}.")
    return w
