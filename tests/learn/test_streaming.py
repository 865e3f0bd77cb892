"""Sums over batches: equal to one fit in any order; what is left after an interruption; progress."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import krein.learn.base
from krein.features import GramAccumulator, gram
from krein.learn import KreinPCA, KreinRidge, KreinRidgeClassifier, KreinSVC


@pytest.mark.parametrize("weighted", [True, False])
def test_gram(problem: Any, weighted: bool) -> None:
    X = np.tile(problem.X, (8, 1))  # 2400 rows: blocks of 1024 and a rest
    w = np.random.default_rng(3).uniform(0, 2, size=len(X)) if weighted else None
    Z, D = problem.fitted.transform(X), np.diag(np.ones(len(X)) if w is None else w)
    G, R = gram(problem.fitted, X, X, sample_weight=w)
    np.testing.assert_allclose(G, Z.T @ D @ Z, rtol=1e-12, atol=1e-10)
    np.testing.assert_allclose(R, Z.T @ D @ X, rtol=1e-12, atol=1e-10)
    assert (G == G.T).all()
    assert gram(problem.fitted, X.astype(np.float32))[0].dtype == np.float64
    with pytest.raises(ValueError, match="needs rows"):
        _ = GramAccumulator().G


@pytest.mark.parametrize("regularization", ["krein", "flip", "hilbert"])
@pytest.mark.parametrize("alpha", [0.37, "auto"])
def test_ridge_in_batches(problem: Any, regularization: str, alpha: Any) -> None:
    """The same up to rounding of the sums, 1e-13 of them, times the conditioning, below 1e4."""
    make = lambda: KreinRidge(problem.features, alpha, regularization=regularization)  # noqa: E731
    w = np.random.default_rng(3).integers(1, 4, size=300).astype(float)
    whole = make().fit(problem.X, problem.y, w)
    for order in (np.arange(300), np.random.default_rng(4).permutation(300)):
        parts = make()
        for rows in np.array_split(order, 7):
            parts.partial_fit(problem.X[rows], problem.y[rows], w[rows])
        assert parts.alpha_ == pytest.approx(whole.alpha_, rel=1e-9)
        np.testing.assert_allclose(parts.predict(problem.new), whole.predict(problem.new), rtol=0, atol=1e-8)


def test_classifier_in_batches(problem: Any) -> None:
    y = np.digitize(problem.y, [0.0, 0.6])
    whole, parts = KreinRidgeClassifier(problem.features).fit(problem.X, y), KreinRidgeClassifier(problem.features)
    for rows in np.array_split(np.argsort(y), 5):  # the first batch has only one of the classes
        parts.partial_fit(problem.X[rows], y[rows], classes=[2, 1, 0])
    np.testing.assert_allclose(parts.decision_function(problem.new), whole.decision_function(problem.new), atol=1e-8)


def test_pca_in_batches(problem: Any) -> None:
    whole, parts = KreinPCA(problem.features, 5).fit(problem.X), KreinPCA(problem.features, 5)
    for rows in np.array_split(np.random.default_rng(4).permutation(300), 7):
        parts.partial_fit(problem.X[rows])
    np.testing.assert_allclose(parts.transform(problem.new), whole.transform(problem.new), atol=1e-8)
    parts.partial_fit(problem.X)  # and after transform there may come more
    np.testing.assert_allclose(parts.eigenvalues_, 2 * whole.eigenvalues_, rtol=1e-10)


def test_wrong_batches(problem: Any) -> None:
    ridge = KreinRidge(problem.features).partial_fit(problem.X, problem.y)
    with pytest.raises(ValueError, match="same number of targets in every batch"):
        ridge.partial_fit(problem.X, problem.X)
    classifier = KreinRidgeClassifier(problem.features)
    with pytest.raises(ValueError, match="classes must be given in the first call"):
        classifier.partial_fit(problem.X, problem.y > 0)
    classifier.partial_fit(problem.X, problem.y > 0, classes=[False, True])
    with pytest.raises(ValueError, match="y must have no other values than classes"):
        classifier.partial_fit(problem.X, np.full(300, 3))
    with pytest.raises(ValueError, match="classes must be those of the first call"):
        classifier.partial_fit(problem.X, problem.y > 0, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="got 'balanced', which needs all rows"):
        KreinRidgeClassifier(problem.features, class_weight="balanced").partial_fit(problem.X, problem.y > 0, [0, 1])


class Stop(Exception):
    """What a callback raises here in place of Ctrl-C."""


def stop_at(stage: str, step: int) -> Any:
    def callback(name: str, done: int, total: int) -> None:
        if name == stage and done >= step:
            raise Stop

    return callback


def test_an_interrupted_ridge_has_the_rows_so_far(problem: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(krein.learn.base, "CHUNK_ROWS", 100)
    ridge = KreinRidge(problem.features, callback=stop_at("rows", 200))
    with pytest.raises(Stop):
        ridge.fit(problem.X, problem.y)
    shift = problem.y.mean()  # of all rows: a constant that only rounding depends on
    expected = KreinRidge(problem.features).fit(problem.X[:200], problem.y[:200]).predict(problem.new)
    assert shift != problem.y[:200].mean()
    np.testing.assert_allclose(ridge.predict(problem.new), expected, atol=1e-8)
    ridge.set_params(callback=None).partial_fit(problem.X[200:], problem.y[200:])  # and the rest can follow
    expected = KreinRidge(problem.features).fit(problem.X, problem.y).predict(problem.new)
    np.testing.assert_allclose(ridge.predict(problem.new), expected, atol=1e-8)


def test_an_interrupted_machine_keeps_its_iterates(problem: Any) -> None:
    y = np.digitize(problem.y, [0.0, 0.6])
    machine = KreinSVC(problem.features, callback=stop_at("machines", 2))
    with pytest.raises(Stop):
        machine.fit(problem.X, y)
    whole = KreinSVC(problem.features).fit(problem.X, y)
    np.testing.assert_allclose(
        machine.decision_function(problem.new)[:, :2], whole.decision_function(problem.new)[:, :2]
    )
    assert (machine.coef_[2] == 0).all()
    machine.set_params(callback=stop_at("rows", 1))
    with pytest.raises(Stop):
        machine.fit(problem.X, y)
    with pytest.raises(NotFittedError):  # nothing of the old fit is mixed with the new map
        machine.predict(problem.new)


def test_progress(problem: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(krein.learn.base, "CHUNK_ROWS", 100)
    seen: list[tuple[str, int, int]] = []
    KreinPCA(problem.features, 2, callback=lambda *step: seen.append(step), verbose=True).fit(problem.X)
    assert seen == [("rows", 100, 300), ("rows", 200, 300), ("rows", 300, 300)]
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "rows       [" + 30 * "#" + "] 300 / 300\n" in shown.err
