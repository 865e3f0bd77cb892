"""The one cosine map: X -> [cos(X W^T) | sin(X W^T) | 1] times the amplitudes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from krein.sampling import Frequencies


def cosine_map(X: Any, frequencies: Frequencies, out: NDArray[Any]) -> None:
    """Write the columns of ``frequencies`` for rows X into ``out``, in the precision of ``out``.

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
