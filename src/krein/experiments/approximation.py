"""Relative error of K_hat on 1000 rows: what Table II and Figure 2 are made of."""

from __future__ import annotations

from time import perf_counter
from typing import Any

from krein import relative_error
from krein.experiments.cells import Cell
from krein.experiments.methods import METHODS
from krein.experiments.setting import KERNELS, frequencies_per_sign, measured_rows


def measure_error(cell: Cell) -> dict[str, Any]:
    """Error, real columns and time to fit of one draw; the diagonal of K_hat is left as it is."""
    X, kernel = measured_rows(cell.data, cell.rep), KERNELS[cell.kernel]
    s = frequencies_per_sign(cell.size, X.shape[1])
    features = METHODS[cell.kernel][cell.method].make(kernel, s, cell.seed)
    start = perf_counter()
    features.fit(X)
    fit_seconds = perf_counter() - start
    return {
        "error": relative_error(kernel, features, X),
        "columns": len(features.signature_),
        "fit_seconds": round(fit_seconds, 6),
    }
