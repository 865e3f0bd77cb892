"""The cosine map by the compiled module krein._native, which is there where krein was installed with a C compiler.

Same columns as ``reference_map`` of ``_map.py``, to rounding; the same bits for any split of the rows.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from krein.kernels.base import row_blocks
from krein.sampling import Frequencies
from krein.sampling.structured import HadamardWeights, StackedWeights

try:
    from krein import _native
except ImportError:
    INSTRUCTIONS: tuple[str, ...] = ()
else:
    INSTRUCTIONS = _native.INSTRUCTIONS  # that this processor has, the best first

SHORTEST_TRANSFORM = 128  # below, the dense product is as fast as Hadamard transforms
ANGLES_AT_ONCE = 1 << 16  # that a sparse product or a Fourier transform leaves in the caches for the cosines

_compiled: WeakKeyDictionary[Frequencies, dict[tuple[np.dtype[Any], str], CompiledMap]] = WeakKeyDictionary()


class CompiledMap:
    """The columns of some frequencies in one precision, by one instruction set. It holds no reference to them.

    ``direct`` takes rows and ``angles`` what ``frequencies.project`` gives, which is the way of sparse rows and of
    weights that are neither a matrix nor Hadamard blocks.
    """

    def __init__(self, frequencies: Frequencies, dtype: np.dtype[Any], instructions: str) -> None:
        phases = None if frequencies.phases is None else (frequencies.phases / np.pi).astype(dtype)
        constant = float(np.sqrt(abs(frequencies.constant))) if frequencies.constant else None
        columns = instructions, frequencies.amplitudes.astype(dtype), phases, constant
        pieces = hadamard_pieces(frequencies.weights)
        self.angles = _native.angles(*columns)
        self.direct: _native.Map | None = None
        if pieces and pieces[0].diagonals.shape[-1] >= SHORTEST_TRANSFORM:
            self.direct = _native.hadamard(*columns, *hadamard_arguments(pieces, dtype))
        elif pieces or isinstance(frequencies.weights, np.ndarray):
            weights: Any = frequencies.weights
            matrix = weights.toarray() if pieces else weights
            self.direct = _native.dense(*columns, np.ascontiguousarray(matrix / np.pi, dtype=dtype))

    def __call__(self, X: Any, frequencies: Frequencies, out: NDArray[Any], *, stream: bool) -> bool:
        """Write the columns of rows X into ``out``, with ``stream`` past the caches; the frequencies are its own.

        False where ``direct`` was used and met entries that are not finite.
        """
        if self.direct is None or not isinstance(X, np.ndarray):
            for rows in row_blocks(X.shape[0], max(64, ANGLES_AT_ONCE // len(frequencies.coefficients))):
                angles = np.ascontiguousarray(frequencies.project(X[rows]))
                self.angles.rows(angles, out[rows], stream)
            return True
        if X.strides[1] == X.itemsize and X.flags.aligned:
            return self.direct.rows(X, out, stream)
        direct, finite = self.direct, True
        for rows in row_blocks(X.shape[0]):
            finite &= direct.rows(np.require(X[rows], requirements=["C", "A"]), out[rows], stream)
        return finite


def compiled_map(frequencies: Frequencies, dtype: np.dtype[Any]) -> CompiledMap | None:
    """The compiled map of some frequencies, made when first asked for; None where there is none."""
    if not INSTRUCTIONS or not len(frequencies.coefficients):
        return None
    maps = _compiled.setdefault(frequencies, {})
    key = dtype, INSTRUCTIONS[0]
    if key not in maps:
        maps[key] = CompiledMap(frequencies, *key)
    return maps[key]


def hadamard_pieces(weights: Any) -> list[HadamardWeights]:
    """The Hadamard blocks that ``weights`` consists of, all of the same length and number of stages; else none."""
    pieces = list(weights.pieces) if isinstance(weights, StackedWeights) else [weights]
    shapes = {
        (piece.diagonals.shape[1:], piece.permutation is None) if isinstance(piece, HadamardWeights) else None
        for piece in pieces
    }
    return pieces if len(shapes) == 1 and None not in shapes else []


def hadamard_arguments(pieces: list[HadamardWeights], dtype: np.dtype[Any]) -> tuple[Any, ...]:
    """What ``_native.hadamard`` needs: blocks side by side, with the factor of the orthonormal H in the diagonals."""
    size = pieces[0].diagonals.shape[-1]
    diagonals = np.concatenate([piece.diagonals for piece in pieces]) / np.sqrt(size)
    permutations = [piece.permutation for piece in pieces if piece.permutation is not None]
    permutation = np.ascontiguousarray(np.concatenate(permutations), dtype=np.intc) if permutations else None
    scales = np.concatenate([piece.scales for piece in pieces]) / np.pi
    widths = [
        min(size, max(0, len(piece.radii) - block * size)) for piece in pieces for block in range(len(piece.diagonals))
    ]
    return pieces[0].dim, diagonals.astype(dtype), permutation, scales.astype(dtype), tuple(widths)
