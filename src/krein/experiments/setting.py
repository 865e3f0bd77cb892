"""What the experiments share: the two kernels of the paper, the sizes, and the rows that an error is measured on."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from krein._random import Streams
from krein.datasets import Dataset, load
from krein.kernels import DeltaGaussian, PolynomialOnSphere, RadialKernel

Array = NDArray[np.float64]

N_ROWS = 1000  # on which the relative error is measured, as in the paper
SIZES = {"d/4": 0.25, "d/2": 0.5, "d": 1.0, "2d": 2.0, "4d": 4.0, "8d": 8.0}  # s, frequencies per sign, over d
CLASSIFICATION = ("letter", "ijcnn1", "usps")
KERNELS: dict[str, RadialKernel] = {
    "polynomial": PolynomialOnSphere(a=3.0, degree=1),
    "delta-gaussian": DeltaGaussian(weights=(1.0, -1.0), scales=(1.0, 10.0)),
}
KERNEL_TITLES = {
    "polynomial": "polynomial on the unit sphere, a = 3, m = 1",
    "delta-gaussian": "delta-Gaussian, weights 1 and -1, scales 1 and 10",
}


def frequencies_per_sign(size: str, dim: int) -> int:
    """The paper's s, rounded half up.

    Examples
    --------
    >>> from krein.experiments.setting import frequencies_per_sign
    >>> frequencies_per_sign("d/4", 22)
    6
    """
    return int(SIZES[size] * dim + 0.5)


@lru_cache(maxsize=3)
def dataset(name: str, split: int) -> Dataset:
    """A data set, loaded once; the arrays are read-only, because they are shared."""
    data = load(name, split=split)
    for array in (data.X_train, data.y_train, data.X_test, data.y_test):
        array.flags.writeable = False
    return data


def measured_rows(name: str, rep: int) -> Array:
    """The training rows on which all methods of a repetition are measured."""
    X = dataset(name, 0).X_train
    chosen = Streams(rep)(f"{name}, {N_ROWS} rows").choice(len(X), N_ROWS, replace=False)
    return X[np.sort(chosen)]
