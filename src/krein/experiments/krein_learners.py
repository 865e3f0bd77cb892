"""krein's own learners as the experiments use them: on the flipped spectrum, which is safe for every kernel.

For classification C is that of the paper. For regression nothing is: KreinRidge takes alpha by generalised
cross-validation, KreinSVR takes C and epsilon by five-fold cross-validation, both within the training rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sklearn.model_selection import GridSearchCV

from krein.learn import KreinRidge, KreinRidgeClassifier, KreinSVC, KreinSVR

Maker = Callable[[Any], Any]  # a feature map -> an unfitted learner

C = 1000.0  # as in the paper
SVR_GRID = {"C": [1.0, 10.0, 100.0, 1e3, 1e4], "epsilon": [0.1, 1.0]}


def _searched_svr(features: Any) -> GridSearchCV:
    machine = KreinSVR(features, regularization="flip")
    return GridSearchCV(machine, SVR_GRID, scoring="neg_root_mean_squared_error", cv=5, error_score="raise")


KREIN_CLASSIFIERS: Mapping[str, Maker] = {
    "KreinSVC": lambda features: KreinSVC(features, C=C, regularization="flip"),
    "KreinRidgeClassifier": lambda features: KreinRidgeClassifier(features, regularization="flip"),
}
KREIN_REGRESSORS: Mapping[str, Maker] = {
    "KreinSVR": _searched_svr,
    "KreinRidge": lambda features: KreinRidge(features, regularization="flip"),
}
