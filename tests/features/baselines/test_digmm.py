"""Double infinite Gaussian mixture: parts, draws, identities, and errors on rows that were not used in the fit."""

from __future__ import annotations

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
from krein.features.baselines import DoubleGaussianMixtureFeatures
from krein.kernels import DeltaGaussian, FromProfile, Gaussian, PolynomialOnSphere, Tanh
from krein.kernels.base import Kernel, inner_products
from krein.sampling import predicted_error

Array = NDArray[np.float64]

DEGREE_ONE = PolynomialOnSphere(a=3.0, degree=1)
DELTA = DeltaGaussian(weights=(1.0, -1.0), scales=(1.0, 10.0))


@lru_cache
def letter() -> tuple[Array, Array]:
    """Rows to fit on and 1000 others."""
    data = load("letter")
    return data.X_train[:6000], data.X_train[6000:7000]


def rows(n: int = 60, dim: int = 5) -> Array:
    return np.random.default_rng(12345).normal(size=(n, dim))


def errors(kernel: Any, frequencies: int, n_draws: int = 5, **options: Any) -> Array:
    fit_on, others = letter()
    columns = frequencies * (1 if options.get("form") == "phase" else 2) * (2 if kernel is DELTA else 1)
    maps = (DoubleGaussianMixtureFeatures(kernel, columns, random_state=seed, **options) for seed in range(n_draws))
    return np.array([relative_error(kernel, features.fit(fit_on), others) for features in maps])


class TestParts:
    @pytest.mark.parametrize("kernel", [Gaussian(1.0), DEGREE_ONE, PolynomialOnSphere(4.0, 5)], ids=repr)
    def test_positive_definite_kernels_have_one_part(self, kernel: Any) -> None:
        X = normalize(rows())
        features = DoubleGaussianMixtureFeatures(kernel, 24, random_state=0).fit(X)
        assert (features.signature_ == 1).all()
        assert len(features.signature_) == 24
        assert np.linalg.eigvalsh(features.approximate_kernel(X))[0] > -1e-12

    @pytest.mark.parametrize("kernel", [DELTA, Tanh(), FromProfile(np.sin), -Gaussian(1.0)], ids=repr)
    def test_indefinite_kernels_have_two(self, kernel: Any) -> None:
        X = normalize(rows())
        features = DoubleGaussianMixtureFeatures(kernel, 24, random_state=0).fit(X)
        assert sorted(features.signature_) == [-1] * 12 + [1] * 12
        assert np.linalg.eigvalsh(features.approximate_kernel(X))[0] < -1e-3

    @pytest.mark.parametrize("kernel", [Gaussian(1.0), DELTA, Tanh(), 3.0 * DEGREE_ONE], ids=repr)
    def test_pairs_have_an_exact_diagonal_and_depend_on_differences_only(self, kernel: Any) -> None:
        X = normalize(rows())
        features = DoubleGaussianMixtureFeatures(kernel, 24, random_state=0).fit(X)
        K_hat = features.approximate_kernel(X)
        np.testing.assert_allclose(np.diag(K_hat), float(kernel.profile(0.0)), atol=1e-12)
        i, j = 3, 7
        np.testing.assert_allclose(features.frequencies_.evaluate(X[i] - X[j]), K_hat[i, j], atol=1e-12)
        phases = DoubleGaussianMixtureFeatures(kernel, 24, form="phase", random_state=0).fit(X)
        assert np.abs(np.diag(phases.approximate_kernel(X)) - kernel.profile(0.0)).max() > 1e-3

    def test_negative_mass(self) -> None:
        X = rows()
        for mass in (0.5, 2.0):
            features = DoubleGaussianMixtureFeatures(DELTA, 24, negative_mass=mass, random_state=0).fit(X)
            c = features.frequencies_.coefficients
            assert c[c < 0].sum() == pytest.approx(-mass)
            assert c.sum() == pytest.approx(0, abs=1e-12)
        features.set_params(kernel=-Gaussian(1.0), negative_mass=0.5)
        with pytest.raises(ValueError, match=r"negative_mass must be larger than -k\(0\) = 1; got 0\.5"):
            features.fit(X)

    def test_shift_is_as_bad_as_it_was(self) -> None:
        """Its variance grows with tau = 20 |smallest eigenvalue|; 0 would have an error of 1."""
        features = DoubleGaussianMixtureFeatures(DELTA, 64, split="shift", random_state=0).fit(letter()[0])
        c = features.frequencies_.coefficients
        assert 10 < -c[c < 0].sum() < 100  # 19 to 40 over 40 seeds
        assert c.sum() == pytest.approx(0, abs=1e-9)
        found = errors(DELTA, 32, n_draws=3, split="shift").mean()
        assert 4 < found < 40  # 12.4 was measured, with a tau of 30
        assert errors(DELTA, 32, n_draws=2).mean() < 0.01 * found


class TestErrorsOnLetter:
    @pytest.mark.parametrize(
        ("kernel", "targets"),
        [(DEGREE_ONE, (0.0062, 0.0059, 0.0055)), (DELTA, (0.106, 0.070, 0.058))],
        ids=["degree one", "delta-Gaussian"],
    )
    def test_latent_pairs_are_better_than_the_prototype(self, kernel: Any, targets: tuple[float, ...]) -> None:
        for frequencies, target in zip((32, 64, 128), targets, strict=True):
            assert errors(kernel, frequencies, n_draws=3).mean() < target

    @pytest.mark.parametrize(
        ("kernel", "options", "targets"),
        [
            (DEGREE_ONE, {"draw": "mixture"}, ((0.0323, 0.0039), (0.0228, 0.0034), (0.0182, 0.0018))),
            (DEGREE_ONE, {"form": "phase"}, ((0.116, 0.066), (0.079, 0.051), (0.065, 0.037))),
            (DELTA, {"draw": "mixture"}, ((0.190, 0.0206), (0.143, 0.0129), (0.096, 0.0097))),
        ],
    )
    def test_other_forms(self, kernel: Any, options: dict[str, str], targets: tuple[tuple[float, float], ...]) -> None:
        """Mean over 10 draws and standard deviation of one, as measured independently."""
        for frequencies, (target, spread) in zip((32, 64, 128), targets, strict=True):
            found = errors(kernel, frequencies, **options)
            standard_error = np.sqrt(found.var(ddof=1) / len(found) + spread**2 / 10)
            assert abs(found.mean() - target) < 5 * standard_error, (frequencies, found.mean())

    def test_gaussian(self) -> None:
        """The fitted frequencies keep the law of the kernel's own, which are standard normal."""
        features = DoubleGaussianMixtureFeatures(Gaussian(1.0), 256, random_state=0).fit(letter()[0])
        assert np.mean(features.frequencies_.weights**2) == pytest.approx(1, abs=0.1)
        assert errors(Gaussian(1.0), 128, n_draws=3).max() < 0.03
        assert errors(Gaussian(1.0), 128, n_draws=3, draw="mixture").max() < 0.09


class TestIdentities:
    def test_seed_and_kernel_decide(self) -> None:
        X = rows()
        for draw in ("latent", "mixture"):
            make = [
                DoubleGaussianMixtureFeatures(kernel, 24, draw=draw, random_state=seed).fit(X).transform(X)
                for kernel, seed in ((Gaussian(1.0), 0), (Gaussian(1.0), 0), (Gaussian(1.0), 1), (Gaussian(1.1), 0))
            ]
            assert (make[0] == make[1]).all()
            assert (make[0] != make[2]).any()
            assert (make[0] != make[3]).any()

    @pytest.mark.parametrize("option", [{"n_mixture": 1}, {"concentration": 50.0}, {"rounds": 2}, {"n_rows": 20}])
    def test_every_option_reaches_the_features(self, option: dict[str, Any]) -> None:
        X = rows(200)
        first, second = (DoubleGaussianMixtureFeatures(DELTA, 80, random_state=0, **p).fit(X) for p in ({}, option))
        assert np.abs(first.transform(X) - second.transform(X)).max() > 1e-6

    def test_units(self) -> None:
        """Frequencies scale with the rows and coefficients with the kernel; powers of 2 leave no rounding."""
        X = rows()
        one = DoubleGaussianMixtureFeatures(Gaussian(1.0), 24, random_state=0).fit(X).frequencies_
        wide = DoubleGaussianMixtureFeatures(Gaussian(4.0), 24, random_state=0).fit(4 * X).frequencies_
        tall = DoubleGaussianMixtureFeatures(8.0 * Gaussian(1.0), 24, random_state=0).fit(X).frequencies_
        np.testing.assert_allclose(4 * wide.weights, one.weights, rtol=1e-9)
        np.testing.assert_allclose(tall.weights, one.weights, rtol=1e-9)
        np.testing.assert_allclose(tall.coefficients, 8 * one.coefficients, rtol=1e-12)

    @pytest.mark.parametrize("draw", ["latent", "mixture"])
    @pytest.mark.parametrize(("kernel", "parts"), [(Gaussian(1.0), 1), (DELTA, 2)], ids=["one part", "two parts"])
    def test_every_width(self, kernel: Any, parts: int, draw: str) -> None:
        X = rows(30)
        for n in (1, 2, 3, 4, 5, 7, 11):
            features = DoubleGaussianMixtureFeatures(kernel, n, draw=draw, rounds=1, random_state=0)
            if n < parts:
                with pytest.raises(ValueError, match=r"n_components must be at least 2 for .* 2 parts; got 1"):
                    features.fit(X)
                continue
            columns = n // parts * parts if n < 2 * parts else n // (2 * parts) * 2 * parts
            assert features.fit(X).transform(X).shape == (30, columns)
            assert np.isfinite(features.transform(X)).all()

    @pytest.mark.parametrize(
        "X", [rows(1), np.ones((7, 3)), rows(2), 1e6 + 1e-3 * rows(20), 1e8 * rows(20, 1)], ids=len
    )
    @pytest.mark.parametrize("kernel", [Gaussian(1.0), DELTA], ids=["definite", "indefinite"])
    def test_rows_with_little_in_them(self, kernel: Any, X: Array) -> None:
        features = DoubleGaussianMixtureFeatures(kernel, 12, random_state=0).fit(X)
        K_hat = features.approximate_kernel(X)
        np.testing.assert_allclose(np.diag(K_hat), float(kernel.profile(0.0)), atol=1e-10)

    def test_precision_sparse_rows_and_state(self) -> None:
        X = normalize(rows() * (np.arange(5) < 3))
        for form in ("pair", "phase"):
            features = DoubleGaussianMixtureFeatures(DELTA, 24, form=form, random_state=0).fit(X)
            Z = features.transform(X)
            assert features.transform(X.astype(np.float32)).dtype == np.float32
            twin = DoubleGaussianMixtureFeatures(DELTA, 24, form=form, random_state=0).fit(sp.csr_array(X))
            np.testing.assert_allclose(twin.transform(sp.csr_array(X)), Z, atol=1e-12)
            twin = DoubleGaussianMixtureFeatures(DELTA, 24).from_arrays(features.to_arrays())
            assert (twin.transform(X) == Z).all()

    def test_no_error_is_predicted(self) -> None:
        """Frequencies fitted to rows lie as the rows do; the prediction holds under random rotations."""
        features = DoubleGaussianMixtureFeatures(DELTA, 24, random_state=0).fit(rows())
        restored = DoubleGaussianMixtureFeatures(DELTA, 24).from_arrays(features.to_arrays())
        for frequencies in (features.frequencies_, restored.frequencies_):
            with pytest.raises(ValueError, match="invariant under rotations"):
                predicted_error(frequencies, 5, DELTA, [1.0])


class TestErrors:
    @pytest.mark.parametrize(
        ("params", "message"),
        [
            ({"draw": "prior"}, r"draw must be one of \['latent', 'mixture'\]; got 'prior'"),
            ({"form": "cos"}, r"form must be one of \['pair', 'phase'\]; got 'cos'"),
            ({"split": "krein"}, r"split must be one of \['difference', 'shift'\]; got 'krein'"),
            ({"n_mixture": 0}, "n_mixture must be an integer >= 1; got 0"),
            ({"rounds": 0}, "rounds must be an integer >= 1; got 0"),
            ({"n_rows": 1}, "n_rows must be an integer >= 2; got 1"),
            ({"concentration": 0.0}, r"concentration must be a finite number > 0; got 0\.0"),
            ({"negative_mass": -1.0}, r"negative_mass must be a finite number > 0; got -1\.0"),
        ],
    )
    def test_options(self, params: dict[str, Any], message: str) -> None:
        with pytest.raises(ValueError, match=message):
            DoubleGaussianMixtureFeatures(**params).fit(rows())

    def test_kernel_must_be_radial(self) -> None:
        class Linear(Kernel):
            def _gram_block(self, X: Any, Y: Any) -> Array:
                return inner_products(X, Y)

        with pytest.raises(TypeError, match=r"DoubleGaussianMixtureFeatures needs a radial kernel; got .*Linear"):
            DoubleGaussianMixtureFeatures(Linear()).fit(rows())


@pytest.mark.parametrize("n_components", [1, 20])
def test_scikit_learn_checks(n_components: int) -> None:
    results = check_estimator(DoubleGaussianMixtureFeatures(n_components=n_components), on_skip=None)
    assert {r["check_name"] for r in results if r["status"] != "passed"} <= {"check_array_api_input"}
