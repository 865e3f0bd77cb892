"""Errata 6 to 8: the inputs of the experiments, the diagonal, the columns that reached the classifier."""

from __future__ import annotations

import numpy as np
from sklearn.svm import LinearSVC

from krein import RandomFeatures, relative_error
from krein.datasets import load
from krein.experiments.errata.record import Row, Table
from krein.experiments.errata.setting import (
    DELTA_GAUSSIAN,
    DIM,
    POLYNOMIAL,
    SIZES,
    errors,
    letter_rows,
    mean_and_error,
    published_cell,
)
from krein.experiments.errata.sketch import sketch_errors
from krein.experiments.setting import Array
from krein.kernels import RadialKernel


def inputs() -> dict[str, Array]:
    """Three ways to prepare the rows of letter."""
    raw = letter_rows(normalize=False)  # each column scaled to [-1, 1]
    unit_interval = (raw + 1) / 2
    lengths = np.linalg.norm(unit_interval, axis=1, keepdims=True)
    return {
        "[-1,1], unit rows": letter_rows(),
        "[0,1], unit rows": unit_interval / lengths,
        "[0,1]": unit_interval,
    }


def show_inputs(fast: bool) -> Table:
    """Errors at s = d for the three ways; the polynomial kernel is only defined for rows of length 1."""
    rows = []
    methods: tuple[tuple[str, RadialKernel, str, str], ...] = (
        ("polynomial", POLYNOMIAL, "GRFF", "published-grff"),
        ("delta-Gaussian", DELTA_GAUSSIAN, "GRFF", "grff"),
        ("delta-Gaussian", DELTA_GAUSSIAN, "GORF", "gorf-blocks"),
    )
    for kernel_name, kernel, method, scheme in methods:
        for name, X in inputs().items():
            if kernel.domain == "sphere" and "unit" not in name:
                continue
            found = mean_and_error(errors(kernel, X, scheme, DIM, 4 if fast else 10))
            cell = published_cell(kernel_name.lower(), method, "d")
            rows.append(Row(f"{kernel_name}, {method}, s = d, letter in {name}", *found, *cell, "Table II"))
    lengths = np.linalg.norm(inputs()["[0,1]"], axis=1)
    rows.append(Row("rows of length 1 in [0,1]^16, of 1000", float(np.sum(np.abs(lengths - 1) < 1e-6))))
    return tuple(rows)


def show_diagonal(fast: bool) -> Table:
    """Error with the diagonal as it is, minus the error with an exact diagonal: the largest over several draws."""
    X, draws = letter_rows(), 2 if fast else 10
    maps: tuple[tuple[str, RadialKernel, str], ...] = (
        ("polynomial, GRFF", POLYNOMIAL, "published-grff"),
        ("polynomial, GORF", POLYNOMIAL, "published-gorf"),
        ("delta-Gaussian, GORF", DELTA_GAUSSIAN, "gorf-blocks"),
    )
    rows = []
    for name, kernel, scheme in maps:
        pairs = []
        for seed in range(draws):
            features = RandomFeatures(kernel, 4 * SIZES["d/2"], scheme=scheme, random_state=seed).fit(X)
            pairs.append([relative_error(kernel, features, X, exact_diagonal=exact) for exact in (False, True)])
        rows.append(_largest(f"{name}, s = d/2", np.array(pairs)))
    sketches = np.array([sketch_errors(X, 2 * DIM, seed) for seed in range(10 * draws)])
    return (*rows, _largest("polynomial, count sketch, 2d columns", sketches))


def _largest(name: str, pairs: Array) -> Row:
    change = float(np.max(pairs[:, 0] - pairs[:, 1]))
    return Row(f"{name}: change of the error", change, reference=float(pairs[:, 0].mean()), source="the error itself")


def accuracies(kernel: RadialKernel, scheme: str, s: int, draws: int) -> tuple[Array, Array]:
    """Test accuracy in percent on letter, 3000 + 6000 rows: positive columns only, and all columns; one per draw.

    The solver is the one of the authors' code, LIBLINEAR -s 2 -c 1000: primal, squared hinge, no intercept.
    """
    data = load("letter")
    X, y = data.X_train[:3000], data.y_train[:3000]
    found = []
    for seed in range(draws):
        features = RandomFeatures(kernel, 4 * s, scheme=scheme, random_state=seed).fit(X)
        Z, Z_test = features.transform(X), features.transform(data.X_test)
        scores = []
        for columns in (features.signature_ > 0, slice(None)):
            learner = LinearSVC(C=1000, dual=False, fit_intercept=False, tol=0.01)
            scores.append(100 * learner.fit(Z[:, columns], y).score(Z_test[:, columns], data.y_test))
        found.append(scores)
    positive, both = np.array(found).T
    return positive, both


def show_positive_columns(fast: bool) -> Table:
    """What the real part of the features keeps, and the accuracy with and without the columns of the negative part."""
    X = letter_rows()
    complex_features = RandomFeatures(
        POLYNOMIAL, 4 * DIM, scheme="published-gorf", output="complex", random_state=0
    ).fit_transform(X)
    kept = np.any(complex_features.real != 0, axis=0).mean()
    rows = [Row("share of the columns that are not 0 in the real part", float(kept))]
    for name, kernel, scheme in (
        ("polynomial", POLYNOMIAL, "published-gorf"),
        ("delta-Gaussian", DELTA_GAUSSIAN, "gorf-blocks"),
    ):
        for factor in (4,) if fast else (2, 4, 8):
            positive, both = accuracies(kernel, scheme, factor * DIM, 2 if fast else 3)
            first = Row(f"accuracy, {name}, s = {factor}d, positive part", *mean_and_error(positive))
            source = f"positive part, {2 * factor}d columns"
            second = Row(
                f"accuracy, {name}, s = {factor}d, both parts", *mean_and_error(both), first.value, first.error, source
            )
            rows += [first, second]
    return tuple(rows)
