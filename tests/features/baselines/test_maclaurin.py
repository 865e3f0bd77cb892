"""Random Maclaurin features: exact enumeration, moments, the law of the degrees, signs, and refused kernels."""

from __future__ import annotations

import itertools
import re
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chi2
from sklearn.preprocessing import normalize

from krein import make_features, relative_error
from krein.features.baselines import RandomMaclaurin
from krein.features.baselines._power_series import power_series, share_columns
from krein.kernels import (
    ArcCosine,
    DotProductOnSphere,
    Gaussian,
    Kernel,
    Polynomial,
    PolynomialOnSphere,
    PowerSeries,
    Tanh,
)
from krein.testing import assert_unbiased, z_scores

LAWS = ("support", "geometric", "proportional", "stratified")
SIGNED = PolynomialOnSphere(1.0, 3)  # (-1 + 2 t)^3: signs -, +, -, +
EXP = DotProductOnSphere(np.exp)
Array = NDArray[np.float64]


def on_sphere(n: int, dim: int, seed: int = 12345) -> Array:
    return normalize(np.random.default_rng(seed).normal(size=(n, dim)))


def one_column_values(features: RandomMaclaurin, x: Array, y: Array) -> Array:
    """k_hat(x, y) of every column as if it were the only one."""
    Z_x, Z_y = features.transform(x[None])[0], features.transform(y[None])[0]
    return len(Z_x) * features.signature_ * Z_x * Z_y


class TestExact:
    @pytest.mark.parametrize(
        "kernel", [PolynomialOnSphere(3.0, 1), PolynomialOnSphere(1.0, 1), Polynomial(1, -2.0, 0.5)]
    )
    def test_h01_of_degree_one(self, kernel: Kernel) -> None:
        X = on_sphere(30, 6)
        features = RandomMaclaurin(kernel, 50, h01=True, random_state=0).fit(X)
        assert features.transform(X).shape == (30, 7)
        np.testing.assert_allclose(features.approximate_kernel(X), kernel(X), rtol=0, atol=1e-14)

    def test_h01_without_a_constant(self) -> None:
        X = on_sphere(30, 6)
        features = RandomMaclaurin(Polynomial(1, 3.0, 0.0), 6, h01=True).fit(X)
        np.testing.assert_allclose(features.approximate_kernel(X), 3 * X @ X.T, rtol=0, atol=1e-14)

    @pytest.mark.parametrize("dim", [1, 2, 3])
    def test_all_sign_vectors(self, dim: int) -> None:
        """The mean over all 2^d vectors w of (w.x)(w.y) is x.y, and a column is a product of independent ones."""
        kernel = Polynomial(3, 0.7, -0.4)
        all_signs = np.array(list(itertools.product((-1, 1), repeat=dim)), dtype=np.int8)
        a = kernel.maclaurin(4)
        levels: list[list[Any]] = [[], [], []]
        weights: list[float] = []
        degrees: list[int] = []
        for n in (3, 2, 1, 0):
            choices = list(itertools.product(all_signs, repeat=n))
            degrees += [n] * len(choices)
            weights += [np.sqrt(abs(a[n]) / len(choices))] * len(choices)
            for level in range(n):
                levels[level] += [choice[level] for choice in choices]
        degree = np.array(degrees)
        arrays = {
            "n_features_in": np.array(dim),
            "degrees": degree,
            "weights": np.array(weights),
            "signs": np.array([w for level in levels for w in level], dtype=np.int8),
            "exact": np.zeros(2),
            "signature": np.sign(a[degree]),
        }
        X = np.random.default_rng(12345).normal(size=(10, dim))
        features = RandomMaclaurin(kernel).from_arrays(arrays)
        K = kernel(X)
        np.testing.assert_allclose(features.approximate_kernel(X), K, rtol=0, atol=1e-12 * np.abs(K).max())

    @pytest.mark.parametrize("law", LAWS)
    def test_one_dimension(self, law: str) -> None:
        """There z(x) = +-weight x^N, so that z(x) z(y) is known from N alone."""
        features = RandomMaclaurin(Polynomial(3, 1.0, -1.0), 50, law=law, random_state=0).fit([[1.0]])
        x, y = np.array([1.3]), np.array([-0.7])
        expected = 50 * features.signature_ * features.weights_**2 * (1.3 * -0.7) ** features.degrees_
        np.testing.assert_allclose(one_column_values(features, x, y), expected, rtol=1e-13)


class TestMoments:
    @pytest.mark.parametrize("law", ["support", "geometric", "proportional"])
    def test_second_moment_of_a_column(self, law: str) -> None:
        """E (one column)^2 = sum_n a_n^2 / pi_n Q^n, Q = E (w.x)^2 (w.y)^2."""
        x, y = np.array([0.8, 0.6]), np.array([0.6, 0.8])  # Q = 1.92, far from both of the wrong ones
        Q = 1 + 2 * (x @ y) ** 2 - 2 * (x**2) @ (y**2)
        n_columns = 100_000
        features = RandomMaclaurin(SIGNED, n_columns, law=law, random_state=3).fit(x[None])
        a, n = SIGNED.maclaurin(4), np.arange(4)
        pi = {
            "support": 0.5**n / (0.5**n).sum(),
            "geometric": 0.5 ** (n + 1),
            "proportional": np.abs(a) / np.abs(a).sum(),
        }[law]
        squares = one_column_values(features, x, y) ** 2
        exact = (a**2 / pi * Q**n).sum()
        assert abs(z_scores(squares, exact)) < 5
        for wrong in ((a**2 / pi).sum(), (a**2 / pi * (1 + 2 * (x @ y) ** 2) ** n).sum()):  # Q of Gaussian vectors
            assert abs(z_scores(squares, wrong)) > 8

    @pytest.mark.parametrize("law", ["support", "geometric", "proportional"])
    def test_degrees_have_their_law(self, law: str) -> None:
        features = RandomMaclaurin(EXP, 20_000, law=law, random_state=1).fit(on_sphere(1, 2))
        a = power_series(EXP, 1e-8, features)
        n = np.arange(len(a))
        pi = {"support": 0.5**n / (0.5**n).sum(), "geometric": 0.5 ** (n + 1), "proportional": a / a.sum()}[law]
        counts = np.bincount(features.degrees_[features.weights_ > 0], minlength=len(a))
        assert chi_square(counts, pi, 20_000) < chi2.ppf(1 - 1e-6, 6)
        nearest = np.array([0.625, 0.1875, *0.75 * 0.5 ** n[2:]])  # the authors' code: nearest entry of a table
        drawn = np.random.default_rng(12345).choice(len(a), 20_000, p=nearest / nearest.sum())
        assert chi_square(np.bincount(drawn, minlength=len(a)), pi, 20_000) > chi2.ppf(1 - 1e-6, 6)

    @pytest.mark.parametrize("law", LAWS)
    @pytest.mark.parametrize("h01", [False, True])
    def test_unbiased(self, law: str, h01: bool) -> None:
        def draw(seed: int) -> RandomMaclaurin:
            return RandomMaclaurin(SIGNED, 400, law=law, h01=h01, random_state=seed).fit(np.eye(4)[:1])

        def without_signs(seed: int) -> RandomMaclaurin:
            features = draw(seed)
            features.signature_ = np.abs(features.signature_)
            return features

        def not_divided_by_pi(seed: int) -> RandomMaclaurin:
            features = draw(seed)
            features.weights_ = np.sqrt(np.abs(SIGNED.maclaurin(4))[features.degrees_] / len(features.degrees_))
            return features

        assert_unbiased(draw, SIGNED, 4, n_draws=100, random_state=0)
        for mutant in (without_signs, not_divided_by_pi):
            with pytest.raises(AssertionError, match="biased"):
                assert_unbiased(mutant, SIGNED, 4, n_draws=100, random_state=0)

    @pytest.mark.parametrize("law", ["support", "geometric", "proportional"])
    def test_one_column_is_unbiased(self, law: str) -> None:
        def draw(seed: int) -> RandomMaclaurin:
            return RandomMaclaurin(SIGNED, 1, law=law, random_state=seed).fit(np.eye(3)[:1])

        assert_unbiased(draw, SIGNED, 3, lags=[0.3, 1.0, 1.7], n_draws=600, random_state=0)

    @pytest.mark.parametrize(
        "kernel", [EXP, Tanh(1.0, -0.5), 2 * EXP - 3 * SIGNED, EXP * SIGNED], ids=["e", "t", "s", "p"]
    )
    def test_series_that_are_cut_off(self, kernel: Any) -> None:
        def draw(seed: int) -> RandomMaclaurin:
            return RandomMaclaurin(kernel, 400, random_state=seed).fit(np.eye(3)[:1])

        assert_unbiased(draw, kernel, 3, n_draws=100, random_state=0)

    @pytest.mark.parametrize("kernel", [Polynomial(2, 1.0, 1.0), Polynomial(3, -0.4, 0.5), Polynomial(3, 0.5, -1.0)])
    @pytest.mark.parametrize("law", LAWS)
    def test_unbiased_off_the_sphere(self, kernel: Polynomial, law: str) -> None:
        X = np.random.default_rng(12345).uniform(0.2, 1.2, size=(6, 3))
        draws = [RandomMaclaurin(kernel, 1000, law=law, random_state=r).fit(X) for r in range(150)]
        values = np.array([features.approximate_kernel(X) for features in draws])
        assert np.abs(z_scores(values, kernel(X))).max() < 5
        wrong = Polynomial(kernel.degree, 1.5 * kernel.gamma, kernel.coef0)
        assert np.abs(z_scores(values, wrong(X))).max() > 8


def chi_square(counts: NDArray[np.int_], pi: Array, n: int, n_cells: int = 7) -> float:
    """Statistic of the first cells, and the rest in one."""
    observed = np.append(counts[: n_cells - 1], n - counts[: n_cells - 1].sum())
    expected = n * np.append(pi[: n_cells - 1], 1 - pi[: n_cells - 1].sum())
    return float(((observed - expected) ** 2 / expected).sum())


class TestError:
    @pytest.mark.parametrize(
        ("options", "bound"), [({}, 0.16), ({"law": "stratified"}, 0.08), ({"law": "geometric"}, 0.24)], ids=str
    )
    def test_width_of_the_rows(self, options: dict[str, Any], bound: float) -> None:
        """In 16 dimensions, random rows; a standard error of the mean of 30 draws is about a tenth of it."""
        X, kernel = on_sphere(200, 16), PolynomialOnSphere(3.0, 1)
        maps = [RandomMaclaurin(kernel, 32, random_state=r, **options).fit(X) for r in range(30)]
        assert np.mean([relative_error(kernel, features, X) for features in maps]) < bound

    def test_stratified_and_h01_have_the_lower_error(self) -> None:
        X, kernel = on_sphere(100, 8), PolynomialOnSphere(4.0, 5)
        error = {}
        for name, options in {"support": {}, "stratified": {"law": "stratified"}, "h01": {"h01": True}}.items():
            maps = [RandomMaclaurin(kernel, 64, random_state=r, **options).fit(X) for r in range(20)]
            error[name] = np.mean([relative_error(kernel, features, X) for features in maps])
        assert error["h01"] < 0.5 * error["support"]
        assert error["stratified"] < 0.7 * error["support"]


class TestSeries:
    def owner(self) -> RandomMaclaurin:
        return RandomMaclaurin()

    def test_polynomials_have_all_their_coefficients(self) -> None:
        for degree in (1, 5, 80):
            assert len(power_series(PolynomialOnSphere(2.0, degree), 1e-8, self.owner())) == degree + 1
            assert len(power_series(Polynomial(degree, 0.5, 0.1), 1e-8, self.owner())) == degree + 1
        np.testing.assert_array_equal(power_series(Polynomial(2, 0.0, 3.0), 1e-8, self.owner()), [9.0])

    @pytest.mark.parametrize("tol", [1e-2, 1e-5, 1e-8])
    def test_a_cut_series_is_the_shortest_within_tol(self, tol: float) -> None:
        kernel = 2 * EXP - 0.5 * EXP * SIGNED
        a = power_series(kernel, tol, self.owner())
        t = np.linspace(-1, 1, 2001)
        exact = 2 * np.exp(t) - 0.5 * np.exp(t) * (2 * t - 1) ** 3
        errors = [np.abs(np.polynomial.polynomial.polyval(t, b) - exact).max() for b in (a, a[:-1])]
        assert errors[0] <= tol * np.abs(exact).max() * 1.001 < errors[1]

    @pytest.mark.parametrize("kernel", [Tanh(), Tanh(3.0, 0.0), ArcCosine(0), 2 * EXP - Tanh()], ids=repr)
    def test_series_that_do_not_converge(self, kernel: Kernel) -> None:
        message = r"kernel must have a Maclaurin series .* by degree 60 for RandomMaclaurin; got .* off"
        with pytest.raises(ValueError, match=message):
            RandomMaclaurin(kernel).fit(np.eye(3))

    def test_a_larger_tol_accepts_a_bias(self) -> None:
        X = np.eye(3)
        assert RandomMaclaurin(ArcCosine(1), tol=0.01).fit(X).transform(X).shape == (3, 100)
        with pytest.raises(ValueError, match="tol must be a finite number > 0; got 0"):
            RandomMaclaurin(tol=0).fit(X)

    @pytest.mark.parametrize("kernel", [Gaussian(), EXP + Gaussian(), -1.0 * Gaussian(), EXP * Gaussian()], ids=repr)
    def test_other_kernels(self, kernel: Kernel) -> None:
        message = "kernel must be a dot-product kernel for RandomMaclaurin: Polynomial, PowerSeries, a DotProductKernel"
        with pytest.raises(TypeError, match=message):
            RandomMaclaurin(kernel).fit(np.eye(3))

    @pytest.mark.parametrize("kernel", [Polynomial(2, 0.0, 0.0), Polynomial(3, 1e200, 1.0), 0 * EXP], ids=repr)
    def test_zero_and_overflow(self, kernel: Kernel) -> None:
        with pytest.raises(ValueError, match="must be finite and not all 0"):
            RandomMaclaurin(kernel).fit(np.eye(3))


class TestPowerSeries:
    """Coefficients of any sign on all of R^d; a mutant is the series without its signs."""

    X = np.random.default_rng(12345).uniform(0.2, 1.0, size=(5, 3))
    kernel = PowerSeries((0.5, -1.0, 0.0, 0.75))

    @pytest.mark.parametrize("law", LAWS)
    @pytest.mark.parametrize("method", ["rm", "ts"])
    def test_unbiased(self, method: str, law: str) -> None:
        options = {"law": law} if method == "rm" else {}
        draws = [make_features(method, self.kernel, 300, random_state=r, **options).fit(self.X) for r in range(150)]
        values = np.array([features.approximate_kernel(self.X) for features in draws])
        assert np.abs(z_scores(values, self.kernel(self.X))).max() < 5
        unsigned = PowerSeries([abs(a) for a in self.kernel.coefficients])
        assert np.abs(z_scores(values, unsigned(self.X))).max() > 8

    def test_h01_of_degree_one_is_exact(self) -> None:
        features = RandomMaclaurin(PowerSeries((-2.0, 0.5)), 4, h01=True).fit(self.X)
        np.testing.assert_array_equal(features.signature_, [-1, 1, 1, 1])
        np.testing.assert_allclose(features.approximate_kernel(self.X), PowerSeries((-2.0, 0.5))(self.X), atol=1e-12)

    def test_sketches_are_those_of_the_polynomial(self) -> None:
        """(1 + t)^2 degree by degree is the series 1 + 2 t + t^2."""
        one = make_features("ts", Polynomial(2), 40, random_state=0, by_degree=True)
        other = make_features("ts", PowerSeries((1, 2, 1)), 40, random_state=0)
        np.testing.assert_array_equal(one.fit_transform(self.X), other.fit_transform(self.X))


class TestShares:
    @pytest.mark.parametrize("a", [[1.0, 2.0], [1.0, -0.5, 0.0, 0.1], [0.0, 1.0, 1.0], [0.0, 0.0, -3.0]])
    @pytest.mark.parametrize("size", [1.0, 4.0])
    def test_least_bound_on_the_variance(self, a: list[float], size: float) -> None:
        coefficients, n = np.array(a), 9
        variances = coefficients**2 * (3.0 ** np.arange(len(a)) - 1) * size ** (2 * np.arange(len(a)))

        def bound(columns: Any) -> float:
            return sum(v / s for v, s in zip(variances, columns, strict=True) if s)

        columns = share_columns(coefficients, size, n)
        assert columns.sum() == n
        assert ((columns > 0) == (coefficients != 0)).all()
        choices = [range(1, n + 1) if c else [0] for c in a]
        best = min(bound(c) for c in itertools.product(*choices) if sum(c) == n)
        assert bound(columns) == pytest.approx(best, rel=1e-12)

    def test_a_constant_takes_one_column(self) -> None:
        assert list(share_columns(np.array([2.0]), 1.0, 9)) == [1]
        X = on_sphere(5, 3)
        features = RandomMaclaurin(Polynomial(2, 0.0, 3.0), law="stratified").fit(X)
        np.testing.assert_allclose(features.approximate_kernel(X), 9.0, rtol=1e-14)

    def test_high_degrees_do_not_overflow(self) -> None:
        columns = share_columns(PolynomialOnSphere(1.5, 900).maclaurin(901), 1.0, 1000)
        assert columns.sum() == 1000


class TestRefusals:
    @pytest.mark.parametrize(
        ("params", "message"),
        [
            ({"law": "uniform"}, r"law must be one of \['geometric', 'proportional', 'stratified', 'support'\]"),
            ({"h01": "yes"}, r"h01 must be one of \[False, True\]; got 'yes'"),
            ({"ratio": 1.0}, "ratio must be greater than 1; got 1.0"),
            ({"ratio": np.nan}, "ratio must be a finite number; got nan"),
            ({"n_components": 2, "law": "stratified"}, r"n_components must be at least 3, .* \(0, 1, 2\); got 2"),
            ({"n_components": 5, "h01": True}, "at least 6 with h01=True: 5 columns are exact, and degrees .* got 5"),
        ],
    )
    def test_parameters(self, params: dict[str, Any], message: str) -> None:
        with pytest.raises(ValueError, match=message):
            RandomMaclaurin(**params).fit(np.eye(4))

    def test_message_names_the_kernel(self) -> None:
        with pytest.raises(TypeError, match=re.escape(repr(Gaussian(2.5)))):
            RandomMaclaurin(Gaussian(2.5)).fit(np.eye(3))
