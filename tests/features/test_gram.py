"""Streaming sums of features against the products of the whole matrix."""

from __future__ import annotations

import tracemalloc
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from krein import RandomFeatures
from krein.features import GramAccumulator, gram

MODULE = import_module("krein.features.gram")  # whose name is that of the function too


@pytest.fixture(params=["compiled", "BLAS"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "BLAS":
        monkeypatch.setattr(MODULE, "INSTRUCTIONS", ())
    elif not MODULE.INSTRUCTIONS:
        pytest.skip("krein was installed without a C compiler")
    return str(request.param)


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize("columns", [1, 7, 16, 100, 353])
def test_equals_the_products(way: str, columns: int, n_jobs: int | None) -> None:
    rng = np.random.default_rng(12345)
    X, Y, w = rng.normal(size=(1700, 5)), rng.normal(size=(1700, 2)), rng.random(1700)
    features = RandomFeatures(n_components=columns, random_state=0, n_jobs=n_jobs).fit(X)
    Z = features.transform(X)
    for weights in (None, w):
        G, R = gram(features, X, Y, sample_weight=weights)
        weighted = Z if weights is None else Z * w[:, None]
        atol = 1e-15 * 1700 * np.abs(Z).max() ** 2  # a sum of 1700 rounded products
        np.testing.assert_allclose(G, weighted.T @ Z, rtol=0, atol=atol)
        np.testing.assert_allclose(R, weighted.T @ Y, rtol=0, atol=5 * 1e-15 * 1700 * np.abs(Z).max())
        assert (G == G.T).all()
    assert gram(features, X)[1] is None
    assert gram(features, X, Y[:, 0])[1].shape == (Z.shape[1],)  # type: ignore[union-attr]


def test_float32_features_are_summed_in_float64() -> None:
    X = np.random.default_rng(0).normal(size=(5000, 3)).astype(np.float32)
    features = RandomFeatures(n_components=6, random_state=0).fit(X)
    G, _ = gram(features, X)
    Z = features.transform(X).astype(float)
    assert G.dtype == np.float64
    np.testing.assert_allclose(G, Z.T @ Z, rtol=0, atol=1e-11)


def test_sums_that_centring_needs(way: str) -> None:
    rng = np.random.default_rng(0)
    Z, y, w = rng.normal(size=(90, 5)), rng.normal(size=90), rng.random(90)
    sums = GramAccumulator()
    for rows in (slice(0, 1), slice(1, 60), slice(60, 60), slice(60, 90)):
        assert sums.add(Z[rows], y[rows], w[rows]) is sums
    np.testing.assert_allclose(sums.column_sums, Z.T @ w, rtol=1e-13)
    np.testing.assert_allclose(sums.target_sums, y @ w, rtol=1e-12)
    assert sums.weight == pytest.approx(w.sum(), rel=1e-14)
    mean = Z.T @ w / w.sum()
    centred = sums.G - sums.weight * np.outer(mean, mean)
    np.testing.assert_allclose(centred, (Z - mean).T @ ((Z - mean) * w[:, None]), rtol=0, atol=1e-12)


def test_memory_does_not_grow_with_the_rows(way: str) -> None:
    X = np.random.default_rng(0).normal(size=(60_000, 3))
    features = RandomFeatures(n_components=256, random_state=0).fit(X)
    gram(features, X[:2000])
    tracemalloc.start()
    try:
        gram(features, X)
        assert tracemalloc.get_traced_memory()[1] < 12 * 2**20  # the features are 117 MB
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"Z": np.ones(3)}, "Z must have shape"),
        ({"Z": np.ones((2, 4))}, "Z must have shape"),
        ({"Z": np.ones((2, 3)), "Y": np.ones(2)}, "in all calls, or in none"),
        ({"Z": np.ones((2, 3)), "sample_weight": [1.0, -1.0]}, "no negative entry"),
        ({"Z": np.ones((2, 3)), "sample_weight": [1.0]}, "2 rows"),
        ({"Z": np.ones((2, 3)), "sample_weight": [1.0, np.nan]}, "NaN"),
        ({"Z": 1j * np.ones((2, 3))}, "must be real"),
    ],
)
def test_wrong_arguments(arguments: dict[str, Any], message: str) -> None:
    sums = GramAccumulator().add(np.ones((2, 3)))
    with pytest.raises(ValueError, match=message):
        sums.add(**arguments)
    assert sums.weight == 2


def test_wrong_targets() -> None:
    X = np.random.default_rng(0).normal(size=(20, 3))
    features = RandomFeatures(n_components=6, random_state=0).fit(X)
    with pytest.raises(ValueError, match="Y must have one or two axes and 20 rows"):
        gram(features, X, np.ones(19))
    with pytest.raises(ValueError, match="nothing was added"):
        _ = GramAccumulator().G
