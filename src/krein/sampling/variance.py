"""Exact variances of the cosine estimators at a distance z, per direction scheme.

A part is ||mu_+-|| times a law of the radius R; s frequencies carry the coefficients +-||mu_+-||/s. With
k~(z) = E Omega_d(R z),

    one frequency       v(z)     = (1 + k~(2z))/2 - k~(z)^2
    two with u.v = +-q  cov_q(z) = E Omega_d(sqrt(R1^2 + R2^2 +- 2 q R1 R2) z) - k~_1(z) k~_2(z)

with the mean of both signs of q; q = 0 is an orthogonal pair and q = 1 a shared direction. The variance of the
estimator is the sum of c_i c_j cov_ij over all pairs, positive and negative parts together.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import roots_jacobi

from krein._validation import check_choice, check_integer
from krein.spectral import Jordan, RadialLaw, omega

Array = NDArray[np.float64]
Correlations = tuple[Array, Array]  # nodes q >= 0 and weights of the (symmetric) law of u.v

PAIR_ORDER = 5  # Gauss nodes per panel in double integrals
ORTHOGONAL: Correlations = (np.zeros(1), np.ones(1))
PARALLEL: Correlations = (np.ones(1), np.ones(1))


def variance(parts: Jordan, scheme: str, counts: int | Sequence[int], z: ArrayLike) -> Array:
    """Variance of k_hat at distances z.

    Parameters
    ----------
    parts : Jordan
    scheme : {"iid", "blocks", "joint", "shared"}
        Direction scheme (``krein.sampling.DIRECTIONS``).
    counts : int or one int per part with mass
        Frequencies per sign, the paper's s.
    z : array-like

    Returns
    -------
    ndarray of the shape of z
    """
    check_choice(scheme, "scheme", ("iid", "blocks", "joint", "shared"))
    laws = parts.parts
    sizes = list(counts) if isinstance(counts, Sequence | np.ndarray) else [counts] * len(laws)
    if len(sizes) != len(laws):
        raise ValueError(f"counts must have one entry per part with mass ({len(laws)}); got {len(sizes)}.")
    for size in sizes:
        check_integer(size, "counts", 1)
    z = np.asarray(z, float)
    total = np.zeros(z.shape)
    for law, s in zip(laws, sizes, strict=True):
        total += law.mass**2 * (single_variance(law, z) / s + within_part(law, scheme, s, sizes, z))
    if len(laws) == 2:
        total += between_parts(*laws, scheme, sizes, z)
    return total


def single_variance(law: RadialLaw, z: Array) -> Array:
    """v(z) = (1 + k~(2z))/2 - k~(z)^2 of one cosine."""
    return (1 + law.profile(2 * z)) / 2 - law.profile(z) ** 2


def within_part(law: RadialLaw, scheme: str, s: int, sizes: Sequence[int], z: Array) -> Array:
    """Mean over the pairs i != j of one part of their covariance, times (s - 1)/s: what orthogonality adds to v/s."""
    if scheme == "iid" or s == 1:
        return np.zeros(z.shape)
    if scheme == "joint":
        return (s - 1) / s * pair_covariance(law, law, z, joint_correlations(law.dim, sizes))
    pairs = sum(m * (m - 1) for m in block_sizes(s, law.dim))
    return pairs / s**2 * pair_covariance(law, law, z)


def between_parts(first: RadialLaw, second: RadialLaw, scheme: str, sizes: Sequence[int], z: Array) -> Array:
    """-2 ||mu_+|| ||mu_-|| times the mean covariance of a frequency of one part and one of the other: the paper's H."""
    if scheme in ("iid", "blocks"):
        return np.zeros(z.shape)
    if scheme == "joint":
        mean = pair_covariance(first, second, z, joint_correlations(first.dim, sizes))
    else:
        in_blocks = zip_longest(*(block_sizes(size, first.dim) for size in sizes), fillvalue=0)
        same = min(sizes)
        orthogonal = sum(a * b for a, b in in_blocks) - same
        mean = same * pair_covariance(first, second, z, PARALLEL) + orthogonal * pair_covariance(first, second, z)
        mean /= sizes[0] * sizes[1]
    return -2 * first.mass * second.mass * mean


def block_sizes(s: int, dim: int) -> list[int]:
    """Sizes of the orthonormal blocks that s directions fill in R^dim."""
    return [dim] * (s // dim) + ([s % dim] if s % dim else [])


def pair_covariance(first: RadialLaw, second: RadialLaw, z: Array, law_of_q: Correlations = ORTHOGONAL) -> Array:
    """Covariance of cos(R1 u.z) and cos(R2 v.z) for independent radii and u.v = +-q."""
    (r1, p1), (r2, p2) = first.nodes(PAIR_ORDER), second.nodes(PAIR_ORDER)
    squares, cross = np.add.outer(r1**2, r2**2), 2 * np.outer(r1, r2)
    mean = np.zeros(z.shape)
    for q, weight in zip(*law_of_q, strict=True):
        for sign in (1, -1) if q else (1,):
            length = np.sqrt(np.maximum(squares + sign * q * cross, 0))
            values = [p1 @ omega(first.dim, length * distance) @ p2 for distance in z.ravel()]
            mean += weight * np.reshape(values, z.shape) / (2 if q else 1)
    separate = [omega(first.dim, z[..., None] * r) @ p for r, p in ((r1, p1), (r2, p2))]
    return mean - separate[0] * separate[1]


def joint_correlations(dim: int, sizes: Sequence[int], order: int = 24) -> Correlations:
    """Law of q = |u.v| for two renormalised columns of Algorithm 1: dim rows of a 2m x 2m Haar matrix, m = max(s, dim).

    Given the first column x with a = ||x||^2 ~ Beta(d/2, (2m - d)/2), the second is, up to its length,
    v_perp + sqrt(1 - a) v_1 x/||x|| with v uniform on the sphere and independent of a. Hence
    q = sqrt(1 - a) v_1 / sqrt(1 - a v_1^2). The covariance is smooth in q^2, whose law is reduced to four Gauss nodes.
    """
    if dim == 1:
        return PARALLEL
    a, weight_a = roots_jacobi(order, max(*sizes, dim) - dim / 2 - 1, dim / 2 - 1)
    v, weight_v = roots_jacobi(2 * order, (dim - 3) / 2, (dim - 3) / 2)
    a = (a[:, None] + 1) / 2
    q_squared = (1 - a) * v**2 / (1 - a * v**2)
    nodes, weights = gauss_rule(q_squared.ravel(), np.outer(weight_a, weight_v).ravel(), 4)
    return np.sqrt(np.maximum(nodes, 0)), weights


def gauss_rule(points: Array, weights: Array, n: int) -> tuple[Array, Array]:
    """The n-point Gauss rule of a discrete probability law, by the Lanczos recurrence (Golub & Welsch)."""
    basis, diagonal, off = [np.sqrt(weights / weights.sum())], [], []
    for _ in range(n):
        image = points * basis[-1]
        diagonal.append(image @ basis[-1])
        for vector in basis:  # full reorthogonalisation
            image = image - (image @ vector) * vector
        off.append(np.linalg.norm(image))
        basis.append(image / off[-1])
    nodes, vectors = np.linalg.eigh(np.diag(diagonal) + np.diag(off[:-1], 1) + np.diag(off[:-1], -1))
    return nodes, vectors[0] ** 2
