"""What every registered feature map must give; a new name in FEATURE_MAPS is covered by itself."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import normalize

from krein import FeatureMap
from krein.features import BaseFeatureMap

Rounding = Callable[[BaseFeatureMap, NDArray[Any]], float]


def doubled(value: Any) -> Any:
    return tuple(2 * v for v in value) if isinstance(value, tuple) else 2 * value


class TestResult:
    def test_shape_and_signature(self, case: Any) -> None:
        X = case.rows()
        features = case.make()
        assert features.fit(X) is features
        Z = features.transform(X)
        assert Z.shape == (len(X), len(features.signature_))
        assert Z.shape[1] <= case.columns
        assert Z.dtype == np.float64
        assert np.isfinite(Z).all()
        assert set(features.signature_) <= {-1.0, 1.0}
        assert features.n_features_in_ == X.shape[1]
        assert (features.fit_transform(X) == Z).all()

    def test_never_more_columns_than_asked(self, case: Any) -> None:
        X = case.rows()
        for n_components in range(case.columns, case.columns + 24, 5):
            Z = case.make(n_components=n_components).fit(X).transform(X)
            assert Z.shape[1] in range(1, n_components + 1)

    def test_approximate_kernel(self, case: Any) -> None:
        X, Y = case.rows(30), case.rows(20, seed=6789)
        features = case.make().fit(X)
        J = np.diag(features.signature_)
        Z_X, Z_Y = features.transform(X), features.transform(Y)
        atol = 1e-14 * len(J) * np.abs(Z_X).max() * np.abs(Z_Y).max()  # rounding of inner products of len(J) terms
        np.testing.assert_allclose(features.approximate_kernel(X), Z_X @ J @ Z_X.T, rtol=0, atol=atol)
        np.testing.assert_allclose(features.approximate_kernel(X, Y), Z_X @ J @ Z_Y.T, rtol=0, atol=atol)

    def test_complex_output(self, case: Any) -> None:
        X = case.rows()
        features = case.make().fit(X)
        twin = case.make(output="complex").fit(X)
        Z = twin.transform(X)
        assert Z.dtype == np.complex128
        assert (features.transform(X) * np.where(features.signature_ > 0, 1, 1j) == Z).all()
        K_hat = features.approximate_kernel(X)
        atol = 1e-14 * Z.shape[1] * np.abs(Z).max() ** 2
        np.testing.assert_allclose(Z @ Z.T, K_hat, rtol=0, atol=atol)
        assert (twin.approximate_kernel(X) == K_hat).all()  # real, whatever the output
        assert twin.transform(X.astype(np.float32)).dtype == np.complex64

    def test_float32(self, case: Any, rounding: Rounding) -> None:
        X = case.rows()
        X32 = X.astype(np.float32)
        features = case.make().fit(X)
        Z, Z32 = features.transform(X), features.transform(X32)
        assert Z32.dtype == np.float32
        scale = np.abs(Z).max(initial=1)
        np.testing.assert_allclose(Z32, Z, rtol=0, atol=scale * rounding(features, X32))
        K32 = features.approximate_kernel(X32)
        assert K32.dtype == np.float32
        assert case.make().fit(X32).transform(X32).dtype == np.float32
        assert features.transform(X32.astype(int) if case.domain != "sphere" else X).dtype == np.float64

    @pytest.mark.parametrize("container", [sp.csr_matrix, sp.csr_array, sp.csc_array, sp.coo_matrix])
    def test_sparse_equals_dense(self, case: Any, container: Any, rounding: Rounding) -> None:
        mask = np.random.default_rng(1).random((40, 5)) < 0.5
        mask[:, 0] = True
        X = normalize(case.rows() * mask)
        features, twin = case.make().fit(X), case.make().fit(container(X))
        Z = features.transform(X)
        atol = np.abs(Z).max() * rounding(features, X)
        np.testing.assert_allclose(twin.transform(container(X)), Z, rtol=0, atol=atol)
        K_hat = features.approximate_kernel(X)
        np.testing.assert_allclose(features.approximate_kernel(container(X), X), K_hat, rtol=0, atol=Z.shape[1] * atol)
        assert features.transform(container(X.astype(np.float32))).dtype == np.float32


class TestRandomness:
    def test_same_int_same_features(self, case: Any) -> None:
        X = case.rows()
        Z = case.make(random_state=7).fit(X).transform(X)
        assert (case.make(random_state=7).fit(X).transform(X) == Z).all()
        assert (case.make(random_state=np.int64(7)).fit(X).transform(X) == Z).all()
        features = case.make(random_state=7).fit(X)
        assert (features.fit(X).transform(X) == Z).all()

    def test_other_seed_other_features(self, case: Any) -> None:
        X = case.rows()
        Z = [case.make(random_state=seed).fit(X).transform(X) for seed in (0, 1)]
        assert (Z[0] == Z[1]).all() != case.draws

    @pytest.mark.parametrize("generator", [np.random.default_rng, np.random.RandomState])
    def test_generators(self, case: Any, generator: Any) -> None:
        X = case.rows()
        Z = case.make(random_state=generator(7)).fit(X).transform(X)
        features = case.make(random_state=generator(7)).fit(X)
        assert (features.transform(X) == Z).all()
        assert (features.fit(X).transform(X) == Z).all() != case.draws  # the generator has moved on

    def test_none(self, case: Any) -> None:
        X = case.rows()
        features = case.make(random_state=None)
        assert (features.fit(X).transform(X) == features.fit(X).transform(X)).all() != case.draws

    @pytest.mark.parametrize("wrong", [-1, 0.5, "seed", True])
    def test_wrong(self, case: Any, wrong: Any) -> None:
        if case.draws:
            with pytest.raises(ValueError, match="random_state must be"):
                case.make(random_state=wrong).fit(case.rows())


class TestParameters:
    def test_nested_parameters(self, case: Any) -> None:
        features = case.make()
        name, value = next(iter(case.kernel.get_params(deep=False).items()))
        other = doubled(value)
        assert features.get_params()[f"kernel__{name}"] == value
        features.set_params(**{f"kernel__{name}": other})
        assert features.get_params()[f"kernel__{name}"] == other
        assert features.kernel.get_params()[name] == other

    def test_set_params_changes_one_map_only(self, case: Any) -> None:
        """The kernel was handed over as an immutable value, which others may hold too."""
        kernel = clone(case.kernel)
        first, second = (case.make().set_params(kernel=kernel) for _ in range(2))
        name, value = next(iter(kernel.get_params(deep=False).items()))
        first.set_params(**{f"kernel__{name}": doubled(value)})
        assert second.kernel == case.kernel
        assert kernel == case.kernel

    def test_clone(self, case: Any) -> None:
        X = case.rows()
        features = case.make().fit(X)
        twin = clone(features)
        assert not hasattr(twin, "signature_")
        assert repr(twin.get_params(deep=False)) == repr(features.get_params(deep=False))
        assert (twin.fit(X).transform(X) == features.transform(X)).all()

    def test_pickle(self, case: Any) -> None:
        X = case.rows()
        features = case.make().fit(X)
        twin = pickle.loads(pickle.dumps(features))
        assert (twin.transform(X) == features.transform(X)).all()
        assert (twin.signature_ == features.signature_).all()
        assert twin.kernel == features.kernel

    def test_feature_names(self, case: Any) -> None:
        X = case.rows()
        features = case.make().fit(X)
        names = list(features.get_feature_names_out())
        assert len(names) == len(set(names)) == features.transform(X).shape[1]

    def test_pandas(self, case: Any) -> None:
        import pandas as pd

        X = case.rows()
        frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])], index=np.arange(len(X))[::-1])
        features = case.make().set_output(transform="pandas").fit(frame)
        Z = features.transform(frame)
        assert isinstance(Z, pd.DataFrame)
        assert list(Z.columns) == list(features.get_feature_names_out())
        assert (Z.index == frame.index).all()
        assert (Z.to_numpy() == case.make().fit(X).transform(X)).all()
        assert list(features.feature_names_in_) == list(frame.columns)
        assert isinstance(features.approximate_kernel(frame), np.ndarray)

    def test_grid_search(self, case: Any) -> None:
        X = case.rows(120)
        product = X[:, 0] * X[:, 1]
        y = product > np.median(product)
        params = case.kernel.get_params(deep=False)
        name = next(name for name in ("scales", "scale", "a", "degree") if name in params)
        grid = [params[name], doubled(params[name])]
        pipeline = make_pipeline(case.make(), LogisticRegression())
        parameter = f"{pipeline.steps[0][0]}__kernel__{name}"
        search = GridSearchCV(pipeline, {parameter: grid}, cv=3, scoring="neg_log_loss", error_score="raise").fit(X, y)
        scores = search.cv_results_["mean_test_score"]
        assert np.isfinite(scores).all()
        assert scores[0] != scores[1]  # the parameter has reached the features
        assert search.best_estimator_[0].kernel.get_params()[name] == search.best_params_[parameter]
        assert pipeline[0].kernel == case.kernel


class TestProtocol:
    def test_is_a_feature_map(self, case: Any) -> None:
        assert isinstance(case.make().fit(case.rows()), FeatureMap)

    def test_arrays_restore_the_fitted_state(self, case: Any) -> None:
        X = case.rows()
        features = case.make().fit(X)
        arrays = features.to_arrays()
        assert all(isinstance(array, np.ndarray) and not array.dtype.hasobject for array in arrays.values())
        twin = case.make(random_state=99)
        assert twin.from_arrays(arrays) is twin
        assert (twin.transform(X) == features.transform(X)).all()
        assert (twin.signature_ == features.signature_).all()
        assert twin.n_features_in_ == features.n_features_in_
