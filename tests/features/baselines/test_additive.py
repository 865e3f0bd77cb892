"""Homogeneous additive maps: scikit-learn as the oracle, Hellinger, homogeneity, columns, and what they refuse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.kernel_approximation import AdditiveChi2Sampler

from krein import make_features, relative_error
from krein.exceptions import DomainError
from krein.features.baselines import AdditiveFeatures
from krein.features.baselines.additive import best_step
from krein.kernels import (
    AdditiveChi2,
    AdditiveKernel,
    Gaussian,
    Hellinger,
    Intersection,
    JensenShannon,
    Kernel,
)

X = np.random.default_rng(12345).random((300, 6))
X[X < 0.1] = 0
X.flags.writeable = False
INEXACT = [AdditiveChi2(), Intersection(), JensenShannon()]


@dataclass(frozen=True)
class Signed(AdditiveChi2):
    """A series with a negative coefficient."""

    def harmonics(self, step: float, order: int) -> Any:
        return np.array([1.0, -0.5, 0.0, 0.25])[:order]


class TestOracle:
    @pytest.mark.parametrize(("order", "step"), [(1, 0.8), (2, 0.5), (3, 0.4)])
    def test_scikit_learn(self, order: int, step: float) -> None:
        expected = AdditiveChi2Sampler(sample_steps=order, sample_interval=step).fit(X).transform(X)
        Z = AdditiveFeatures(AdditiveChi2(), 6 * (2 * order - 1), step=step).fit(X).transform(X)
        np.testing.assert_allclose(Z, expected, rtol=0, atol=8 * np.finfo(float).eps)
        wrong = AdditiveFeatures(AdditiveChi2(), 6 * (2 * order - 1), step=1.01 * step).fit(X).transform(X)
        assert np.abs(wrong - expected).max() > 1e-3

    @pytest.mark.parametrize("degree", [0.5, 1.0, 2.0])
    def test_hellinger_is_exact_with_one_column_per_coordinate(self, degree: float) -> None:
        kernel = Hellinger(degree)
        features = AdditiveFeatures(kernel, 100).fit(X)
        assert features.transform(X).shape == (300, 6)
        np.testing.assert_allclose(features.approximate_kernel(X), kernel(X), rtol=1e-14, atol=1e-14)

    @pytest.mark.parametrize("kernel", INEXACT, ids=repr)
    def test_the_series_is_what_the_columns_make(self, kernel: AdditiveKernel) -> None:
        features = AdditiveFeatures(kernel, 7).fit(X[:, :1])
        x, y = np.array([[0.2]]), np.array([[0.9]])
        w = features.step_ * np.arange(4) * np.log(0.9 / 0.2)
        expected = np.sqrt(0.2 * 0.9) * (features.coefficients_ @ np.cos(w))
        np.testing.assert_allclose(features.approximate_kernel(x, y), expected, rtol=1e-14)


class TestAccuracy:
    @pytest.mark.parametrize("kernel", INEXACT, ids=repr)
    def test_error_falls_with_the_columns(self, kernel: AdditiveKernel) -> None:
        errors = [relative_error(kernel, AdditiveFeatures(kernel, 6 * (2 * n - 1)).fit(X), X) for n in (1, 2, 3, 6, 20)]
        assert (np.diff(errors) < 0).all()
        assert errors[2] < {"AdditiveChi2": 0.035, "JensenShannon": 0.006, "Intersection": 0.2}[type(kernel).__name__]
        assert errors[-1] < 0.02

    @pytest.mark.parametrize(("order", "step"), [(1, 0.8), (2, 0.5), (3, 0.4)])
    @pytest.mark.parametrize("kernel", INEXACT, ids=repr)
    def test_default_step_is_better_than_that_of_scikit_learn(self, kernel: Kernel, order: int, step: float) -> None:
        ours, theirs = (
            relative_error(kernel, AdditiveFeatures(kernel, 6 * (2 * order - 1), step=s).fit(X), X)
            for s in (None, step)
        )
        assert ours < theirs

    def test_best_step_is_that_of_uniform_entries(self) -> None:
        """The weighted integral over w against the mean over pairs of numbers."""
        x, y = (np.random.default_rng(seed).random((2000, 1)) for seed in (1, 2))
        kernel, best = AdditiveChi2(), best_step(AdditiveChi2(), 3)
        exact = np.array([kernel(a[None], b[None])[0, 0] for a, b in zip(x, y, strict=True)])

        def squared_error(step: float) -> float:
            features = AdditiveFeatures(kernel, 5, step=step).fit(x)
            return float(np.mean(((features.transform(x) * features.transform(y)).sum(axis=1) - exact) ** 2))

        assert squared_error(best) < min(squared_error(0.85 * best), squared_error(best / 0.85))

    @pytest.mark.parametrize("degree", [0.5, 1.0, 2.0])
    def test_homogeneity(self, degree: float) -> None:
        """Not only up to a period: a common factor turns both phases by the same angle."""
        features = AdditiveFeatures(AdditiveChi2(degree), 30).fit(X)
        for factor in (1e-6, 0.3, 1e6):
            expected = factor**degree * features.approximate_kernel(X)
            np.testing.assert_allclose(features.approximate_kernel(factor * X), expected, rtol=1e-12, atol=1e-300)

    def test_periodic_in_the_logarithm(self) -> None:
        features = AdditiveFeatures(AdditiveChi2(), 30).fit(X)
        factor = np.exp(2 * np.pi / features.step_)
        expected = np.sqrt(factor) * features.approximate_kernel(X)
        np.testing.assert_allclose(features.approximate_kernel(X, factor * X), expected, rtol=1e-11, atol=1e-12)


class TestColumns:
    @pytest.mark.parametrize("n_components", [6, 17, 18, 29, 30, 31, 100])
    def test_as_many_as_fit(self, n_components: int) -> None:
        features = AdditiveFeatures(AdditiveChi2(), n_components).fit(X)
        width = len(features.signature_)
        assert width <= n_components < width + 12
        assert width % 12 == 6

    def test_fewer_columns_than_coordinates(self) -> None:
        rows = X * [1, 5, 1, 3, 1, 1]
        for A in (rows, sp.csr_array(rows)):
            features = AdditiveFeatures(AdditiveChi2(), 2).fit(A)
            np.testing.assert_array_equal(features.coordinates_, [1, 3])
            assert features.transform(A).shape == (300, 2)

    def test_zeros_are_zeros(self) -> None:
        Z = AdditiveFeatures(AdditiveChi2(), 30).fit(X).transform(X)
        np.testing.assert_array_equal(Z.reshape(300, 5, 6)[:, 0] == 0, X == 0)
        assert (Z.reshape(300, 5, 6)[np.broadcast_to((X == 0)[:, None], (300, 5, 6))] == 0).all()

    def test_negative_coefficients_have_negative_columns(self) -> None:
        features = AdditiveFeatures(Signed(), 7, step=0.5).fit(X[:, :1])
        np.testing.assert_array_equal(features.signature_, [1, -1, -1, 1, 1, 1, 1])
        w = 0.5 * np.log(0.9 / 0.2)
        expected = np.sqrt(0.18) * (1 - 0.5 * np.cos(w) + 0.25 * np.cos(3 * w))
        np.testing.assert_allclose(features.approximate_kernel([[0.2]], [[0.9]]), expected, rtol=1e-14)


class TestRefuses:
    @pytest.mark.parametrize("method", ["fit", "transform", "approximate_kernel"])
    @pytest.mark.parametrize("container", [np.array, sp.csr_array])
    def test_negative_entries(self, method: str, container: Any) -> None:
        features = AdditiveFeatures().fit(X)
        wrong = X.copy()
        wrong[[3, 7], 2] = -0.25
        with pytest.raises(DomainError, match=r"at least 0; got 2 of 300 rows .* row 3 with -0\.25"):
            getattr(features, method)(container(wrong))

    def test_other_kernels(self) -> None:
        with pytest.raises(TypeError, match=r"needs an additive kernel \(AdditiveChi2, .*; got Gaussian\(scale=1\.0\)"):
            AdditiveFeatures(Gaussian()).fit(X)
        with pytest.raises(TypeError, match="needs an additive kernel"):
            make_features("additive", Gaussian()).fit(X)

    @pytest.mark.parametrize("wrong", [0, -1.0, "0.4", np.nan])
    def test_step(self, wrong: Any) -> None:
        with pytest.raises(ValueError, match="step must be a finite number > 0; got"):
            AdditiveFeatures(step=wrong).fit(X)
