"""Frequencies fitted to kernel values under Dirichlet-process mixtures, one mixture per sign.

    k_hat(x - y) = sum_p c_p / M sum_m cos(w_pm . (x - y)),        k(x - y) = k_hat(x - y) + N(0, noise^2)

A round refits the mixture of every part p to its frequencies, draws rows, and takes some steps of L-BFGS on

    1/(2 noise^2) sum_{i<j} (k_hat(x_i - x_j) - k_ij)^2 + 1/2 sum_pm (w_pm - v_pm)^T Lambda_pm (w_pm - v_pm)

with Lambda_pm the precision of the component of w_pm and v_pm the frequency before the round. (Anchored at the mean of
the component instead, all coordinates shrink to it where there are many, and the mixture collapses.) k_hat between all
pairs of n rows is a product of n x M matrices, cos(w.(x - y)) = cos w.x cos w.y + sin w.x sin w.y, and so is its
gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares, minimize

from krein._validation import Rows
from krein.features.baselines._dirichlet_mixture import dirichlet_mixture, precisions
from krein.kernels.base import Kernel

Array = NDArray[np.float64]

STEPS = 15  # of L-BFGS per round
STARTS = ((-2.0, 1.0), (0.0, -3.0), (0.0, 1.0), (1.0, -4.0))  # log variances of the frequencies of the two parts


class Sample(NamedTuple):
    """Rows and the kernel values between them."""

    rows: Array
    gram: Array


class RowSource:
    """Samples of rows of X in units of their root mean square distance, and of k in units of its largest value.

    Parameters
    ----------
    kernel : Kernel
    X : ndarray or CSR matrix
        Only the rows of a sample are made dense.
    n_rows : int
        Rows of a sample, at most.
    rng : Generator
    """

    def __init__(self, kernel: Kernel, X: Rows, n_rows: int, rng: np.random.Generator) -> None:
        self._kernel, self._X, self._n_rows, self._rng = kernel, X, min(n_rows, X.shape[0]), rng
        self.unit = self.scale = 1.0
        rows, gram = self.draw()
        self.unit = float(np.sqrt(2 * np.mean(np.sum(rows**2, axis=1)))) or 1.0  # rows has mean 0
        self.scale = float(np.abs(gram).max()) or 1.0
        self.first = Sample(rows / self.unit, gram / self.scale)

    def draw(self) -> Sample:
        """A new sample, its rows centred: only differences matter."""
        chosen = self._rng.choice(self._X.shape[0], self._n_rows, replace=False)
        rows = self._X[chosen]
        dense = np.ascontiguousarray(rows.toarray() if hasattr(rows, "toarray") else rows, dtype=np.float64)
        return Sample((dense - dense.mean(axis=0)) / self.unit, self._kernel(dense) / self.scale)


@dataclass(frozen=True)
class FrequencyFit:
    """Settings of the fit.

    Parameters
    ----------
    amplitudes : sequence of float
        c_p, one per part.
    n_mixture : int
    concentration : float
    rounds : int
    noise : float
    """

    amplitudes: Sequence[float]
    n_mixture: int
    concentration: float
    rounds: int
    noise: float

    def start(self, sample: Sample, count: int, rng: np.random.Generator) -> Array:
        """Normal frequencies, shape (parts, count, dim); the variances e^b fit sum_p c_p exp(-e^b_p z^2 / 2) to k."""
        pairs = np.triu_indices(len(sample.rows), 1)
        half_squares = np.sum((sample.rows[pairs[0]] - sample.rows[pairs[1]]) ** 2, axis=1) / 2
        values, c = sample.gram[pairs], np.array(self.amplitudes)[:, None]

        def terms(b: Array) -> Array:
            return np.asarray(c * np.exp(-np.outer(np.exp(b), half_squares)))

        def residual(b: Array) -> Array:
            return np.asarray(terms(b).sum(axis=0) - values)

        def jacobian(b: Array) -> Array:
            return -(np.outer(np.exp(b), half_squares) * terms(b)).T

        n_parts = len(self.amplitudes)
        b = np.zeros(n_parts)
        if len(values):
            fits = [least_squares(residual, start[:n_parts], jac=jacobian, bounds=(-20, 20)) for start in STARTS]
            b = min(fits, key=lambda fit: float(fit.cost)).x
        return np.exp(b / 2)[:, None, None] * rng.standard_normal((n_parts, count, sample.rows.shape[1]))

    def mixtures(self, weights: Array, rng: np.random.Generator) -> list[Any]:
        """The mixture of every part."""
        return [dirichlet_mixture(part, self.n_mixture, self.concentration, rng) for part in weights]

    def run(self, weights: Array, draw: Callable[[], Sample], rng: np.random.Generator) -> Array:
        """Frequencies after all rounds, each on rows of its own."""
        for _ in range(self.rounds):
            weights, _ = self.one_round(weights, draw(), rng)
        return weights

    def one_round(self, weights: Array, sample: Sample, rng: np.random.Generator) -> tuple[Array, tuple[float, float]]:
        """Frequencies after a round, and the objective before and after it."""
        mixtures = self.mixtures(weights, rng)
        curvature = np.array([precisions(mixture, part) for mixture, part in zip(mixtures, weights, strict=True)])

        def objective(flat: Array) -> tuple[float, Array]:
            current = flat.reshape(weights.shape)
            cost, gradient = self.misfit(current, sample)
            pull = curvature * (current - weights)
            return cost + float(np.sum(pull * (current - weights))) / 2, (gradient + pull).ravel()

        found = minimize(objective, weights.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": STEPS})
        return found.x.reshape(weights.shape), (objective(weights.ravel())[0], float(found.fun))

    def misfit(self, weights: Array, sample: Sample) -> tuple[float, Array]:
        """1/(2 noise^2) sum_{i<j} (k_hat_ij - k_ij)^2 and its gradient in the frequencies."""
        angles = [sample.rows @ part.T for part in weights]
        cosines, sines = [np.cos(a) for a in angles], [np.sin(a) for a in angles]
        scales = np.asarray(self.amplitudes) / weights.shape[1]
        residual = -sample.gram
        for scale, c, s in zip(scales, cosines, sines, strict=True):
            residual = residual + scale * (c @ c.T + s @ s.T)
        np.fill_diagonal(residual, 0)
        cost = float(np.sum(residual**2)) / 4 / self.noise**2  # every pair is there twice
        gradient = np.empty_like(weights)
        for part, (scale, c, s) in enumerate(zip(scales, cosines, sines, strict=True)):
            by_angle = (residual @ s) * c - (residual @ c) * s
            gradient[part] = scale / self.noise**2 * by_angle.T @ sample.rows
        return cost, gradient
