"""Rules that choose radii and directions together: quasi-Monte Carlo points and spherical-radial quadrature.

A rule is a function ``(law, count, rng) -> (weights, coefficients, constant)`` for one Jordan part of mass 1: its
estimate of the normalised kernel is constant + sum_i coefficients_i cos(weights_i . z). All rules here are unbiased.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtr, ndtri
from scipy.stats import qmc

from krein.sampling.directions import haar, simplex_vertices
from krein.spectral import RadialLaw
from krein.spectral.measure import tabulated

Array = NDArray[np.float64]
Points = tuple[Array, Array, float]

CLIP = 1e-12  # uniform coordinates stay away from 0 and 1, where the normal quantile is infinite


@dataclass(frozen=True)
class Rule:
    """A rule and what must be known of it: frequencies per group, a constant column, invariance under rotations."""

    points: Callable[[RadialLaw, int, np.random.Generator], Points]
    group: Callable[[int], int] = lambda dim: 1
    constant: bool = False
    rotated: bool = False


def quasi_monte_carlo(
    law: RadialLaw, count: int, rng: np.random.Generator, *, engine: Callable[..., qmc.QMCEngine]
) -> Points:
    """Scrambled points u in [0, 1]^d: g = Phi^-1(u) gives the direction, F^-1(chi_d(||g||)) the radius.

    Every scrambled point is uniform, so that every frequency alone has the exact law.
    """
    dim = law.dim
    points = engine(d=dim, scramble=True, rng=rng)
    u = points.random(1 << (count - 1).bit_length())[:count]  # a power of two: Sobol' points are balanced there
    g = ndtri(np.clip(u, CLIP, 1 - CLIP))
    norm = np.linalg.norm(g, axis=1)
    radius = law.quantile(np.clip(chdtr(dim, norm**2), CLIP, 1 - CLIP))
    return g * (radius / norm)[:, None], np.full(count, 1 / count), 0.0


def spherical_radial_3(law: RadialLaw, count: int, rng: np.random.Generator) -> Points:
    """Degree 3 (Genz & Monahan 1998; Munkhoeva et al. 2018): vertices of a rotated simplex on a sphere of radius rho.

    K_hat = (1 - E r^2/rho^2) + (E r^2/rho^2)/(d + 1) sum_j cos(rho Q v_j . z), with rho from the law r^2 p(r). It is
    unbiased, and exact for polynomials of degree 3 in every draw. The constant may be negative.
    """
    dim = law.dim
    biased = size_biased(law, 2)
    n_groups = count // (dim + 1)
    radii = biased.sample(n_groups, rng)
    factor = biased.mass / radii**2
    vertices = simplex_vertices(dim) @ haar(dim, dim, n_groups, rng)  # (groups, d + 1, d)
    weights = (radii[:, None, None] * vertices).reshape(-1, dim)
    return weights, np.repeat(factor / (dim + 1), dim + 1) / n_groups, float(np.mean(1 - factor))


def spherical_radial_5(law: RadialLaw, count: int, rng: np.random.Generator) -> Points:
    """Degree 5: vertices and normalised edge midpoints of a rotated simplex (Mysovskikh), on two spheres.

    Radii from the joint law r1^2 r2^2 (r1^2 - r2^2)^2 p(r1) p(r2), with M_k = E r^k and
    w_1 = (M_4 - r_2^2 M_2)/(r_1^2 (r_1^2 - r_2^2)), w_2 likewise, w_0 = 1 - w_1 - w_2 for the constant. Unbiased.
    """
    dim = law.dim
    directions, spherical = mysovskikh(dim)
    n_groups = count // (2 * len(directions))
    radii = _radius_pairs(law, n_groups, rng)
    m2, m4 = (size_biased(law, power).mass for power in (2, 4))
    s1, s2 = radii.T**2
    radial = np.stack([(m4 - s2 * m2) / (s1 * (s1 - s2)), (m4 - s1 * m2) / (s2 * (s2 - s1))], axis=1)
    rotated = directions @ haar(dim, dim, n_groups, rng)  # (groups, points, d)
    weights = (radii[:, :, None, None] * rotated[:, None]).reshape(-1, dim)
    coefficients = (radial[:, :, None] * spherical).ravel() / n_groups
    return weights, coefficients, float(np.mean(1 - radial.sum(axis=1)))


def mysovskikh(dim: int) -> tuple[Array, Array]:
    """Directions (one of each antipodal pair) and weights of the spherical rule of degree 5; some are < 0 for d > 7."""
    vertices = simplex_vertices(dim)
    i, j = np.triu_indices(dim + 1, 1)
    middle = vertices[i] + vertices[j]
    norm = np.linalg.norm(middle, axis=1, keepdims=True)
    at_vertex = dim * (7 - dim) / ((dim + 1) ** 2 * (dim + 2))
    at_middle = 4 * (dim - 1) ** 2 / (dim * (dim + 1) ** 2 * (dim + 2))
    if dim == 1:  # the two vertices are one antipodal pair, and the edge has no midpoint on the sphere
        return vertices[:1], np.ones(1)
    return np.vstack([vertices, middle / norm]), np.r_[np.full(dim + 1, at_vertex), np.full(len(i), at_middle)]


def size_biased(law: RadialLaw, power: int) -> RadialLaw:
    """The measure r^power p(r) of a normalised law p; its mass is the moment E r^power, which must be finite.

    Radii of probability below 1e-14 are left out. Where those below 1e-10 carry more than 1 % of the moment, it is
    infinite, or as good as infinite for a rule with a finite number of radii. Kept with the law for later calls.
    """
    kept: dict[int, RadialLaw] = law.__dict__.setdefault("_size_biased", {})
    if power not in kept:
        kept[power] = _make_size_biased(law, power)
    return kept[power]


def _make_size_biased(law: RadialLaw, power: int) -> RadialLaw:
    biased = _weighted(law, power)
    if biased.mass > 1.01 * _weighted(law, power, 1e-10).mass:
        raise ValueError(
            f"Quadrature and radii='rms' need a finite moment E r^{power} of the frequency radius, not carried by "
            "radii of probability below 1e-10. The frequencies of this kernel have too heavy a tail (it is not smooth "
            "enough at 0). Use 'gorf-blocks' or 'qmc'."
        )
    return biased


def _weighted(law: RadialLaw, power: int, tail: float = 1e-14) -> RadialLaw:
    ends = law.quantile([1e-14, 1 - tail])
    x = np.linspace(np.log(ends[0]), np.log(ends[1]), 4097)
    r = np.exp(x)
    inside = np.zeros(len(r), dtype=bool)
    for left, right in zip(law.left, law.right, strict=True):
        inside |= (r >= left) & (r <= right)
    g = np.where(inside, np.maximum(law.sign * law.measure.density(r), 0), 0) * r ** (power + 1) / law.mass
    measure = tabulated(law.dim, x, g, log=True)
    edges = np.array([r[0], r[-1]])
    return RadialLaw(measure, 1, edges[:1], edges[1:], np.diff(measure.cumulative(edges)))


def _radius_pairs(law: RadialLaw, count: int, rng: np.random.Generator) -> Array:
    """Pairs from r1^2 r2^2 (r1^2 - r2^2)^2 p(r1) p(r2), by rejection from r1^2 r2^2 (r1^4 + r2^4) p(r1) p(r2)."""
    outer, inner = size_biased(law, 6), size_biased(law, 2)
    pairs = np.empty((0, 2))
    while len(pairs) < count:
        size = 64 + 4 * law.dim
        found = np.stack([outer.sample(size, rng), inner.sample(size, rng)], axis=1)
        s1, s2 = found.T**2
        pairs = np.concatenate([pairs, found[rng.random(size) * (s1**2 + s2**2) < (s1 - s2) ** 2]])
    swap = rng.random(count) < 0.5
    pairs = pairs[:count]
    pairs[swap] = pairs[swap, ::-1]
    return pairs


RULES: dict[str, Rule] = {
    "sobol": Rule(partial(quasi_monte_carlo, engine=qmc.Sobol)),
    "halton": Rule(partial(quasi_monte_carlo, engine=qmc.Halton)),
    "spherical-radial-3": Rule(spherical_radial_3, lambda dim: dim + 1, constant=True, rotated=True),
    "spherical-radial-5": Rule(
        spherical_radial_5, lambda dim: 2 * len(mysovskikh(dim)[1]), constant=True, rotated=True
    ),
}
