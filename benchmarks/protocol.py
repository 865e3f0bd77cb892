"""What the benchmarks share: which rows are drawn, the widths, and the published numbers of Table II."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from krein.experiments.expectations import published
from krein.experiments.setting import CLASSIFICATION, KERNELS, N_ROWS, SIZES, Array

__all__ = ["KERNELS", "N_ROWS", "PUBLISHED", "WIDTHS", "Array", "frequencies_per_sign", "some_rows"]

WIDTHS = {size: SIZES[size] for size in ("d/2", "d", "2d", "8d")}  # frequencies per sign s, over d
# Table II: mean and standard deviation at s = d/2, d, 2d, 8d.
PUBLISHED = {
    (data, kernel, method): tuple(
        (cell.mean, cell.std)
        for size in WIDTHS
        if (cell := published("table2", kernel, data, method, size)) is not None and cell.std is not None
    )
    for data in CLASSIFICATION
    for kernel in KERNELS
    for method in ("GRFF", "GORF")
}


def some_rows(X: Array, seed: int | Sequence[int], n_rows: int = N_ROWS) -> Array:
    """Different rows of X, always the same for a seed; all of them, in another order, where there are no more."""
    return X[np.random.default_rng(seed).choice(len(X), min(n_rows, len(X)), replace=False)]


def frequencies_per_sign(dim: int) -> list[int]:
    return [int(factor * dim) for factor in WIDTHS.values()]
