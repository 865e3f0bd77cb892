"""Erratum 9: equal s is not an equal number of columns. The competitor is a count sketch: Tensor Sketch of degree 1.

On the unit sphere k(x, y) = 1 - ||x - y||^2/9 = 7/9 + 2/9 x.y = <h(x), h(y)> with h(x) = (sqrt(2/9) x, sqrt(7/9)). A
count sketch maps h to h S with a sparse matrix S of signs, so its error is that of S S^T - I on the moments of h.
"""

from __future__ import annotations

import numpy as np
from sklearn.kernel_approximation import PolynomialCountSketch

from krein.experiments.errata.record import Row, Table
from krein.experiments.errata.setting import (
    DIM,
    POLYNOMIAL,
    errors,
    letter_rows,
    mean_and_error,
    relative,
)
from krein.experiments.setting import Array

GAMMA, COEF0 = 2 / 9, 7 / 9


def exact_features(X: Array) -> Array:
    """h(x), the d + 1 columns of the exact map."""
    return np.hstack([np.sqrt(GAMMA) * X, np.full((len(X), 1), np.sqrt(COEF0))])


def sketch_errors(X: Array, columns: int, seed: int) -> tuple[float, float]:
    """Relative error of one count sketch, with the diagonal as it is and with an exact one."""
    sketch = PolynomialCountSketch(degree=1, gamma=GAMMA, coef0=COEF0, n_components=columns, random_state=seed).fit(
        X[:1]
    )
    S = np.zeros((DIM + 1, columns))
    S[np.arange(DIM + 1), sketch.indexHash_[0]] = sketch.bitHash_[0]
    h = exact_features(X)
    M, C = S @ S.T - np.eye(DIM + 1), h.T @ h
    square = float(np.sum((M @ C) * (C @ M)))  # ||h M h^T||^2 = tr(M C M C)
    diagonal = float(np.sum(np.einsum("ij,jk,ik->i", h, M, h, optimize=True) ** 2))
    norm = float(np.linalg.norm(C))
    return float(np.sqrt(max(square, 0.0)) / norm), float(np.sqrt(max(square - diagonal, 0.0)) / norm)


def show_equal_columns(fast: bool) -> Table:
    """Count sketch and GORF at equal s, as in the figures of the paper, and at equal numbers of columns."""
    X = letter_rows()
    sizes = (2, 4, 8, 32)
    gorf = {n: mean_and_error(errors(POLYNOMIAL, X, "published-gorf", n * DIM // 4, 4 if fast else 10)) for n in sizes}
    sketch = {n: np.array([sketch_errors(X, n * DIM, seed)[0] for seed in range(100 if fast else 1000)]) for n in sizes}
    rows = []
    for n in (2, 8):
        found, other = mean_and_error(sketch[n]), gorf[4 * n]
        rows.append(Row(f"equal s = {n}d: count sketch, {n}d columns, mean", *found, *other, f"GORF, {4 * n}d columns"))
    for n in sizes:
        median, other = float(np.median(sketch[n])), gorf[n]
        rows += [
            Row(f"{n}d columns: count sketch, mean", *mean_and_error(sketch[n]), *other, f"GORF, {n}d columns"),
            Row(f"{n}d columns: count sketch, median", median, 0.0, *other, f"GORF, {n}d columns"),
        ]
    h = exact_features(X)
    rows.append(Row("d + 1 columns: exact map", relative(h @ h.T, POLYNOMIAL(X)), reference=0.0, source="to rounding"))
    return tuple(rows)
