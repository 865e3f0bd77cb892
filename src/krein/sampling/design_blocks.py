"""The recipe "blocks" of the optimal design: atoms of a minimum-variance measure on orthonormal blocks.

Each block is rotated on its own. Every atom has one coefficient, shared by its frequencies: the best ones minimise the
exact mean squared error, one small linear solve.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from krein.sampling.allocation import apportion
from krein.sampling.design import Block
from krein.sampling.design_objective import ErrorTables
from krein.spectral.bessel import omega
from krein.spectral.minimum_variance import MinimumVarianceMeasure, block_variance

Array = NDArray[np.float64]


def on_blocks(
    tables: ErrorTables, measure: MinimumVarianceMeasure, n: int, constant: bool, largest_sum: float
) -> tuple[tuple[Block, ...], float]:
    """Blocks of n frequencies, and the constant.

    Where the best coefficients have a sum of more than ``largest_sum``, those of the measure are taken.
    """
    counts = shares_of_atoms(tables, measure, n)
    radii, masses = measure.radii[counts > 0], measure.masses[counts > 0]
    atom = np.repeat(np.arange(len(radii)), counts[counts > 0])
    chunks = [atom[start : start + tables.dim] for start in range(0, n, tables.dim)]
    c, c0 = _coefficients(tables, radii, chunks, constant)
    if np.abs(c).sum() > largest_sum:
        c, c0 = masses, measure.constant if constant else 0.0
    each = c / np.bincount(atom)
    blocks: list[Block] = []
    for chunk in chunks:
        weights = np.diag(radii[chunk])
        if blocks and np.array_equal(blocks[-1].weights, weights):
            blocks[-1] = replace(blocks[-1], copies=blocks[-1].copies + 1)
        else:
            blocks.append(Block(weights, each[chunk]))
    return tuple(blocks), c0


def shares_of_atoms(tables: ErrorTables, measure: MinimumVarianceMeasure, n: int) -> NDArray[np.intp]:
    """Frequencies per atom, proportional to |c_j| sqrt(v(r_j)); the largest have one each where n is small."""
    v = block_variance(tables.dim, measure.radii, tables.weight.z, tables.weight.rho)
    shares = np.abs(measure.masses) * np.sqrt(v)
    if n >= len(shares):
        return np.array(apportion(np.maximum(shares, 1e-12 * (shares.max() or 1.0)), n))
    counts = np.zeros(len(shares), dtype=np.intp)
    counts[np.argsort(shares)[len(shares) - n :]] = 1
    return counts


def _coefficients(
    tables: ErrorTables, radii: Array, chunks: Sequence[NDArray[np.intp]], constant: bool
) -> tuple[Array, float]:
    """Total coefficient of every atom and the constant, of least mean squared error.

    The variance is sum_ij C_i C_j (pairs of different frequencies of one block, and every frequency with itself).
    """
    dim, z, rho = tables.dim, tables.weight.z, tables.weight.rho
    t = np.multiply.outer(radii, z)
    expected = np.vstack([omega(dim, t), np.ones(len(z))])
    lengths = np.sqrt(np.add.outer(radii**2, radii**2))
    pair = omega(dim, lengths[:, :, None] * z) @ rho - (expected[:-1] * rho) @ expected[:-1].T
    single = ((1 + omega(dim, 2 * t)) / 2 - expected[:-1] ** 2) @ rho
    total = np.bincount(np.concatenate(chunks), minlength=len(radii)).astype(float)
    variance = np.diag(single / total)
    for chunk in chunks:
        m = np.bincount(chunk, minlength=len(radii)).astype(float)
        variance += pair * (np.outer(m, m) - np.diag(m)) / np.outer(total, total)
    H = (expected * rho) @ expected.T
    H[:-1, :-1] += variance
    g = expected @ (rho * tables.k)
    n = len(g) if constant else len(radii)
    c = np.asarray(np.linalg.lstsq(H[:n, :n], g[:n], rcond=1e-13)[0], dtype=np.float64)
    return c[: len(radii)], float(c[-1]) if constant else 0.0
