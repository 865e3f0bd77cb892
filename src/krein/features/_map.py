"""The one cosine map: X -> [cos(X W^T) | sin(X W^T) | 1] times the amplitudes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from krein.features._native_map import compiled_map
from krein.kernels.base import row_blocks
from krein.sampling import Frequencies


def cosine_map(X: Any, frequencies: Frequencies, out: NDArray[Any], *, stream: bool = False) -> bool:
    """Write the columns of ``frequencies`` for any number of rows X into ``out``, both of the same precision.

    Compiled where that is possible, else by numpy, a block of rows at a time; ``stream`` is for an ``out`` that is much
    larger than the caches. False where entries of X were met that are not finite, which only compiled maps look for, on
    their way through an array.
    """
    compiled = compiled_map(frequencies, out.dtype)
    if compiled is not None:
        return compiled(X, frequencies, out, stream=stream)
    for rows in row_blocks(X.shape[0]):
        reference_map(X[rows], frequencies, out[rows])
    return True


def reference_map(X: Any, frequencies: Frequencies, out: NDArray[Any]) -> None:
    """The map in numpy: what the compiled one is tested against.

    Column i and n + i are sqrt|c_i| cos(w_i.x) and sqrt|c_i| sin(w_i.x); with phases only column i, sqrt(2|c_i|)
    cos(w_i.x + b_i). A constant adds the column sqrt|c_0|.
    """
    n = len(frequencies.coefficients)
    amplitudes = frequencies.amplitudes.astype(out.dtype)
    angles = frequencies.project(X)
    if frequencies.phases is not None:
        angles += frequencies.phases.astype(out.dtype)
    else:
        np.sin(angles, out=out[:, n : 2 * n])
        out[:, n : 2 * n] *= amplitudes
    np.cos(angles, out=out[:, :n])
    out[:, :n] *= amplitudes
    if frequencies.constant:
        out[:, -1] = np.sqrt(abs(frequencies.constant))
