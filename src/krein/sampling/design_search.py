"""The search for the optimal design of a kernel, a dimension and a weight on distances.

Two recipes compete, and the smaller exact error wins:

    blocks   the atoms of the minimum-variance measure on orthonormal blocks, each rotated on its own
    joint    all frequencies and coefficients optimised together from there; beyond what is worth optimising,
             independent rotations of one optimised set

How much bias the measure should be allowed depends on the width, so measures along a ladder of biases are tried.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from krein._random import Streams
from krein.kernels.base import RadialKernel
from krein.sampling.design import Block, Design, rotation_error, stacked
from krein.sampling.design_blocks import on_blocks, shares_of_atoms
from krein.sampling.design_objective import DesignObjective, ErrorTables, Fit
from krein.sampling.directions import orthonormal_blocks
from krein.sampling.distance_weight import DistanceWeight
from krein.spectral.bessel import omega
from krein.spectral.minimum_variance import (
    LARGEST_SUM,
    MinimumVarianceMeasure,
    bias_bound,
    largest_value,
    minimum_variance_measure,
    radius_grid,
)

Array = NDArray[np.float64]
Shape = tuple[int, bool]  # number of frequencies, and whether there is a constant

ALLOWED_BIAS = (1e-5, 1e-4, 1e-3, 1e-2, 0.05)  # of minimum-variance measures, times max|k|
JOINT_SIZE = 400  # frequencies optimised together
JOINT_WORK = 1 << 25  # frequencies^2 x coordinates
FEW_COPIES = 4  # up to so many, fewer and larger sets are tried too
SCREENING, ITERATIONS = 40, 300  # of every start, and of the best of them
SCREENED = 2  # starts that are followed to the end
LEAST_VARIATION = 0.05  # of the expectation, over that of the kernel, below which a design is but a constant
RADIUS_MARGIN = 3.0  # radii of a joint design, over the largest of all measures
BIAS_WEIGHT = 0.05  # with which the weight on the squared bias, uniform on [0, reach], begins to grow under a max_bias
TIGHTENINGS, GROWTH = 10, 6.0  # rounds in which it grows where the bias comes near max_bias, and how much in one
TIGHTENING_ITERATIONS = 60


class DesignProblem:
    """One kernel, dimension and weight on distances, for designs of every width.

    Parameters
    ----------
    kernel : RadialKernel
    dim : int
    weight : DistanceWeight
    max_bias : float or None
        Largest bias to aim at, times max|k|. None leaves it to the mean squared error, of which it is a part.
    """

    def __init__(self, kernel: RadialKernel, dim: int, weight: DistanceWeight, max_bias: float | None = None) -> None:
        self.kernel, self.dim, self.weight, self.max_bias = kernel, dim, weight, max_bias
        self.mixed = weight.mixed()
        self.scale = largest_value(kernel, weight.reach)
        limit = np.inf if max_bias is None else max_bias
        self.ladder = [bias for bias in ALLOWED_BIAS if bias <= limit] or [limit]
        self._measures: dict[float, MinimumVarianceMeasure] = {}

    def design(self, n_columns: int) -> Design:
        """The best design of at most ``n_columns`` real columns; a single one has a random phase."""
        if n_columns == 1:
            return self._remarked(self.design(2).with_phases())
        shapes = _shapes(n_columns, self.dim)
        found = [self._best([self._on_blocks(measure, *shape) for measure in self.measures() for shape in shapes])]
        found += self._joint([shape for shape in shapes if shape[0] <= 2 * self.dim] or shapes[:1])
        return self._remarked(self._best(found))

    @property
    def allowed(self) -> float:
        """The largest bias that is aimed at, absolute."""
        return np.inf if self.max_bias is None else self.max_bias * self.scale

    def _best(self, designs: Sequence[Design]) -> Design:
        """The least error within the allowed bias, or else the least bias that is not bought with a useless variance.

        With few columns a constant may have the least error: it comes last.
        """
        designs = [design for design in designs if self._variation(design) > LEAST_VARIATION] or designs
        within = [design for design in designs if design.bias_bound <= self.allowed]
        if within:
            return min(within, key=self._loss)
        useful = [design for design in designs if design.error.relative < 1] or designs
        return min(useful, key=lambda design: design.bias_bound)

    def measures(self) -> Iterator[MinimumVarianceMeasure]:
        """The minimum-variance measures along the ladder of biases; kept."""
        for bias in self.ladder:
            if bias not in self._measures:
                self._measures[bias] = minimum_variance_measure(
                    self.kernel, self.dim, self.weight.reach, bias * self.scale, self.mixed.z, self.mixed.rho
                )
            yield self._measures[bias]

    @cached_property
    def _tables(self) -> ErrorTables:
        return ErrorTables(self.kernel, self.dim, self.mixed, self._largest_radius)

    @cached_property
    def _pure_tables(self) -> ErrorTables:
        return ErrorTables(self.kernel, self.dim, self.weight, self._largest_radius)

    @cached_property
    def _largest_radius(self) -> float:
        """Of joint designs, and at least that of all measures."""
        largest = max(float(measure.radii.max()) for measure in self.measures())
        grid = radius_grid(self.kernel, self.dim, self.weight.reach)
        return min(RADIUS_MARGIN * largest, float(grid[-1]))

    # ---- recipes ----

    def _on_blocks(self, measure: MinimumVarianceMeasure, n: int, constant: bool) -> Design:
        return self._certified("blocks", *on_blocks(self._tables, measure, n, constant, LARGEST_SUM * self.scale))

    def _joint(self, shapes: Sequence[Shape]) -> list[Design]:
        """Joint designs from the best starts: every measure and shape is followed for a few steps first."""
        starts: list[tuple[float, int, Array, DesignObjective]] = []
        choices = [(shape, one) for shape in shapes for one in _joint_shapes(shape[0], self.dim)]
        for (n, constant), (size, copies) in choices:
            objective = DesignObjective(self._tables, copies, constant)
            for measure in self.measures():
                radii = np.repeat(measure.radii, shares_of_atoms(self._tables, measure, n))
                radii = radii[((np.arange(size) + 0.5) * n / size).astype(int)]
                w, fit = objective.minimise(radii[:, None] * self._directions(size), SCREENING)
                starts.append((fit.value + self._excess(fit), len(starts), w, objective))
        return [self._finished(w, objective) for _, _, w, objective in sorted(starts)[:SCREENED]]

    def _directions(self, size: int) -> Array:
        """Orthonormal blocks, always the same: a design is no random variable."""
        return orthonormal_blocks(min(self.dim, size), size, Streams(0)("directions that a joint design starts from"))

    def _excess(self, fit: Fit) -> float:
        """What sums of coefficients that float32 cannot hold cost, in a comparison of starts."""
        over = max(float(np.abs(fit.coefficients).sum()) / (LARGEST_SUM * self.scale) - 1, 0.0)
        return 0.0 if over == 0 else 1e-6 * over * self.scale**2

    def _finished(self, w: Array, objective: DesignObjective) -> Design:
        ridge = objective.ridge
        w, fit = objective.minimise(w, ITERATIONS)
        while np.abs(fit.coefficients).sum() > LARGEST_SUM * self.scale and objective.ridge < 1e-2:
            objective.ridge *= 30
            w, fit = objective.minimise(w, TIGHTENING_ITERATIONS)
        design = self._certified("joint", (_block(w, fit, objective.copies),), fit.constant)
        if self.max_bias is not None:
            design = self._tightened(design, objective, w)
        objective.ridge = ridge
        return design

    def _tightened(self, design: Design, objective: DesignObjective, w: Array) -> Design:
        """A weight on the bias grows where the bias is too large, until it is nowhere."""
        objective.bias_weight[:] = BIAS_WEIGHT / len(objective.bias_weight)
        for _ in range(TIGHTENINGS):
            if design.bias_bound <= self.allowed:
                break
            bias = np.abs(objective.bias(w))
            objective.bias_weight *= 1 + np.minimum(bias / (0.7 * self.allowed), GROWTH) ** 2
            w, fit = objective.minimise(w, TIGHTENING_ITERATIONS)
            design = self._certified("joint", (_block(w, fit, objective.copies),), fit.constant)
        objective.bias_weight[:] = 0.0
        return design

    # ---- what is known of a design ----

    def _certified(self, recipe: str, blocks: tuple[Block, ...], constant: float) -> Design:
        radii, masses = stacked(blocks)
        error = rotation_error(blocks, constant, self._pure_tables)
        bound = bias_bound(self.kernel, self.dim, radii, masses, constant, self.weight.reach)
        return Design(recipe, self.dim, blocks, constant, self.weight.reach, error, bound)

    def _loss(self, design: Design) -> float:
        """Mean squared error under the mixed weight."""
        return rotation_error(design.blocks, design.constant, self._tables).mean_squared

    def _variation(self, design: Design) -> float:
        """Range of E k_hat over that of k, on [0, reach]."""
        z = np.linspace(0, self.weight.reach, 65)
        expected = design.masses @ omega(self.dim, np.multiply.outer(design.atoms, z))
        return float(np.ptp(expected) / np.ptp(self.kernel.profile(z)))

    def _remarked(self, design: Design) -> Design:
        return replace(design, remarks=tuple(self._remarks(design)))

    def _remarks(self, design: Design) -> Iterator[str]:
        if design.bias > design.standard_deviation:
            yield (
                f"The root mean square bias {design.bias:.2g} exceeds the standard deviation "
                f"{design.standard_deviation:.2g}: independent draws do not average it out. A max_bias lowers it."
            )
        if self._variation(design) <= LEAST_VARIATION:
            yield "It is all but a constant: this kernel needs more columns."
        if design.error.relative > 1:
            yield "The error is larger than the kernel itself: more columns are needed, or a larger max_bias."
        if design.bias_bound > self.allowed:
            yield f"No bias as small as {self.allowed:.3g} was reached; the smallest found is {design.bias_bound:.3g}."


def _joint_shapes(n: int, dim: int) -> list[tuple[int, int]]:
    """(frequencies optimised together, copies) for n frequencies: whole orthonormal blocks where several copies fit.

    All n in the fewest copies; where these are few, also sets of the largest size, which may do better with less than
    n: the error of a set may fall much faster than by the root of its size.
    """
    largest = max(int(min(JOINT_SIZE, np.sqrt(JOINT_WORK / min(dim, JOINT_SIZE)))), 1)
    if n <= largest:
        return [(n, 1)]
    copies = -(-n // largest)
    sizes = [n // copies, largest] if copies <= FEW_COPIES and largest > dim else [n // copies]
    sizes = [size - size % dim if size > dim else size for size in sizes]
    return [(size, n // size) for size in dict.fromkeys(sizes)]


def _shapes(n_columns: int, dim: int) -> list[Shape]:
    """Shapes within ``n_columns`` columns: as many frequencies as fit, and whole orthonormal blocks only."""
    shapes = [((n_columns - 1) // 2, True)] if n_columns >= 3 else []
    if n_columns % 2 == 0:
        shapes.append((n_columns // 2, False))
    whole = [(n - n % dim, constant) for n, constant in shapes if n > dim]
    return list(dict.fromkeys([*shapes, *whole]))


def _block(w: Array, fit: Fit, copies: int) -> Block:
    """In coordinates of its own, a triangular matrix: the directions that w started from leave no trace."""
    triangle: Any = np.linalg.qr(w.T, mode="r")
    return Block(triangle.T, fit.coefficients / copies, copies)
