"""Memory for features: aligned to cache lines where it is made here, checked where it is given."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

ALIGNMENT = 64  # bytes: a cache line, and the widest vector


def aligned_empty(shape: tuple[int, int], dtype: np.dtype[Any]) -> NDArray[Any]:
    """An uninitialised C-contiguous array whose first entry is at a multiple of ALIGNMENT."""
    n_bytes = shape[0] * shape[1] * dtype.itemsize
    memory = np.empty(n_bytes + ALIGNMENT, dtype=np.uint8)
    start = -memory.ctypes.data % ALIGNMENT
    return memory[start : start + n_bytes].view(dtype).reshape(shape)


def check_output(out: Any, shape: tuple[int, int], dtype: np.dtype[Any], X: Any) -> None:
    """Raise unless the features of rows X can be written to ``out``."""
    if not isinstance(out, np.ndarray):
        raise TypeError(f"out must be an ndarray; got a {type(out).__name__}.")
    if out.shape != shape or out.dtype != dtype:
        raise ValueError(f"out must have shape {shape} and dtype {dtype}; got {out.shape} and {out.dtype}.")
    if not out.flags.writeable or not out.flags.aligned:
        raise ValueError("out must be writeable and aligned; got an array that is not.")
    n, width = shape[0], shape[1] * dtype.itemsize
    if out.size and ((out.strides[1] != dtype.itemsize and shape[1] > 1) or (n > 1 and abs(out.strides[0]) < width)):
        raise ValueError(f"out must have contiguous rows that do not overlap; got strides {out.strides}.")
    arrays = [X] if isinstance(X, np.ndarray) else [X.data, X.indices, X.indptr]
    if any(np.may_share_memory(array, out) for array in arrays):
        raise ValueError("out must have no memory in common with X.")
