"""Which designs benchmarks/optimal.py looks at, and how their errors are measured."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from protocol import KERNELS, WIDTHS, Array, frequencies_per_sign, some_rows

from krein import RandomFeatures, relative_error
from krein.datasets import Dataset, load
from krein.kernels import DeltaGaussian, Gaussian, PolynomialOnSphere, RadialKernel, Tanh

ELSEWHERE = DeltaGaussian((1.0, -0.7), (0.8, 4.0))
ELSEWHERE_DATA = ("letter", "ijcnn1", "housing", "wine", "diabetes", "iris")  # all of the registry with d <= 25
EQUAL_COLUMNS: tuple[RadialKernel, ...] = (
    PolynomialOnSphere(2.0, 5),
    PolynomialOnSphere(2.0, 10),
    Tanh(2.0, -0.5),
    Gaussian(1.0),
)
GROUPS = (1, 3, 5)  # of d + 1 frequencies, for the comparison with the spherical-radial rule

loaded = cache(load)


@dataclass(frozen=True)
class Case:
    """One kernel, data set, width and scheme. ``held_out``: the error is that of other rows than those of the fit."""

    kernel: RadialKernel
    data: str
    columns: int
    width: str = ""
    scheme: str = "optimal"
    held_out: bool = False
    options: tuple[tuple[str, Any], ...] = ()

    def of(self, scheme: str, columns: int | None = None) -> Case:
        """The same case of a compared scheme."""
        return replace(self, scheme=scheme, columns=columns or self.columns, options=())

    def features(self, seed: int) -> RandomFeatures:
        return RandomFeatures(self.kernel, self.columns, scheme=self.scheme, random_state=seed, **dict(self.options))

    def errors(self, draws: int) -> Array:
        """Relative errors of K_hat; every draw has other rows and other rotations."""
        dataset: Dataset = loaded(self.data)
        found = []
        for seed in range(draws):
            rows = some_rows(dataset.X_train, seed)
            features = self.features(seed).fit(rows)
            found.append(
                relative_error(self.kernel, features, some_rows(dataset.X_test, seed) if self.held_out else rows)
            )
        return np.array(found)


def published_cases(kernel: str, data: str, **options: Any) -> Iterator[Case]:
    """s = d/2, d, 2 d, 8 d frequencies per sign: 4 s columns, and the constant."""
    for width, s in zip(WIDTHS, frequencies_per_sign(dimension(data)), strict=True):
        yield Case(KERNELS[kernel], data, 4 * s + 1, width, options=tuple(options.items()))


def elsewhere_cases(data: str) -> Iterator[Case]:
    for width, factor in WIDTHS.items():
        if factor >= 1:
            yield Case(ELSEWHERE, data, 4 * int(factor * dimension(data)) + 1, width, held_out=True)


def equal_columns_cases(kernel: RadialKernel, data: str) -> Iterator[Case]:
    """The columns of s = d/2, d, 2 d, 8 d, without one more for the constant."""
    for width, s in zip(WIDTHS, frequencies_per_sign(dimension(data)), strict=True):
        yield Case(kernel, data, 4 * s, width)


def smooth_cases(data: str = "letter") -> Iterator[Case]:
    """exp(-z^2/d), on groups of d + 1 frequencies."""
    dim = dimension(data)
    for groups in GROUPS:
        yield Case(Gaussian(float(np.sqrt(dim / 2))), data, 2 * groups * (dim + 1), f"{2 * groups}(d+1)")


def narrow_cases() -> Iterator[Case]:
    for columns in (32, 33, 128, 512):
        yield Case(Gaussian(1.0), "letter", columns)


def every_case(data: list[str]) -> Iterator[Case]:
    """All designs of the tables on these data sets, each once; other data are not even loaded."""
    paper = [name for name in ("letter", "ijcnn1", "usps") if name in data]
    for name in paper:
        yield from published_cases("delta-gaussian", name)
        yield from published_cases("polynomial", name)
    for name in sorted(set(ELSEWHERE_DATA) & set(data)):
        yield from elsewhere_cases(name)
    for kernel in EQUAL_COLUMNS:
        for name in sorted(set(paper) - {"usps"}):
            yield from equal_columns_cases(kernel, name)
    if "letter" in data:
        yield from published_cases("delta-gaussian", "letter", distances="uniform", distance_range=2.0)
        yield from (case for case in narrow_cases() if case.columns == 33)
        yield from smooth_cases()


def dimension(data: str) -> int:
    return int(loaded(data).X_train.shape[1])
