"""Direction schemes whose projection costs O(log d) per frequency and row.

Same signature as the schemes of ``krein.sampling.directions``, but every part is an operator of ``structured``. They
are *not* invariant under rotations: their error has no exact prediction.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from krein.sampling.structured import Array, CirculantWeights, HadamardWeights


def sorf(dim: int, counts: Sequence[int], rng: np.random.Generator) -> list[HadamardWeights]:
    """Structured orthogonal blocks H D1 H D2 H D3 with random signs (Yu et al. 2016); orthogonal where d is 2^p.

    The rows are not exactly uniform on the sphere, so features are biased where d is small (nothing to see at d = 16).
    """
    size, parts = _padded(dim), []
    for count in counts:
        signs = np.concatenate([_signs_without_zero_rows(dim, rng) for _ in range(-(-count // size))])
        parts.append(HadamardWeights(dim, signs, None, np.ones(count), np.ones(count)).rescaled(np.ones(count)))
    return parts


def _signs_without_zero_rows(dim: int, rng: np.random.Generator) -> Array:
    """Signs of one block. A row may vanish where it is cut to d < D coordinates (as at d = 3): it is drawn anew."""
    size = _padded(dim)
    while True:
        signs = rng.choice([-1.0, 1.0], size=(1, 3, size))
        block = HadamardWeights(dim, signs, None, np.ones(size), np.ones(size))
        if dim == size or dim > 64 or np.min(block.lengths(size)) > 1e-9:
            return signs


def fastfood(dim: int, counts: Sequence[int], rng: np.random.Generator) -> list[HadamardWeights]:
    """Fastfood blocks H G P H B (Le et al. 2013), every row scaled to its radius: each direction is exactly uniform.

    Given B and P a row of H G P H B is exactly Gaussian, also when it is cut to d < D coordinates.
    """
    size, parts = _padded(dim), []
    for count in counts:
        n_blocks = -(-count // size)
        signs = rng.choice([-1.0, 1.0], size=(n_blocks, size))
        diagonals = np.stack([signs, rng.standard_normal((n_blocks, size))], axis=1)
        permutation = rng.permuted(np.tile(np.arange(size), (n_blocks, 1)), axis=1)
        weights = HadamardWeights(dim, diagonals, permutation, np.ones(count), np.ones(count))
        parts.append(weights.rescaled(np.ones(count)))
    return parts


def circulant(dim: int, counts: Sequence[int], rng: np.random.Generator) -> list[CirculantWeights]:
    """Circulant blocks with column signs (after Feng, Hu & Liao 2015): each direction is exactly uniform."""
    parts = []
    for count in counts:
        n_blocks = -(-count // dim)
        generators = rng.standard_normal((n_blocks, dim))
        generators /= np.linalg.norm(generators, axis=1, keepdims=True)
        parts.append(CirculantWeights(generators, rng.choice([-1.0, 1.0], size=(n_blocks, dim)), np.ones(count)))
    return parts


def _padded(dim: int) -> int:
    return 1 << (dim - 1).bit_length()


STRUCTURED_DIRECTIONS = {"sorf": sorf, "fastfood": fastfood, "circulant": circulant}
