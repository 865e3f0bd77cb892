"""Rows come in any layout and number, and are left as they were; the work space does not grow with their number."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from krein.features import BaseFeatureMap

Rounding = Callable[[BaseFeatureMap, NDArray[Any]], float]
MB = 2**20


def test_blocks_of_rows(case: Any, rounding: Rounding) -> None:
    X = case.rows(1300)
    features = case.make().fit(X)
    Z = features.transform(X)
    parts = np.vstack([features.transform(part) for part in np.split(X, [1, 512, 513, 1100])])
    np.testing.assert_allclose(Z, parts, rtol=0, atol=np.abs(Z).max() * rounding(features, X))


@pytest.mark.parametrize("output", ["real", "complex"])
def test_memory_beyond_the_output_is_bounded(case: Any, output: str) -> None:
    """4 MB: three numbers per row for the checks of the rows, and the work space of one block."""
    X = case.rows(40_000)
    features = case.make(output=output).fit(X[:100])
    features.transform(X[:1])
    tracemalloc.start()
    try:
        Z = features.transform(X)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    beyond = peak - Z.nbytes
    assert beyond < 4 * MB


def test_input_is_not_modified(case: Any) -> None:
    X = case.rows()
    before = X.copy()
    case.make().fit(X).transform(X)
    assert (before == X).all()


@pytest.mark.parametrize("layout", ["read-only", "fortran", "strided", "reversed", "list", "big-endian"])
def test_layouts(case: Any, layout: str, rounding: Rounding) -> None:
    X = case.rows()
    features = case.make().fit(X)
    expected = features.transform(X)
    read_only = X.copy()
    read_only.flags.writeable = False
    same = {
        "read-only": read_only,
        "fortran": np.asfortranarray(X),
        "strided": np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3],
        "reversed": X[::-1, ::-1].copy()[::-1, ::-1],
        "list": X.tolist(),
        "big-endian": X.astype(">f8"),
    }[layout]
    atol = np.abs(expected).max() * rounding(features, X)
    np.testing.assert_allclose(features.transform(same), expected, rtol=0, atol=atol)
    np.testing.assert_allclose(case.make().fit(same).transform(same), expected, rtol=0, atol=atol)
