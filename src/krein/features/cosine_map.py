"""Feature maps that are given by frequencies."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from krein._validation import Rows
from krein.features._map import cosine_map
from krein.features._native_map import INSTRUCTIONS
from krein.features._threads import in_threads, n_threads
from krein.features.base import BaseFeatureMap
from krein.kernels.base import row_blocks
from krein.sampling import Frequencies

STREAM_FROM = 1 << 24  # bytes: an output of this size will not be in the caches when it is read
FEWEST_ROWS, MOST_BYTES = 256, 1 << 26  # of a block: it costs microseconds, and Python sees no interrupt meanwhile


class CosineMap(BaseFeatureMap):
    """A feature map whose columns are the cosines and sines of ``frequencies_``."""

    frequencies_: Frequencies

    def _map_rows(self, X: Rows, out: NDArray[Any]) -> None:
        cosine_map(X, self.frequencies_, out)

    def _map_all(self, X: Rows, out: NDArray[Any]) -> None:
        """Blocks may be long, because ``cosine_map`` takes any number of rows in little work space."""
        threads, stream = n_threads(self.n_jobs), out.nbytes >= STREAM_FROM
        n, row_bytes = out.shape[0], max(1, out.shape[1] * out.itemsize)
        size = n if threads == 1 else -(-n // (8 * threads))
        size = min(max(size, FEWEST_ROWS), max(MOST_BYTES // row_bytes, FEWEST_ROWS))
        in_threads(
            lambda rows: cosine_map(X[rows], self.frequencies_, out[rows], stream=stream),
            list(row_blocks(n, size)),
            threads,
            uses_blas=not INSTRUCTIONS,
        )
