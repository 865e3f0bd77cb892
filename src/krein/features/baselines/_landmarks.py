"""How the landmark rows of a Nystroem map are chosen, as indices into the rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from krein._validation import Rows
from krein.kernels.base import Kernel

Indices = NDArray[np.intp]
KMEANS_POOL, LEVERAGE_POOL = 20, 10  # candidates per landmark: the cost does not grow with the number of rows beyond
UNIFORM_SHARE = 0.1  # of the draws by leverage, so that a row that the pilot overlooks can still be drawn


def uniform(kernel: Kernel, X: Rows, count: int, rng: np.random.Generator) -> Indices:
    """Any ``count`` rows, without replacement."""
    return rng.choice(X.shape[0], count, replace=False)


def spread(kernel: Kernel, X: Rows, count: int, rng: np.random.Generator) -> Indices:
    """The greedy k-means++ start: rows far from one another, among ``KMEANS_POOL`` candidates per landmark."""
    from sklearn.cluster import kmeans_plusplus  # sklearn.cluster takes long to import

    pool = uniform(kernel, X, min(X.shape[0], KMEANS_POOL * count), rng)
    _, chosen = kmeans_plusplus(X[pool], count, random_state=int(rng.integers(2**32)))
    return np.asarray(pool[np.asarray(chosen)])


def leverage(kernel: Kernel, X: Rows, count: int, rng: np.random.Generator) -> Indices:
    """Rows drawn without replacement in proportion to their ridge leverage scores.

    tau_i = sum_j u_ij^2 s_j^2 / (s_j^2 + gamma^2), with U diag(s) V^T = k(pool, pilot) and gamma the median of s; they
    come from singular values, and so need no positive definite kernel.
    """
    pool = uniform(kernel, X, min(X.shape[0], LEVERAGE_POOL * count), rng)
    pilot = rng.choice(pool, count, replace=False)
    U, s, _ = np.linalg.svd(kernel(X[pool], X[pilot]).astype(np.float64), full_matrices=False)
    if not s[0] > 0:
        return pilot
    scores = U**2 @ (s**2 / (s**2 + np.median(s) ** 2 + (np.finfo(float).eps * s[0]) ** 2))
    law = (1 - UNIFORM_SHARE) * scores / scores.sum() + UNIFORM_SHARE / len(pool)
    return rng.choice(pool, count, replace=False, p=law)


LANDMARKS: dict[str, Callable[[Kernel, Rows, int, np.random.Generator], Indices]] = {
    "uniform": uniform,
    "kmeans++": spread,
    "leverage": leverage,
}
