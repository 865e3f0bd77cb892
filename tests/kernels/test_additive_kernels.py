"""Additive homogeneous kernels: their formulas, spectra, homogeneity, positive definiteness, and negative entries."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.integrate import quad
from scipy.special import rel_entr
from sklearn.metrics.pairwise import additive_chi2_kernel

from krein.exceptions import DomainError
from krein.kernels import AdditiveChi2, AdditiveKernel, Hellinger, Intersection, JensenShannon

KERNELS = [AdditiveChi2(), Intersection(), JensenShannon(), Hellinger()]
X = np.random.default_rng(12345).random((40, 7))
X[X < 0.2] = 0
Y = np.random.default_rng(6789).random((30, 7)) ** 4
pairs = X[:, None, :], Y[None, :, :]


def test_formulas() -> None:
    x, y = pairs
    expected = {
        AdditiveChi2(): np.sum(2 * x * y / (x + y), axis=2),
        Intersection(): np.sum(np.minimum(x, y), axis=2),
        JensenShannon(): np.sum(x + y - rel_entr(x, (x + y) / 2) / np.log(2) - rel_entr(y, (x + y) / 2) / np.log(2), 2)
        / 2,
        Hellinger(): np.sqrt(X) @ np.sqrt(Y).T,
    }
    for kernel, values in expected.items():
        np.testing.assert_allclose(
            kernel(X, Y), values, rtol=1e-13, atol=1e-14
        )  # sums of 7 terms, a few roundings each


def test_scikit_learn_has_the_distance_of_chi2() -> None:
    """Its kernel is -sum (x - y)^2/(x + y) = 2 k(x, y) - sum x - sum y."""
    distance = additive_chi2_kernel(X, Y)
    expected = (distance + X.sum(axis=1)[:, None] + Y.sum(axis=1)) / 2
    np.testing.assert_allclose(AdditiveChi2()(X, Y), expected, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("degree", [0.5, 1.0, 3.0])
class TestEvery:
    def test_homogeneous(self, kernel: AdditiveKernel, degree: float) -> None:
        kernel = type(kernel)(degree)
        for factor in (1e-8, 3.0, 1e8):
            np.testing.assert_allclose(kernel(factor * X, factor * Y), factor**degree * kernel(X, Y), rtol=1e-12)

    def test_diagonal(self, kernel: AdditiveKernel, degree: float) -> None:
        kernel = type(kernel)(degree)
        np.testing.assert_allclose(np.diag(kernel(X)), (X**degree * (X > 0)).sum(axis=1), rtol=1e-14)
        np.testing.assert_allclose(np.diag(kernel(X, X.copy())), np.diag(kernel(X)), rtol=1e-14)
        np.testing.assert_allclose(kernel(sp.csr_array(X)), kernel(X), rtol=1e-14)

    def test_positive_definite(self, kernel: AdditiveKernel, degree: float) -> None:
        eigenvalues = np.linalg.eigvalsh(type(kernel)(degree)(X))
        assert eigenvalues[0] > -1e-13 * eigenvalues[-1]

    def test_extreme_entries(self, kernel: AdditiveKernel, degree: float) -> None:
        A = np.array([[0.0, 1e-200, 1e90], [1e-90, 0.0, 1.0], [0.0, 0.0, 0.0]])
        K = type(kernel)(degree)(A)
        assert np.isfinite(K).all()
        assert (K >= 0).all()
        assert (K[2] == 0).all()


@pytest.mark.parametrize("kernel", KERNELS[:3], ids=repr)
class TestSeries:
    def test_coefficients_are_a_fourier_transform(self, kernel: AdditiveKernel) -> None:
        """c_j = 2 step kappa(j step) with kappa(l) = 1/pi int_0^inf F(w) cos(l w) dw."""
        step = 0.4
        for j, coefficient in enumerate(kernel.harmonics(step, 5)):
            integral = quad(lambda w, f=j * step: float(kernel.ratio_profile(w)) * np.cos(f * w), 0, 100, limit=400)[0]
            assert coefficient == pytest.approx((2 - (j == 0)) * step * integral / np.pi, abs=1e-8)

    def test_converges_to_the_kernel(self, kernel: AdditiveKernel) -> None:
        """Poisson: the series is the sum of F over its periods, here exp(-pi/0.05) apart; F ~ exp(-|w|/2)."""
        w = np.linspace(0, 6, 50)
        series = np.cos(np.outer(w, 0.05 * np.arange(20_000))) @ kernel.harmonics(0.05, 20_000)
        # cut off: 2 step sum_j kappa(j step) < integral of 1/(pi l^2), l > 999.95, for the slowest, 2/(pi (1 + 4 l^2))
        np.testing.assert_allclose(series, kernel.ratio_profile(w), rtol=0, atol=1 / (np.pi * 999.95))

    def test_large_frequencies(self, kernel: AdditiveKernel) -> None:
        assert np.isfinite(kernel.harmonics(100.0, 1000)).all()


def test_negative_entries() -> None:
    for container in (np.array, sp.csr_array):
        wrong = X.copy()
        wrong[[4, 9], 1] = -0.5
        with pytest.raises(DomainError, match=r"entries of X must be at least 0; got 2 of 40 .* row 4 with -0\.5"):
            AdditiveChi2()(container(wrong))
        with pytest.raises(DomainError, match="entries of Y must be at least 0"):
            AdditiveChi2()(X, container(wrong))


@pytest.mark.parametrize("wrong", [0, -1.0, np.inf, "1"])
def test_degree(wrong: object) -> None:
    with pytest.raises(ValueError, match="degree must be a finite number > 0; got"):
        AdditiveChi2(degree=wrong)  # type: ignore[arg-type]
