"""relative_error against the plain dense formula ||K - K_hat||_F / ||K||_F."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

from krein import FeatureMap, RandomFeatures, relative_error
from krein.exceptions import DomainError
from krein.kernels import DeltaGaussian, FromProfile, Gaussian, Kernel, PolynomialOnSphere
from krein.kernels.base import BLOCK_ROWS

KERNEL = DeltaGaussian((1.0, -0.5), (1.0, 3.0))
rng = np.random.default_rng(12345)
X, Y = rng.normal(size=(BLOCK_ROWS + 190, 4)), rng.normal(size=(301, 4))
RTOL = 1e-10  # sums of 5e5 squares, whose terms are good to 1e-13
for array in (X, Y):
    array.flags.writeable = False


@pytest.fixture(scope="module")
def features() -> RandomFeatures:
    return RandomFeatures(KERNEL, 64, scheme="gorf-blocks", random_state=0).fit(X)


def dense(kernel: Kernel, features: FeatureMap, X: NDArray[Any], Y: NDArray[Any] | None = None) -> float:
    K = kernel(X, Y)
    return float(np.linalg.norm(K - features.approximate_kernel(X, Y)) / np.linalg.norm(K))


@pytest.mark.parametrize("n", [1, 2, BLOCK_ROWS - 1, BLOCK_ROWS, BLOCK_ROWS + 1, len(X)])
def test_square(features: RandomFeatures, n: int) -> None:
    assert relative_error(KERNEL, features, X[:n]) == pytest.approx(dense(KERNEL, features, X[:n]), rel=RTOL, abs=1e-14)


def test_two_sets_of_rows(features: RandomFeatures) -> None:
    for first, second in ((X, Y), (Y, X), (X, X)):
        found = relative_error(KERNEL, features, first, second)
        assert found == pytest.approx(dense(KERNEL, features, first, second), rel=RTOL)
    assert relative_error(KERNEL, features, X, Y) != pytest.approx(relative_error(KERNEL, features, X), rel=1e-3)


def test_any_kernel_can_be_compared_with(features: RandomFeatures) -> None:
    assert relative_error(Gaussian(), features, X, Y) == pytest.approx(dense(Gaussian(), features, X, Y), rel=RTOL)


def test_exact_diagonal(features: RandomFeatures) -> None:
    """The paper's code overwrites the diagonal of K_hat by that of K; here the two differ, 0.5 and 1."""
    kernel = Gaussian()
    K, K_hat = kernel(X), features.approximate_kernel(X)
    np.fill_diagonal(K_hat, K.diagonal())
    found = relative_error(kernel, features, X, exact_diagonal=True)
    assert found == pytest.approx(np.linalg.norm(K - K_hat) / np.linalg.norm(K), rel=RTOL)
    off, total = found * np.linalg.norm(K), relative_error(kernel, features, X) * np.linalg.norm(K)
    assert total**2 - off**2 == pytest.approx(len(X) * 0.5**2, rel=1e-9)
    assert relative_error(kernel, features, X[:1], exact_diagonal=True) == 0


def test_float32(features: RandomFeatures) -> None:
    """Each of the two matrices has errors of some 1e-6 (64 columns, inner products below 20)."""
    X32, Y32 = X.astype(np.float32), Y.astype(np.float32)
    expected = relative_error(KERNEL, features, X32.astype(np.float64), Y32.astype(np.float64))
    assert relative_error(KERNEL, features, X32, Y32) == pytest.approx(expected, abs=3e-5)
    assert relative_error(KERNEL, features, X32, Y) == pytest.approx(expected, abs=3e-5)


def test_sparse_and_lists(features: RandomFeatures) -> None:
    expected = relative_error(KERNEL, features, X, Y)
    assert relative_error(KERNEL, features, sp.csr_array(X), sp.csc_matrix(Y)) == pytest.approx(expected, rel=1e-9)
    assert relative_error(KERNEL, features, X, Y.tolist()) == pytest.approx(expected, rel=RTOL)


def test_complex_output_has_the_same_error(features: RandomFeatures) -> None:
    twin = RandomFeatures(KERNEL, 64, scheme="gorf-blocks", random_state=0, output="complex").fit(X)
    assert relative_error(KERNEL, twin, X) == relative_error(KERNEL, features, X)


class OnlyTheProtocol:
    """A map that is exact up to a factor: the error is known, and nothing but the protocol is there to be used."""

    signature_ = np.ones(1)

    def __init__(self, factor: float) -> None:
        self.factor = factor

    def fit(self, X: Any, y: Any = None) -> Self:
        return self

    def transform(self, X: Any) -> NDArray[Any]:
        raise AssertionError("relative_error needs approximate_kernel only")

    def transform_blocks(self, X: Any, rows: int = 1024, *, reuse: bool = False) -> Iterator[NDArray[Any]]:
        raise AssertionError("relative_error needs approximate_kernel only")

    def approximate_kernel(self, X: Any, Y: Any = None) -> NDArray[Any]:
        return self.factor * KERNEL(X, Y)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        return {}

    def from_arrays(self, arrays: dict[str, NDArray[Any]]) -> Self:
        return self


@pytest.mark.parametrize("factor", [1.0, 0.0, 1.25, -1.0])
def test_known_error_through_the_protocol(factor: float) -> None:
    assert isinstance(OnlyTheProtocol(factor), FeatureMap)
    assert relative_error(KERNEL, OnlyTheProtocol(factor), X, Y) == pytest.approx(abs(factor - 1), rel=1e-12, abs=1e-12)


class TestErrors:
    def test_exact_diagonal_of_two_sets(self, features: RandomFeatures) -> None:
        with pytest.raises(ValueError, match="exact_diagonal=True needs Y=None"):
            relative_error(KERNEL, features, X, X, exact_diagonal=True)

    def test_kernel_that_is_zero(self, features: RandomFeatures) -> None:
        with pytest.raises(ValueError, match="zero on all pairs of rows"):
            relative_error(FromProfile(lambda z: 0 * z), features, X)

    def test_rows(self, features: RandomFeatures) -> None:
        wrong = Y.copy()
        wrong[3, 1] = np.nan
        with pytest.raises(ValueError, match="X contains NaN"):
            relative_error(KERNEL, features, wrong)
        with pytest.raises(ValueError, match="Y contains NaN"):
            relative_error(KERNEL, features, X, wrong)
        with pytest.raises(ValueError, match="Expected 2D array"):
            relative_error(KERNEL, features, X[0])
        with pytest.raises(ValueError, match=r"expecting 4 features|must have as many columns"):
            relative_error(KERNEL, features, X[:, :3])
        with pytest.raises(ValueError, match=r"expecting 4 features|must have as many columns"):
            relative_error(KERNEL, features, X, Y[:, :3])
        with pytest.raises(ValueError, match="0 sample"):
            relative_error(KERNEL, features, X[:0])

    def test_rows_off_the_sphere(self, features: RandomFeatures) -> None:
        with pytest.raises(DomainError, match=r"sklearn\.preprocessing\.normalize"):
            relative_error(PolynomialOnSphere(), features, X)

    def test_not_fitted(self) -> None:
        with pytest.raises(NotFittedError):
            relative_error(KERNEL, RandomFeatures(KERNEL), X)
