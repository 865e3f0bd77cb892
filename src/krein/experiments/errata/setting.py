"""What the errata share: 1000 rows of letter, errors over repeated draws, and the published numbers of Table II."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from krein import RandomFeatures
from krein.datasets import load
from krein.kernels import DeltaGaussian, Kernel, PolynomialOnSphere

Array = NDArray[np.float64]

DIM = 16  # columns of letter
N_ROWS = 1000  # as in the paper
SIZES = {"d/2": DIM // 2, "d": DIM, "2d": 2 * DIM, "8d": 8 * DIM}  # s, frequencies per sign
POLYNOMIAL = PolynomialOnSphere(a=3.0, degree=1)
DELTA_GAUSSIAN = DeltaGaussian(weights=(1.0, -1.0), scales=(1.0, 10.0))

# Table II of the paper, letter: mean and standard deviation of the relative error for the four sizes
TABLE_2 = {
    ("polynomial", "GRFF"): ((0.0859, 0.0309), (0.0547, 0.0078), (0.0469, 0.0109), (0.0261, 0.0059)),
    ("polynomial", "GORF"): ((0.0716, 0.0175), (0.0495, 0.0139), (0.0360, 0.0110), (0.0231, 0.0078)),
    ("delta-Gaussian", "GRFF"): ((0.3918, 0.0428), (0.2736, 0.0345), (0.1887, 0.0201), (0.1017, 0.0088)),
    ("delta-Gaussian", "GORF"): ((0.3154, 0.0424), (0.1133, 0.0181), (0.0760, 0.0090), (0.0376, 0.0039)),
}


def published(kernel: str, method: str, size: str) -> tuple[float, float]:
    """Mean and standard deviation of a cell of Table II for letter."""
    return TABLE_2[kernel, method][list(SIZES).index(size)]


@lru_cache(maxsize=4)
def letter_rows(n_rows: int = N_ROWS, *, normalize: bool = True) -> Array:
    """The first training rows of letter: of length 1, or as they are before that step, in [-1, 1]^16."""
    rows = load("letter", normalize="unit" if normalize else None).X_train[:n_rows]  # the split is in random order
    rows.flags.writeable = False
    return rows


def relative(K_hat: Array, K: Array) -> float:
    """||K - K_hat||_F / ||K||_F."""
    return float(np.linalg.norm(K_hat - K) / np.linalg.norm(K))


def errors(kernel: Kernel, X: Array, scheme: str, s: int, draws: int) -> Array:
    """Relative error of ``draws`` independent draws of s frequencies per sign (4 s columns)."""
    K = np.asarray(kernel(X))
    found = []
    for seed in range(draws):
        features = RandomFeatures(kernel, 4 * s, scheme=scheme, random_state=seed).fit(X)
        found.append(relative(features.approximate_kernel(X), K))
    return np.array(found)


def mean_and_error(sample: Array) -> tuple[float, float]:
    """Mean of a sample and its standard error."""
    return float(sample.mean()), float(sample.std(ddof=1) / np.sqrt(len(sample)))
