"""Feature maps that are given by frequencies."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

from krein._validation import Rows
from krein.features._map import cosine_map
from krein.features._native_map import INSTRUCTIONS, compiled_map
from krein.features._threads import in_threads, n_threads
from krein.features.base import PRECISIONS, BaseFeatureMap
from krein.kernels.base import row_blocks
from krein.sampling import Frequencies

STREAM_FROM = 1 << 24  # bytes: an output of this size will not be in the caches when it is read
FEWEST_ROWS, MOST_BYTES = 256, 1 << 26  # of a block: it costs microseconds, and Python sees no interrupt meanwhile


class CosineMap(BaseFeatureMap):
    """A feature map whose columns are the cosines and sines of ``frequencies_``."""

    frequencies_: Frequencies

    def _map_rows(self, X: Rows, out: NDArray[Any]) -> None:
        cosine_map(X, self.frequencies_, out)

    def _rows_to_map(self, X: Any) -> Rows:
        """Arrays need few of scikit-learn's checks; whether they are finite, the map sees on its way."""
        plain = (
            type(X) is np.ndarray
            and X.ndim == 2
            and X.shape[0] > 0
            and X.shape[1] == self.n_features_in_
            and X.dtype in PRECISIONS
            and self.output == "real"
            and self._domain() == "euclidean"
            and not hasattr(self, "feature_names_in_")
        )
        if plain and (compiled := compiled_map(self.frequencies_, X.dtype)) and compiled.direct:
            return X
        return super()._rows_to_map(X)

    def _map_all(self, X: Rows, out: NDArray[Any]) -> None:
        """Blocks may be long, because ``cosine_map`` takes any number of rows in little work space."""
        finite = True

        def write(rows: slice) -> None:
            nonlocal finite
            if not cosine_map(X[rows], self.frequencies_, out[rows], stream=stream):
                finite = False

        threads, stream = n_threads(self.n_jobs), out.nbytes >= STREAM_FROM
        n, row_bytes = out.shape[0], max(1, out.shape[1] * out.itemsize)
        size = n if threads == 1 else -(-n // (8 * threads))
        size = min(max(size, FEWEST_ROWS), max(MOST_BYTES // row_bytes, FEWEST_ROWS))
        in_threads(
            write,
            list(row_blocks(n, size)),
            threads,
            uses_blas=not INSTRUCTIONS,
        )
        if not finite:  # raises, unless scikit-learn's configuration assumes that all is finite
            check_array(X, estimator=self, input_name="X")

    def _get_state(self) -> dict[str, NDArray[Any]]:
        return self.frequencies_.to_arrays()

    def _set_state(self, arrays: dict[str, NDArray[Any]]) -> None:
        self.frequencies_ = Frequencies.from_arrays(arrays)
        self.signature_ = self.frequencies_.signature
