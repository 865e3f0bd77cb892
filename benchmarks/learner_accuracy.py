"""KreinSVC on the data sets of the paper: against the exact kernel, and against the setting of the paper.

    python benchmarks/learner_accuracy.py [--data letter ijcnn1] [--draws 10] [--rows 2000]

The kernel is the delta-Gaussian (1, -1; 1, 10), the features have s = 8 d frequencies per sign (32 d columns).

Part 1: on a subset of the training rows, the Krein SVM with the exact kernel matrix (its spectrum flipped) against
KreinSVC, each with its own C from 3-fold cross-validation. The exit status is 1 if the test accuracies of KreinSVC,
averaged over draws, are more than 0.3 points below.

Part 2: all training rows. KreinSVC with the C found by 3-fold cross-validation inside the training rows, with a draw
of its own, against the L2-loss machine of the paper (C = 1000, no intercept) on the columns of the *same* draw of
``gorf-blocks``: the columns of the positive part only, which is what the published code used, and all columns. The
exit status is 1 if the mean over draws is below that of the paper, or a draw more than 0.3 points below.

The machine of the paper is solved to a relative duality gap of 1e-6 by Newton's method; ``--liblinear`` calls LIBLINEAR
as the paper does (its dual solver, 1000 passes), which takes minutes per draw and does not converge at this C.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import LinearSVC

from krein import make_features
from krein.datasets import load
from krein.datasets.dataset import Dataset
from krein.kernels import DeltaGaussian, Kernel
from krein.learn import KreinSVC
from krein.learn.solvers import SquaredHinge, newton, weighted_gram

Array = NDArray[np.float64]
KERNEL = DeltaGaussian(weights=(1.0, -1.0), scales=(1.0, 10.0))
GRID = (1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6)
PAPER_C = 1000.0
ALLOWED = 0.3  # points of accuracy


class ExactKreinSVC(ClassifierMixin, BaseEstimator):
    """The L2-loss Krein SVM with an exact kernel matrix: N^2 memory and N^3 operations."""

    def __init__(self, kernel: Kernel, C: float = 1.0) -> None:
        self.kernel = kernel
        self.C = C

    def fit(self, X: Array, y: Array) -> Self:
        eigenvalues, U = np.linalg.eigh(self.kernel(X))
        kept = np.abs(eigenvalues) > 1e-12 * np.abs(eigenvalues).max()
        eigenvalues, U = eigenvalues[kept], U[:, kept]
        rows = np.column_stack([U * np.sqrt(np.abs(eigenvalues)), np.ones(len(X))])
        weights = solve_squared_hinge(rows, y, self.C)
        self.rows_, self.classes_ = X, np.unique(y)
        self.coef_ = U @ (np.sign(eigenvalues) / np.sqrt(np.abs(eigenvalues)) * weights[:-1])
        self.intercept_ = weights[-1]
        return self

    def predict(self, X: Array) -> Array:
        parts = [self.kernel(part, self.rows_) @ self.coef_ for part in np.array_split(X, -(-len(X) // 4096))]
        return self.classes_[(np.concatenate(parts) + self.intercept_ > 0).astype(int)]


def solve_squared_hinge(rows: Array, y: Array, C: float) -> Array:
    c = np.full(len(rows), C)
    *_, (weights, _) = newton(rows, c, SquaredHinge(y), 1e-6, weighted_gram(rows, c))
    return weights


def paper_accuracy(features: Any, data: Dataset, *, positive_only: bool, liblinear: bool) -> float:
    """Test accuracy in percent of the L2-loss machine of the paper, on the columns as they are."""
    columns = features.signature_ > 0 if positive_only else slice(None)
    rows = features.transform(data.X_train)[:, columns]
    if liblinear:
        with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
            weights = LinearSVC(C=PAPER_C, fit_intercept=False, dual=True).fit(rows, data.y_train).coef_[0]
    else:
        weights = solve_squared_hinge(rows, data.y_train, PAPER_C)
    return float(100 * np.mean(np.sign(features.transform(data.X_test)[:, columns] @ weights) == data.y_test))


def krein_svc(dim: int, seed: int, scheme: str, s: int, C: float = 1.0) -> KreinSVC:
    return KreinSVC(make_features(scheme, KERNEL, 4 * s * dim, seed), C=C)


def best(machine: Any, X: Array, y: Array) -> float:
    """C of the best mean accuracy in 3-fold cross-validation, the smallest of equals."""
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    return float(GridSearchCV(machine, {"C": GRID}, cv=folds, refit=False).fit(X, y).best_params_["C"])


def against_exact(data: Dataset, n_rows: int, draws: int, scheme: str, s: int) -> float:
    """Points of test accuracy that KreinSVC has more than the exact kernel, on a subset."""
    dim = data.X_train.shape[1]
    chosen = np.random.default_rng(0).permutation(len(data.X_train))[:n_rows]
    X, y = data.X_train[chosen], data.y_train[chosen]
    exact = ExactKreinSVC(KERNEL)
    exact.set_params(C=best(exact, X, y))
    reference = 100 * exact.fit(X, y).score(data.X_test, data.y_test)
    C = best(krein_svc(dim, draws, scheme, s), X, y)
    found = [
        100 * krein_svc(dim, draw, scheme, s, C).fit(X, y).score(data.X_test, data.y_test) for draw in range(draws)
    ]
    difference = float(np.mean(found) - reference)
    print(f"  {len(X)} training rows, exact kernel, C = {exact.C:g}: {reference:.2f} %")
    print(f"  KreinSVC, C = {C:g}: mean {np.mean(found):.2f} % over {draws} draws ({difference:+.2f})", flush=True)
    return difference


def against_paper(data: Dataset, draws: int, scheme: str, s: int, liblinear: bool) -> Array:
    """Points of test accuracy that KreinSVC has more than the paper, of shape (2, draws): positive columns, all."""
    dim = data.X_train.shape[1]
    C = best(krein_svc(dim, draws, scheme, s), data.X_train, data.y_train)
    print(f"  all {len(data.X_train)} training rows, C = {C:g} by cross-validation", flush=True)
    differences = np.empty((2, draws))
    for draw in range(draws):
        ours = 100 * krein_svc(dim, draw, scheme, s, C).fit(data.X_train, data.y_train).score(data.X_test, data.y_test)
        features = make_features("gorf-blocks", KERNEL, 4 * s * dim, draw).fit(data.X_train)
        theirs = [paper_accuracy(features, data, positive_only=p, liblinear=liblinear) for p in (True, False)]
        differences[:, draw] = ours - np.array(theirs)
        print(f"  draw {draw}: KreinSVC {ours:.2f} %, paper {theirs[0]:.2f} % (positive columns), {theirs[1]:.2f} % "
              "(all)", flush=True)  # fmt: skip
    for name, row in zip(("positive columns", "all columns"), differences, strict=True):
        print(f"  against {name}: mean {row.mean():+.2f}, worst draw {row.min():+.2f}")
    return differences


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="KreinSVC on the data sets of the paper.")
    parser.add_argument("--data", nargs="+", default=["letter", "ijcnn1", "usps"], help="usps takes minutes per draw")
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--rows", type=int, default=2000, help="training rows for the exact kernel (default: 2000)")
    parser.add_argument("--s", type=int, default=8, help="frequencies per sign over d (default: 8)")
    parser.add_argument("--scheme", default="gorf-blocks", help="of KreinSVC's features (default: gorf-blocks)")
    parser.add_argument("--parts", nargs="+", choices=["exact", "paper"], default=["exact", "paper"])
    parser.add_argument("--liblinear", action="store_true", help="LIBLINEAR for the machine of the paper")
    parser.add_argument("--first", type=int, help="use only so many training and test rows, for a quick look")
    options = parser.parse_args(arguments)
    missed = 0
    for name in options.data:
        data = load(name)
        if options.first:
            arrays = (array[: options.first] for array in (data.X_train, data.y_train, data.X_test, data.y_test))
            data = Dataset(name, *arrays)
        start = time.perf_counter()
        print(f"{name}, d = {data.X_train.shape[1]}, {options.scheme} with s = {options.s} d", flush=True)
        if "exact" in options.parts:
            missed += against_exact(data, options.rows, options.draws, options.scheme, options.s) < -ALLOWED
        if "paper" in options.parts:
            differences = against_paper(data, options.draws, options.scheme, options.s, options.liblinear)
            missed += int(((differences.mean(axis=1) < 0) | (differences.min(axis=1) < -ALLOWED)).sum())
        print(f"  ({time.perf_counter() - start:.0f} s)\n", flush=True)
    print("every comparison is as it must be" if not missed else f"{missed} comparisons are worse than they must be")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
