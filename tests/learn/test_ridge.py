"""KreinRidge against the dense N x N solution, scikit-learn, and brute-force cross-validation."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge, RidgeClassifier

from krein import make_features
from krein.exceptions import NearEigenvalueWarning
from krein.kernels import Gaussian, PolynomialOnSphere
from krein.learn import KreinRidge, KreinRidgeClassifier, KreinSVR
from krein.learn.inner_product import spectrum

Array = NDArray[np.float64]
ALPHA = 0.37  # 1 / min_j |lambda_j + alpha| is below 10, so that rounding is far below the 1e-8 asked for
REGULARIZATIONS = ("krein", "flip", "hilbert")


@pytest.mark.parametrize("regularization", REGULARIZATIONS)
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize(("n", "columns"), [(300, 48), (60, 400)])  # fewer and more columns than rows
def test_equals_the_dense_solution(
    make: Callable[..., Any],
    dense: Callable[..., Array],
    regularization: str,
    intercept: bool,
    weighted: bool,
    n: int,
    columns: int,
) -> None:
    problem = make(n, columns)
    w = np.random.default_rng(1).uniform(0.5, 3, size=n) if weighted else None
    ridge = KreinRidge(problem.features, ALPHA, regularization=regularization, fit_intercept=intercept)
    ridge.fit(problem.X, problem.y, sample_weight=w)
    K, K_new = problem.gram(regularization)
    expected = dense(K, K_new, problem.y, ALPHA, flip=regularization == "flip", intercept=intercept, w=w)[:, 0]
    np.testing.assert_allclose(ridge.predict(problem.new), expected, rtol=0, atol=1e-8)
    coefs, intercepts = ridge.coef_path([0.1, ALPHA])
    np.testing.assert_allclose(
        problem.fitted.transform(problem.new) @ coefs[1] + intercepts[1], expected, rtol=0, atol=1e-8
    )


def test_the_three_regularizations_differ(problem: Any) -> None:
    """A test of equality with three dense solutions that were the same would say little."""
    found = [
        KreinRidge(problem.features, ALPHA, regularization=name).fit(problem.X, problem.y).predict(problem.new)
        for name in REGULARIZATIONS
    ]
    for a, b in ((0, 1), (0, 2), (1, 2)):
        assert np.abs(found[a] - found[b]).max() > 1e-2


@pytest.mark.parametrize("name", ["nystroem", "rm", "srf"])
def test_other_maps(dense: Callable[..., Array], problem: Any, name: str) -> None:
    """Only the protocol of a map is used: landmarks, sketches and cosines of another kind."""
    X, new = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (problem.X, problem.new))
    features = make_features(name, PolynomialOnSphere(1.2, 2) if name == "rm" else problem.features.kernel, 40, 0)
    ridge = KreinRidge(features, ALPHA).fit(X, problem.y)
    K, K_new = ridge.feature_map_.approximate_kernel(X), ridge.feature_map_.approximate_kernel(new, X)
    expected = dense(K, K_new, problem.y, ALPHA)[:, 0]
    np.testing.assert_allclose(ridge.predict(new), expected, rtol=0, atol=1e-8)


@pytest.mark.parametrize("regularization", REGULARIZATIONS)
@pytest.mark.parametrize("alpha", [ALPHA, "auto"])
def test_equals_scikit_learn_where_positive_definite(problem: Any, regularization: str, alpha: Any) -> None:
    features = make_features("orf", Gaussian(), 40, 0)
    Y = np.column_stack([problem.y, problem.X[:, 0] ** 2])
    ridge = KreinRidge(features, alpha, regularization=regularization).fit(problem.X, Y)
    Z = ridge.feature_map_.transform(problem.X)
    reference = Ridge(alpha=ridge.alpha_).fit(Z, Y)
    assert ridge.coef_.shape == reference.coef_.shape
    expected = reference.predict(ridge.feature_map_.transform(problem.new))
    np.testing.assert_allclose(ridge.predict(problem.new), expected, rtol=0, atol=1e-8)


@pytest.mark.parametrize("regularization", REGULARIZATIONS)
def test_scores_are_those_of_generalised_cross_validation(problem: Any, regularization: str) -> None:
    """From the dense hat matrix H = K (K + alpha I)^-1 of the centred problem, for two targets."""
    alphas = np.array([3.0, 0.37, 0.05])
    Y = np.column_stack([problem.y, np.cos(problem.X[:, 0])])
    ridge = KreinRidge(problem.features, alphas=alphas, regularization=regularization).fit(problem.X, Y)
    n = len(Y)
    centring = np.eye(n) - 1 / n
    K = centring @ problem.gram(regularization)[0] @ centring
    eigenvalues, U = np.linalg.eigh(K)
    if regularization == "flip":
        eigenvalues = np.abs(eigenvalues)
    for alpha, score in zip(alphas, ridge.scores_, strict=True):
        H = (U * eigenvalues / (eigenvalues + alpha)) @ U.T
        residual = centring @ Y - H @ Y
        expected = (n - 1) * (residual**2).sum() / (n - 1 - np.trace(H)) ** 2
        assert score == pytest.approx(expected, rel=1e-8)
    assert ridge.alpha_ == alphas[np.argmin(ridge.scores_)]


def test_auto_is_near_the_best_alpha(make: Callable[..., Any]) -> None:
    """The error on new rows at the chosen alpha is within 10 % of the smallest error over the path."""
    problem = make(600, 64)
    train, test = slice(300), slice(300, None)
    for regularization in REGULARIZATIONS:
        ridge = KreinRidge(problem.features, regularization=regularization).fit(problem.X[train], problem.y[train])
        coefs, intercepts = ridge.coef_path(ridge.alphas_)
        Z = ridge.feature_map_.transform(problem.X[test])
        errors = ((Z @ coefs.T + intercepts - problem.y[test, None]) ** 2).mean(axis=0)
        chosen = ((ridge.predict(problem.X[test]) - problem.y[test]) ** 2).mean()
        assert chosen < 1.1 * errors.min()


# ---- near an eigenvalue ----


def pole(problem: Any) -> float:
    """Minus the most negative eigenvalue of the centred kernel matrix."""
    Z = problem.Z - problem.Z.mean(axis=0)
    return -float(np.linalg.eigvalsh((Z * problem.fitted.signature_) @ Z.T)[0])


@pytest.mark.parametrize("relative", [1e-3, 1e-6, 1e-10, 0.0])
def test_warning_near_an_eigenvalue_gives_advice_that_helps(problem: Any, relative: float) -> None:
    alpha = pole(problem) * (1 + relative)
    with pytest.warns(NearEigenvalueWarning, match="alpha='auto' looks for one that is not near"):
        ridge = KreinRidge(problem.features, alpha).fit(problem.X, problem.y)
    assert np.isfinite(ridge.predict(problem.new)).all()
    with warnings.catch_warnings(action="error"):
        assert KreinRidge(problem.features).fit(problem.X, problem.y).score(problem.X, problem.y) > 0.9
        for name in ("flip", "hilbert"):
            assert KreinRidge(problem.features, alpha, regularization=name).fit(problem.X, problem.y).alpha_ == alpha


def test_fitted_values_that_grow_are_reported(problem: Any) -> None:
    """Ten per cent away from the largest of negative eigenvalues is far enough for arithmetic, but not for a fit."""
    alpha = 0.9 * pole(problem)
    with pytest.warns(NearEigenvalueWarning, match="multiplied by 9 in its direction"):
        ridge = KreinRidge(problem.features, alpha).fit(problem.X, problem.y)
    assert ridge.score(problem.X, problem.y) < 0


def test_kernel_ridge_blows_up_where_auto_does_not(problem: Any) -> None:
    Z = problem.Z - problem.Z.mean(axis=0)
    K = (Z * problem.fitted.signature_) @ Z.T
    y = problem.y - problem.y.mean()
    alpha = pole(problem) * (1 + 1e-6)
    assert KernelRidge(alpha=alpha, kernel="precomputed").fit(K, y).score(K, y) < -10
    assert KreinRidge(problem.features).fit(problem.X, problem.y).score(problem.X, problem.y) > 0.9


def test_an_alpha_that_is_an_eigenvalue_leaves_its_direction_out() -> None:
    decomposed = spectrum(np.diag([4.0, 1.0]), np.array([1.0, -1.0]), "krein")
    np.testing.assert_allclose(decomposed.weights(1.0, np.array([[10.0], [3.0]])), [[2.0], [0.0]], atol=1e-15)
    assert decomposed.amplification(np.array([1.0])) == np.inf


# ---- the rest of the contract ----


def test_multi_output_equals_single_outputs(problem: Any) -> None:
    Y = np.column_stack([problem.y, problem.X])
    together = KreinRidge(problem.features, ALPHA).fit(problem.X, Y)
    for j in range(4):
        alone = KreinRidge(problem.features, ALPHA).fit(problem.X, Y[:, j])
        np.testing.assert_allclose(together.predict(problem.new)[:, j], alone.predict(problem.new), rtol=0, atol=1e-10)
        np.testing.assert_allclose(together.coef_[j], alone.coef_, rtol=0, atol=1e-8)
        assert together.intercept_[j] == pytest.approx(alone.intercept_, abs=1e-10)


def test_targets_far_from_zero_lose_no_digits(problem: Any) -> None:
    near, far = (KreinRidge(problem.features).fit(problem.X, problem.y + shift) for shift in (0, 1e8))
    assert near.alpha_ == far.alpha_
    # the targets themselves are rounded at 1e-8; the ridge multiplies that by no more than its norm, here below 10
    np.testing.assert_allclose(far.predict(problem.new) - 1e8, near.predict(problem.new), rtol=0, atol=1e-6)


def test_float32_stays_float32(problem: Any) -> None:
    ridge = KreinRidge(problem.features, ALPHA).fit(problem.X, problem.y)
    small = KreinRidge(problem.features, ALPHA).fit(problem.X.astype(np.float32), problem.y)
    assert small.predict(problem.new.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(small.predict(problem.new.astype(np.float32)), ridge.predict(problem.new), atol=1e-3)


@pytest.mark.parametrize("weights", [None, "balanced", {0: 3.0, 1: 0.5}])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_classifier_equals_scikit_learn(problem: Any, weights: Any, n_classes: int) -> None:
    features = make_features("orf", Gaussian(), 40, 0)
    y = np.digitize(problem.y, [0.0, 0.5][: n_classes - 1])
    ours = KreinRidgeClassifier(features, ALPHA, class_weight=weights).fit(problem.X, y)
    Z = ours.feature_map_.transform(problem.X)
    reference = RidgeClassifier(alpha=ALPHA, class_weight=weights).fit(Z, y)
    np.testing.assert_allclose(ours.decision_function(problem.X), reference.decision_function(Z), rtol=0, atol=1e-8)
    assert (ours.predict(problem.X) == reference.predict(Z)).all()


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"alpha": -1.0}, "alpha must be a finite number > 0; got -1"),
        ({"alpha": "best"}, "alpha must be a number > 0 or 'auto'; got 'best'"),
        ({"alpha": 1.0, "alphas": [1.0]}, "alphas must be None unless alpha='auto'"),
        ({"alphas": [1.0, 0.0]}, "alphas must be numbers > 0"),
        ({"alphas": []}, "alphas must be numbers > 0"),
        ({"regularization": "none"}, "regularization must be one of"),
        ({"callback": 3}, "callback must be None or a callable"),
    ],
)
def test_wrong_parameters(problem: Any, params: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        KreinRidge(problem.features, **params).fit(problem.X, problem.y)


@pytest.mark.parametrize("learner", [KreinRidge(random_state=0), KreinRidge(alpha=1.0), KreinSVR()])
def test_targets_whose_squares_overflow(problem: Any, learner: Any) -> None:
    with pytest.raises(ValueError, match=r"y must have no absolute value above 1e\+150, .*; got .*e\+200\. Divide y"):
        learner.fit(problem.X, 1e200 * problem.y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert learner.fit(problem.X, 1e149 * problem.y).score(problem.X, 1e149 * problem.y) > 0.5


def test_weights_that_do_not_count_rows(problem: Any) -> None:
    with pytest.raises(ValueError, match="multiply sample_weight by a constant"):
        KreinRidge(problem.features).fit(problem.X, problem.y, sample_weight=np.full(300, 1e-6))


def test_class_weights_that_leave_nothing(problem: Any) -> None:
    for wrong in ({0: 0.0, 1: 0.0}, {0: -1.0, 1: 1.0}):
        with pytest.raises(ValueError, match="class_weight must have weights >= 0, not zero for every row"):
            KreinRidgeClassifier(problem.features, class_weight=wrong).fit(problem.X, (problem.y > 0).astype(int))


@pytest.mark.parametrize(("n", "columns"), [(10, 64), (30, 256), (150, 400)])
def test_weights_are_repeated_rows_where_alpha_is_smallest(n: int, columns: int) -> None:
    """Far from the rows too, which see directions of rounding errors: those are left out, whatever their sums were."""
    rng = np.random.default_rng(n)
    X, y, times = rng.uniform(size=(n, 30)), rng.normal(size=n), rng.integers(1, 5, size=n)
    features = make_features("gorf-blocks", Gaussian(2.0), columns, 0)
    weighted, repeated = KreinRidge(features), KreinRidge(features)
    order = rng.permutation(n)
    weighted.fit(X[order], y[order], sample_weight=times[order])
    repeated.fit(X.repeat(times, axis=0), y.repeat(times))
    for ridge in (weighted, repeated):
        assert len(ridge._spectrum(ridge._centred()).eigenvalues) == n - 1
        assert ridge.alpha_ == ridge.alphas_[-1]
    elsewhere = rng.normal(size=(50, 30))
    np.testing.assert_allclose(weighted.predict(elsewhere), repeated.predict(elsewhere), rtol=0, atol=1e-11)
