"""How good an approximation is, measured on rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from krein._validation import check_rows
from krein.features.base import FeatureMap
from krein.kernels.base import Kernel, row_blocks


def relative_error(
    kernel: Kernel, features: FeatureMap, X: Any, Y: Any = None, *, exact_diagonal: bool = False
) -> float:
    """Relative Frobenius error ||K - K_hat||_F / ||K||_F, by blocks of rows.

    Parameters
    ----------
    kernel : Kernel
        The exact kernel.
    features : FeatureMap
        A fitted map.
    X : array-like or sparse matrix of shape (n_samples_X, n_features)
    Y : array-like or sparse matrix of shape (n_samples_Y, n_features), default=None
        ``None`` means X.
    exact_diagonal : bool, default=False
        Leave the diagonal out of the error, as the paper's code does by overwriting it with its exact value. Needs
        ``Y=None``.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> from krein import RandomFeatures, relative_error
    >>> from krein.kernels import Gaussian
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> features = RandomFeatures(Gaussian(2.0), n_components=2000, random_state=0).fit(X)
    >>> bool(relative_error(Gaussian(2.0), features, X) < 0.05)
    True
    """
    if exact_diagonal and Y is not None:
        raise ValueError("exact_diagonal=True needs Y=None: only a square Gram matrix has a diagonal.")
    X = check_rows(X)
    other = X if Y is None else check_rows(Y, name="Y")
    error = total = 0.0
    for rows in row_blocks(X.shape[0]):
        K = kernel(X[rows], other).astype(np.float64)
        difference = features.approximate_kernel(X[rows], other) - K
        if exact_diagonal:
            np.fill_diagonal(difference[:, rows], 0)
        error += float(np.einsum("ij,ij->", difference, difference))
        total += float(np.einsum("ij,ij->", K, K))
    if total == 0:
        raise ValueError("The kernel is zero on all pairs of rows: the relative error is not defined.")
    return float(np.sqrt(error / total))
