"""One case per registered feature map: a kernel that it supports and rows to fit it on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.preprocessing import normalize

from krein import make_features
from krein._validation import Domain
from krein.features import FEATURE_MAPS, BaseFeatureMap
from krein.kernels import AdditiveChi2, DeltaGaussian, Gaussian, Kernel, PolynomialOnSphere

DIM = 5
DEFAULT = DeltaGaussian(weights=(1.0, -0.5), scales=(1.0, 3.0))
KERNELS: dict[str, Kernel] = {  # a map that is not named here gets DEFAULT
    "rff": Gaussian(1.5),
    "orf": Gaussian(1.5),
    "published-grff": PolynomialOnSphere(3.0, 1),
    "published-gorf": PolynomialOnSphere(3.0, 1),
    "additive": AdditiveChi2(1.5),
    "cro": Gaussian(1.5),
    "rm": PolynomialOnSphere(1.2, 2),
    "ts": PolynomialOnSphere(1.2, 2),
}
COLUMNS = {"quadrature": 25, "quadrature-5": 169}  # the fewest for DEFAULT; 24 will do for the others
WITHOUT_SEED = {"additive"}  # maps that make no use of their random_state


@dataclass(frozen=True)
class Case:
    """A feature map by its name, with a kernel and rows that suit it."""

    name: str

    @property
    def kernel(self) -> Kernel:
        return KERNELS.get(self.name, DEFAULT)

    @property
    def domain(self) -> Domain:
        """Of the rows that the map takes; "cro" takes unit rows only, and its kernel any."""
        return "sphere" if self.name == "cro" else self.kernel.domain

    @property
    def columns(self) -> int:
        return COLUMNS.get(self.name, 24)

    @property
    def draws(self) -> bool:
        """Whether another seed gives other features."""
        return self.name not in WITHOUT_SEED

    def make(self, *, random_state: Any = 0, **params: Any) -> BaseFeatureMap:
        return make_features(
            self.name, self.kernel, **({"n_components": self.columns} | params), random_state=random_state
        )

    def rows(self, n: int = 40, *, seed: int = 12345, dim: int = DIM) -> NDArray[np.float64]:
        X = np.random.default_rng(seed).normal(size=(n, dim))
        if self.domain == "nonnegative":
            X = np.abs(X)
        return normalize(X) if self.domain == "sphere" else X


@pytest.fixture(params=sorted(FEATURE_MAPS))
def case(request: pytest.FixtureRequest) -> Case:
    return Case(request.param)


def tolerance(features: BaseFeatureMap, X: NDArray[Any]) -> float:
    """Bound on the rounding error of a column of unit length, relative to the largest column.

    An inner product w.x of d terms is wrong by at most (d + 1) eps ||w|| ||x||, which is also what it turns the pair
    (cos, sin) by; cos, sin and the amplitude add 4 eps. The bound is doubled, as two results are compared.
    """
    frequencies = getattr(features, "frequencies_", None)
    reach = 100.0 if frequencies is None else float(frequencies.radii.max() * np.linalg.norm(X, axis=1).max())
    return float(2 * ((X.shape[1] + 1) * reach + 4) * np.finfo(X.dtype).eps)


def same_map(first: BaseFeatureMap, second: BaseFeatureMap) -> bool:
    """Whether two fitted maps are equal in every bit."""
    ours, theirs = first.to_arrays(), second.to_arrays()
    return (
        type(first) is type(second)
        and first.get_params() == second.get_params()
        and ours.keys() == theirs.keys()
        and all(a.dtype == theirs[n].dtype and a.tobytes() == theirs[n].tobytes() for n, a in ours.items())
        and bool((first.signature_ == second.signature_).all())
    )


@pytest.fixture
def rounding() -> Callable[[BaseFeatureMap, NDArray[Any]], float]:
    return tolerance


@pytest.fixture
def same() -> Callable[[BaseFeatureMap, BaseFeatureMap], bool]:
    return same_map


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "map.npz"
