"""Kernels as values with parameters: validation, canonical form, changes in place, grid search."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.model_selection import GridSearchCV

from krein.kernels import (
    NTK,
    ArcCosine,
    Cauchy,
    DeltaGaussian,
    DotProductOnSphere,
    Epanechnikov,
    FromProfile,
    Gaussian,
    InverseMultiquadric,
    Laplacian,
    Log,
    Matern,
    PolynomialOnSphere,
    RationalQuadratic,
    Tanh,
    ThinPlate,
)

SCALED = [
    Gaussian,
    Laplacian,
    Matern,
    RationalQuadratic,
    Cauchy,
    InverseMultiquadric,
    Log,
    ThinPlate,
    Epanechnikov,
]


@pytest.mark.parametrize("bad", [0, -1.0, np.nan, np.inf, True, "1", None, 1j, 10**400], ids=lambda bad: repr(bad)[:5])
def test_positive_parameters(bad) -> None:
    for kernel in SCALED:
        with pytest.raises(ValueError, match="scale must be a finite number > 0; got"):
            kernel(scale=bad)
    for kernel, name in [(Matern, "nu"), (RationalQuadratic, "alpha"), (PolynomialOnSphere, "a")]:
        with pytest.raises(ValueError, match=f"{name} must be a finite number > 0; got"):
            kernel(**{name: bad})
    with pytest.raises(ValueError, match=r"scales\[1\] must be a finite number > 0"):
        DeltaGaussian(scales=(1.0, bad))


@pytest.mark.parametrize("bad", [np.nan, -np.inf, True, "1", None], ids=repr)
def test_finite_parameters(bad) -> None:
    for name in ("scale", "offset"):
        with pytest.raises(ValueError, match=f"{name} must be a finite number; got"):
            Tanh(**{name: bad})
    with pytest.raises(ValueError, match=r"weights\[0\] must be a finite number"):
        DeltaGaussian(weights=(bad, 1.0))


@pytest.mark.parametrize("bad", [0, -1, 1.0, True, "1", None], ids=repr)
def test_integer_parameters(bad) -> None:
    with pytest.raises(ValueError, match="depth must be an integer >= 1; got"):
        NTK(depth=bad)
    with pytest.raises(ValueError, match="degree must be an integer >= 1; got"):
        PolynomialOnSphere(degree=bad)


@pytest.mark.parametrize("bad", [-1, 3, 0.5, "1", None], ids=repr)
def test_order_of_arc_cosine(bad) -> None:
    with pytest.raises(ValueError, match=r"order must be one of \[0, 1, 2\]; got"):
        ArcCosine(order=bad)


def test_callable_parameters() -> None:
    for kernel in (FromProfile, DotProductOnSphere):
        with pytest.raises(ValueError, match="function must be a callable that takes and returns an array; got 3"):
            kernel(3)
    with pytest.raises(ValueError, match=r"on must be one of \['euclidean', 'sphere'\]; got 'torus'"):
        FromProfile(np.cos, on="torus")


@pytest.mark.parametrize("bad", [((1.0,), (1.0, 2.0)), ((), ())], ids=repr)
def test_lengths_of_mixtures(bad) -> None:
    with pytest.raises(ValueError, match="same length >= 1; got"):
        DeltaGaussian(*bad)


@pytest.mark.parametrize("container", [list, np.array])
def test_sequences_become_tuples(container) -> None:
    kernel = DeltaGaussian(weights=container([1.0, -1.0]), scales=container([1.0, 10.0]))
    assert kernel == DeltaGaussian()
    assert hash(kernel) == hash(DeltaGaussian())
    assert repr(kernel) == "DeltaGaussian(weights=(1.0, -1.0), scales=(1.0, 10.0))"
    assert clone(kernel) == kernel
    changed = kernel.set_params(scales=container([2.0, 3.0]))
    assert changed == DeltaGaussian(scales=(2.0, 3.0))
    assert hash(changed) == hash(DeltaGaussian(scales=(2.0, 3.0)))


def test_numpy_scalars_become_numbers() -> None:
    kernel = Matern(scale=np.float64(2.0), nu=np.array(2.5))
    assert repr(kernel) == "Matern(scale=2.0, nu=2.5)"
    assert repr(NTK(depth=np.int64(2))) == "NTK(depth=2)"
    assert repr(Gaussian().set_params(scale=np.float32(0.5))) == "Gaussian(scale=0.5)"


def test_set_params_changes_all_or_nothing() -> None:
    kernel = DeltaGaussian()
    kernel.set_params(weights=(1.0,), scales=(2.0,))  # neither would be legal alone
    assert kernel == DeltaGaussian((1.0,), (2.0,))
    with pytest.raises(ValueError, match="same length"):
        kernel.set_params(weights=(1.0, 2.0))
    nested = Gaussian() + Laplacian()
    with pytest.raises(ValueError, match="scale must be"):
        nested.set_params(left__scale=5.0, right__scale=-5.0)
    assert nested == Gaussian() + Laplacian()
    assert nested.set_params() == Gaussian() + Laplacian()


def test_set_params_replaces_and_enters_at_once() -> None:
    kernel = 2 * Gaussian()
    kernel.set_params(kernel__nu=2.5, kernel=Matern())  # whatever the order, the new kernel comes first
    assert kernel == 2 * Matern(nu=2.5)
    with pytest.raises(ValueError, match="factor must be a kernel to have the parameters"):
        kernel.set_params(factor__scale=2.0)
    with pytest.raises(ValueError, match="Invalid parameter 'alpha' for kernel Matern"):
        kernel.set_params(kernel__alpha=2.0)


def test_set_params_leaves_shared_kernels_alone() -> None:
    part = Gaussian()
    kernel = part - 2 * part
    kernel.set_params(left__scale=3.0)
    assert part == Gaussian()
    assert kernel == Gaussian(3.0) - 2 * Gaussian()
    kernel.set_params(right__kernel__kernel__scale=4.0)
    assert kernel == Gaussian(3.0) - 2 * Gaussian(4.0)
    assert part == Gaussian()


class GramRidge(RegressorMixin, BaseEstimator):
    """Kernel ridge regression with nothing but the exact Gram matrix."""

    def __init__(self, kernel=None, ridge=1e-3) -> None:
        self.kernel = kernel
        self.ridge = ridge

    def fit(self, X, y):
        self.X_ = X
        self.coef_ = np.linalg.solve(self.kernel(X) + self.ridge * np.eye(len(X)), y)
        return self

    def predict(self, X):
        return self.kernel(X, self.X_) @ self.coef_


@pytest.mark.parametrize(
    ("kernel", "grid", "best"),
    [
        (Gaussian(), {"kernel__scale": np.logspace(-2, 2, 5)}, Gaussian(1.0)),
        (
            DeltaGaussian((1.0, 0.1), (0.01, 0.02)),
            {"kernel__scales": [(0.01, 0.02), (1.0, 2.0)]},
            DeltaGaussian((1.0, 0.1), (1.0, 2.0)),
        ),
        (
            2 * Gaussian(0.01) + Laplacian(0.01),
            {"kernel__left__kernel__scale": [0.01, 1.0]},
            2 * Gaussian(1.0) + Laplacian(0.01),
        ),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_grid_search_finds_the_scale(kernel, grid, best) -> None:
    X = np.random.default_rng(12345).uniform(-3, 3, (90, 1))
    search = GridSearchCV(GramRidge(kernel), grid, cv=3).fit(X, np.sin(X[:, 0]))
    assert search.best_estimator_.kernel == best
    assert search.best_score_ > 0.99
