"""The parameter feature_map: kernels, maps, nested parameters, grid searches that do not fit a map again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV

from krein import RandomFeatures, make_features
from krein.features.baselines import IndefiniteNystroem
from krein.kernels import DeltaGaussian, FromProfile, Gaussian, Polynomial
from krein.learn import KreinPCA, KreinRidge, KreinSVC
from krein.learn.feature_maps import DEFAULT_COLUMNS, REMEMBERED, scale_of


@pytest.fixture
def fits(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Grows by one for every fit of RandomFeatures."""
    seen: list[int] = []
    original = RandomFeatures._fit

    def counted(self: RandomFeatures, X: Any) -> None:
        seen.append(len(X))
        original(self, X)

    monkeypatch.setattr(RandomFeatures, "_fit", counted)
    return seen


@pytest.mark.parametrize(
    ("given", "made", "kernel"),
    [
        (DeltaGaussian((1.0, -0.5), (1.0, 2.0)), RandomFeatures, DeltaGaussian((1.0, -0.5), (1.0, 2.0))),
        (Polynomial(2), IndefiniteNystroem, Polynomial(2)),
    ],
)
def test_a_kernel_gets_a_default_map(problem: Any, given: Any, made: type, kernel: Any) -> None:
    ridge = KreinRidge(given, random_state=0).fit(problem.X, problem.y)
    assert type(ridge.feature_map_) is made
    assert (ridge.feature_map_.kernel, ridge.feature_map_.n_components) == (kernel, DEFAULT_COLUMNS)
    assert getattr(ridge.feature_map_, "scheme", "optimal") == "optimal"
    assert ridge.score(problem.X, problem.y) > 0.5


def test_without_a_kernel(problem: Any) -> None:
    features = KreinRidge(random_state=0).fit(problem.X, problem.y).feature_map_
    assert features.scheme == "gorf-blocks"
    assert features.kernel.scale == pytest.approx(np.sqrt(3 * problem.X.var() / 2))
    assert scale_of(sparse.csr_array(problem.X)) == pytest.approx(features.kernel.scale)
    assert scale_of(np.ones((5, 2))) == 1.0


def test_what_is_no_map(problem: Any) -> None:
    for wrong in (3, RandomFeatures, "orf"):
        with pytest.raises(TypeError, match="feature_map must be a feature map"):
            KreinRidge(wrong).fit(problem.X, problem.y)
    with pytest.raises(ValueError, match="must have real columns"):
        KreinRidge(RandomFeatures(output="complex")).fit(problem.X, problem.y)


def test_nested_parameters_reach_map_and_kernel(problem: Any) -> None:
    machine = KreinSVC(RandomFeatures(DeltaGaussian(), 64))
    machine.set_params(feature_map__n_components=32, feature_map__kernel__scales=(1.0, 3.0))
    assert (machine.feature_map.n_components, machine.feature_map.kernel.scales) == (32, (1.0, 3.0))
    kernel = Gaussian(2.0)
    pca = KreinPCA(kernel).set_params(feature_map__scale=3.0)
    assert (pca.feature_map.scale, kernel.scale) == (3.0, 2.0)
    assert clone(pca).feature_map == Gaussian(3.0)


def test_the_map_that_was_given_stays_unfitted(problem: Any) -> None:
    features = RandomFeatures(DeltaGaussian(), 64)
    KreinRidge(features).fit(problem.X, problem.y)
    assert not hasattr(features, "signature_")


def test_random_state_is_for_maps_without_one(problem: Any) -> None:
    def weights(own: Any, of_learner: Any) -> Any:
        ridge = KreinRidge(RandomFeatures(n_components=8, random_state=own), 1.0, random_state=of_learner)
        return ridge.fit(problem.X, problem.y).feature_map_.frequencies_.weights

    assert (weights(None, 3) == weights(3, None)).all()
    assert (weights(3, 4) == weights(3, 5)).all()
    assert (weights(None, None) != weights(None, None)).any()


def test_grid_search_fits_one_map_per_fold(problem: Any, fits: list[int]) -> None:
    y = problem.y > 0
    grid = {"C": [0.1, 1.0, 10.0, 100.0]}
    search = GridSearchCV(KreinSVC(problem.features), grid, cv=5).fit(problem.X + 1e-3, y)
    assert search.best_score_ > 0.8
    assert len(fits) == 5 + 1  # the folds, and all rows; not 21
    grid = {"feature_map__kernel__weights": [(1.0, -0.5), (1.0, -0.9)], "alpha": [20.0, 50.0]}
    GridSearchCV(KreinRidge(problem.features), grid, cv=3, refit=False).fit(problem.X + 2e-3, problem.y)
    assert len(fits) == 6 + 2 * 3


def test_maps_that_are_not_determined_are_drawn_again(problem: Any, fits: list[int]) -> None:
    for features in (RandomFeatures(), RandomFeatures(FromProfile(lambda z: np.exp(-z)), random_state=0)):
        before = len(fits)
        for _ in range(2):
            KreinRidge(features, 1.0).fit(problem.X, problem.y)
        assert len(fits) == before + 2


def test_a_map_is_remembered_for_its_rows_only(problem: Any, fits: list[int]) -> None:
    ridge = KreinRidge(make_features("orf", Gaussian(), 8, 0), 1.0)
    X = problem.X + 3e-3
    ridge.fit(X, problem.y)
    first = ridge.feature_map_
    for other in (X[:-1], X.astype(np.float32), X + 1e-9, np.ascontiguousarray(X[:, :2])):
        ridge.fit(other, problem.y[: len(other)])
    assert len(fits) == 5
    ridge.fit(X, problem.y)
    assert len(fits) == 5
    assert ridge.feature_map_ is not first  # a copy: changing one learner's map changes no other
    for i in range(REMEMBERED):
        ridge.fit(X + i, problem.y)
    before = len(fits)
    ridge.fit(X + 5e-9, problem.y)
    assert len(fits) == before + 1


def test_a_fitted_map_can_be_given(problem: Any, fits: list[int]) -> None:
    fitted = problem.features.fit(problem.X)
    frozen, usual = (KreinRidge(given, 1.0).fit(problem.X, problem.y) for given in (FrozenEstimator(fitted), fitted))
    np.testing.assert_allclose(frozen.predict(problem.new), usual.predict(problem.new))


def test_sparse_rows(problem: Any) -> None:
    X = np.where(np.abs(problem.X) < 0.5, 0.0, problem.X)
    for learner in (KreinRidge(problem.features, 0.37), KreinSVC(problem.features)):
        y = problem.y if isinstance(learner, KreinRidge) else problem.y > 0
        dense = learner.fit(X, y).predict(problem.new)
        np.testing.assert_allclose(
            clone(learner).fit(sparse.csr_array(X), y).predict(sparse.csr_array(problem.new)), dense
        )
