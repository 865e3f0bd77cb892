"""KreinSVC and KreinSVR against scikit-learn on dense factors of the kernel matrix."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, LinearSVC, LinearSVR

from krein import make_features
from krein.kernels import Gaussian
from krein.learn import KreinSVC, KreinSVR
from krein.learn.inner_product import spectrum, spectrum_of_rows
from krein.learn.solvers import SquaredEpsilonInsensitive, SquaredHinge, newton, weighted_gram

Array = NDArray[np.float64]


def labels(problem: Any, n_classes: int = 2) -> NDArray[Any]:
    return np.array(["a", "b", "c"])[np.digitize(problem.y, [0.0, 0.6][: n_classes - 1])]


def dense_factor(problem: Any, regularization: str, flip: Callable[..., Any]) -> tuple[Array, Array]:
    """Rows whose inner products are |K| for the training rows, and those of new rows in the same coordinates."""
    K, K_new = problem.gram(regularization)
    if regularization == "flip":
        absolute, signs = flip(K)
        K_new = K_new @ signs
    else:
        absolute = K
    eigenvalues, U = np.linalg.eigh(absolute)
    kept = eigenvalues > 1e-11 * eigenvalues.max()
    U, root = U[:, kept], np.sqrt(eigenvalues[kept])
    return U * root, K_new @ U / root


@pytest.mark.parametrize("regularization", ["flip", "hilbert"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_equals_linear_svc_on_the_dense_flipped_kernel(
    problem: Any, flip: Callable[..., Any], regularization: str, n_classes: int
) -> None:
    """Both ends are converged: Newton to rounding, LIBLINEAR's trust region method as far as it goes."""
    y = labels(problem, n_classes)
    ours = KreinSVC(problem.features, C=2.0, regularization=regularization, tol=1e-14).fit(problem.X, y)
    rows, new = dense_factor(problem, regularization, flip)
    reference = LinearSVC(C=2.0, dual=False, tol=1e-12, max_iter=10000).fit(rows, y)
    np.testing.assert_allclose(ours.decision_function(problem.new), reference.decision_function(new), atol=1e-5)
    assert (ours.predict(problem.new) == reference.predict(new)).all()


@pytest.mark.parametrize(("n", "columns"), [(300, 48), (60, 400)])  # fewer and more columns than rows
def test_flip_equals_the_dense_solution(
    make: Callable[..., Any], flip: Callable[..., Any], n: int, columns: int
) -> None:
    """The representer form f = |K| a + b of the same objective, minimised over a by Newton steps of its own."""
    problem = make(n, columns)
    y = np.where(labels(problem) == "b", 1.0, -1.0)
    ours = KreinSVC(problem.features, C=2.0, tol=1e-14).fit(problem.X, y)
    K, K_new = problem.gram("flip")
    absolute, signs = flip(K)
    absolute = absolute + 1.0  # the regularised intercept is one more feature, the constant 1
    a = np.zeros(len(y))
    for _ in range(50):  # stationary: a_i = 2 C (y_i - f_i) where y_i f_i < 1, else 0
        active = y * (absolute @ a) < 1
        a = np.zeros(len(y))
        a[active] = np.linalg.solve(absolute[np.ix_(active, active)] + np.eye(active.sum()) / 4.0, y[active])
        if (active == (y * (absolute @ a) < 1)).all():
            break
    else:
        raise AssertionError("no fixed point")
    expected = K_new @ (signs @ a) + a.sum()
    np.testing.assert_allclose(ours.decision_function(problem.new), expected, rtol=0, atol=1e-8)


@pytest.mark.parametrize("weighted", [True, False])
def test_both_sides_have_the_same_spectrum(make: Callable[..., Any], weighted: bool) -> None:
    """The N x N and the D x D matrix: the eigenvalues, and in the row space the same function for any targets."""
    problem = make(60, 80)
    w = np.random.default_rng(1).integers(0, 4, size=60).astype(float) if weighted else np.ones(60)
    Z, J = problem.Z, problem.fitted.signature_
    rows = spectrum_of_rows(Z, J, w if weighted else None)
    columns = spectrum((Z.T * w) @ Z, J, "flip")
    np.testing.assert_allclose(np.sort(rows.eigenvalues), np.sort(columns.eigenvalues), rtol=1e-9, atol=1e-11)
    R = Z.T @ (w * problem.y)[:, None]
    Z_new = problem.fitted.transform(problem.new)
    np.testing.assert_allclose(Z_new @ rows.weights(0.1, R), Z_new @ columns.weights(0.1, R), rtol=0, atol=1e-9)
    T = rows.orthonormal()
    np.testing.assert_allclose((T.T * J) @ T, np.diag(rows.signs), atol=1e-6)


def test_hinge_equals_svc_on_the_dense_flipped_kernel(problem: Any, flip: Callable[..., Any]) -> None:
    """LIBLINEAR stops at 1e-8 of its own criterion; without an intercept there is nothing to regularise differently."""
    y = labels(problem)
    ours = KreinSVC(
        problem.features, C=1.0, loss="hinge", fit_intercept=False, tol=1e-8, max_iter=200_000, random_state=0
    )
    ours.fit(problem.X, y)
    rows, new = dense_factor(problem, "flip", flip)
    reference = LinearSVC(C=1.0, loss="hinge", fit_intercept=False, tol=1e-8, max_iter=200_000, random_state=1).fit(
        rows, y
    )
    np.testing.assert_allclose(ours.decision_function(problem.new), reference.decision_function(new), atol=1e-3)
    absolute, signs = flip(problem.gram("flip")[0])
    exact = SVC(C=1.0, kernel="precomputed").fit(absolute, y)  # with an intercept that is not regularised
    agreement = np.mean(exact.predict(problem.gram("flip")[1] @ signs) == ours.predict(problem.new))
    assert agreement >= 0.9


@pytest.mark.parametrize("weighted", [True, False])
def test_equals_linear_svc_where_positive_definite(problem: Any, weighted: bool) -> None:
    features = make_features("orf", Gaussian(), 40, 0)
    y = labels(problem)
    w = np.random.default_rng(1).uniform(0.2, 3, size=len(y)) if weighted else None
    for regularization in ("flip", "hilbert"):
        ours = KreinSVC(features, C=2.0, regularization=regularization, tol=1e-14).fit(problem.X, y, sample_weight=w)
        Z = ours.feature_map_.transform(problem.X)
        reference = LinearSVC(C=2.0, dual=False, tol=1e-12, max_iter=10000).fit(Z, y, sample_weight=w)
        np.testing.assert_allclose(ours.decision_function(problem.X), reference.decision_function(Z), atol=1e-5)
        np.testing.assert_allclose(ours.coef_, reference.coef_, atol=1e-4)


@pytest.mark.parametrize("regularization", ["flip", "hilbert"])
@pytest.mark.parametrize("epsilon", [0.0, 0.1])
def test_svr_equals_linear_svr(problem: Any, flip: Callable[..., Any], regularization: str, epsilon: float) -> None:
    ours = KreinSVR(problem.features, C=2.0, epsilon=epsilon, regularization=regularization, tol=1e-14)
    ours.fit(problem.X, problem.y)
    rows, new = dense_factor(problem, regularization, flip)
    reference = LinearSVR(
        C=2.0, epsilon=epsilon, loss="squared_epsilon_insensitive", dual=False, tol=1e-12, max_iter=10000
    )
    np.testing.assert_allclose(ours.predict(problem.new), reference.fit(rows, problem.y).predict(new), atol=1e-5)


def test_svr_with_absolute_loss(problem: Any, flip: Callable[..., Any]) -> None:
    options = {"epsilon": 0.05, "fit_intercept": False, "tol": 1e-8, "max_iter": 200_000}
    ours = KreinSVR(problem.features, loss="epsilon_insensitive", random_state=0, **options).fit(problem.X, problem.y)
    rows, new = dense_factor(problem, "flip", flip)
    reference = LinearSVR(random_state=1, **options).fit(rows, problem.y)
    np.testing.assert_allclose(ours.predict(problem.new), reference.predict(new), atol=1e-3)


@pytest.mark.parametrize(("C", "steps"), [(1e-6, 40), (1.0, 40), (1e4, 40), (1e9, 400)])
@pytest.mark.parametrize("weighted", [True, False])
def test_newton_reaches_the_duality_gap(problem: Any, C: float, steps: int, weighted: bool) -> None:
    """The gap bounds what is left, so this needs no reference solution."""
    rng = np.random.default_rng(2)
    Z = np.column_stack([problem.Z, np.ones(300)])
    c = C * (rng.uniform(0, 2, size=300) if weighted else np.ones(300))
    for loss in (SquaredHinge(np.sign(problem.y)), SquaredEpsilonInsensitive(problem.y, 0.1)):
        gaps = [gap for _, gap in newton(Z, c, loss, 1e-6, weighted_gram(Z, c))]
        assert len(gaps) <= steps
        assert -1e-6 < gaps[-1] <= 1e-6


def test_newton_on_degenerate_rows() -> None:
    """Repeated rows, zero columns, and labels of one kind: nothing is divided by zero."""
    Z = np.zeros((20, 3))
    Z[:, 0] = 1.0
    for y in (np.ones(20), np.repeat([1.0, -1.0], 10)):
        *_, (w, gap) = newton(Z, np.full(20, 1e6), SquaredHinge(y), 1e-8, weighted_gram(Z, np.full(20, 1e6)))
        assert gap <= 1e-8
        assert w[0] == pytest.approx(y.mean(), abs=1e-4)


def test_class_weight_is_a_factor_of_the_loss(problem: Any) -> None:
    y = labels(problem)
    factors = np.where(y == "a", 3.0, 0.5)
    by_class = KreinSVC(problem.features, class_weight={"a": 3.0, "b": 0.5}, regularization="hilbert").fit(problem.X, y)
    by_row = KreinSVC(problem.features, regularization="hilbert").fit(problem.X, y, sample_weight=factors)
    np.testing.assert_allclose(by_class.coef_, by_row.coef_)


def test_probabilities_through_calibration(problem: Any) -> None:
    y = labels(problem, 3)
    calibrated = CalibratedClassifierCV(KreinSVC(problem.features), cv=3).fit(problem.X, y)
    probabilities = calibrated.predict_proba(problem.new)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert np.mean(calibrated.predict(problem.X) == y) > 0.8


def test_too_few_steps_are_reported(problem: Any) -> None:
    with pytest.warns(ConvergenceWarning, match="relative duality gap must be at most tol=1e-10; got .* after 1 steps"):
        KreinSVC(problem.features, tol=1e-10, max_iter=1).fit(problem.X, labels(problem))


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"C": 0.0}, "C must be a finite number > 0"),
        ({"loss": "squared"}, "loss must be one of"),
        ({"regularization": "krein"}, "regularization must be one of"),
        ({"max_iter": 0}, "max_iter must be an integer >= 1"),
    ],
)
def test_wrong_parameters(problem: Any, params: dict[str, Any], message: str) -> None:
    for machine in (KreinSVC, KreinSVR):
        with pytest.raises(ValueError, match=message):
            machine(problem.features, **params).fit(problem.X, problem.y > 0)
    with pytest.raises(ValueError, match="epsilon must be >= 0; got -1"):
        KreinSVR(problem.features, epsilon=-1.0).fit(problem.X, problem.y)
