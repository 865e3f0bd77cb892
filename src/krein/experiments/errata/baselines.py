"""Erratum 11: exact expectations of the methods that the paper compares with, as its public code implements them."""

from __future__ import annotations

import numpy as np
from scipy.optimize import nnls

from krein.experiments.errata.record import Row, Table
from krein.experiments.errata.setting import DELTA_GAUSSIAN, DIM, POLYNOMIAL, letter_rows, relative
from krein.experiments.setting import Array
from krein.kernels import Gaussian, PolynomialOnSphere
from krein.spectral import omega


def nearest_entry_law(n_degrees: int) -> Array:
    """P(degree = n) if the degree is the index of the entry of the table 1 - 2^-(n+1) that is nearest to a uniform u.

    Inversion would give 2^-(n+1). The entry n is nearest between the midpoints to its neighbours.
    """
    table = 1 - 0.5 ** np.arange(1, n_degrees + 2)
    midpoints = (table[:-1] + table[1:]) / 2
    return np.diff(midpoints, prepend=0.0)


def random_maclaurin_limit(X: Array) -> Array:
    """Expected Gram matrix of that law with the weights 2^(n+1) a_n that belong to inversion; a_n = 0 from n = 2 on."""
    factors = nearest_entry_law(2) * 2.0 ** np.arange(1, 3)
    a = POLYNOMIAL.maclaurin(2)
    return np.asarray(factors[0] * a[0] + factors[1] * a[1] * (X @ X.T))


def digmm_limit(X: Array) -> Array:
    """Expected Gram matrix for frequencies w ~ N(0, I - 11^T/d): exp(-||P(x - y)||^2/2), P = I - 11^T/d."""
    return np.asarray(Gaussian(1.0)(X - X.mean(axis=1, keepdims=True)))


def best_positive_definite_fit() -> float:
    """Largest error on [0, 2] of the best radial positive definite approximation to 1 + delta-Gaussian, d = 16.

    By Schoenberg's theorem such a kernel is a mixture of Omega_d(r z) with weights >= 0: non-negative least squares.
    """
    z, r = np.linspace(0, 2, 129), np.linspace(0, 12, 601)
    dictionary, target = omega(DIM, np.outer(z, r)), 1 + DELTA_GAUSSIAN.profile(z)
    weights, _ = nnls(dictionary, target)
    return float(np.abs(dictionary @ weights - target).max())


def show_baselines(fast: bool) -> Table:
    """What each of the four compared implementations approximates (exact, so ``fast`` only takes fewer rows)."""
    X = letter_rows(500 if fast else 1000)
    K = POLYNOMIAL(X)
    zero, one = nearest_entry_law(2)
    squared = PolynomialOnSphere(a=3.0, degree=2)
    other = PolynomialOnSphere(a=10.0, degree=1)
    return (
        Row("RM: probability of degree 0", float(zero), reference=1 / 2, source="Kar & Karnick, p = 2"),
        Row("RM: probability of degree 1", float(one), reference=1 / 4, source="Kar & Karnick, p = 2"),
        Row("RM: factor of the constant in the mean", float(2 * zero), reference=1.0, source="unbiased"),
        Row("RM: factor of x.y in the mean", float(4 * one), reference=1.0, source="unbiased"),
        Row(
            "RM: error on letter for s -> infinity",
            relative(random_maclaurin_limit(X), K),
            reference=0.0,
            source="unbiased",
        ),
        Row(
            "TS, degree 2: error on letter for s -> infinity", relative(K, squared(X)), reference=0.0, source="unbiased"
        ),
        Row(
            "SRF, delta-Gaussian: error of the best possible fit",
            best_positive_definite_fit(),
            reference=0.32,
            source="error of the shipped fit",
        ),
        Row("DIGMM, a = 3: error on letter for s -> infinity", relative(digmm_limit(X), K)),
        Row("DIGMM, a = 10: error on letter for s -> infinity", relative(digmm_limit(X), other(X))),
    )
