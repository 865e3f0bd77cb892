"""One indefinite map for all learners, and the dense N x N solutions that they must equal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from krein import RandomFeatures
from krein.kernels import DeltaGaussian

Array = NDArray[np.float64]
KERNEL = DeltaGaussian(weights=(1.0, -0.8), scales=(0.5, 1.0))


@dataclass(frozen=True)
class Problem:
    """Rows, targets and a map whose Gram matrix Z J Z^T has eigenvalues of both signs."""

    features: RandomFeatures
    X: Array
    y: Array
    new: Array

    @property
    def Z(self) -> Array:
        return np.asarray(self.fitted.transform(self.X))

    @property
    def fitted(self) -> RandomFeatures:
        return RandomFeatures(**self.features.get_params(deep=False)).fit(self.X)

    def gram(self, regularization: str) -> tuple[Array, Array]:
        """K of the training rows, and of new rows with them: with Z J Z^T, or Z Z^T for "hilbert"."""
        J = self.fitted.signature_ if regularization != "hilbert" else 1.0
        return (self.Z * J) @ self.Z.T, (self.fitted.transform(self.new) * J) @ self.Z.T


def make_problem(n: int = 300, columns: int = 48, seed: int = 12345) -> Problem:
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, 3))
    y = np.sin(3 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=n)
    features = RandomFeatures(KERNEL, columns, scheme="gorf-blocks", random_state=0)
    return Problem(features, X, y, rng.uniform(-1, 1, size=(50, 3)))


def flipped(K: Array, *, cut: float = 1e-12) -> tuple[Array, Array]:
    """|K| and the matrix U sign(lambda) U^T that takes its coefficients to those of K."""
    eigenvalues, U = np.linalg.eigh(K)
    signs = np.sign(eigenvalues) * (np.abs(eigenvalues) > cut * np.abs(eigenvalues).max())
    return (U * eigenvalues * signs) @ U.T, (U * signs) @ U.T


def dense_ridge(
    K: Array, K_new: Array, y: Array, alpha: float, *, flip: bool = False, intercept: bool = True, w: Any = None
) -> Array:
    """Predictions of the dense N x N problem, centred with weights where there is an intercept."""
    w = np.ones(len(y)) if w is None else w
    mean = np.outer(np.ones(len(y)), w / w.sum()) * intercept
    H = np.eye(len(y)) - mean
    centred, centred_new = H @ K @ H.T, (K_new - np.outer(np.ones(len(K_new)), w @ K / w.sum()) * intercept) @ H.T
    root = np.sqrt(w)
    scaled = root[:, None] * centred * root
    regularised, back = flipped(scaled) if flip else (scaled, np.eye(len(y)))
    residual = root[:, None] * (H @ y.reshape(len(y), -1))
    coefficients = root[:, None] * (back @ np.linalg.solve(regularised + alpha * np.eye(len(y)), residual))
    return np.asarray(centred_new @ coefficients + intercept * (w @ y.reshape(len(y), -1)) / w.sum())


@pytest.fixture(scope="session")
def problem() -> Problem:
    return make_problem()


@pytest.fixture(scope="session")
def make() -> Callable[..., Problem]:
    return make_problem


@pytest.fixture(scope="session")
def dense() -> Callable[..., Array]:
    return dense_ridge


@pytest.fixture(scope="session")
def flip() -> Callable[..., tuple[Array, Array]]:
    return flipped
