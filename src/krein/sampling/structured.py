"""Structured weights: s frequencies in R^d, applied in O(log d) work each through Hadamard transforms or FFTs.

They stand where a dense (s, d) matrix may: ``apply(X)`` is X W^T, ``toarray()`` is W, ``radii`` its row lengths.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Protocol, Self

import numpy as np
import scipy.fft
from numpy.typing import NDArray
from scipy.linalg import hadamard

Array = NDArray[np.float64]
CACHED = 1 << 16  # numbers worked on at a time, so that they stay in cache
FACTOR = 64  # a Hadamard transform is made of dense factors of this size: BLAS is faster than butterflies in numpy


class StructuredWeights(Protocol):
    """What ``Frequencies`` needs of weights that are not a matrix."""

    @property
    def radii(self) -> Array:
        """Length of every frequency."""

    @property
    def shape(self) -> tuple[int, int]:
        """(number of frequencies, dimension of the rows)."""

    def apply(self, X: Any) -> NDArray[Any]:
        """X W^T in the precision of X."""

    def toarray(self) -> Array:
        """The dense matrix W."""

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """What defines the operator, as named arrays."""


@dataclass(frozen=True, eq=False)
class HadamardWeights:
    """Blocks of products of Hadamard matrices and random diagonals, with rows scaled to given lengths.

    A block maps x in R^D (the row padded with zeros to D = 2^p) through stages: permute, multiply by a diagonal, apply
    the orthonormal Hadamard matrix H. SORF has three stages with random signs, Fastfood two: signs, then a permutation
    with a Gaussian diagonal. Row i is then multiplied by ``scales[i]``.

    Parameters
    ----------
    dim : int
        Dimension d of the rows, at most D.
    diagonals : ndarray of shape (n_blocks, n_stages, D)
    permutation : ndarray of shape (n_blocks, D) or None
        Applied before the last diagonal; None for SORF.
    scales, radii : ndarray of shape (s,)
        ``radii`` are the lengths of the rows of W, ``scales`` the factors that give them these lengths.
    """

    dim: int
    diagonals: Array
    permutation: NDArray[np.intp] | None
    scales: Array
    radii: Array

    @property
    def shape(self) -> tuple[int, int]:
        """(number of frequencies, dimension of the rows)."""
        return len(self.radii), self.dim

    def apply(self, X: Any) -> NDArray[Any]:
        """X W^T in the precision of X, by blocks."""
        return np.asarray(self._blocks(X, len(self.radii)) * self.scales.astype(X.dtype))

    def toarray(self) -> Array:
        """The dense matrix W."""
        return self.apply(np.eye(self.dim)).T.copy()

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """What defines the operator, as named arrays."""
        arrays = {"hadamard_diagonals": self.diagonals, "scales": self.scales, "radii": self.radii}
        permutation = {} if self.permutation is None else {"permutation": self.permutation}
        return {**arrays, **permutation, "dim": np.array(self.dim)}

    def rescaled(self, radii: Array) -> Self:
        """The same directions with other lengths; the lengths before are found once from the dense blocks."""
        return replace(self, scales=radii / self.lengths(len(radii)), radii=radii)

    def _blocks(self, X: Any, count: int) -> NDArray[Any]:
        out = np.empty((X.shape[0], count), dtype=X.dtype)
        step = max(1, CACHED // self.diagonals.shape[-1])
        diagonals = self.diagonals.astype(X.dtype)
        for start in range(0, X.shape[0], step):
            self._few_rows(X[start : start + step], diagonals, out[start : start + step])
        return out

    def _few_rows(self, X: Any, diagonals: NDArray[Any], out: NDArray[Any]) -> None:
        size = diagonals.shape[-1]
        padded = np.zeros((X.shape[0], size), dtype=X.dtype)
        padded[:, : self.dim] = _dense(X)
        for block, stages in enumerate(diagonals):
            y = padded
            for stage, diagonal in enumerate(stages):
                if stage == len(stages) - 1 and self.permutation is not None:
                    y = y.take(self.permutation[block], axis=1)
                y = hadamard_transform(y * diagonal)
            part = out[:, block * size : (block + 1) * size]
            part[:] = y[:, : part.shape[1]]

    def lengths(self, count: int) -> Array:
        """Lengths of the rows of the blocks: known where d = D, else from the cut dense blocks."""
        size = self.diagonals.shape[-1]
        if self.dim == size:  # all stages but the last are orthogonal
            return np.repeat(np.sqrt(np.mean(self.diagonals[:, -1] ** 2, axis=1)), size)[:count]
        squares = np.zeros(count)
        for start in range(0, self.dim, 256):
            rows = np.eye(min(256, self.dim - start), self.dim, start)
            squares += np.sum(self._blocks(rows, count) ** 2, axis=0)
        return np.sqrt(squares)


@dataclass(frozen=True, eq=False)
class CirculantWeights:
    """Blocks C diag(signs) with C the circulant matrix of a Gaussian vector, through the FFT.

    The signs stand on the *columns*: row signs would do nothing to a cosine, and all rows of C alike project a constant
    vector.
    """

    generators: Array  # (n_blocks, d), unit vectors
    signs: Array  # (n_blocks, d)
    radii: Array

    @property
    def shape(self) -> tuple[int, int]:
        """(number of frequencies, dimension of the rows)."""
        return len(self.radii), self.generators.shape[1]

    def apply(self, X: Any) -> NDArray[Any]:
        """X W^T in the precision of X: row j of a block is the generator shifted by j places."""
        dense = _dense(X)
        n, d = self.shape
        out = np.empty((X.shape[0], n), dtype=X.dtype)
        for block, (generator, signs) in enumerate(zip(self.generators, self.signs, strict=True)):
            spectrum = np.conj(scipy.fft.rfft(generator.astype(X.dtype)))
            y = scipy.fft.irfft(scipy.fft.rfft(dense * signs.astype(X.dtype)) * spectrum, n=d)
            part = out[:, block * d : (block + 1) * d]
            part[:] = y[:, : part.shape[1]]
        return np.asarray(out * self.radii.astype(X.dtype))

    def toarray(self) -> Array:
        """The dense matrix W."""
        return self.apply(np.eye(self.shape[1])).T.copy()

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """What defines the operator, as named arrays."""
        return {"circulant_generators": self.generators, "signs": self.signs, "radii": self.radii}

    def rescaled(self, radii: Array) -> Self:
        """The same directions with other lengths."""
        return replace(self, radii=radii)


@dataclass(frozen=True, eq=False)
class StackedWeights:
    """Structured weights one below the other, for example those of the positive and of the negative part."""

    pieces: tuple[Any, ...]

    @property
    def radii(self) -> Array:
        """Length of every frequency."""
        return np.concatenate([piece.radii for piece in self.pieces])

    @property
    def shape(self) -> tuple[int, int]:
        """(number of frequencies, dimension of the rows)."""
        return sum(piece.shape[0] for piece in self.pieces), self.pieces[0].shape[1]

    def apply(self, X: Any) -> NDArray[Any]:
        """X W^T in the precision of X."""
        return np.concatenate([piece.apply(X) for piece in self.pieces], axis=1)

    def toarray(self) -> Array:
        """The dense matrix W."""
        return np.concatenate([piece.toarray() for piece in self.pieces])

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """What defines the operator, as named arrays."""
        return {
            f"{i}/{name}": array for i, piece in enumerate(self.pieces) for name, array in piece.to_arrays().items()
        }


def structured_from_arrays(arrays: dict[str, NDArray[Any]]) -> StructuredWeights:
    """The inverse of ``to_arrays``."""
    if "hadamard_diagonals" in arrays:
        diagonals, permutation = arrays["hadamard_diagonals"], arrays.get("permutation")
        return HadamardWeights(int(arrays["dim"]), diagonals, permutation, arrays["scales"], arrays["radii"])
    if "circulant_generators" in arrays:
        return CirculantWeights(arrays["circulant_generators"], arrays["signs"], arrays["radii"])
    heads = sorted({name.split("/")[0] for name in arrays if "/" in name})
    inner = [
        {name.split("/", 1)[1]: array for name, array in arrays.items() if name.startswith(f"{i}/")} for i in heads
    ]
    return StackedWeights(tuple(map(structured_from_arrays, inner)))


def _dense(X: Any) -> NDArray[Any]:
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X)


def hadamard_transform(x: NDArray[Any]) -> NDArray[Any]:
    """Orthonormal Walsh-Hadamard transform of the rows of x, whose length is a power of two.

    H_(ab) = H_a (x) H_b: the row is a matrix of shape (a, b), transformed on both sides by dense products.
    """
    n, size = x.shape
    if size <= FACTOR:
        return np.asarray(x @ _hadamard(size, x.dtype.str))
    a = size // FACTOR
    y = (x.reshape(-1, FACTOR) @ _hadamard(FACTOR, x.dtype.str)).reshape(n, a, FACTOR)
    if a <= FACTOR:
        return np.asarray(np.matmul(_hadamard(a, x.dtype.str), y)).reshape(n, size)
    columns = hadamard_transform(y.swapaxes(1, 2).reshape(-1, a))
    return np.asarray(columns.reshape(n, FACTOR, a).swapaxes(1, 2).reshape(n, size))


@lru_cache(maxsize=32)
def _hadamard(size: int, dtype: str) -> NDArray[Any]:
    matrix = np.asarray(hadamard(size) / np.sqrt(size), dtype=dtype)
    matrix.flags.writeable = False
    return matrix
