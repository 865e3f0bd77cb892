"""Erratum 10: which of the kernels are indefinite."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import eval_gegenbauer, roots_gegenbauer

from krein.experiments.errata.record import Row, Table
from krein.experiments.errata.setting import DELTA_GAUSSIAN, DIM, POLYNOMIAL, letter_rows, relative
from krein.experiments.errata.sketch import exact_features
from krein.experiments.setting import Array
from krein.kernels import DotProductKernel, DotProductOnSphere, PolynomialOnSphere, Tanh


def gegenbauer_coefficients(kernel: DotProductKernel, n_terms: int) -> Array:
    """b_n in f(t) = sum_n b_n C_n(t)/C_n(1) on the sphere of R^16; the kernel is positive definite iff none is < 0."""
    order = DIM / 2 - 1
    t, weights = roots_gegenbauer(32, order)  # exact for polynomials up to degree 63
    basis = np.array([eval_gegenbauer(n, order, t) / eval_gegenbauer(n, order, 1.0) for n in range(n_terms)])
    return np.asarray(basis @ (weights * kernel.of_dot(t)) / (basis**2 @ weights))


def negative_spectrum(K: Array) -> tuple[int, float]:
    """Number of negative eigenvalues beyond rounding, and their share of the sum of the absolute values."""
    values = np.linalg.eigvalsh(K)
    negative = values[values < -1e-10 * np.abs(values).max()]
    return len(negative), float(-negative.sum() / np.abs(values).sum())


def show_definiteness(fast: bool) -> Table:
    """Which of the kernels are indefinite, and how much."""
    X = letter_rows(500 if fast else 1000)
    h = exact_features(X)
    rows = [
        Row("a = 3, m = 1: error of d + 1 columns", relative(h @ h.T, POLYNOMIAL(X)), reference=0.0, source="rounding"),
        Row("a = 3, m = 1: coefficient of 1", float(POLYNOMIAL.maclaurin(2)[0]), reference=7 / 9, source="7/9"),
        Row("a = 3, m = 1: coefficient of x.y", float(POLYNOMIAL.maclaurin(2)[1]), reference=2 / 9, source="2/9"),
    ]
    for a in (1.3, 1.4, 1.42, 1.5):
        smallest = float(gegenbauer_coefficients(PolynomialOnSphere(a, 3), 4).min())
        sign = "< 0: a < sqrt 2" if a < np.sqrt(2) else "> 0: a > sqrt 2"
        rows.append(Row(f"a = {a:g}, m = 3: smallest Gegenbauer coefficient", smallest, source=sign))
    sphere = DotProductOnSphere(lambda t: np.exp(t - 1) - np.exp((t - 1) / 100))  # the delta-Gaussian: z^2/2 = 1 - t
    n_negative = float(np.sum(sphere.maclaurin(20) < 0))
    rows.append(Row("delta-Gaussian: negative Maclaurin coefficients", n_negative, reference=1.0, source="that of 1"))
    tl1 = np.maximum(2 - cdist(X, X, "cityblock"), 0)
    for name, K in (
        ("delta-Gaussian", DELTA_GAUSSIAN(X)),
        ("tanh(2t - 0.5)", Tanh(2.0, -0.5)(X)),
        ("TL1, rho = 2", tl1),
    ):
        count, share = negative_spectrum(K)
        rows.append(Row(f"{name}: negative eigenvalues of {len(X)}", float(count)))
        rows.append(Row(f"{name}: negative share of the spectrum, %", 100 * share))
    return tuple(rows)
