"""The compiled map against numpy and mpmath: the same columns, the same bits however the work is split."""

from __future__ import annotations

import runpy
from itertools import pairwise
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray

from krein import RandomFeatures
from krein.features import _map, _native_map
from krein.features._map import cosine_map, reference_map
from krein.kernels import DeltaGaussian
from krein.sampling import Frequencies

pytestmark = pytest.mark.skipif(not _native_map.INSTRUCTIONS, reason="krein was installed without a C compiler")
KERNEL = DeltaGaussian((1.0, -0.5), (1.0, 3.0))
DTYPES = [np.float32, np.float64]


def fitted(scheme: str, dim: int, columns: int, dtype: Any = float, n: int = 70) -> tuple[RandomFeatures, NDArray[Any]]:
    X = (np.random.default_rng(12345).normal(size=(n, dim)) / np.sqrt(dim)).astype(dtype)
    return RandomFeatures(KERNEL, n_components=columns, scheme=scheme, random_state=0).fit(X), X


def half_turns(t: NDArray[Any], instructions: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """cos(pi t) and sin(pi t)."""
    native: Any = pytest.importorskip("krein._native")
    one = np.ones(1, t.dtype)
    made, out = native.dense(instructions, one, None, None, one[:, None]), np.empty((len(t), 2), t.dtype)
    made.rows(t[:, None], out, False)
    return out[:, 0], out[:, 1]


@pytest.fixture(params=_native_map.INSTRUCTIONS)
def instructions(request: pytest.FixtureRequest) -> str:
    return str(request.param)


class TestColumns:
    @pytest.mark.parametrize("dtype", DTYPES)
    @pytest.mark.parametrize("scheme", ["grff", "sorf", "fastfood", "circulant"])
    @pytest.mark.parametrize(("dim", "columns"), [(1, 4), (2, 3), (5, 40), (64, 516), (100, 700), (300, 1236)])
    def test_equal_the_reference(self, scheme: str, dim: int, columns: int, dtype: Any) -> None:
        features, X = fitted(scheme, dim, columns, dtype)
        Z = features.transform(X)
        expected = np.empty(Z.shape)
        reference_map(X.astype(float), features.frequencies_, expected)
        reach = features.frequencies_.radii.max() * np.linalg.norm(X, axis=1).max()
        # rounding of a product of dim terms, of three transforms in the structured schemes, and of cos and sin
        atol = ((dim + 20) * reach + 8) * np.finfo(dtype).eps * np.abs(expected).max()
        np.testing.assert_allclose(Z, expected, rtol=0, atol=atol)

    def test_the_compiled_map_is_in_use(self, monkeypatch: pytest.MonkeyPatch) -> None:
        features, X = fitted("grff", 5, 40)
        Z = features.transform(X)
        monkeypatch.setattr(_map, "reference_map", None)
        assert (features.transform(X) == Z).all()

    def test_without_the_compiled_map(self, monkeypatch: pytest.MonkeyPatch) -> None:
        features, X = fitted("sorf", 70, 600)
        Z = features.transform(X)
        monkeypatch.setattr(_native_map, "INSTRUCTIONS", ())
        np.testing.assert_allclose(features.transform(X), Z, rtol=0, atol=1e-14)
        assert features.row(X[0]).shape == Z[0].shape

    def test_phases_and_constant(self, instructions: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(_native_map, "INSTRUCTIONS", (instructions,))
        rng = np.random.default_rng(0)
        X = rng.normal(size=(33, 7))
        for phases in (None, rng.uniform(0, 2 * np.pi, 19)):
            frequencies = Frequencies(rng.normal(size=(19, 7)), rng.normal(size=19), -0.7, phases)
            out, expected = (np.empty((33, frequencies.n_columns)) for _ in range(2))
            cosine_map(X, frequencies, out)
            reference_map(X, frequencies, expected)
            np.testing.assert_allclose(out, expected, rtol=0, atol=1e-13)

    def test_only_a_constant(self) -> None:
        out = np.empty((3, 1))
        cosine_map(np.ones((3, 2)), Frequencies(np.empty((0, 2)), np.empty(0), 4.0), out)
        assert (out == 2).all()

    def test_sparse_rows_are_not_made_dense(self) -> None:
        rng = np.random.default_rng(0)
        X = sp.random_array((3000, 20_000), density=1e-4, rng=rng, format="csr")
        frequencies = Frequencies(rng.normal(size=(8, 20_000)), rng.normal(size=8))
        out = np.empty((3000, 16))
        cosine_map(X, frequencies, out)
        few = np.empty((5, 16))
        reference_map(X[2990:2995].toarray(), frequencies, few)
        np.testing.assert_allclose(out[2990:2995], few, rtol=0, atol=1e-13)


class TestSameBits:
    @pytest.mark.parametrize("dtype", DTYPES)
    @pytest.mark.parametrize("scheme", ["grff", "sorf", "fastfood"])
    @pytest.mark.parametrize("dim", [3, 22, 200, 300, 700])
    def test_for_any_split_thread_count_and_instructions(
        self, scheme: str, dim: int, dtype: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        features, X = fitted(scheme, dim, 1030, dtype, n=700)
        Z = features.transform(X)
        for cuts in ([0, 1, 12, 13, 100, 555, 700], [0, 350, 700]):
            parts = [features.transform(X[a:b]) for a, b in pairwise(cuts)]
            assert (np.concatenate(parts) == Z).all()
        assert (np.stack([features.row(x) for x in X[:40]]) == Z[:40]).all()
        assert (features.set_params(n_jobs=3).transform(X) == Z).all()
        for name in _native_map.INSTRUCTIONS:
            monkeypatch.setattr(_native_map, "INSTRUCTIONS", (name,))
            assert (features.transform(X) == Z).all() or name == "baseline"

    def test_past_the_caches(self) -> None:
        features, X = fitted("grff", 3, 512, np.float32, n=9000)  # 18 MB
        out = np.empty((9001, 512), np.float32)[1:]
        Z = features.transform(X)
        assert (np.concatenate(list(features.transform_blocks(X, 500))) == Z).all()
        assert (features.transform(X, out=out) == Z).all()

    @pytest.mark.parametrize(
        "layout", [np.asfortranarray, lambda X: X[::-1][::-1], lambda X: np.repeat(X, 2, 1)[:, ::2]]
    )
    def test_for_any_layout(self, layout: Any) -> None:
        features, X = fitted("grff", 22, 100)
        assert (features.transform(layout(X)) == features.transform(X)).all()


class TestAccuracy:
    def test_float64_against_mpmath(self, instructions: str) -> None:
        """4e-16 up to 10^4 half turns and more, given the argument in half turns."""
        rng = np.random.default_rng(0)
        t = np.concatenate([rng.uniform(-1, 1, 800), rng.uniform(-4000, 4000, 800), np.arange(-20, 20) / 4])
        t = np.concatenate([t, [0.0, 1e-300, 5e-324, 0.5, np.nextafter(0.5, 0), np.nextafter(0.5, 1), 2.0**51 + 0.5]])
        c, s = half_turns(t, instructions)
        with mpmath.workprec(120):
            errors = [
                max(abs(mpmath.cospi(mpmath.mpf(x)) - a), abs(mpmath.sinpi(mpmath.mpf(x)) - b))
                for x, a, b in zip(t.tolist(), c.tolist(), s.tolist(), strict=True)
            ]
        assert float(max(errors)) <= 4e-16

    def test_float32(self, instructions: str) -> None:
        """Every 4001st number of [0, 1/2], and larger arguments, against float64."""
        half = np.arange(0, np.float32(0.5).view(np.int32) + 1, 4001, dtype=np.int32).view(np.float32)
        large = np.random.default_rng(0).uniform(-1e4, 1e4, 10**5).astype(np.float32)
        for t in (half, -half, large):
            c, s = half_turns(t, instructions)
            r = t.astype(float) - 2 * np.round(t.astype(float) / 2)
            assert np.abs(c - np.cos(np.pi * r)).max() <= 2e-7
            assert np.abs(s - np.sin(np.pi * r)).max() <= 2e-7

    @pytest.mark.parametrize("dtype", DTYPES)
    def test_never_above_the_amplitude(self, dtype: Any, instructions: str) -> None:
        """Up to the largest number, also where a rounded multiple of a half turn is far from it."""
        rng = np.random.default_rng(0)
        t = np.concatenate([10.0 ** rng.uniform(-40, 38, 10**5), rng.uniform(0, 2.0**26, 10**5), np.arange(4000) / 2])
        t = np.concatenate([t, 2.0 ** np.arange(10, 60)[:, None].repeat(50, 1).ravel() + rng.uniform(0, 99, 2500)])
        t = np.concatenate([t.astype(dtype), [np.finfo(dtype).max, np.finfo(dtype).tiny]]).astype(dtype)
        for c in (*half_turns(t, instructions), *half_turns(-t, instructions)):
            assert np.abs(c).max() <= 1

    @pytest.mark.parametrize("dtype", DTYPES)
    def test_not_a_number(self, dtype: Any, instructions: str) -> None:
        t = np.array([np.nan, np.inf, -np.inf, 0.0], dtype)
        for c in half_turns(t, instructions):
            assert np.isnan(c).tolist() == [True, True, True, False]

    def test_whole_map_within_the_bound_of_a_product(self) -> None:
        """|sum - exact| <= (d + 2) u sum |w x| for an inner product of d rounded terms and the rounded frequency."""
        rng = np.random.default_rng(0)
        W, X = rng.normal(size=(50, 30)), rng.normal(size=(40, 30)).astype(np.float32)
        out = np.empty((40, 100), np.float32)
        cosine_map(X, Frequencies(W, np.ones(50)), out)
        exact, size = X.astype(float) @ W.T, np.abs(X.astype(float)) @ np.abs(W).T
        bound = 32 * 2.0**-24 * size + 2.5e-7
        assert (np.abs(out - np.hstack([np.cos(exact), np.sin(exact)])) <= np.hstack([bound, bound])).all()


def test_fuzzed_calls_and_refusals(repository: Path) -> None:
    assert runpy.run_path(str(repository / "native/fuzz.py"))["main"](["--rounds", "60"]) == 0
