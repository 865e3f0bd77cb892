"""Jordan decomposition mu = mu_+ - mu_- of a radial signed measure, and the two laws to sample.

The sign changes of the density are bracketed on the grid of the measure and refined to rounding; the masses are then
differences of its cumulative. Nothing is approximated by a table here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.polynomial.legendre import leggauss
from numpy.typing import ArrayLike, NDArray
from scipy.optimize.elementwise import find_root

from krein.exceptions import NoFrequenciesError
from krein.spectral.bessel import omega
from krein.spectral.measure import Array, RadialMeasure

TAIL_LEVELS = (1e-14, 1e-11, 1e-8, 1e-6, 1e-4, 1e-3, 1e-2, 0.05, 0.15, 0.3, 0.5)  # panel edges of expectations
FEW_PIECES = 8
ORDERS = (12, 24, 48, 96, 160)  # Gauss nodes per panel
ROUNDING, ERRORS = 1e-11, 4.0  # a part below this share of the mass, or this many errors of the measure, is noise


@dataclass(frozen=True)
class RadialLaw:
    """One Jordan part: a non-negative radial measure ``mass`` times a probability law of the radius R.

    It is a row of pieces in increasing radius. A piece is an interval on which the density keeps its sign, or an atom
    (an interval of length 0). ``mass == 0`` means that the part is empty; it has then no law.
    """

    measure: RadialMeasure
    sign: int
    left: Array
    right: Array
    piece_mass: Array

    @property
    def dim(self) -> int:
        """Dimension d of the frequencies."""
        return self.measure.dim

    @cached_property
    def mass(self) -> float:
        """Total mass ||mu_+|| or ||mu_-||."""
        return float(self.piece_mass.sum())

    def cdf(self, r: ArrayLike) -> Array:
        """P(R <= r)."""
        r = np.asarray(r, float)
        before = np.concatenate([[0.0], np.cumsum(self.piece_mass)])
        piece = np.searchsorted(self.left, r, side="right") - 1  # -1: left of every piece
        left, right = self.left[piece], self.right[piece]
        partial = self._mass_between(left, np.clip(r, left, right))
        partial = np.where((left == right) | (r >= right), self.piece_mass[piece], partial)
        return np.where(piece < 0, 0.0, np.minimum((before[piece] + partial) / self.mass, 1.0))

    def quantile(self, u: ArrayLike) -> Array:
        """The smallest r with cdf(r) >= u, exact to rounding."""
        u = np.asarray(u, float)
        if np.any((u < 0) | (u > 1)):
            raise ValueError("u must lie in [0, 1].")
        edges = np.concatenate([[0.0], np.cumsum(self.piece_mass)])
        target = u * edges[-1]
        piece = np.minimum(np.searchsorted(edges[1:], target, side="left"), len(self.piece_mass) - 1)
        left, right = self.left[piece], self.right[piece]
        rest = np.clip(target - edges[piece], 0, self.piece_mass[piece])
        solve = (rest > 0) & (rest < self.piece_mass[piece]) & (left < right)
        r = np.where(rest > 0, right, left)
        if solve.any():
            low, high = left[solve], right[solve]
            known, grid = self._known_cdf
            cell = np.searchsorted(known, u[solve])
            near = grid[np.maximum(cell - 2, 0)], grid[np.minimum(cell + 1, len(grid) - 1)]
            a, b = (np.log(np.clip(end, np.maximum(low, np.finfo(float).tiny), high)) for end in near)
            x, found = self._log_radius(a, b, low, rest[solve])
            linear = low + (high - low) * rest[solve] / self.piece_mass[piece][solve]  # pieces as small as rounding
            r[solve] = np.where(found, np.clip(np.exp(x), low, high), linear)
        return np.asarray(r)

    @cached_property
    def _known_cdf(self) -> tuple[Array, Array]:
        """Probabilities and radii on the grid of the measure, where a quantile is looked for."""
        return self.cdf(self.measure.grid), self.measure.grid

    def _log_radius(self, a: Array, b: Array, low: Array, mass: Array) -> tuple[Array, NDArray[np.bool_]]:
        """Where the mass between ``low`` and e^x is ``mass``, a <= x <= b, and whether there is such an x.

        Newton's method, with bisection where it would leave the bracket [a, b] or does not halve its last step.
        """
        below, above = (self._mass_between(low, np.exp(end)) - mass for end in (a, b))
        found = (below <= 0) & (above >= 0)
        result = (a + b) / 2
        left = np.flatnonzero(found & (a < b))
        a, b, low, mass, x = a[left], b[left], low[left], mass[left], result[left]
        last = b - a
        while len(left):
            r = np.exp(x)
            excess = self._mass_between(low, r) - mass
            a, b = np.where(excess <= 0, x, a), np.where(excess >= 0, x, b)
            with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
                newton = x - excess / (self.sign * self.measure.density(r) * r)
            good = (newton >= a) & (newton <= b) & (np.abs(newton - x) <= last / 2)
            new = np.where(good, newton, (a + b) / 2)
            last = np.abs(new - x)
            result[left] = x = new
            going = last > 1e-15 * (1 + np.abs(x))
            left = left[going]
            a, b, low, mass, x, last = (array[going] for array in (a, b, low, mass, x, last))
        return result, found

    def sample(self, size: int, rng: np.random.Generator) -> Array:
        """Independent radii."""
        return self.quantile(rng.random(size))

    def expect(self, function: Callable[[Array], NDArray[np.float64]], *, order: int = 12) -> Array:
        """E f(R) for a function that acts on an array of radii and returns them on its last axis."""
        radii, weights = self.nodes(order)
        return np.asarray(function(radii) @ weights)

    def moment(self, power: float) -> float:
        """E R^power (infinite moments come out as large finite numbers: the law is cut at probability 1e-14)."""
        return float(self.expect(lambda r: r**power))

    def profile(self, z: ArrayLike) -> Array:
        """Normalised kernel E Omega_d(R z) of this part.

        Accurate to rounding for smooth kernels; to about 1e-3 at d = 1 and 1e-4 at d = 2, 3 where the law has a heavy
        tail (Laplacian), which oscillates in the integral. In these dimensions a z of more than a hundred times the
        range of the kernel, where it has long vanished, is worse: up to 0.1 at d = 1, 1e-3 at d = 2, 1e-4 at d = 3.
        """
        z = np.asarray(z, float)
        widest = float(np.diff(self.quantile([0.0, 0.3, 0.7, 0.95, 0.999])).max())
        radians = z.max(initial=0.0) * widest / 2  # of Omega_d(rz) within half a panel
        order = next((order for order in ORDERS if order >= 12 + radians), ORDERS[-1])
        return self.expect(lambda r: omega(self.dim, z[..., None] * r), order=order)

    def nodes(self, order: int = 12) -> tuple[Array, Array]:
        """Radii and probabilities of a Gauss-Legendre rule with ``order`` nodes on panels that follow the quantiles."""
        cache: dict[int, tuple[Array, Array]] = self.__dict__.setdefault("_nodes", {})
        if order not in cache:
            cache[order] = self._make_nodes(order)
        return cache[order]

    def _make_nodes(self, order: int) -> tuple[Array, Array]:
        atom = self.left == self.right
        tails = np.array(TAIL_LEVELS)
        levels = np.unique(np.concatenate([tails, 1 - tails]))
        ends = self.quantile([levels[0], levels[-1]])
        if len(atom) <= FEW_PIECES:  # every bump of the density has its own tails
            before = np.cumsum(self.piece_mass) - self.piece_mass
            levels = np.clip((before[:, None] + self.piece_mass[:, None] * levels) / self.mass, 0, 1).ravel()
        edges = np.union1d(self.quantile(levels), np.concatenate([self.left, self.right])[np.tile(~atom, 2)])
        edges = np.clip(edges, *ends)
        panels = np.array(list(_octaves(np.unique(edges)))).reshape(-1, 2)
        x, w = leggauss(order)
        half = (panels[:, 1] - panels[:, 0])[:, None] / 2
        radii = (panels.mean(axis=1)[:, None] + half * x).ravel()
        weights = (half * w).ravel() * np.maximum(self.sign * self.measure.density(radii), 0)
        keep = weights > 0
        radii, weights = radii[keep], weights[keep]
        diffuse = self.piece_mass[~atom].sum()
        weights *= diffuse / weights.sum() if len(weights) else 1.0
        return np.concatenate([self.left[atom], radii]), np.concatenate([self.piece_mass[atom], weights]) / self.mass

    def _mass_between(self, low: ArrayLike, high: ArrayLike) -> Array:
        cumulative = self.measure.cumulative
        return np.asarray(self.sign * (cumulative(np.asarray(high, float)) - cumulative(np.asarray(low, float))))


@dataclass(frozen=True)
class Jordan:
    """mu = constant * delta_0 + positive - negative. The atom at r = 0 is a constant: it costs no variance."""

    constant: float
    positive: RadialLaw
    negative: RadialLaw

    @property
    def parts(self) -> tuple[RadialLaw, ...]:
        """The parts with mass, the positive one first."""
        return tuple(part for part in (self.positive, self.negative) if part.mass > 0)

    @property
    def total_mass(self) -> float:
        """||mu|| away from the origin."""
        return self.positive.mass + self.negative.mass


def jordan(measure: RadialMeasure) -> Jordan:
    """Split a radial signed measure into its positive and negative part.

    Examples
    --------
    >>> from krein.kernels import DeltaGaussian
    >>> from krein.spectral import jordan, radial_measure
    >>> parts = jordan(radial_measure(DeltaGaussian((1.0, -1.0), (1.0, 10.0)), dim=16))
    >>> round(parts.positive.mass, 6), round(parts.negative.mass, 6)
    (1.0, 1.0)
    """
    edges = _sign_edges(measure)
    at = {radius: sum(mass for r, mass in measure.atoms if r == radius) for radius, _ in measure.atoms}
    atoms = [(radius, mass) for radius, mass in at.items() if radius > 0 and mass != 0]
    edges = np.union1d(edges, [radius for radius, _ in atoms if edges[0] < radius < edges[-1]])
    masses = np.diff(measure.cumulative(edges))
    pieces = sorted(
        [*zip(edges[:-1], edges[1:], masses, strict=True), *((radius, radius, mass) for radius, mass in atoms)]
    )
    total = sum(abs(mass) for *_, mass in pieces)
    if total == 0:
        raise NoFrequenciesError("The measure is nothing but a constant: there is no frequency to sample.")
    # such a part is noise of the density, and would take columns as a true one; a cut-off measure has an unknown error
    noise = max(ROUNDING * total, ERRORS * measure.error if np.isfinite(measure.error) else 0.0)
    parts = []
    for sign in (1, -1):
        own = np.array([piece for piece in pieces if sign * piece[2] > 1e-16 * total]).reshape(-1, 3)
        if np.abs(own[:, 2]).sum() <= noise:
            own = own[:0]
        parts.append(RadialLaw(measure, sign, own[:, 0], own[:, 1], np.abs(own[:, 2])))
    return Jordan(float(at.get(0.0, 0.0)), *parts)


def _sign_edges(measure: RadialMeasure) -> Array:
    """Ends of the support and the radii where the density changes sign."""
    grid = measure.grid[measure.grid > 0]
    sign = np.sign(measure.density(grid))
    grid, sign = grid[sign != 0], sign[sign != 0]
    change = np.flatnonzero(sign[1:] != sign[:-1])
    roots = np.empty(0)
    if len(change):
        roots = find_root(measure.density, (grid[change], grid[change + 1]), tolerances={"xrtol": 4e-16}).x
    return np.concatenate([[measure.support[0]], np.unique(roots), [measure.support[1]]])


def _octaves(edges: Array) -> Iterator[tuple[float, float]]:
    """Panels between edges, cut so that none spans more than a factor 2 in radius."""
    for a, b in pairwise(edges):
        cuts = max(1, int(np.ceil(np.log2(b / a)))) if a > 0 else 1
        points = np.geomspace(a, b, cuts + 1) if a > 0 else np.array([a, b])
        yield from pairwise(points)
