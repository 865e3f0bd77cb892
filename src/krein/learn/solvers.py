"""LDL^T of the symmetric indefinite ridge system, and Newton's method for the L2-loss support vector machine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve, lapack
from scipy.linalg.blas import dsyrk

from krein.kernels.base import row_blocks

Array = NDArray[np.float64]
POWER_STEPS = 30
BLOCK_ROWS = 4096


def solve_ldl(G: Array, signature: Array, alpha: float, R: Array) -> tuple[Array, float]:
    """Solve (G + alpha J) w = R by one LDL^T, and estimate how close alpha is to the negative of an eigenvalue.

    Returns w and the amplification alpha / min_j |lambda_j + alpha|, where lambda_j are the eigenvalues of the pencil
    G t = lambda J t, which are those of Z J Z^T. (G + alpha J)^-1 J has the eigenvalues 1/(lambda_j + alpha) and is
    self-adjoint in the inner product of G, so that a few power steps with Rayleigh quotients find the largest; where it
    is not much larger than the next, the estimate may be too small, but then it is not large. Infinite where the
    matrix is singular to rounding; w is then of no use.
    """
    ldl, pivots, info = lapack.dsytrf(G + np.diag(alpha * signature), lower=1)
    if info:
        return np.zeros_like(R), np.inf
    w, _ = lapack.dsytrs(ldl, pivots, R, lower=1)
    if signature.min() > 0:
        return w, 1.0
    x = np.random.default_rng(0).standard_normal(len(G))
    largest = 0.0
    for _ in range(POWER_STEPS):
        y, _ = lapack.dsytrs(ldl, pivots, signature * x, lower=1)
        Gx = G @ x
        y = y.ravel()
        largest = max(largest, abs(float(Gx @ y)) / max(float(Gx @ x), 1e-300))
        x = y / np.linalg.norm(y)
    return w, max(alpha * largest, 1.0) if np.isfinite(w).all() else np.inf


# ---- support vector machines --------------------------------------------------------------------------------------


class SquaredLoss(Protocol):
    """A loss sum_i c_i e_i(f_i)^2 whose residual e is f less a constant wherever it is not 0."""

    def residual(self, f: Array) -> Array:
        """The residuals e(f)."""

    def dual(self, a: Array) -> float:
        """Linear part of the dual objective at coefficients a = -2 c e."""


@dataclass(frozen=True, eq=False)
class SquaredHinge:
    """max(0, 1 - y f)^2 for labels y = +-1: the residual is f - y where y f < 1."""

    y: Array

    def residual(self, f: Array) -> Array:
        e = f - self.y
        e[e * self.y >= 0] = 0
        return e

    def dual(self, a: Array) -> float:
        return float(a @ self.y)


@dataclass(frozen=True, eq=False)
class SquaredEpsilonInsensitive:
    """max(0, |f - y| - epsilon)^2."""

    y: Array
    epsilon: float

    def residual(self, f: Array) -> Array:
        e = f - self.y
        return np.sign(e) * np.maximum(np.abs(e) - self.epsilon, 0)

    def dual(self, a: Array) -> float:
        return float(a @ self.y - self.epsilon * np.abs(a).sum())


def weighted_gram(Z: Array, c: Array, among: NDArray[np.bool_] | None = None) -> Array:
    """Sum of c_i z_i z_i^T for c >= 0 over the rows ``among``, upper triangle only, by blocks of rows."""
    total = np.zeros((Z.shape[1], Z.shape[1]), order="F")
    for rows in row_blocks(len(Z), BLOCK_ROWS):
        chosen = slice(None) if among is None else among[rows]
        part = Z[rows][chosen] * np.sqrt(c[rows][chosen])[:, None]
        total = dsyrk(1.0, part.T, beta=1.0, c=total, overwrite_c=True)
    return total


def newton(Z: Array, c: Array, loss: SquaredLoss, tol: float, full: Array) -> Iterator[tuple[Array, float]]:
    """Iterates (w, relative duality gap) of the minimisation of |w|^2/2 + sum_i c_i e_i(z_i.w)^2.

    The Hessian I + 2 Z_A^T diag(c) Z_A over the rows A of nonzero residual is constant where A is, so Newton steps with
    an exact line search end at the solution after finitely many. From one step to the next, A changes in few rows, and
    the Hessian in a matrix of that rank. ``full`` is weighted_gram(Z, c), which targets can share. Ends after
    the first gap of at most tol, or where rounding leaves no descent.
    """
    w, f = np.zeros(Z.shape[1]), np.zeros(len(Z))
    active = np.ones(len(Z), dtype=bool)
    hessian = full
    while True:
        e = loss.residual(f)
        a = -2 * c * e
        v = Z.T @ a
        primal = float(w @ w / 2 + c @ e**2)
        gap = primal - (loss.dual(a) - float(v @ v / 2 + c @ e**2))
        yield w, gap / primal if primal > 0 else 0.0
        if gap <= tol * primal:
            return
        hessian, active = _moved(hessian, Z, c, active, e != 0)
        step = _solve_shifted(hessian, v - w)
        along = Z @ step
        eta = _line_search(w, f, step, along, c, loss)
        if not eta > 0:
            return
        w, f = w + eta * step, f + eta * along


def _moved(
    hessian: Array, Z: Array, c: Array, old: NDArray[np.bool_], new: NDArray[np.bool_]
) -> tuple[Array, NDArray[np.bool_]]:
    """weighted_gram over the rows ``new``, from that over the rows ``old`` or from nothing, whichever takes fewer."""
    entered, left = new & ~old, old & ~new
    if entered.sum() + left.sum() > new.sum():
        return weighted_gram(Z, c, new), new
    return hessian + weighted_gram(Z, c, entered) - weighted_gram(Z, c, left), new


def _solve_shifted(upper: Array, right: Array) -> Array:
    """Solve (I + 2 H) d = right; more of I where rounding in a huge H has left it indefinite."""
    shift = 1.0
    while True:
        try:
            return np.asarray(cho_solve(cho_factor(2 * upper + shift * np.eye(len(upper))), right))
        except LinAlgError:
            shift = 10 * max(shift, np.finfo(float).eps * float(np.trace(upper)))


def _line_search(w: Array, f: Array, step: Array, along: Array, c: Array, loss: SquaredLoss) -> float:
    """The eta > 0 at which the convex objective is least along the step; 0 where the step does not descend.

    Its derivative is continuous, increasing and piecewise linear: Newton steps, kept inside a bracket.
    """
    w_step, step_step = float(w @ step), float(step @ step)

    def slope(eta: float) -> tuple[float, float]:
        e = loss.residual(f + eta * along)
        weighted = 2 * c * along
        return w_step + eta * step_step + float(weighted @ e), step_step + float(weighted @ (along * (e != 0)))

    start, _ = slope(0.0)
    if not start < 0:
        return 0.0
    low, high, eta = 0.0, np.inf, 1.0
    for _ in range(50):
        value, curvature = slope(eta)
        if abs(value) <= 1e-4 * -start:
            break
        low, high = (eta, high) if value < 0 else (low, eta)
        eta -= value / curvature
        if not low < eta < high:
            eta = (low + high) / 2 if np.isfinite(high) else 2 * low
    return eta
