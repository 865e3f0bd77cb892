"""As the width grows, the learners tend to the solutions with the exact kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from krein import make_features
from krein.learn import KreinRidge, KreinSVC

WIDTHS = (32, 128, 512)


@pytest.mark.parametrize("regularization", ["krein", "flip"])
def test_ridge_tends_to_the_exact_kernel(problem: Any, dense: Callable[..., Any], regularization: str) -> None:
    """The error of independent frequencies falls as 1/sqrt(width): by 4 in all; 2.5 is asked."""
    kernel = problem.features.kernel
    X, y = problem.X[:150], problem.y[:150]
    exact = dense(kernel(X), kernel(problem.new, X), y, 20.0, flip=regularization == "flip")[:, 0]
    errors = []
    for width in WIDTHS:
        draws = [
            KreinRidge(make_features("grff", kernel, width, seed), 20.0, regularization=regularization).fit(X, y)
            for seed in range(4)
        ]
        errors.append(np.sqrt(np.mean([(ridge.predict(problem.new) - exact) ** 2 for ridge in draws])))
    assert errors[0] > 2.5 * errors[2]
    assert errors[2] < 0.5 * exact.std()


def test_svc_tends_to_the_exact_kernel(problem: Any, flip: Callable[..., Any]) -> None:
    kernel = problem.features.kernel
    X, y = problem.X[:150], np.where(problem.y[:150] > 0, 1.0, -1.0)
    absolute, signs = flip(kernel(X))
    absolute = absolute + 1
    a = np.zeros(len(y))
    for _ in range(50):
        active = y * (absolute @ a) < 1
        a = np.zeros(len(y))
        a[active] = np.linalg.solve(absolute[np.ix_(active, active)] + np.eye(active.sum()) / 2.0, y[active])
    exact = kernel(problem.new, X) @ (signs @ a) + a.sum()
    errors = []
    for width in WIDTHS:
        machines = [KreinSVC(make_features("grff", kernel, width, seed)).fit(X, y) for seed in range(4)]
        errors.append(np.sqrt(np.mean([(machine.decision_function(problem.new) - exact) ** 2 for machine in machines])))
    assert errors[0] > 2.5 * errors[2]
    assert errors[2] < 0.5 * exact.std()
