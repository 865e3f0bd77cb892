"""An optimal design: frequencies and coefficients of least exact error, in rigid blocks that are rotated at random.

A design is a deterministic function of kernel, dimension, number of columns and distance weight, found by
``krein.sampling.design_search``. Only the rotations are random, and they are Haar:
E k_hat(z) = c_0 + sum c_i Omega_d(||w_i|| z) is known exactly, and its bias is certified.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from krein.sampling.design_objective import ErrorTables
from krein.sampling.directions import haar
from krein.sampling.error import PredictedError
from krein.sampling.frequencies import Frequencies
from krein.spectral.bessel import omega

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Block:
    """Frequencies that are rotated together, in ``copies`` independent rotations.

    ``weights`` has a row of at most ``dim`` coordinates per frequency: the others are 0, until a rotation.
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
        "blocks": the atoms of the minimum-variance measure on orthonormal blocks. "joint": all frequencies and
        coefficients optimised together, where there are too many as independent rotations of one optimised set.
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
    phased : bool
        A single column: its frequency has a random phase in place of a cosine and a sine.
    """

    recipe: str
    dim: int
    blocks: tuple[Block, ...]
    constant: float
    reach: float
    error: PredictedError
    bias_bound: float
    remarks: tuple[str, ...] = ()
    phased: bool = False

    @property
    def n_frequencies(self) -> int:
        """Number of frequencies, copies included."""
        return sum(len(block.coefficients) * block.copies for block in self.blocks)

    @property
    def n_columns(self) -> int:
        """Number of real columns."""
        return (1 if self.phased else 2) * self.n_frequencies + (self.constant != 0)

    @property
    def copies(self) -> int:
        """Number of independent rotations."""
        return sum(block.copies for block in self.blocks)

    @cached_property
    def _atoms(self) -> tuple[Array, Array]:
        radii, masses = stacked(self.blocks)
        atoms, which = np.unique(radii.round(9), return_inverse=True)
        return atoms, np.asarray(np.bincount(which, masses, len(atoms)), dtype=np.float64)

    @property
    def atoms(self) -> Array:
        """Radii, each once."""
        return self._atoms[0]

    @property
    def masses(self) -> Array:
        """Sum of the coefficients at every radius of ``atoms``."""
        return self._atoms[1]

    @property
    def standard_deviation(self) -> float:
        """Root mean square of the standard deviation of k_hat."""
        return float(np.sqrt(max(self.error.variance, 0.0)))

    @property
    def bias(self) -> float:
        """Root mean square of the bias of k_hat."""
        return float(np.sqrt(max(self.error.squared_bias, 0.0)))

    def rotated(self, rng: np.random.Generator) -> Frequencies:
        """The frequencies under fresh Haar rotations."""
        weights, coefficients = [], []
        for block in self.blocks:
            frames = haar(self.dim, block.weights.shape[1], block.copies, rng)
            weights.append((block.weights @ frames.swapaxes(1, 2)).reshape(-1, self.dim))
            coefficients.append(np.tile(block.coefficients, block.copies))
        phases = rng.uniform(0, 2 * np.pi, self.n_frequencies) if self.phased else None
        return Frequencies(np.concatenate(weights), np.concatenate(coefficients), self.constant, phases)

    def with_phases(self) -> Design:
        """The design with a random phase b in place of every pair of cosine and sine.

        2 c cos(w.x + b) cos(w.y + b) = c cos(w.(x - y)) + c cos(w.(x + y) + 2 b): the second term has mean 0 and is
        uncorrelated with everything else, so every frequency adds c^2/2 to the variance.
        """
        added = sum(block.copies * float(block.coefficients @ block.coefficients) / 2 for block in self.blocks)
        error = replace(self.error, mean_squared=self.error.mean_squared + added)
        return replace(self, error=error, phased=True)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """The fields as arrays, for saving."""
        error = [self.error.mean_squared, self.error.squared_bias, self.error.kernel_mean_square]
        arrays = {
            "recipe": np.array(self.recipe),
            "dim": np.array(self.dim),
            "numbers": np.array([self.constant, self.reach, self.bias_bound, *error]),
            "copies": np.array([block.copies for block in self.blocks]),
            "remarks": np.array(self.remarks, dtype=str),
            "phased": np.array(self.phased),
        }
        for i, block in enumerate(self.blocks):
            arrays |= {f"weights{i}": block.weights, f"coefficients{i}": block.coefficients}
        return arrays

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]]) -> Design:
        """The inverse of ``to_arrays``."""
        blocks = tuple(
            Block(arrays[f"weights{i}"], arrays[f"coefficients{i}"], int(copies))
            for i, copies in enumerate(arrays["copies"])
        )
        constant, reach, bound, *error = map(float, arrays["numbers"])
        remarks = tuple(map(str, arrays["remarks"]))
        recipe, dim, phased = str(arrays["recipe"]), int(arrays["dim"]), bool(arrays["phased"])
        return cls(recipe, dim, blocks, constant, reach, PredictedError(*error), bound, remarks, phased)


def rotation_error(blocks: Sequence[Block], constant: float, tables: ErrorTables) -> PredictedError:
    """Exact mean squared error over independent Haar rotations of the blocks, averaged over the weight of the tables.

    A block has the variance c^T A c - int (sum c_i Omega_d(||w_i|| z))^2 rho, see ``krein.sampling.error``.
    """
    weight = tables.weight
    total, variance = np.full(weight.z.shape, constant), 0.0
    for block in blocks:
        c = block.coefficients
        inner = block.weights @ block.weights.T
        squares = np.diagonal(inner)
        sums = squares[:, None] + squares
        A = (tables.F(np.maximum(sums - 2 * inner, 0))[0] + tables.F(sums + 2 * inner)[0]) / 2
        expected = c @ omega(tables.dim, np.multiply.outer(block.radii, weight.z))
        variance += block.copies * (float(c @ A @ c) - weight.mean(expected**2))
        total += block.copies * expected
    squared_bias = weight.mean((total - tables.k) ** 2)
    return PredictedError(max(variance, 0.0) + squared_bias, squared_bias, tables.mean_square)


def stacked(blocks: Sequence[Block]) -> tuple[Array, Array]:
    """Radius and coefficient of every frequency; copies are summed, not repeated."""
    radii = np.concatenate([block.radii for block in blocks])
    return radii, np.concatenate([block.copies * block.coefficients for block in blocks])
