"""Tensor sketches: the sketch of the whole tensor, scikit-learn's, exact cases, variance, and signed series."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.stats import chi2
from sklearn.kernel_approximation import PolynomialCountSketch
from sklearn.preprocessing import normalize

from krein import relative_error
from krein.features.baselines import TensorSketch
from krein.kernels import ArcCosine, DotProductOnSphere, Gaussian, Kernel, Polynomial, PolynomialOnSphere, Tanh
from krein.testing import assert_unbiased, z_scores

SIGNED = PolynomialOnSphere(1.0, 3)  # (-1 + 2 t)^3: signs -, +, -, +
EXP = DotProductOnSphere(np.exp)
Array = NDArray[np.float64]


def normal_rows(n: int, dim: int, seed: int = 12345) -> Array:
    return np.random.default_rng(seed).normal(size=(n, dim))


def homogenised(X: Array, kernel: Polynomial) -> Array:
    return np.column_stack([np.sqrt(kernel.gamma) * X, np.full(len(X), np.sqrt(kernel.coef0))])


class TestIdentities:
    @pytest.mark.parametrize("degree", [1, 2, 3, 4])
    @pytest.mark.parametrize("width", [1, 2, 7, 16])
    def test_is_the_count_sketch_of_the_tensor(self, degree: int, width: int) -> None:
        """Its hash is the sum of the hashes modulo the width, its sign the product of the signs."""
        kernel = Polynomial(degree, 0.7, 0.4)
        X = normal_rows(6, 3)
        features = TensorSketch(kernel, width, random_state=0).fit(X)
        rows = homogenised(X, kernel)
        expected = np.zeros((6, width))
        for index in itertools.product(range(rows.shape[1]), repeat=degree):
            levels = np.arange(degree), index
            bin_ = features.hashes_[levels].sum() % width
            expected[:, bin_] += features.bits_[levels].prod() * rows[:, index].prod(axis=1)
        atol = 1e-14 * 4**degree * np.abs(rows).max() ** degree
        np.testing.assert_allclose(features.transform(X), expected, rtol=0, atol=atol)

    @pytest.mark.parametrize(("degree", "coef0"), [(1, 0.3), (2, 1.5), (3, 0.3), (5, 0.3)])
    @pytest.mark.parametrize("width", [5, 32, 37])
    def test_is_that_of_scikit_learn(self, degree: int, coef0: float, width: int) -> None:
        X = normal_rows(20, 6)
        features = TensorSketch(Polynomial(degree, 0.8, coef0), width, random_state=3).fit(X)
        oracle = PolynomialCountSketch(gamma=0.8, degree=degree, coef0=coef0, n_components=width).fit(X)
        oracle.indexHash_, oracle.bitHash_ = features.hashes_, features.bits_
        expected = oracle.transform(X)
        scale = np.abs(expected).max()
        np.testing.assert_allclose(features.transform(X), expected, rtol=0, atol=1e-13 * scale)
        np.testing.assert_allclose(features.transform(sp.csr_array(X)), expected, rtol=0, atol=1e-13 * scale)
        single = features.transform(X.astype(np.float32))
        assert single.dtype == np.float32
        np.testing.assert_allclose(single, expected, rtol=0, atol=1e-5 * degree * scale)

    def test_one_piece_without_a_constant_is_that_of_scikit_learn(self) -> None:
        X = normal_rows(20, 6)
        features = TensorSketch(Polynomial(3, 0.8, 0.0), 32, random_state=3).fit(X)
        oracle = PolynomialCountSketch(gamma=0.8, degree=3, coef0=0, n_components=32).fit(X)
        oracle.indexHash_, oracle.bitHash_ = features.hashes_, features.bits_
        np.testing.assert_allclose(features.transform(X), oracle.transform(X), rtol=0, atol=1e-13 * 30)

    def test_hashes_without_collisions_are_exact(self) -> None:
        kernel = Polynomial(1, 2.0, 0.5)
        X = normal_rows(20, 6)
        features = TensorSketch(kernel, 9, random_state=0).fit(X)
        features.hashes_[0] = np.random.default_rng(0).permutation(9)[:7]
        np.testing.assert_allclose(features.approximate_kernel(X), kernel(X), rtol=0, atol=1e-13 * kernel(X).max())

    def test_degree_zero_is_exact(self) -> None:
        X = normal_rows(5, 3)
        features = TensorSketch(Polynomial(2, 0.0, 3.0), 20).fit(X)
        assert features.transform(X).shape == (5, 1)
        np.testing.assert_allclose(features.approximate_kernel(X), 9.0, rtol=1e-14)

    def test_polynomial_on_the_sphere_is_a_polynomial(self) -> None:
        X = normalize(normal_rows(20, 6))
        kernel, twin = PolynomialOnSphere(3.0, 4), Polynomial(4, 2 / 9, 7 / 9)
        Z = [TensorSketch(k, 16, random_state=0).fit_transform(X) for k in (kernel, twin)]
        np.testing.assert_allclose(*Z, rtol=0, atol=1e-13)


class TestDraw:
    def test_hashes_and_signs_are_uniform(self) -> None:
        features = TensorSketch(Polynomial(3), 10, random_state=2).fit(np.zeros((1, 9999)))
        assert features.hashes_.shape == features.bits_.shape == (3, 10_000)
        assert set(np.unique(features.bits_)) == {-1, 1}
        cells = features.hashes_[0] * 20 + features.hashes_[1] * 2 + (features.bits_[0] > 0)  # jointly uniform
        for uniform, ok in ((cells, True), (np.minimum(cells, 189), False)):
            counts = np.bincount(uniform, minlength=200)
            assert (((counts - 50) ** 2 / 50).sum() < chi2.ppf(1 - 1e-6, 199)) == ok

    def test_every_degree_has_its_own_columns_and_sign(self) -> None:
        features = TensorSketch(SIGNED, 20, random_state=0).fit(np.eye(4))
        np.testing.assert_array_equal(features.degrees_, [0, 1, 2, 3])
        assert features.widths_.sum() == 20
        np.testing.assert_array_equal(features.signature_, np.repeat([-1.0, 1.0, -1.0, 1.0], features.widths_))
        starts = np.repeat(features.widths_, features.degrees_)
        assert (features.hashes_ < starts[:, None]).all()


class TestMoments:
    @pytest.mark.parametrize("n_components", [1, 4, 50])
    def test_variance_at_degree_one(self, n_components: int) -> None:
        kernel = Polynomial(1, 0.5, 1.2)
        X = normal_rows(2, 4)
        x, y = homogenised(X, kernel)
        exact = ((x @ x) * (y @ y) + (x @ y) ** 2 - 2 * (x**2) @ (y**2)) / n_components
        draws = [TensorSketch(kernel, n_components, random_state=r).fit(X) for r in range(3000)]
        k_hat = np.array([features.approximate_kernel(X)[0, 1] for features in draws])
        squares = (k_hat - x @ y) ** 2
        assert abs(z_scores(squares, exact)) < 5
        if n_components < 50:  # with more columns collisions are too rare for a sharp test
            for wrong in (1.5 * exact, exact + 2 * (x**2) @ (y**2) / n_components):  # the second of Gaussian vectors
                assert abs(z_scores(squares, wrong)) > 5

    @pytest.mark.parametrize("kernel", [Polynomial(2), Polynomial(3, 0.4, 0.0)], ids=repr)
    def test_bound_on_the_variance(self, kernel: Polynomial) -> None:
        X = normal_rows(2, 4)
        draws = [TensorSketch(kernel, 10, random_state=r).fit(X) for r in range(500)]
        squares = np.array([(features.approximate_kernel(X) - kernel(X)) ** 2 for features in draws])
        bound = (3.0**kernel.degree - 1) * np.outer(kernel(X).diagonal(), kernel(X).diagonal()) / 10
        assert z_scores(squares, bound).max() < 5

    @pytest.mark.parametrize(
        ("kernel", "by_degree"),
        [(PolynomialOnSphere(2.0, 2), False), (PolynomialOnSphere(2.0, 2), True), (SIGNED, False)],
    )
    def test_unbiased(self, kernel: Any, by_degree: bool) -> None:
        def draw(seed: int) -> TensorSketch:
            return TensorSketch(kernel, 20, by_degree=by_degree, random_state=seed).fit(np.eye(4)[:1])

        def without_signs(seed: int) -> TensorSketch:
            features = draw(seed)
            features.bits_ = np.abs(features.bits_)
            return features

        def one_sketch_for_all_levels(seed: int) -> TensorSketch:
            features = draw(seed)
            features.hashes_[:], features.bits_[:] = 0, features.bits_[-1]
            return features

        assert_unbiased(draw, kernel, 4, n_draws=300, random_state=0)
        for mutant in (without_signs, one_sketch_for_all_levels):
            with pytest.raises(AssertionError, match="biased"):
                assert_unbiased(mutant, kernel, 4, n_draws=300, random_state=0)

    @pytest.mark.parametrize("kernel", [EXP, EXP - 0.5 * SIGNED], ids=["e", "s"])
    def test_series_that_are_cut_off(self, kernel: Any) -> None:
        def draw(seed: int) -> TensorSketch:
            return TensorSketch(kernel, 60, random_state=seed).fit(np.eye(4)[:1])

        assert_unbiased(draw, kernel, 4, n_draws=150, random_state=0)

    def test_signature_matters(self) -> None:
        def mutant(seed: int) -> TensorSketch:
            features = TensorSketch(SIGNED, 60, random_state=seed).fit(np.eye(4)[:1])
            features.signature_ = np.abs(features.signature_)
            return features

        with pytest.raises(AssertionError, match="biased"):
            assert_unbiased(mutant, SIGNED, 4, random_state=0)

    @pytest.mark.parametrize("n_components", [5, 40])
    @pytest.mark.parametrize("kernel", [Polynomial(), Polynomial(3, -0.4, 0.5), Polynomial(3, 0.5, -1.0)], ids=repr)
    def test_unbiased_off_the_sphere(self, kernel: Polynomial, n_components: int) -> None:
        X = np.random.default_rng(12345).uniform(0.2, 1.2, size=(6, 3))
        maps = [TensorSketch(kernel, n_components, random_state=r).fit(X) for r in range(400)]
        values = np.array([features.approximate_kernel(X) for features in maps])
        assert np.abs(z_scores(values, kernel(X))).max() < 5
        if n_components == 40:
            wrong = Polynomial(kernel.degree, 1.5 * kernel.gamma, kernel.coef0)
            assert np.abs(z_scores(values, wrong(X))).max() > 8

    def test_one_column_is_unbiased(self) -> None:
        kernel = PolynomialOnSphere(3.0, 2)

        def draw(seed: int) -> TensorSketch:
            return TensorSketch(kernel, 1, random_state=seed).fit(np.eye(3)[:1])

        assert_unbiased(draw, kernel, 3, lags=[0.3, 1.0, 1.7], n_draws=600, random_state=0)

    def test_by_degree_has_the_lower_error_with_a_large_constant(self) -> None:
        X, kernel = normalize(normal_rows(100, 8)), PolynomialOnSphere(3.0, 1)
        error = {
            by_degree: np.mean(
                [
                    relative_error(kernel, TensorSketch(kernel, 16, by_degree=by_degree, random_state=r).fit(X), X)
                    for r in range(30)
                ]
            )
            for by_degree in (False, True)
        }
        assert error[True] < 0.7 * error[False]


class TestRefusals:
    @pytest.mark.parametrize("kernel", [Gaussian(), EXP + Gaussian()], ids=str)
    def test_other_kernels(self, kernel: Kernel) -> None:
        with pytest.raises(
            TypeError, match="must be a dot-product kernel for TensorSketch: Polynomial, PowerSeries, a"
        ):
            TensorSketch(kernel).fit(np.eye(3))

    @pytest.mark.parametrize("kernel", [Tanh(), ArcCosine(0)], ids=repr)
    def test_series_that_do_not_converge(self, kernel: Kernel) -> None:
        with pytest.raises(ValueError, match=r"kernel must have a Maclaurin series .* for TensorSketch; got"):
            TensorSketch(kernel).fit(np.eye(3))

    def test_a_column_for_every_degree(self) -> None:
        assert TensorSketch(SIGNED, 4, random_state=0).fit_transform(np.eye(4)).shape == (4, 4)
        with pytest.raises(ValueError, match=r"n_components must be at least 4, one for every degree .* got 3"):
            TensorSketch(SIGNED, 3).fit(np.eye(4))

    def test_parameters(self) -> None:
        with pytest.raises(ValueError, match=r"by_degree must be one of \[False, True\]; got 'yes'"):
            TensorSketch(by_degree="yes").fit(np.eye(4))
