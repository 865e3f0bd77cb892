"""The optimal design: frequencies and coefficients of least exact error, in rigid blocks that are rotated at random.

Two recipes compete, and the smaller exact error wins:

    blocks   the atoms of the minimum-variance measure on orthonormal blocks, each rotated on its own
    joint    all frequencies and coefficients optimised together from there; beyond what is worth optimising,
             independent rotations of one optimised set

A design is a deterministic function of kernel, dimension, number of columns and distance weight. Only the rotations are
random, and they are Haar: E k_hat(z) = c_0 + sum c_i Omega_d(||w_i|| z) is known exactly, and its bias is certified.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from krein.kernels.base import RadialKernel
from krein.sampling.allocation import apportion
from krein.sampling.design_objective import DesignObjective, Fit
from krein.sampling.directions import haar, orthonormal_blocks
from krein.sampling.distance_weight import DistanceWeight
from krein.sampling.error import PredictedError
from krein.sampling.frequencies import Frequencies
from krein.spectral.bessel import omega
from krein.spectral.minimum_variance import (
    LARGEST_SUM,
    MinimumVarianceMeasure,
    bias_bound,
    block_variance,
    largest_value,
    minimum_variance_measure,
)
from krein.spectral.radial_table import RadialTable

Array = NDArray[np.float64]

ALLOWED_BIAS = (1e-5, 1e-4, 1e-3, 1e-2, 0.05)  # of minimum-variance measures, times max|k|, tried from the 4th on
BIAS_PENALTY = 0.05  # weight of the squared bias, uniform on [0, reach], beside the mean squared error
JOINT_SIZE = 400  # frequencies optimised together
JOINT_WORK = 1 << 25  # frequencies^2 x dim
ITERATIONS = 300
RADIUS_MARGIN = 3.0  # radii of a joint design, over the largest of the measure that it starts from
TIGHTENINGS = 6  # rounds in which the weight on the bias grows where it exceeds max_bias
TIGHTENING_ITERATIONS = 60


@dataclass(frozen=True, eq=False)
class Block:
    """Frequencies that are rotated together, in ``copies`` independent rotations.

    ``coefficients`` are those of one copy.
    """

    weights: Array
    coefficients: Array
    copies: int = 1

    @property
    def radii(self) -> Array:
        """Length of every frequency of one copy."""
        return np.asarray(np.linalg.norm(self.weights, axis=1))


@dataclass(frozen=True, eq=False)
class Design:
    """What is rotated, and what is known of it.

    Parameters
    ----------
    recipe : {"blocks", "joint"}
    dim : int
    blocks : tuple of Block
    constant : float
    reach : float
        Largest distance that the design was made for; the bias is certified up to it.
    error : PredictedError
        Exact mean squared error over rotations, under the weight on distances (without the uniform part that is mixed
        in while optimising).
    bias_bound : float
        Certified: |E k_hat(z) - k(z)| is at most this for all z in [0, reach].
    remarks : tuple of str
        What a user should know, for example that the bias is larger than the standard deviation.
    """

    recipe: str
    dim: int
    blocks: tuple[Block, ...]
    constant: float
    reach: float
    error: PredictedError
    bias_bound: float
    remarks: tuple[str, ...] = ()

    @property
    def n_frequencies(self) -> int:
        """Number of frequencies, copies included."""
        return sum(len(block.coefficients) * block.copies for block in self.blocks)

    @property
    def copies(self) -> int:
        """Number of independent rotations."""
        return sum(block.copies for block in self.blocks)

    @cached_property
    def _atoms(self) -> tuple[Array, Array]:
        radii, masses = _stacked(self.blocks)
        atoms, which = np.unique(radii.round(9), return_inverse=True)
        return atoms, np.bincount(which, masses, len(atoms))

    @property
    def atoms(self) -> Array:
        """Radii, each once."""
        return self._atoms[0]

    @property
    def masses(self) -> Array:
        """Sum of the coefficients at every radius of ``atoms``."""
        return self._atoms[1]

    def rotated(self, rng: np.random.Generator) -> Frequencies:
        """The frequencies under fresh Haar rotations."""
        weights, coefficients = [], []
        for block in self.blocks:
            rotations = haar(self.dim, self.dim, block.copies, rng)
            weights.append((block.weights @ rotations).reshape(-1, self.dim))
            coefficients.append(np.tile(block.coefficients, block.copies))
        return Frequencies(np.concatenate(weights), np.concatenate(coefficients), self.constant)


class DesignProblem:
    """One kernel, dimension and weight on distances, for designs of every width.

    Parameters
    ----------
    kernel : RadialKernel
    dim : int
    weight : DistanceWeight
    max_bias : float or None
        Largest bias to aim at, times max|k|. None leaves it to the penalty on the bias.
    """

    def __init__(self, kernel: RadialKernel, dim: int, weight: DistanceWeight, max_bias: float | None = None) -> None:
        self.kernel, self.dim, self.weight, self.max_bias = kernel, dim, weight, max_bias
        self.mixed = weight.mixed()
        self.scale = largest_value(kernel, weight.reach)
        self._measures: dict[float, MinimumVarianceMeasure] = {}

    def design(self, n_columns: int) -> Design:
        """The best design of at most ``n_columns`` real columns, at least 2."""
        measure, best = self._blocks(_shapes(n_columns, self.dim))
        found = [best]
        joint = self._joint(measure, best)
        if joint is not None:
            found.append(joint)
        allowed = np.inf if self.max_bias is None else self.max_bias * self.scale
        within = [design for design in found if design.bias_bound <= allowed]
        chosen = min(
            within or found,
            key=self._loss if within else lambda design: design.bias_bound,
        )
        return replace(chosen, remarks=tuple(self._remarks(chosen, allowed)))

    def measure(self, bias: float) -> MinimumVarianceMeasure:
        """The minimum-variance measure with this bias, times max|k|; kept."""
        if bias not in self._measures:
            self._measures[bias] = minimum_variance_measure(
                self.kernel, self.dim, self.weight.reach, bias * self.scale, self.mixed.z, self.mixed.rho
            )
        return self._measures[bias]

    # ---- recipe "blocks" ----

    def _blocks(self, shapes: Sequence[tuple[int, bool]]) -> tuple[MinimumVarianceMeasure, Design]:
        """The best measure and shape; measures of other biases are tried as long as they gain."""
        limit = np.inf if self.max_bias is None else self.max_bias
        ladder = [bias for bias in ALLOWED_BIAS if bias <= limit] or [limit]
        start = min(3, len(ladder) - 1)
        best = self._best_shape(ladder[start], shapes)
        for path in (range(start - 1, -1, -1), range(start + 1, len(ladder))):
            for i in path:
                found = self._best_shape(ladder[i], shapes)
                if self._loss(found[1]) >= self._loss(best[1]):
                    break
                best = found
        return best

    def _best_shape(self, bias: float, shapes: Sequence[tuple[int, bool]]) -> tuple[MinimumVarianceMeasure, Design]:
        measure = self.measure(bias)
        found = [self._on_blocks(measure, n, constant) for n, constant in shapes]
        return measure, min(found, key=self._loss)

    def _on_blocks(self, measure: MinimumVarianceMeasure, n: int, constant: bool) -> Design:
        """n frequencies shared out to the atoms, on orthonormal blocks, with the best coefficient for every atom."""
        shares = np.abs(measure.masses) * np.sqrt(block_variance(self.dim, measure.radii, self.mixed.z, self.mixed.rho))
        counts = _counts(shares, n)
        radii, masses = measure.radii[counts > 0], measure.masses[counts > 0]
        atom = np.repeat(np.arange(len(radii)), counts[counts > 0])
        chunks = [atom[start : start + self.dim] for start in range(0, n, self.dim)]
        c, c0 = self._atom_coefficients(radii, chunks, constant)
        if np.abs(c).sum() > LARGEST_SUM * self.scale:
            c, c0 = masses, measure.constant if constant else 0.0
        each = c / np.bincount(atom)
        blocks: list[Block] = []
        for chunk in chunks:
            weights = radii[chunk][:, None] * np.eye(len(chunk), self.dim)
            if blocks and np.array_equal(blocks[-1].weights, weights):
                blocks[-1] = replace(blocks[-1], copies=blocks[-1].copies + 1)
            else:
                blocks.append(Block(weights, each[chunk]))
        return self._certified("blocks", tuple(blocks), c0)

    def _atom_coefficients(
        self, radii: Array, chunks: Sequence[NDArray[np.intp]], constant: bool
    ) -> tuple[Array, float]:
        """Total coefficient of every atom and the constant: least mean squared error plus the penalty on the bias."""
        z, rho = self.mixed.z, self.mixed.rho
        t = np.multiply.outer(radii, z)
        expected = np.vstack([omega(self.dim, t), np.ones(len(z))])
        lengths = np.sqrt(np.add.outer(radii**2, radii**2))
        pair = omega(self.dim, lengths[:, :, None] * z) @ rho - (expected[:-1] * rho) @ expected[:-1].T
        single = ((1 + omega(self.dim, 2 * t)) / 2 - expected[:-1] ** 2) @ rho
        total = np.bincount(np.concatenate(chunks), minlength=len(radii)).astype(float)
        variance = np.diag(single / total)
        for chunk in chunks:
            m = np.bincount(chunk, minlength=len(radii)).astype(float)
            variance += pair * (np.outer(m, m) - np.diag(m)) / np.outer(total, total)
        k = self.kernel.profile(z)
        h = rho + BIAS_PENALTY * _uniform_part(self.weight, z)
        H = (expected * h) @ expected.T
        H[:-1, :-1] += variance
        g = expected @ (h * k)
        n = len(g) if constant else len(radii)
        c = np.linalg.lstsq(H[:n, :n], g[:n], rcond=1e-13)[0]
        return c[: len(radii)], float(c[-1]) if constant else 0.0

    # ---- recipe "joint" ----

    def _joint(self, measure: MinimumVarianceMeasure, start: Design) -> Design | None:
        n, constant = start.n_frequencies, start.constant != 0
        size, copies = _joint_shape(n, self.dim)
        rng = np.random.default_rng(0)
        radii = np.sort(np.concatenate([np.tile(block.radii, block.copies) for block in start.blocks]))
        chosen = radii[((np.arange(size) + 0.5) * n / size).astype(int)]
        w = chosen[:, None] * orthonormal_blocks(self.dim, size, rng)
        largest = RADIUS_MARGIN * float(measure.radii.max())
        objective = DesignObjective(self.kernel, self.dim, self.mixed, largest, copies, constant)
        objective.bias_weight[:] = BIAS_PENALTY / len(objective.bias_weight)
        w, fit = objective.minimise(w, ITERATIONS)
        while np.abs(fit.coefficients).sum() > LARGEST_SUM * self.scale and objective.ridge < 1e-2:
            objective.ridge *= 30
            w, fit = objective.minimise(w, TIGHTENING_ITERATIONS)
        design = self._certified("joint", (_copies(w, fit, copies),), fit.constant)
        return design if self.max_bias is None else self._tightened(design, objective, w)

    def _tightened(self, design: Design, objective: DesignObjective, w: Array) -> Design:
        """The weight on the bias grows where the bias is too large, until it is nowhere."""
        assert self.max_bias is not None
        allowed = self.max_bias * self.scale
        copies = design.blocks[0].copies
        for _ in range(TIGHTENINGS):
            if design.bias_bound <= allowed:
                break
            bias = np.abs(objective.bias(w))
            objective.bias_weight *= 1 + 9 * np.minimum(bias / (0.7 * allowed), 10) ** 2
            w, fit = objective.minimise(w, TIGHTENING_ITERATIONS)
            design = self._certified("joint", (_copies(w, fit, copies),), fit.constant)
        return design

    # ---- what is known of a design ----

    def _certified(self, recipe: str, blocks: tuple[Block, ...], constant: float) -> Design:
        radii, masses = _stacked(blocks)
        error = rotation_error(self.kernel, self.dim, blocks, constant, self.weight)
        bound = bias_bound(self.kernel, self.dim, radii, masses, constant, self.weight.reach)
        return Design(recipe, self.dim, blocks, constant, self.weight.reach, error, bound)

    def _loss(self, design: Design) -> float:
        """Mean squared error under the mixed weight."""
        return rotation_error(self.kernel, self.dim, design.blocks, design.constant, self.mixed).mean_squared

    def _remarks(self, design: Design, allowed: float) -> list[str]:
        remarks = []
        bias, deviation = np.sqrt(design.error.squared_bias), np.sqrt(max(design.error.variance, 0.0))
        if bias > deviation:
            remarks.append(
                f"The root mean square bias {bias:.2g} exceeds the standard deviation {deviation:.2g}: independent draws "
                "do not average it out. A max_bias lowers it."
            )
        if design.bias_bound > allowed:
            remarks.append(
                f"No bias as small as {allowed:.3g} was reached; the smallest found is {design.bias_bound:.3g}."
            )
        return remarks


def rotation_error(
    kernel: RadialKernel, dim: int, blocks: Sequence[Block], constant: float, weight: DistanceWeight
) -> PredictedError:
    """Exact mean squared error over independent Haar rotations of the blocks, averaged over the weight.

    A block has the variance c^T A c - int (sum c_i Omega_d(||w_i|| z))^2 rho, see ``krein.sampling.error``.
    """
    k = kernel.profile(weight.z)
    total, variance = np.full(weight.z.shape, constant), 0.0
    top = max(float(block.radii.max()) for block in blocks)
    F = RadialTable(dim, weight.z, weight.rho, (2 * top) ** 2)
    for block in blocks:
        c = block.coefficients
        inner = block.weights @ block.weights.T
        squares = np.diagonal(inner)
        sums = squares[:, None] + squares
        A = (F(np.maximum(sums - 2 * inner, 0))[0] + F(sums + 2 * inner)[0]) / 2
        expected = c @ omega(dim, np.multiply.outer(block.radii, weight.z))
        variance += block.copies * (float(c @ A @ c) - weight.mean(expected**2))
        total += block.copies * expected
    squared_bias = weight.mean((total - k) ** 2)
    return PredictedError(max(variance, 0.0) + squared_bias, squared_bias, weight.mean(k**2))


def _joint_shape(n: int, dim: int) -> tuple[int, int]:
    """(frequencies optimised together, copies) for n frequencies: whole orthonormal blocks where several copies fit."""
    largest = max(int(min(JOINT_SIZE, np.sqrt(JOINT_WORK / dim))), 1)
    if n <= largest:
        return n, 1
    copies = -(-n // largest)
    size = n // copies
    if size > dim:
        size -= size % dim
    return size, n // size


def _shapes(n_columns: int, dim: int) -> list[tuple[int, bool]]:
    """(frequencies, constant?) within ``n_columns`` columns: as many as fit, and whole orthonormal blocks only."""
    shapes = [((n_columns - 1) // 2, True)] if n_columns >= 3 else []
    if n_columns % 2 == 0:
        shapes.append((n_columns // 2, False))
    whole = [(n - n % dim, constant) for n, constant in shapes if n > dim]
    return list(dict.fromkeys([*shapes, *whole]))


def _counts(shares: Array, n: int) -> NDArray[np.intp]:
    """Frequencies per atom; with fewer frequencies than atoms, the atoms with the largest shares have one each."""
    if n >= len(shares):
        return np.array(apportion(np.maximum(shares, 1e-12), n))
    counts = np.zeros(len(shares), dtype=np.intp)
    counts[np.argsort(shares)[len(shares) - n :]] = 1
    return counts


def _copies(w: Array, fit: Fit, copies: int) -> Block:
    return Block(w, fit.coefficients / copies, copies)


def _stacked(blocks: Sequence[Block]) -> tuple[Array, Array]:
    """Radius and coefficient of every frequency; copies are summed, not repeated."""
    radii = np.concatenate([block.radii for block in blocks])
    return radii, np.concatenate([block.copies * block.coefficients for block in blocks])


def _uniform_part(weight: DistanceWeight, z: Array) -> Array:
    """Trapezoidal weights of the uniform law on [0, reach] at unordered distances z."""
    order = np.argsort(z)
    edges = np.concatenate([[0.0], (z[order][1:] + z[order][:-1]) / 2, [weight.reach]])
    shares = np.empty_like(z)
    shares[order] = np.diff(edges) / weight.reach
    return shares
