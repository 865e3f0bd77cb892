"""Concomitant rank order features: counts of ones, invariances, the limit, and its measured bias."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.integrate import quad
from scipy.special import ndtr, ndtri
from scipy.stats import norm
from sklearn.preprocessing import normalize

from krein.exceptions import DomainError
from krein.features.baselines import CroFeatures
from krein.features.baselines.cro import rank_order_limit
from krein.kernels import DeltaGaussian, Gaussian, Kernel, Laplacian
from krein.testing import rows_at_distances, z_scores

X = normalize(np.random.default_rng(12345).normal(size=(100, 8)))
X.flags.writeable = False


def of_share(share: float) -> Gaussian:
    return Gaussian(float((-np.log(share)) ** -0.5))


class TestExact:
    @pytest.mark.parametrize(("share", "ones"), [(0.05, 10), (0.3, 60), (0.9, 180)])
    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    def test_exactly_tau_ones_and_a_diagonal_of_one(self, share: float, ones: int, dtype: Any) -> None:
        features = CroFeatures(of_share(share), 200, random_state=0).fit(X)
        assert features.tau_ == ones
        Z = features.transform(X.astype(dtype))
        assert (np.count_nonzero(Z, axis=1) == ones).all()
        assert set(np.unique(Z)) == {0, dtype(ones**-0.5)}
        # tau equal squares, each rounded twice
        np.testing.assert_allclose((Z**2).sum(axis=1), 1, rtol=0, atol=4 * np.sqrt(ones) * np.finfo(dtype).eps)

    def test_ones_are_the_largest_projections(self) -> None:
        features = CroFeatures(n_components=50, random_state=0).fit(X)
        values = X @ features.projections_
        order = np.argsort(values, axis=1)
        Z = features.transform(X)
        assert (np.take_along_axis(Z, order[:, -features.tau_ :], axis=1) > 0).all()
        assert (np.take_along_axis(Z, order[:, : -features.tau_], axis=1) == 0).all()

    def test_only_the_order_of_projections_counts(self) -> None:
        """Positive factors do nothing; within the precision that rows of norm 1 may have."""
        features = CroFeatures(n_components=200, random_state=0).fit(X)
        np.testing.assert_array_equal(features.transform(X * (1 + 5e-7)), features.transform(X))
        assert (features.transform(-X) != features.transform(X)).any()

    def test_tau(self) -> None:
        assert (np.count_nonzero(CroFeatures(tau=7, random_state=0).fit(X).transform(X), axis=1) == 7).all()
        features = CroFeatures(Gaussian(20.0), 50, random_state=0).fit(X)  # 0.9975 of 50 columns: all of them
        assert features.tau_ == 50
        np.testing.assert_allclose(features.approximate_kernel(X), 1, rtol=1e-14)


class TestLimit:
    @pytest.mark.parametrize("share", [0.01, 0.05, 0.3, 0.8])
    def test_bivariate_normal_distribution(self, share: float) -> None:
        """The chance that both variables are below h: the integral over the first one, x."""
        h = ndtri(share)
        for t in (-0.9, -0.3, 0.2, 0.7, 0.99):

            def density(x: float, t: float = t) -> float:
                return float(norm.pdf(x) * ndtr((h - t * x) / np.sqrt(1 - t**2)))

            expected = quad(density, h - 12, h, limit=200, epsabs=1e-13)[0] / share
            assert rank_order_limit(t, share) == pytest.approx(expected, abs=1e-9)

    @pytest.mark.parametrize("share", [0.01, 0.05, 0.3])
    def test_equals_the_kernel_for_equal_and_orthogonal_rows_only(self, share: float) -> None:
        kernel = of_share(share)
        np.testing.assert_allclose(rank_order_limit([0, 1], share), kernel.profile(np.sqrt([2, 0])), rtol=1e-12)
        t = np.linspace(0, 1, 201)
        deviation = np.abs(rank_order_limit(t, share) - kernel.profile(np.sqrt(2 - 2 * t))).max()
        assert 0.05 < deviation < 0.13

    def test_many_columns(self) -> None:
        """Mean of ten draws at U = 20000 within 0.03 of the limit, six standard errors, and not of the kernel."""
        share, t = 0.05, np.linspace(0, 0.95, 12)
        A, B = rows_at_distances(np.sqrt(2 - 2 * t), 8, "sphere", np.random.default_rng(12345))
        draws = [CroFeatures(of_share(share), 20_000, random_state=seed).fit(A) for seed in range(10)]
        values = np.mean([np.diagonal(features.approximate_kernel(A, B)) for features in draws], axis=0)
        assert np.abs(values - rank_order_limit(t, share)).max() < 0.03
        assert np.abs(values - of_share(share).profile(np.sqrt(2 - 2 * t))).max() > 0.05

    def test_mean_over_draws(self) -> None:
        """z-test; the deviation at finite U is below 2/(share U), from one order statistic in place of a threshold."""
        share, n_columns, t = 0.2, 4000, np.array([-0.5, 0.0, 0.3, 0.6, 0.9])
        A, B = rows_at_distances(np.sqrt(2 - 2 * t), 6, "sphere", np.random.default_rng(12345))
        kernel = of_share(share)
        draws = [CroFeatures(kernel, n_columns, random_state=seed).fit(A) for seed in range(200)]
        values = np.array([np.diagonal(features.approximate_kernel(A, B)) for features in draws])
        expected = rank_order_limit(t, share)
        allowed = np.clip(values.mean(axis=0), expected - 2 / (share * n_columns), expected + 2 / (share * n_columns))
        assert np.abs(z_scores(values, allowed)).max() < 5
        assert np.abs(z_scores(values, kernel.profile(np.sqrt(2 - 2 * t)))).max() > 20  # the kernel itself: biased

    def test_bias_is_that_of_the_limit(self) -> None:
        features = CroFeatures(Gaussian(0.7), 1000, random_state=0).fit(X)
        t = np.linspace(-1, 1, 4001)
        limit = rank_order_limit(t, features.tau_ / 1000)
        expected = np.abs(limit - Gaussian(0.7).profile(np.sqrt(2 - 2 * t))).max()
        assert features.bias_ == pytest.approx(expected, abs=1e-4)


class TestRefuses:
    @pytest.mark.parametrize("container", [np.array, sp.csr_array])
    @pytest.mark.parametrize("method", ["fit", "transform"])
    def test_rows_off_the_sphere(self, container: Any, method: str) -> None:
        features = CroFeatures(random_state=0).fit(X)
        with pytest.raises(DomainError, match=r"unit sphere.*sklearn\.preprocessing\.normalize"):
            getattr(features, method)(container(2 * X))

    @pytest.mark.parametrize("kernel", [Laplacian(), DeltaGaussian(), 2 * Gaussian()], ids=repr)
    def test_other_kernels(self, kernel: Kernel) -> None:
        with pytest.raises(TypeError, match="CroFeatures needs a Gaussian kernel; got"):
            CroFeatures(kernel).fit(X)

    def test_too_few_columns(self) -> None:
        with pytest.raises(ValueError, match=r"n_components must be at least .* = 27\.3 for .*; got 20"):
            CroFeatures(Gaussian(0.5), 20).fit(X)
        assert CroFeatures(Gaussian(0.5), 28).fit(X).tau_ == 1

    @pytest.mark.parametrize(("tau", "message"), [(0, "integer >= 1"), (2.0, "integer >= 1"), (101, "at most .* 100")])
    def test_tau(self, tau: Any, message: str) -> None:
        with pytest.raises(ValueError, match=f"tau must be .*{message}"):
            CroFeatures(tau=tau).fit(X)
