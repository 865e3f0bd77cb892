"""The fit behind DIGMM: objective, gradient, start, rounds, and the mixtures of frequencies."""

from __future__ import annotations

import numpy as np
import pytest

from krein.datasets import load
from krein.features.baselines._digmm_fit import FrequencyFit, RowSource, Sample
from krein.features.baselines._dirichlet_mixture import dirichlet_mixture, precisions, sample_mixture
from krein.kernels import DeltaGaussian, Gaussian, PolynomialOnSphere
from krein.kernels.base import distances

DEGREE_ONE = PolynomialOnSphere(a=3.0, degree=1)
DELTA = DeltaGaussian(weights=(1.0, -1.0), scales=(1.0, 10.0))
BOTH = (1.2, -0.2)


class TestFit:
    def sample(self, n: int = 12, dim: int = 3) -> Sample:
        X = np.random.default_rng(12345).normal(size=(n, dim))
        return Sample(X, DELTA(X))

    def test_misfit_is_the_sum_over_pairs(self) -> None:
        fit, sample = FrequencyFit(BOTH, 2, 1.0, 1, 0.5), self.sample()
        weights = np.random.default_rng(1).normal(size=(2, 4, 3))
        total = 0.0
        for i in range(12):
            for j in range(i):
                z = sample.rows[i] - sample.rows[j]
                k_hat = sum(c * np.cos(part @ z).mean() for c, part in zip(BOTH, weights, strict=True))
                total += (k_hat - sample.gram[i, j]) ** 2
        assert fit.misfit(weights, sample)[0] == pytest.approx(total / (2 * 0.5**2), rel=1e-12)

    def test_gradient(self) -> None:
        fit, sample = FrequencyFit(BOTH, 2, 1.0, 1, 0.5), self.sample()
        weights = np.random.default_rng(1).normal(size=(2, 4, 3))
        gradient = fit.misfit(weights, sample)[1].ravel()
        steps = 1e-5 * np.eye(24).reshape(24, 2, 4, 3)
        numeric = [(fit.misfit(weights + e, sample)[0] - fit.misfit(weights - e, sample)[0]) / 2e-5 for e in steps]
        np.testing.assert_allclose(gradient, numeric, atol=1e-7 * np.abs(gradient).max())

    def test_every_round_lowers_its_objective_and_all_together_the_error(self) -> None:
        X = load("letter").X_train
        fit_on, others = X[:6000], X[6000:7000]
        rng = np.random.default_rng(12345)
        source = RowSource(DEGREE_ONE, fit_on, 200, rng)
        fit = FrequencyFit((1.0,), 5, 1.0, 6, 0.01)
        start = weights = fit.start(source.first, 64, rng)
        for _ in range(6):
            weights, (before, after) = fit.one_round(weights, source.draw(), rng)
            assert after < before
        K = DEGREE_ONE(others)
        found = []
        for part in (start[0], weights[0]):
            angles = others @ part.T / source.unit
            K_hat = (np.cos(angles) @ np.cos(angles).T + np.sin(angles) @ np.sin(angles).T) / 64
            found.append(np.linalg.norm(K_hat - K) / np.linalg.norm(K))
        assert found[1] < found[0] / 2

    def test_start_finds_the_widths_of_a_difference_of_gaussians(self) -> None:
        X = np.random.default_rng(12345).normal(size=(200, 4))
        fit = FrequencyFit((1.0, -1.0), 2, 1.0, 1, 0.01)
        start = fit.start(Sample(X, DeltaGaussian((1.0, -1.0), (0.5, 4.0))(X)), 50_000, np.random.default_rng(12345))
        np.testing.assert_allclose(start.std(axis=(1, 2)), [2.0, 0.25], rtol=0.02)  # 5 standard errors are 0.008

    def test_source(self) -> None:
        X = 3 * np.random.default_rng(12345).normal(size=(500, 5)) + 1e3
        source = RowSource(Gaussian(5.0), X, 100, np.random.default_rng(12345))
        z = distances(source.first.rows, source.first.rows)
        assert np.sqrt(np.mean(z**2)) == pytest.approx(1, rel=1e-9)
        np.testing.assert_allclose(source.first.gram, Gaussian(5.0 / source.unit).profile(z), atol=1e-9)
        again = source.draw()
        assert again.rows.shape == (100, 5)
        assert np.abs(again.gram - source.first.gram).max() > 0.01


class TestMixture:
    def test_keeps_the_variance_of_the_frequencies(self) -> None:
        """scikit-learn's own prior does not: it shrinks the components towards the covariance divided by dim."""
        W = np.random.default_rng(12345).normal(size=(128, 16)) * np.linspace(0.5, 2, 16)
        mixture = dirichlet_mixture(W, 5, 1.0, np.random.default_rng(0))
        drawn = sample_mixture(mixture, 50_000, np.random.default_rng(1))
        assert np.mean(drawn**2) == pytest.approx(np.mean(W**2), rel=0.1)
        mixture.set_params(covariance_prior=None).fit(W)
        assert np.mean(sample_mixture(mixture, 50_000, np.random.default_rng(1)) ** 2) < 0.9 * np.mean(W**2)

    def test_sample_has_the_moments_of_the_mixture(self) -> None:
        rng = np.random.default_rng(12345)
        W = np.concatenate([rng.normal(-3, 0.5, size=(60, 2)), rng.normal(2, 1, size=(140, 2))])
        mixture = dirichlet_mixture(W, 5, 1.0, rng)
        drawn = sample_mixture(mixture, 200_000, rng)
        mean = mixture.weights_ @ mixture.means_
        square = mixture.weights_ @ (mixture.means_**2 + mixture.covariances_)
        for power, expected in ((1, mean), (2, square)):
            z = (np.mean(drawn**power, axis=0) - expected) / np.std(drawn**power, axis=0) * np.sqrt(len(drawn))
            assert np.abs(z).max() < 5
        assert precisions(mixture, W).shape == W.shape

    def test_one_frequency(self) -> None:
        mixture = dirichlet_mixture(np.array([[1.0, -2.0]]), 5, 1.0, np.random.default_rng(0))
        assert np.isfinite(sample_mixture(mixture, 3, np.random.default_rng(0))).all()
