"""Predictions from the features: accuracy (Figure 3) and root mean square error (Tables III and IV).

The linear learner is the one of the paper, LIBLINEAR with C = 1000: squared hinge or squared epsilon-insensitive loss,
solved in the primal, without an intercept, to the tolerances that LIBLINEAR has by default (for the regression in its
recent versions; ten times more ends early, with larger errors). The dual solvers do not converge at this C.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.frozen import FrozenEstimator
from sklearn.svm import LinearSVC, LinearSVR

from krein.experiments.cells import Cell
from krein.experiments.krein_learners import KREIN_CLASSIFIERS, KREIN_REGRESSORS, C, Maker
from krein.experiments.methods import BASELINES, GORF, METHODS, Method
from krein.experiments.setting import KERNELS, Array, dataset, frequencies_per_sign

POSITIVE = ":positive"  # ends the name of a method that has the columns of positive signature only, as in the paper


@dataclass(frozen=True)
class Learned:
    """Features and what is fitted to them.

    Parameters
    ----------
    title : str
    features : Method
    positive_only : bool, default=False
        Give the learner the columns of positive signature only.
    published : str or None, default=None
        Row of the paper that this reproduces.
    learner : str or None, default=None
        Name of one of krein's own learners; None is LIBLINEAR on the real columns.
    """

    title: str
    features: Method
    positive_only: bool = False
    published: str | None = None
    learner: str | None = None


def learned_methods(kernel: str, own: Iterable[str], schemes: Iterable[str]) -> dict[str, Learned]:
    """All methods for a kernel by name, LIBLINEAR first, then krein's own learners on features of these schemes."""
    found = {}
    for name, method in METHODS[kernel].items():
        if name in BASELINES:
            found[name] = Learned(method.title, method, published=method.published)
        elif method.published:
            title = f"{method.title}, positive part only"
            found[name + POSITIVE] = Learned(title, method, True, method.published)
        if name not in BASELINES and method.published != "GRFF" and name != "gorf":
            found[name] = Learned(f"{method.title}, all columns", method)
    for scheme, learner in product(schemes, own):
        name = learner if scheme == "optimal" else f"{learner}:{scheme}"
        found[name] = Learned(f"{learner} on {scheme} features", METHODS[kernel][scheme], learner=learner)
    return found


CLASSIFIED = {kernel: learned_methods(kernel, KREIN_CLASSIFIERS, ["optimal"]) for kernel in METHODS}
REGRESSED = {kernel: learned_methods(kernel, KREIN_REGRESSORS, [gorf, "optimal"]) for kernel, gorf in GORF.items()}


def measure_accuracy(cell: Cell) -> dict[str, Any]:
    """Share of test rows that are classified rightly."""
    learner = LinearSVC(C=C, dual=False, fit_intercept=False, tol=0.01, max_iter=10_000)
    predicted, measured = _predict(cell, CLASSIFIED[cell.kernel][cell.method], KREIN_CLASSIFIERS, learner)
    return {"accuracy": float(np.mean(predicted == dataset(cell.data, cell.rep).y_test)), **measured}


def measure_rmse(cell: Cell) -> dict[str, Any]:
    """Root mean square error on the test rows, in the units of the target."""
    learner = LinearSVR(
        C=C, epsilon=0.1, loss="squared_epsilon_insensitive", dual=False, fit_intercept=False, tol=1e-4, max_iter=10_000
    )
    predicted, measured = _predict(cell, REGRESSED[cell.kernel][cell.method], KREIN_REGRESSORS, learner)
    return {"rmse": float(np.sqrt(np.mean((predicted - dataset(cell.data, cell.rep).y_test) ** 2))), **measured}


def _predict(
    cell: Cell, method: Learned, own: Mapping[str, Maker], liblinear: BaseEstimator
) -> tuple[Array, dict[str, Any]]:
    """Predictions for the test rows of this repetition's split, and columns and times."""
    data = dataset(cell.data, cell.rep)
    s = frequencies_per_sign(cell.size, data.X_train.shape[1])
    features = method.features.make(KERNELS[cell.kernel], s, cell.seed).fit(data.X_train)
    chosen = features.signature_ > 0 if method.positive_only else slice(None)
    about: dict[str, Any] = {"columns": len(features.signature_[chosen])}
    if method.learner is not None:  # a machine of krein takes the map, here the fitted one
        start = perf_counter()
        model = own[method.learner](FrozenEstimator(features)).fit(data.X_train, data.y_train)
        about["learn_seconds"] = round(perf_counter() - start, 6)
        return model.predict(data.X_test), about
    Z = features.transform(data.X_train)[:, chosen]
    start = perf_counter()
    liblinear.fit(Z, data.y_train)
    about["learn_seconds"] = round(perf_counter() - start, 6)
    about["converged"] = bool(np.max(liblinear.n_iter_) < liblinear.max_iter)
    return liblinear.predict(features.transform(data.X_test)[:, chosen]), about
