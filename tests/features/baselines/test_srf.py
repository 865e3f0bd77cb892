"""Spherical random features: their mean is the fitted kernel and not k, and their errors are the published ones."""

from __future__ import annotations

import itertools
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.preprocessing import normalize
from sklearn.utils.estimator_checks import check_estimator

from krein import relative_error
from krein.datasets import load
from krein.features.baselines import SphericalRandomFeatures
from krein.features.baselines.srf import extent
from krein.kernels import DeltaGaussian, Gaussian, PolynomialOnSphere
from krein.kernels.base import Kernel, distances, inner_products
from krein.sampling import ALL_DIRECTIONS, variance
from krein.spectral.mixture_fit import fit_spectrum

Array = NDArray[np.float64]

DEGREE_ONE = PolynomialOnSphere(a=3.0, degree=1)
DELTA = DeltaGaussian(weights=(1.0, -1.0), scales=(1.0, 10.0))
LAGS = np.linspace(0.1, 2.0, 20)


def unit_rows(n: int, dim: int = 16, seed: int = 12345) -> Array:
    return normalize(np.random.default_rng(seed).normal(size=(n, dim)))


@lru_cache
def letter() -> tuple[Array, Array]:
    X = load("letter").X_train[:1000]
    return X, distances(X, X)


def z_scores(draws: Array, expected: Array) -> Array:
    """(mean - expected) / standard error along the first axis."""
    return (draws.mean(axis=0) - expected) / (draws.std(axis=0, ddof=1) / np.sqrt(len(draws)))


class TestMean:
    @pytest.mark.parametrize("solver", ["mixture", "nnls"])
    @pytest.mark.parametrize("kernel", [DEGREE_ONE, PolynomialOnSphere(4.0, 5)], ids=repr)
    def test_is_the_fitted_kernel_and_not_the_kernel(self, kernel: Any, solver: str) -> None:
        features = SphericalRandomFeatures(kernel, 400_000, solver=solver, random_state=12345).fit(unit_rows(2))
        draws = np.cos(np.multiply.outer(features.frequencies_.weights[:, 0], LAGS))
        assert np.abs(z_scores(draws, features.model_.profile(LAGS))).max() < 5
        assert np.abs(z_scores(draws, kernel.profile(LAGS))).max() > 5
        wrong = np.cos(np.multiply.outer(features.frequencies_.weights[:, 0], 1.02 * LAGS))
        assert np.abs(z_scores(wrong, features.model_.profile(LAGS))).max() > 5

    def test_phase_form(self) -> None:
        features = SphericalRandomFeatures(DEGREE_ONE, 200_000, form="phase", random_state=12345).fit(unit_rows(2))
        X = np.stack([np.eye(16)[0] * np.cos(a) + np.eye(16)[1] * np.sin(a) for a in np.linspace(0, np.pi, 9)])
        Z = features.transform(X)
        draws = (Z[0] * Z * Z.shape[1]).T
        z = np.linalg.norm(X - X[0], axis=1)
        assert np.abs(z_scores(draws, features.model_.profile(z))).max() < 5
        assert np.abs(z_scores(draws, 1.03 * features.model_.profile(z))).max() > 5

    @pytest.mark.parametrize("directions", ["blocks", "simplex", "fastfood", "circulant"])
    def test_other_directions(self, directions: str) -> None:
        X = unit_rows(2)
        make = (SphericalRandomFeatures(DEGREE_ONE, 32, directions=directions, random_state=r) for r in range(400))
        draws = np.stack([features.fit(X).frequencies_.evaluate(np.outer(LAGS, np.eye(16)[0])) for features in make])
        assert np.abs(z_scores(draws, fit_spectrum(DEGREE_ONE, 16, 2.0).profile(LAGS))).max() < 5
        assert np.abs(z_scores(draws, DEGREE_ONE.profile(LAGS))).max() > 5

    def test_negative_kernel(self) -> None:
        features = SphericalRandomFeatures(DELTA, 200_001, max_distance=2.0, random_state=12345).fit(unit_rows(2))
        draws = np.cos(np.multiply.outer(features.frequencies_.weights[:, 0], LAGS)) * features.model_.mass
        z = z_scores(draws + features.frequencies_.constant, DELTA.profile(LAGS))
        assert np.abs(z).max() < 5  # the bias of 1e-4 is far below the standard errors
        assert np.abs(z_scores(draws, DELTA.profile(LAGS))).max() > 100

    def test_variance_is_the_one_of_theory(self) -> None:
        """Sum of squares over its mean, with the standard error from the fourth moment."""
        parts = fit_spectrum(DEGREE_ONE, 16, 2.0).parts
        features = SphericalRandomFeatures(DEGREE_ONE, 100_000, random_state=12345).fit(unit_rows(2))
        draws = np.cos(np.multiply.outer(features.frequencies_.weights[:, 0], LAGS)) - parts.positive.profile(LAGS)
        assert np.abs(z_scores(draws**2, variance(parts, "iid", 1, LAGS))).max() < 5

    def test_bias_is_the_measured_one(self) -> None:
        features = SphericalRandomFeatures(DEGREE_ONE, 32, random_state=0).fit(unit_rows(2))
        z = np.linspace(0, 2, 4001)
        found = np.abs(features.model_.mass * features.model_.profile(z) - DEGREE_ONE.profile(z)).max()
        assert features.bias_ == pytest.approx(found, rel=1e-3)
        assert features.bias_ == pytest.approx(0.03, abs=0.001)


class TestIdentities:
    def test_pairs_have_an_exact_diagonal_and_depend_on_differences_only(self) -> None:
        X = np.random.default_rng(12345).normal(size=(20, 5))
        for kernel in (Gaussian(2.0), DELTA, 3.0 * DEGREE_ONE):
            rows = normalize(X) if kernel.domain == "sphere" else X
            features = SphericalRandomFeatures(kernel, 41, random_state=0).fit(rows)
            K_hat = features.approximate_kernel(rows)
            np.testing.assert_allclose(np.diag(K_hat), kernel.profile(0.0), atol=1e-12)
            if kernel.domain == "euclidean":
                np.testing.assert_allclose(features.approximate_kernel(rows + 3.0), K_hat, atol=1e-12)
        phases = SphericalRandomFeatures(Gaussian(2.0), 41, form="phase", random_state=0).fit(X)
        assert np.abs(np.diag(phases.approximate_kernel(X)) - 1).max() > 0.01

    @pytest.mark.parametrize("form", ["pair", "phase"])
    def test_columns(self, form: str) -> None:
        X = unit_rows(5)
        for n in range(1, 12):
            for kernel, constant in ((DEGREE_ONE, 0), (DELTA, 1)):
                features = SphericalRandomFeatures(kernel, n, form=form, random_state=0)
                if n <= constant:
                    with pytest.raises(
                        ValueError, match=r"n_components must be at least 2 for .* and a constant; got 1"
                    ):
                        features.fit(X)
                    continue
                free = n - constant
                expected = constant + (free if form == "phase" or free == 1 else free // 2 * 2)
                signature = features.fit(X).signature_
                assert len(signature) == expected
                assert np.sum(signature < 0) == constant
                assert len(features.get_feature_names_out()) == expected

    def test_precision_and_sparse_rows(self) -> None:
        X = unit_rows(20) * (np.arange(16) < 8)
        X = normalize(X)
        for kernel in (DEGREE_ONE, Gaussian(1.0)):
            features = SphericalRandomFeatures(kernel, 32, random_state=0).fit(X)
            Z = features.transform(X)
            assert features.transform(X.astype(np.float32)).dtype == np.float32
            twin = SphericalRandomFeatures(kernel, 32, random_state=0).fit(sp.csr_array(X))
            np.testing.assert_allclose(twin.transform(sp.csr_array(X)), Z, atol=1e-12)

    def test_state(self) -> None:
        X = unit_rows(10)
        for form, directions in itertools.product(("pair", "phase"), ALL_DIRECTIONS):
            features = SphericalRandomFeatures(DELTA, 33, form=form, directions=directions, random_state=0).fit(X)
            twin = SphericalRandomFeatures(DELTA, 33).from_arrays(features.to_arrays())
            assert (twin.transform(X) == features.transform(X)).all()
            assert (twin.signature_, twin.bias_) == (pytest.approx(features.signature_), features.bias_)
            assert twin.model_.quantile(0.3) == pytest.approx(float(features.model_.quantile(0.3)), rel=1e-12)

    def test_a_further_draw_shares_the_fit(self) -> None:
        X = np.random.default_rng(12345).normal(size=(50, 3))
        first, second = (SphericalRandomFeatures(Gaussian(), 8, random_state=seed).fit(X) for seed in (0, 1))
        assert first.model_ is second.model_
        assert (first.transform(X) != second.transform(X)).any()


class TestRange:
    def test_extent_bounds_the_distances(self) -> None:
        rng = np.random.default_rng(12345)
        for _ in range(20):
            X = rng.normal(size=(30, 3)) * rng.exponential(size=3) + 100 * rng.normal(size=3)
            largest = distances(X, X).max()
            assert largest <= 1.005 * extent(X)
            assert extent(X) <= 2.01 * largest
            assert extent(sp.csr_array(X)) == extent(X)
        assert extent(unit_rows(100)) <= 2
        assert extent(np.ones((3, 2))) == 1

    def test_max_distance(self) -> None:
        X = np.random.default_rng(12345).normal(size=(50, 3))
        own = SphericalRandomFeatures(DELTA, 9, max_distance=2.0).fit(X)
        assert own.model_ is fit_spectrum(DELTA, 3, 2.0).parts.positive
        assert SphericalRandomFeatures(DELTA, 9).fit(X).model_ is fit_spectrum(DELTA, 3, extent(X)).parts.positive

    def test_shift(self) -> None:
        X = unit_rows(10)
        features = SphericalRandomFeatures(DELTA, 33, shift=1.5, max_distance=2.0, random_state=0).fit(X)
        assert features.frequencies_.constant == -1.5
        assert features.model_.mass == pytest.approx(1.5)


class TestErrorsOnLetter:
    """Mean relative error over draws; the standard deviation of a published mean over 100 draws is a tenth of ours."""

    @staticmethod
    def errors(kernel: Kernel, frequencies: int, form: str, n_draws: int = 20, **options: Any) -> Array:
        X, _ = letter()
        columns = frequencies * (2 if form == "pair" else 1) + (kernel is DELTA)
        maps = (
            SphericalRandomFeatures(kernel, columns, form=form, random_state=seed, max_distance=2.0, **options).fit(X)
            for seed in range(n_draws)
        )
        return np.array([relative_error(kernel, features, X) for features in maps])

    @pytest.mark.parametrize(
        ("form", "targets"),
        [
            ("phase", {4: 0.371, 8: 0.261, 16: 0.192, 32: 0.139, 64: 0.093, 128: 0.060}),
            ("pair", {4: 0.085, 8: 0.063, 16: 0.045, 32: 0.033, 64: 0.024, 128: 0.019}),
        ],
    )
    def test_degree_one(self, form: str, targets: dict[int, float]) -> None:
        for frequencies, target in targets.items():
            errors = self.errors(DEGREE_ONE, frequencies, form)
            rounding = 5e-4  # of the published figure
            deviation = max(0.0, abs(errors.mean() - target) - rounding)
            assert deviation < 5 * errors.std(ddof=1) * np.sqrt(1 / len(errors) + 1 / 100), (frequencies, errors.mean())

    @pytest.mark.parametrize("shift", [None, 1.0])
    def test_delta_gaussian(self, shift: float | None) -> None:
        errors = self.errors(DELTA, 128, "pair", shift=shift)
        assert abs(errors.mean() - 0.096) < 5 * errors.std(ddof=1) * np.sqrt(1 / len(errors) + 1 / 10)

    @pytest.mark.parametrize(("kernel", "floor"), [(DEGREE_ONE, 0.0112), (DELTA, 0.0005)], ids=repr)
    def test_floor(self, kernel: Any, floor: float) -> None:
        _, z = letter()
        grid = np.linspace(0, 2, 4001)
        K = kernel.profile(z)
        found = np.linalg.norm(np.interp(z, grid, fit_spectrum(kernel, 16, 2.0).profile(grid)) - K) / np.linalg.norm(K)
        assert found < floor + 0.0005

    def test_orthonormal_blocks_are_better(self) -> None:
        iid, blocks = (self.errors(DELTA, 64, "pair", directions=name).mean() for name in ("iid", "blocks"))
        assert blocks < 0.8 * iid


class TestErrors:
    @pytest.mark.parametrize(
        ("params", "message"),
        [
            ({"form": "cos"}, r"form must be one of \['pair', 'phase'\]; got 'cos'"),
            ({"solver": "sgd"}, "solver must be one of"),
            ({"directions": "random"}, "directions must be one of"),
            ({"max_distance": -1.0}, r"max_distance must be a finite number > 0; got -1\.0"),
            ({"n_mixture": 2.5}, r"n_mixture must be an integer >= 1; got 2\.5"),
            ({"shift": "auto"}, "shift must be a finite number; got 'auto'"),
        ],
    )
    def test_options(self, params: dict[str, Any], message: str) -> None:
        with pytest.raises(ValueError, match=message):
            SphericalRandomFeatures(**params).fit(unit_rows(5))

    def test_kernel_must_be_radial(self) -> None:
        class Linear(Kernel):
            def _gram_block(self, X: Any, Y: Any) -> Array:
                return inner_products(X, Y)

        with pytest.raises(TypeError, match=r"SphericalRandomFeatures needs a radial kernel; got .*Linear"):
            SphericalRandomFeatures(Linear()).fit(unit_rows(5))


@pytest.mark.parametrize("n_components", [1, 2, 100])
def test_scikit_learn_checks(n_components: int) -> None:
    results = check_estimator(SphericalRandomFeatures(n_components=n_components), on_skip=None)
    assert {r["check_name"] for r in results if r["status"] != "passed"} <= {"check_array_api_input"}
