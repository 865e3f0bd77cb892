"""Figure 1: what orthogonal directions do to the variance, exactly and by simulation.

For the polynomial kernel the laws are those of the published recipe: the true spectral measure has infinite mass.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from krein.experiments.cells import Cell
from krein.experiments.setting import KERNELS, Array
from krein.kernels import PolynomialOnSphere
from krein.sampling import sample_frequencies, variance
from krein.spectral import Jordan, jordan, jordan_parts, published_polynomial

SCHEMES = {"grff": "iid", "gorf": "joint", "gorf-blocks": "blocks"}  # method: direction scheme
# Far below 16 the variance of the polynomial comes from radii that are too rare for a simulation of this size.
DIMENSIONS = ("d = 16", "d = 22", "d = 64")
DISTANCES = np.linspace(0.1, 2.0, 20)  # rows of length 1 are at most 2 apart
DRAWS = 400  # of s = d frequencies per sign, in every repetition


@lru_cache(maxsize=8)
def parts_of(kernel: str, dim: int) -> Jordan:
    """The Jordan parts whose frequencies are drawn."""
    chosen = KERNELS[kernel]
    if isinstance(chosen, PolynomialOnSphere):
        return jordan(published_polynomial(chosen.a, chosen.degree, dim))
    return jordan_parts(chosen, dim)


@lru_cache(maxsize=32)
def exact_variance(kernel: str, dim: int, scheme: str) -> Array:
    """Variance of k_hat at the distances, s = d."""
    return variance(parts_of(kernel, dim), scheme, dim, DISTANCES)


def simulated_values(kernel: str, dim: int, scheme: str, seed: int) -> Array:
    """k_hat at the distances, along a fixed direction, for independent draws: shape (draws, distances)."""
    parts, rng = parts_of(kernel, dim), np.random.default_rng(seed)
    counts = [dim] * len(parts.parts)
    values = np.empty((DRAWS, len(DISTANCES)))
    for draw in range(DRAWS):
        drawn = sample_frequencies(parts, counts, directions=scheme, random_state=rng)
        heights = np.asarray(drawn.weights)[:, 0]
        values[draw] = drawn.constant + np.cos(np.outer(DISTANCES, heights)) @ drawn.coefficients
    return values


def pooled_simulation(rows: Sequence[dict[str, Any]]) -> tuple[Array, Array]:
    """Simulated variance of all repetitions of one curve together, and its standard error."""
    squares = np.square([row["standard_error"] for row in rows])
    return np.mean([row["simulated"] for row in rows], axis=0), np.sqrt(squares.mean(axis=0) / len(rows))


def measure_variance(cell: Cell) -> dict[str, Any]:
    """Exact variance, simulated variance and its standard error, sqrt((m_4 - var^2)/n), at every distance."""
    dim, scheme = int(cell.data.removeprefix("d = ")), SCHEMES[cell.method]
    values = simulated_values(cell.kernel, dim, scheme, cell.seed)
    squares = (values - values.mean(axis=0)) ** 2
    return {
        "distance": DISTANCES.round(6).tolist(),
        "exact": exact_variance(cell.kernel, dim, scheme).tolist(),
        "simulated": (squares.sum(axis=0) / (DRAWS - 1)).tolist(),
        "standard_error": (squares.std(axis=0) / np.sqrt(DRAWS)).tolist(),
    }
