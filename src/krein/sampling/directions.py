"""Direction schemes: unit vectors for the frequencies of every Jordan part.

A scheme is a function ``(dim, counts, rng) -> [directions of part 1, directions of part 2, ...]`` with one array of
shape
(count, dim) per part; each direction alone is uniform on the sphere. All schemes here are invariant under rotations, so
the exact error formula of ``krein.sampling.error`` holds for them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import helmert
from scipy.linalg.lapack import dorgqr

Array = NDArray[np.float64]
DirectionScheme = Callable[[int, Sequence[int], np.random.Generator], list[Array]]

BATCHED_QR_UP_TO = 64  # above, a product of Gaussian Householder reflections is cheaper than a QR factorisation


def iid(dim: int, counts: Sequence[int], rng: np.random.Generator) -> list[Array]:
    """Independent uniform directions."""
    return [normalise_rows(rng.standard_normal((count, dim))) for count in counts]


def blocks(dim: int, counts: Sequence[int], rng: np.random.Generator) -> list[Array]:
    """Independent Haar-orthonormal blocks of ``dim`` directions within each part; the last block is cut."""
    return [orthonormal_blocks(dim, count, rng) for count in counts]


def shared(dim: int, counts: Sequence[int], rng: np.random.Generator) -> list[Array]:
    """The same orthonormal blocks for every part.

    cos(w+.z) and cos(w-.z) are then positively correlated, so that their difference varies less.
    """
    directions = orthonormal_blocks(dim, max(counts), rng)
    return [directions[:count] for count in counts]


def joint(dim: int, counts: Sequence[int], rng: np.random.Generator) -> list[Array]:
    """Algorithm 1 of the paper as printed: columns of one orthogonal 2m x 2m matrix, cut to ``dim`` rows, renormalised.

    m = max(s, d). The first d rows of a Haar matrix are d orthonormal rows in R^2m, so a thin factorisation of a
    2m x d matrix has the same law as the printed 2m x 2m one. The directions are *not* orthogonal in R^d.
    """
    size = 2 * max(*counts, dim)
    columns = haar(size, dim, 1, rng)[0]  # (2m, dim): column i of the printed matrix is row i here
    return np.split(normalise_rows(columns[: sum(counts)]), np.cumsum(counts)[:-1])


def simplex(dim: int, counts: Sequence[int], rng: np.random.Generator) -> list[Array]:
    """Blocks of dim + 1 vertices of a regular simplex, each rotated on its own: u_i.u_j = -1/dim within a block."""
    vertices, parts = simplex_vertices(dim), []
    for count in counts:
        rotations = haar(dim, dim, -(-count // (dim + 1)), rng)
        parts.append((vertices @ rotations).reshape(-1, dim)[:count])
    return parts


def simplex_vertices(dim: int) -> Array:
    """The dim + 1 unit vectors of a regular simplex in R^dim, as rows: their sum is 0."""
    return np.asarray(np.sqrt((dim + 1) / dim) * helmert(dim + 1).T)


def orthonormal_blocks(dim: int, count: int, rng: np.random.Generator) -> Array:
    """``count`` directions in R^dim: as many full orthonormal blocks as fit, and a cut one."""
    full, rest = divmod(count, dim)
    pieces = [haar(dim, dim, full, rng).reshape(full * dim, dim)] if full else []
    if rest:
        pieces.append(haar(dim, rest, 1, rng)[0].T)
    return np.concatenate(pieces) if pieces else np.empty((0, dim))


def haar(dim: int, n_columns: int, n_matrices: int, rng: np.random.Generator) -> Array:
    """Haar-distributed dim x n_columns matrices with orthonormal columns, shape (n_matrices, dim, n_columns)."""
    if dim <= BATCHED_QR_UP_TO:
        q, r = np.linalg.qr(rng.standard_normal((n_matrices, dim, n_columns)))
        return np.asarray(q * np.sign(np.diagonal(r, axis1=-2, axis2=-1))[:, None, :])
    return np.array([_stewart(dim, n_columns, rng) for _ in range(n_matrices)])


def _stewart(dim: int, n_columns: int, rng: np.random.Generator) -> Array:
    """Q of the QR factorisation of a Gaussian matrix without factoring one (Stewart 1980).

    Column k of R meets a Gaussian vector x in R^(dim - k) that is independent of the previous ones. Its reflection is
    I - tau v v^T with v = x + sign(x_1) ||x|| e_1, scaled to v_1 = 1, and tau = 1 + |x_1| / ||x||; R_kk is
    -sign(x_1) ||x||. The column of Q is multiplied by the sign of R_kk, without which the law is not Haar.
    """
    x = np.tril(rng.standard_normal((n_columns, dim)).T)
    norm = np.sqrt(np.einsum("ij,ij->j", x, x))
    head = np.diagonal(x).copy()
    sign = np.where(head < 0, -1.0, 1.0)
    x /= head + sign * norm
    q, _, info = dorgqr(np.asfortranarray(x), 1 + np.abs(head) / norm, lwork=64 * n_columns, overwrite_a=1)
    if info != 0:
        raise np.linalg.LinAlgError(f"dorgqr failed with info = {info}.")
    return np.asarray(q * -sign)


def normalise_rows(x: Array) -> Array:
    """Rows scaled to length 1."""
    return np.asarray(x / np.linalg.norm(x, axis=1, keepdims=True))


DIRECTIONS: dict[str, DirectionScheme] = {
    "iid": iid,
    "blocks": blocks,
    "joint": joint,
    "shared": shared,
    "simplex": simplex,
}
