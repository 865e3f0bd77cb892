"""What the errata share: 1000 rows of letter, errors over repeated draws, and the published numbers of Table II."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from krein import RandomFeatures
from krein.datasets import load
from krein.experiments.expectations import published
from krein.experiments.setting import N_ROWS, Array, frequencies_per_sign
from krein.kernels import DeltaGaussian, Kernel, PolynomialOnSphere

DIM = 16  # columns of letter
SIZES = {size: frequencies_per_sign(size, DIM) for size in ("d/2", "d", "2d", "8d")}  # s, frequencies per sign
POLYNOMIAL = PolynomialOnSphere(a=3.0, degree=1)  # the kernels of krein.experiments.setting, with their own types
DELTA_GAUSSIAN = DeltaGaussian(weights=(1.0, -1.0), scales=(1.0, 10.0))


def published_cell(kernel: str, method: str, size: str) -> tuple[float, float]:
    """Mean and standard deviation of a cell of Table II for letter."""
    cell = published("table2", kernel, "letter", method, size)
    assert cell is not None
    assert cell.std is not None
    return cell.mean, cell.std


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
