"""Indefinite Nystroem: exact cases, signatures, errors that fall where the classical core has none that it bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.kernel_approximation import Nystroem
from sklearn.preprocessing import normalize

import krein
from krein import relative_error
from krein.datasets import load
from krein.features.baselines import IndefiniteNystroem
from krein.features.baselines._landmarks import LANDMARKS
from krein.kernels import AdditiveChi2, DeltaGaussian, Gaussian, Kernel, Laplacian, Log, Polynomial, Tanh

WIDTHS = (32, 64, 128, 256, 512)
INDEFINITE = Tanh(2.0, -0.5)
DELTA = DeltaGaussian((1.0, -1.0), (1.0, 10.0))
Array = NDArray[np.float64]


def on_sphere(n: int, dim: int, seed: int = 12345) -> Array:
    return normalize(np.random.default_rng(seed).normal(size=(n, dim)))


def error(K_hat: Array, K: Array) -> float:
    return float(np.linalg.norm(K_hat - K) / np.linalg.norm(K))


@pytest.fixture(scope="module")
def letter() -> Array:
    return load("letter").X_train


@pytest.fixture(scope="module")
def samples(letter: Array) -> list[Array]:
    """Rows to measure errors on, a few times."""
    return [letter[np.random.default_rng(seed).choice(len(letter), 600, replace=False)] for seed in range(3)]


def mean_error(kernel: Kernel, letter: Array, samples: list[Array], width: int, **params: Any) -> float:
    maps = [IndefiniteNystroem(kernel, width, random_state=seed, **params).fit(letter) for seed in range(len(samples))]
    return float(np.mean([relative_error(kernel, m, X) for m, X in zip(maps, samples, strict=True)]))


class TestExact:
    @pytest.mark.parametrize("landmarks", sorted(LANDMARKS))
    @pytest.mark.parametrize("kernel", [INDEFINITE, DELTA, Gaussian(), Laplacian(), Polynomial(3, -0.3, 0.5)], ids=repr)
    def test_all_rows_as_landmarks(self, kernel: Kernel, landmarks: str) -> None:
        """What is dropped is 1e-8 of the largest eigenvalue, twice, at up to 80 of them."""
        X = on_sphere(80, 4)
        features = IndefiniteNystroem(kernel, 200, landmarks=landmarks, random_state=0).fit(X)
        assert features.landmarks_.shape == X.shape
        assert error(features.approximate_kernel(X), kernel(X)) < 2 * np.sqrt(80) * 1e-8

    def test_signature_is_that_of_the_kernel(self) -> None:
        X = on_sphere(80, 6)
        eigenvalues = np.linalg.eigvalsh(INDEFINITE(X))
        kept = np.abs(eigenvalues) > 1e-8 * np.abs(eigenvalues).max()
        features = IndefiniteNystroem(INDEFINITE, 80, random_state=0).fit(X)
        assert np.sum(features.signature_ < 0) == np.sum(eigenvalues[kept] < 0) > 10
        assert np.sum(features.signature_ > 0) == np.sum(eigenvalues[kept] > 0) > 10
        scale = (features.transform(X) ** 2).sum(axis=0)
        assert (np.diff(scale) < 1e-6 * scale[0]).all()  # by falling absolute eigenvalue

    @pytest.mark.parametrize("kernel", [Gaussian(), Laplacian(), Gaussian(5.0)], ids=repr)
    @pytest.mark.parametrize("width", [10, 60])
    def test_positive_definite_kernels_have_positive_signatures(self, kernel: Kernel, width: int) -> None:
        features = IndefiniteNystroem(kernel, width, random_state=0).fit(on_sphere(300, 4))
        assert (features.signature_ == 1).all()

    def test_a_kernel_of_finite_rank_needs_no_more_columns(self) -> None:
        X = np.random.default_rng(12345).normal(size=(200, 3))
        kernel = Polynomial(2, 1.0, -0.5)  # degrees 0, 1 and 2 of three variables: 1 + 3 + 6
        features = IndefiniteNystroem(kernel, 50, random_state=0).fit(X)
        assert len(features.signature_) == 10
        other = np.random.default_rng(6789).normal(size=(50, 3))
        # rows outside the sample: an error of eps in U is amplified by s_0/s < 1e4 here
        np.testing.assert_allclose(features.approximate_kernel(other), kernel(other), rtol=0, atol=1e-9)

    def test_oversampling_of_one_is_the_classical_core(self) -> None:
        X = on_sphere(200, 6)
        features = IndefiniteNystroem(
            INDEFINITE, 20, landmarks="uniform", oversampling=1, threshold=1e-12, random_state=0
        ).fit(X)
        C, W = INDEFINITE(X, features.landmarks_), INDEFINITE(features.landmarks_)
        expected = C @ np.linalg.solve(W, C.T)
        # backward errors of eps are amplified by the condition of W in each of two products
        atol = 20 * np.finfo(float).eps * np.linalg.cond(W) * np.abs(expected).max()
        np.testing.assert_allclose(features.approximate_kernel(X), expected, rtol=0, atol=atol)

    def test_the_core_is_the_least_squares_solution(self) -> None:
        """No small change of the core lowers the error on the sample: the gradient C^T (K - C M C^T) C is zero."""
        X = on_sphere(100, 6)
        features = IndefiniteNystroem(INDEFINITE, 25, oversampling=4, random_state=0).fit(X)  # the sample is all of X
        C, K = INDEFINITE(X, features.landmarks_), INDEFINITE(X)

        def gradient(K_hat: Array) -> float:
            return float(np.linalg.norm(C.T @ (K - K_hat) @ C) / np.linalg.norm(C.T @ K @ C))

        assert gradient(features.approximate_kernel(X)) < 1e-10
        classical = C @ np.linalg.solve(INDEFINITE(features.landmarks_), C.T)
        assert gradient(classical) > 1e-3  # the mutant


class TestAccuracy:
    def test_error_falls_on_a_strongly_indefinite_kernel(self, letter: Array, samples: list[Array]) -> None:
        for landmarks in ("kmeans++", "uniform"):
            errors = [mean_error(INDEFINITE, letter, samples, width, landmarks=landmarks) for width in WIDTHS]
            assert (np.diff(errors) < 0).all()
            assert errors[0] < 0.15
            assert errors[-1] < 0.015

    def test_classical_core_explodes(self, letter: Array, samples: list[Array]) -> None:
        """The mutant: C W^+ C^T is worse than zero for some landmarks, and does not fall."""
        worst = []
        for width in WIDTHS[:3]:
            errors = []
            for seed in range(20):
                rows = letter[np.random.default_rng(seed).choice(len(letter), width, replace=False)]
                C = INDEFINITE(samples[0], rows)
                errors.append(error(C @ np.linalg.pinv(INDEFINITE(rows)) @ C.T, INDEFINITE(samples[0])))
            worst.append(max(errors))
        assert max(worst) > 1
        assert min(worst) > 5 * mean_error(INDEFINITE, letter, samples, 32)

    @pytest.mark.parametrize("kernel", [INDEFINITE, Gaussian(), Gaussian(0.3), Log()], ids=repr)
    def test_chosen_landmarks_are_no_worse_than_any(self, kernel: Kernel, letter: Array, samples: list[Array]) -> None:
        uniform, spread, leverage = (
            mean_error(kernel, letter, samples, 128, landmarks=name) for name in ("uniform", "kmeans++", "leverage")
        )
        assert spread < uniform
        assert leverage < 1.05 * uniform  # equal where the leverage scores are

    @pytest.mark.parametrize("scale", [0.3, 1.0])
    @pytest.mark.parametrize("width", [32, 256])
    def test_no_worse_than_scikit_learn(self, scale: float, width: int, letter: Array, samples: list[Array]) -> None:
        kernel = Gaussian(scale)
        theirs = []
        for seed, X in enumerate(samples):
            Z = Nystroem(gamma=0.5 / scale**2, n_components=width, random_state=seed).fit(letter).transform(X)
            theirs.append(error(Z @ Z.T, kernel(X)))
        for landmarks in LANDMARKS:
            assert mean_error(kernel, letter, samples, width, landmarks=landmarks) < np.mean(theirs)

    def test_scikit_learn_approximates_another_kernel(self, letter: Array) -> None:
        """It takes singular values for eigenvalues, |K| for K."""
        X = letter[:150]
        K = DELTA(X)
        peer = Nystroem(lambda x, y: float(DELTA.profile(np.linalg.norm(x - y))), n_components=60, random_state=0)
        Z = peer.fit_transform(X)
        eigenvalues, V = np.linalg.eigh(K)
        assert error(Z @ Z.T, K) > 1.5
        assert error(Z @ Z.T, V * np.abs(eigenvalues) @ V.T) < 0.1
        assert relative_error(DELTA, IndefiniteNystroem(DELTA, 60, random_state=0).fit(X), X) < 0.02


class TestRows:
    @pytest.mark.parametrize("landmarks", sorted(LANDMARKS))
    def test_fewer_rows_than_landmarks_and_equal_rows(self, landmarks: str) -> None:
        features = IndefiniteNystroem(Gaussian(), 10, landmarks=landmarks, random_state=0)
        assert features.fit(np.ones((50, 3))).transform(np.ones((2, 3))).shape == (2, 1)
        np.testing.assert_allclose(features.approximate_kernel(np.ones((2, 3))), 1, rtol=1e-12)
        Z = features.set_params(kernel=DELTA).fit(np.ones((1, 3))).transform(np.ones((2, 3)))
        np.testing.assert_array_equal(Z, np.zeros((2, 1)))  # the kernel vanishes on equal rows

    @pytest.mark.parametrize("landmarks", sorted(LANDMARKS))
    def test_landmarks_are_rows(self, landmarks: str) -> None:
        X = np.random.default_rng(12345).normal(size=(500, 3))
        chosen = IndefiniteNystroem(n_components=20, landmarks=landmarks, random_state=0).fit(X).landmarks_
        assert chosen.shape == (20, 3)
        assert len({row.tobytes() for row in chosen}) == 20
        assert {row.tobytes() for row in chosen} <= {row.tobytes() for row in X}

    @pytest.mark.parametrize("kernel", [INDEFINITE, AdditiveChi2()], ids=repr)
    def test_sparse_landmarks_are_saved_as_they_are(self, kernel: Kernel, tmp_path: Any) -> None:
        X = sp.random_array((100, 30), density=0.1, random_state=np.random.default_rng(12345), format="csr")
        X = normalize(X[np.diff(X.indptr) > 0])
        features = IndefiniteNystroem(kernel, 20, random_state=0).fit(X)
        assert sp.issparse(features.landmarks_)
        krein.save(features, tmp_path / "map.npz")
        again = krein.load(tmp_path / "map.npz")
        assert (again.transform(X) == features.transform(X)).all()
        assert features.to_arrays()["landmarks_data"].size < 20 * 30 / 2

    def test_float32_rows_near_the_sphere(self) -> None:
        X = on_sphere(200, 5).astype(np.float32)
        features = IndefiniteNystroem(INDEFINITE, 40, random_state=0).fit(X)
        assert features.transform(X).dtype == np.float32
        assert relative_error(INDEFINITE, features, X) < 0.2


class TestParameters:
    @pytest.mark.parametrize(
        ("params", "message"),
        [
            (
                {"landmarks": "nearest"},
                r"landmarks must be one of \['kmeans\+\+', 'leverage', 'uniform'\]; got 'nearest'",
            ),
            ({"oversampling": 0.5}, r"oversampling must be at least 1; got 0\.5"),
            ({"oversampling": "4"}, "oversampling must be a finite number > 0; got '4'"),
            ({"threshold": 0}, "threshold must be a finite number > 0; got 0"),
            ({"threshold": 1.0}, r"threshold must be below 1; got 1\.0"),
        ],
    )
    def test_wrong(self, params: dict[str, Any], message: str) -> None:
        with pytest.raises(ValueError, match=message):
            IndefiniteNystroem(**params).fit(on_sphere(10, 3))
