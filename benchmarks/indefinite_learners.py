"""Learners on strongly indefinite kernels: krein beside scikit-learn's KernelRidge, SVC and Nystroem + LinearSVC.

    python benchmarks/indefinite_learners.py [--data letter] [--rows 4000] [--columns 256]

Kernels: tanh(2t - 0.5) on the unit sphere, and mixtures of Gaussians with signs. All methods get the same training
rows, and choose their regularisation by the same 3-fold cross-validation on them (KreinRidgeClassifier by its own
generalised cross-validation). Printed: test accuracy, seconds of CPU for choosing and fitting, seconds for predicting,
and the largest memory that numpy allocated while fitting (tracemalloc, in MB, without the training rows).

scikit-learn's KernelRidge solves the indefinite system as it is, its SVC is given the indefinite matrix as it is, and
its Nystroem takes absolute values of the eigenvalues at the landmarks.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
import tracemalloc
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC

from krein import make_features
from krein.datasets import load
from krein.exceptions import NearEigenvalueWarning
from krein.kernels import DeltaGaussian, Kernel, Tanh
from krein.learn import KreinRidge, KreinRidgeClassifier, KreinSVC

Array = NDArray[np.float64]
KERNELS: dict[str, Kernel] = {
    "tanh(2t - 0.5)": Tanh(scale=2.0, offset=-0.5),
    "Gaussians 1, -1; 0.5, 1": DeltaGaussian((1.0, -1.0), (0.5, 1.0)),
    "Gaussians -1, 1.5, -1; 0.3, 0.6, 1.2": DeltaGaussian((-1.0, 1.5, -1.0), (0.3, 0.6, 1.2)),
}
CS = {"C": [0.1, 1.0, 10.0, 100.0, 1000.0]}
ALPHAS = {"alpha": [1e-3, 1e-2, 1e-1, 1.0, 10.0]}


class Signs(ClassifierMixin, BaseEstimator):
    """KernelRidge on labels -1 and +1; its predictions are signs."""

    def __init__(self, kernel: Any, alpha: float = 1.0) -> None:
        self.kernel = kernel
        self.alpha = alpha

    def fit(self, X: Array, y: Array) -> Any:
        self.classes_ = np.unique(y)
        self.rows_ = X
        self.ridge_ = KernelRidge(alpha=self.alpha, kernel="precomputed").fit(self.kernel(X), y)
        return self

    def predict(self, X: Array) -> Array:
        return np.where(self.ridge_.predict(self.kernel(X, self.rows_)) > 0, 1.0, -1.0)


def methods(kernel: Kernel, columns: int, seed: int, dim: int) -> dict[str, Callable[[], Any]]:
    """Unfitted classifiers that choose their regularisation in fit. Random frequencies where the kernel has any."""
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    maps = {"nystroem": make_features("nystroem", kernel, columns, seed)}
    if not isinstance(kernel, Tanh):
        maps["gorf-blocks"] = make_features("gorf-blocks", kernel, columns, seed)
    found: dict[str, Callable[[], Any]] = {}
    for name, features in maps.items():
        found |= {
            f"KreinSVC, {name}": lambda f=features: GridSearchCV(KreinSVC(f), CS, cv=folds),
            f"KreinRidgeClassifier krein, {name}": lambda f=features: KreinRidgeClassifier(f),
            f"KreinRidgeClassifier flip, {name}": lambda f=features: KreinRidgeClassifier(f, regularization="flip"),
        }
    own = Nystroem(kernel=kernel_of_rows(kernel), n_components=columns, random_state=seed)
    return found | {
        "sklearn SVC, indefinite kernel": lambda: GridSearchCV(SVC(kernel=kernel, max_iter=100_000), CS, cv=folds),
        "sklearn KernelRidge, indefinite kernel": lambda: GridSearchCV(Signs(kernel), ALPHAS, cv=folds),
        "sklearn Nystroem + LinearSVC": lambda: make_pipeline(own, GridSearchCV(LinearSVC(dual=False), CS, cv=folds)),
    }


def kernel_of_rows(kernel: Any) -> Callable[[Array, Array], float]:
    """scikit-learn's Nystroem calls a kernel for one pair of rows at a time."""
    if isinstance(kernel, Tanh):
        return lambda x, y: math.tanh(kernel.scale * float(x @ y) + kernel.offset)
    terms = [(weight, -0.5 / scale**2) for weight, scale in zip(kernel.weights, kernel.scales, strict=True)]

    def mixture(x: Array, y: Array) -> float:
        difference = x - y
        square = float(difference @ difference)
        return sum(weight * math.exp(rate * square) for weight, rate in terms)

    return mixture


def negative_share(kernel: Kernel, X: Array) -> float:
    eigenvalues = np.linalg.eigvalsh(kernel(X))
    return float(np.abs(eigenvalues[eigenvalues < 0]).sum() / np.abs(eigenvalues).sum())


def measure(make: Callable[[], Any], data: Any, n_rows: int) -> tuple[float, float, float, float]:
    """Accuracy in percent, seconds to fit, seconds to predict, MB."""
    X, y = data.X_train[:n_rows], data.y_train[:n_rows]
    tracemalloc.start()
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", NearEigenvalueWarning)
        warnings.filterwarnings("ignore", message="Ill-conditioned matrix|Singular matrix")
        machine = make().fit(X, y)
    fit = time.process_time() - start
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    start = time.process_time()
    accuracy = 100 * machine.score(data.X_test, data.y_test)
    return accuracy, fit, time.process_time() - start, peak


def near_an_eigenvalue(kernel: Kernel, data: Any, n_rows: int, columns: int) -> None:
    """R2 on the training rows where alpha is 1e-6 from minus an eigenvalue of the kernel matrix."""
    X = data.X_train[:n_rows]
    y = np.sin(4 * X[:, 0]) + X[:, 1]
    K = kernel(X)
    alpha = -float(np.linalg.eigvalsh(K)[0]) * (1 + 1e-6)
    exact = KernelRidge(alpha=alpha, kernel="precomputed").fit(K, y).score(K, y)
    features = make_features("nystroem", kernel, columns, 0)
    ours = KreinRidge(features).fit(X, y).score(X, y)
    flip = KreinRidge(features, alpha, regularization="flip").fit(X, y).score(X, y)
    print(f"  R2 at alpha = {alpha:.4g}, minus an eigenvalue: KernelRidge {exact:.3g}, KreinRidge flip {flip:.4f}; "
          f"KreinRidge alpha='auto' {ours:.4f}\n")  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Learners on strongly indefinite kernels.")
    parser.add_argument("--data", default="letter")
    parser.add_argument("--rows", type=int, default=4000, help="training rows (default: 4000)")
    parser.add_argument("--columns", type=int, default=256, help="features, or landmarks (default: 256)")
    parser.add_argument("--test", type=int, default=2000, help="test rows (default: 2000)")
    options = parser.parse_args(arguments)
    data = load(options.data)
    data = replace(data, X_test=data.X_test[: options.test], y_test=data.y_test[: options.test])
    print(f"{options.data}: {options.rows} training rows, {options.columns} columns\n")
    for name, kernel in KERNELS.items():
        share = negative_share(kernel, data.X_train[: min(options.rows, 1000)])
        print(f"{name}: {share:.0%} of the absolute spectrum is negative")
        print(f"  {'':44}{'accuracy':>9}{'fit':>10}{'predict':>10}{'memory':>11}")
        for method, make in methods(kernel, options.columns, 0, data.X_train.shape[1]).items():
            accuracy, fit, predict, peak = measure(make, data, options.rows)
            print(f"  {method:44}{accuracy:8.2f}%{fit:8.2f} s{predict:8.2f} s{peak:8.1f} MB", flush=True)
        near_an_eigenvalue(kernel, data, min(options.rows, 1000), options.columns)
    return 0


if __name__ == "__main__":
    sys.exit(main())
