"""KreinSVC on the data sets of the paper: against the exact kernel, and against the setting of the paper.

    python benchmarks/learner_accuracy.py [--data letter ijcnn1] [--draws 10] [--exact-rows 1000] [--rows 2000]

The kernel is the delta-Gaussian (1, -1; 1, 10). The features have s = 8 d frequencies per sign: 4 s = 32 d columns, and
a constant for "optimal". KreinSVC has those of the first of ``--schemes``.

Part 1: on a subset of the training rows, the Krein SVM with the exact kernel matrix (its spectrum flipped) against
KreinSVC with every scheme, each with its own C from 3-fold cross-validation. The exit status is 1 if the test
accuracies of the first scheme, averaged over draws, are more than 0.3 points below.

Part 2: all training rows, or ``--rows`` of them. KreinSVC with the C found by 3-fold cross-validation inside the
training rows, with a draw of its own, against the L2-loss machine of the paper (C = 1000, no intercept) on
``gorf-blocks`` columns of the same random_state: those of the positive part only, which is what the published code
used, and all columns. The exit status is 1 if the mean over draws is below that of the paper, or a draw more than 0.3
points below.

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
from krein.learn.inner_product import spectrum_of_rows
from krein.learn.solvers import SquaredHinge, newton, weighted_gram

Array = NDArray[np.float64]
KERNEL = DeltaGaussian(weights=(1.0, -1.0), scales=(1.0, 10.0))
GRID = (1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6)
SCHEMES = ("optimal", "gorf-blocks", "nystroem")
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
    if len(rows) < rows.shape[1]:  # the solution is in the space of the rows, which has fewer dimensions
        T = spectrum_of_rows(rows, np.ones(rows.shape[1])).orthonormal()
        return T @ solve_squared_hinge(rows @ T, y, C)
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
    return KreinSVC(make_features(scheme, KERNEL, 4 * s * dim + (scheme == "optimal"), seed), C=C)


def best(machine: Any, X: Array, y: Array) -> float:
    """C of the best mean accuracy in 3-fold cross-validation, the smallest of equals."""
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    return float(GridSearchCV(machine, {"C": GRID}, cv=folds, refit=False).fit(X, y).best_params_["C"])


def subset(data: Dataset, n_rows: int | None) -> tuple[Array, Array]:
    """Training rows, the same for every method; None for all of them."""
    chosen = np.random.default_rng(0).permutation(len(data.X_train))[:n_rows]
    return data.X_train[chosen], data.y_train[chosen]


def against_exact(data: Dataset, n_rows: int, draws: int, schemes: list[str], s: int) -> float:
    """Points of test accuracy that KreinSVC with the first scheme has more than the exact kernel, on a subset."""
    X, y = subset(data, n_rows)
    exact = ExactKreinSVC(KERNEL)
    exact.set_params(C=best(exact, X, y))
    reference = 100 * exact.fit(X, y).score(data.X_test, data.y_test)
    print(f"  {len(X)} training rows, exact kernel, C = {exact.C:g}: {reference:.2f} %", flush=True)
    differences = []
    for scheme in schemes:
        C = best(krein_svc(X.shape[1], draws, scheme, s), X, y)
        machines = [krein_svc(X.shape[1], draw, scheme, s, C).fit(X, y) for draw in range(draws)]
        found = [100 * machine.score(data.X_test, data.y_test) for machine in machines]
        differences.append(float(np.mean(found) - reference))
        print(f"  {scheme}, {machines[0].coef_.shape[1]} columns, C = {C:g}: mean {np.mean(found):.2f} % over {draws} "
              f"draws ({differences[-1]:+.2f})", flush=True)  # fmt: skip
    return differences[0]


def against_paper(data: Dataset, draws: int, scheme: str, s: int, liblinear: bool) -> Array:
    """Points of test accuracy that KreinSVC has more than the paper, of shape (2, draws): positive columns, all."""
    dim = data.X_train.shape[1]
    C = best(krein_svc(dim, draws, scheme, s), data.X_train, data.y_train)
    print(f"  {len(data.X_train)} training rows, {scheme}, C = {C:g} by cross-validation", flush=True)
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
    parser.add_argument(
        "--data", nargs="+", default=["letter", "ijcnn1", "usps"], help="usps takes minutes per draw of all rows"
    )
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--exact-rows", type=int, default=1000, help="training rows of part 1 (default: 1000)")
    parser.add_argument("--rows", type=int, help="training rows of part 2 (default: all)")
    parser.add_argument("--s", type=int, default=8, help="frequencies per sign over d (default: 8)")
    parser.add_argument("--schemes", nargs="+", default=list(SCHEMES), help="of KreinSVC's features; the first counts")
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
        print(f"{name}, d = {data.X_train.shape[1]}, s = {options.s} d", flush=True)
        if "exact" in options.parts:
            missed += against_exact(data, options.exact_rows, options.draws, options.schemes, options.s) < -ALLOWED
        if "paper" in options.parts:
            some = Dataset(name, *subset(data, options.rows), data.X_test, data.y_test)
            differences = against_paper(some, options.draws, options.schemes[0], options.s, options.liblinear)
            missed += int(((differences.mean(axis=1) < 0) | (differences.min(axis=1) < -ALLOWED)).sum())
        print(f"  ({time.perf_counter() - start:.0f} s)\n", flush=True)
    print("every comparison is as it must be" if not missed else f"{missed} comparisons are worse than they must be")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
