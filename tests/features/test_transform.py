"""transform with out=, by blocks, of a single row, in threads: for every registered map."""

from __future__ import annotations

import os
import threading
from typing import Any, ClassVar

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import config_context
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_array

from krein import RandomFeatures
from krein.features._threads import _budget, in_threads, n_threads


class TestOut:
    @pytest.mark.parametrize("output", ["real", "complex"])
    def test_is_filled_and_returned(self, case: Any, output: str) -> None:
        X = case.rows()
        features = case.make(output=output).fit(X)
        Z = features.transform(X)
        out = np.full_like(Z, 7)
        assert features.transform(X, out=out) is out
        assert (out == Z).all()
        wide = np.full((len(Z), Z.shape[1] + 3), 7, Z.dtype)
        features.transform(X, out=wide[:, 1:-2])
        assert (wide[:, 1:-2] == Z).all()
        assert (wide[:, [0, -2, -1]] == 7).all()

    def test_new_memory_is_aligned(self) -> None:
        X = np.ones((3, 2))
        assert RandomFeatures(n_components=8).fit(X).transform(X).ctypes.data % 64 == 0

    def test_wrong_out(self) -> None:
        X = np.random.default_rng(0).normal(size=(20, 4))
        features = RandomFeatures(n_components=10, random_state=0).fit(X)
        out = np.empty((20, 10))
        read_only = np.empty((20, 10))
        read_only.flags.writeable = False
        overlapping = np.empty(10 + 19)[: 10 + 19]
        whole = np.empty((20, 14))
        whole[:, :4] = X
        unaligned = np.empty(20 * 10 * 8 + 1, np.uint8)[1:].view(float).reshape(20, 10)
        for wrong, message in [
            (out[:19], "must have shape"), (out[:, :9], "must have shape"), (out.astype(np.float32), "dtype"),
            (out.astype(complex), "dtype"), (out.astype(">f8"), "dtype"), (read_only, "writeable"),
            (unaligned, "aligned"),
            (np.empty((10, 20)).T, "contiguous rows"), (np.empty((20, 20))[:, ::2], "contiguous rows"),
            (np.lib.stride_tricks.as_strided(overlapping, (20, 10), (8, 8)), "contiguous rows"),
        ]:  # fmt: skip
            with pytest.raises(ValueError, match=message):
                features.transform(X, out=wrong)
        with pytest.raises(ValueError, match="no memory in common"):
            features.transform(whole[:, :4], out=whole[:, 4:])
        with pytest.raises(TypeError, match="out must be an ndarray"):
            features.transform(X, out=out.tolist())

    def test_memory_map(self, tmp_path: Any) -> None:
        X = np.random.default_rng(0).normal(size=(20, 4))
        features = RandomFeatures(n_components=10, random_state=0).fit(X)
        out = np.lib.format.open_memmap(tmp_path / "Z.npy", mode="w+", dtype=float, shape=(20, 10))
        features.transform(X, out=out)
        assert (np.load(tmp_path / "Z.npy") == features.transform(X)).all()


class TestBlocks:
    def test_are_the_rows_of_transform(self, case: Any, rounding: Any) -> None:
        X = case.rows(1030)
        features = case.make().fit(X)
        Z = features.transform(X)
        blocks = list(features.transform_blocks(X, 100))
        assert [len(block) for block in blocks] == [100] * 10 + [30]
        np.testing.assert_allclose(np.vstack(blocks), Z, rtol=0, atol=np.abs(Z).max() * rounding(features, X))

    def test_in_the_same_memory(self, case: Any) -> None:
        X = case.rows(50)
        features = case.make().fit(X)
        blocks = [(Z.copy(), Z.ctypes.data) for Z in features.transform_blocks(X, 20, reuse=True)]
        fresh = list(features.transform_blocks(X, 20))
        assert all((other == Z).all() for (Z, _), other in zip(blocks, fresh, strict=True))
        assert len({address for _, address in blocks}) == 1

    def test_checks_come_first(self) -> None:
        X = np.ones((5, 2))
        features = RandomFeatures(n_components=4)
        with pytest.raises(NotFittedError):
            features.transform_blocks(X)
        features.fit(X)
        with pytest.raises(ValueError, match="rows must be an integer >= 1"):
            features.transform_blocks(X, 0)
        with pytest.raises(ValueError, match="NaN"):
            features.transform_blocks(X * np.nan)
        assert [Z.shape for Z in features.transform_blocks(sp.csr_array(X), 3)] == [(3, 4), (2, 4)]


class TestRow:
    def test_equals_transform(self, case: Any, rounding: Any) -> None:
        X = case.rows()
        for output in ("real", "complex"):
            features = case.make(output=output).fit(X)
            Z = features.transform(X)
            atol = np.abs(Z).max() * rounding(features, X)
            for x, z in zip(X[:5], Z, strict=False):
                np.testing.assert_allclose(features.row(x), z, rtol=0, atol=atol)
        assert features.row(X[0].astype(np.float32)).dtype == np.complex64

    def test_wrong_rows(self) -> None:
        X = np.random.default_rng(0).normal(size=(5, 3))
        features = RandomFeatures(n_components=8, random_state=0)
        with pytest.raises(NotFittedError):
            features.row(X[0])
        features.fit(X)
        for wrong in (X[0, :2], X[:1], X, 1.0, []):
            with pytest.raises(ValueError, match=r"x must have shape \(3,\)"):
                features.row(wrong)
        assert np.isnan(features.row([np.nan, 0, 0])).all()

    @pytest.mark.parametrize("as_row", [list, lambda x: x.astype(">f8"), lambda x: np.repeat(x, 2)[::2], np.float64])
    def test_any_layout(self, as_row: Any) -> None:
        X = np.random.default_rng(0).normal(size=(5, 3))
        features = RandomFeatures(n_components=8, random_state=0).fit(X)
        assert (features.row(as_row(X[2])) == features.transform(X)[2]).all()


class TestThreads:
    def test_any_number_gives_the_same(self, case: Any, rounding: Any) -> None:
        X = case.rows(1500)
        features = case.make().fit(X)
        Z = features.transform(X)
        for n_jobs in (2, -1):
            again = features.set_params(n_jobs=n_jobs).transform(X)
            np.testing.assert_allclose(again, Z, rtol=0, atol=np.abs(Z).max() * rounding(features, X))

    def test_meaning_of_n_jobs(self) -> None:
        assert n_threads(None) == 1
        assert n_threads(3) == 3
        assert 1 <= n_threads(-1) <= joblib.cpu_count()
        with joblib.parallel_config(backend="threading", n_jobs=2):
            assert n_threads(None) == 2
        for wrong in (0, 1.5, "all"):
            with pytest.raises(ValueError, match="n_jobs must be"):
                n_threads(wrong)

    def test_limits_of_blas_hold(self) -> None:
        from threadpoolctl import threadpool_limits

        with threadpool_limits(1, user_api="blas"):
            assert n_threads(-1) == 1

    def test_every_block_once_and_errors_come_out(self) -> None:
        done: list[slice] = []
        blocks = [slice(i, i + 1) for i in range(50)]
        in_threads(done.append, blocks, 3, uses_blas=True)
        assert sorted(done, key=lambda rows: int(rows.start)) == blocks
        with pytest.raises(ZeroDivisionError):
            in_threads(lambda rows: rows.start / 0, blocks, 3, uses_blas=False)
        assert _budget.active == 0

    def test_calls_at_once_share_the_cores(self) -> None:
        """Two calls that both want all cores: together they have one thread more than cores at most."""
        cores, seen, gate = joblib.cpu_count(), [], threading.Barrier(2)

        def call() -> None:
            with _budget.share(cores) as share:
                gate.wait(10)
                seen.append(share)
                gate.wait(10)

        callers = [threading.Thread(target=call) for _ in range(2)]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join(20)
        assert sum(seen) <= cores + 1

    def test_several_python_threads(self) -> None:
        X = np.random.default_rng(0).normal(size=(2000, 10))
        features = RandomFeatures(n_components=64, random_state=0, n_jobs=2).fit(X)
        Z, results = features.transform(X), [None] * 4

        def call(i: int) -> None:
            results[i] = all((features.transform(X) == Z).all() for _ in range(5))  # type: ignore[call-overload]

        callers = [threading.Thread(target=call, args=(i,)) for i in range(4)]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join()
        assert results == [True] * 4

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this platform")
    @pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
    def test_after_a_fork(self) -> None:
        """Also where the parent was at work when it forked."""
        X = np.random.default_rng(0).normal(size=(2000, 10))
        features = RandomFeatures(n_components=64, random_state=0, n_jobs=2).fit(X)
        Z = features.transform(X)
        with _budget.share(2), _budget.lock:
            pid = os.fork()
            if pid == 0:
                os._exit(0 if (features.transform(X) == Z).all() and _budget.active == 0 else 1)
        assert os.waitpid(pid, 0)[1] == 0

    def test_in_worker_processes(self) -> None:
        X = np.random.default_rng(0).normal(size=(600, 10))
        features = RandomFeatures(n_components=64, random_state=0, n_jobs=-1).fit(X)
        parts = joblib.Parallel(n_jobs=2)(joblib.delayed(features.transform)(part) for part in np.split(X, 2))
        assert (np.vstack(parts) == features.transform(X)).all()


class TestRowsThatAreNotFinite:
    """The map itself looks for them in arrays; what it says is what scikit-learn says."""

    LAYOUTS: ClassVar[dict[str, Any]] = {
        "contiguous": np.array,
        "Fortran": np.asfortranarray,
        "rows apart": lambda X: np.repeat(X, 2, axis=0)[::2],
        "columns apart": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
        "byte-swapped": lambda X: X.astype(X.dtype.newbyteorder()),
        "list": lambda X: X.tolist(),
        "CSR": sp.csr_array,
    }

    @pytest.mark.parametrize("layout", LAYOUTS)
    @pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
    @pytest.mark.parametrize(("scheme", "dim"), [("orf", 5), ("orf", 300), ("sorf", 130), ("circulant", 5)])
    def test_are_refused_as_by_scikit_learn(self, layout: str, bad: float, scheme: str, dim: int) -> None:
        rng, precisions = np.random.default_rng(0), [np.float64, np.float32]
        for n, dtype in [(1, np.float32), (13, np.float64), (601, np.float32)]:
            X = rng.normal(size=(n, dim)).astype(dtype)
            features = RandomFeatures(n_components=40, scheme=scheme, n_jobs=2, random_state=0).fit(X)
            for place in [(0, 0), (n - 1, dim - 1), (n // 2, dim // 3)]:
                wrong = X.copy()
                wrong[place] = bad
                given = self.LAYOUTS[layout](wrong)
                with pytest.raises(ValueError, match="contains") as expected:
                    check_array(given, accept_sparse=True, dtype=precisions, estimator=features, input_name="X")
                with pytest.raises(ValueError, match="contains") as found:
                    features.transform(given)
                assert str(found.value) == str(expected.value)

    def test_pass_where_scikit_learn_is_told_so(self) -> None:
        X = np.random.default_rng(0).normal(size=(7, 3))
        features = RandomFeatures(n_components=8, random_state=0).fit(X)
        X[4, 1] = np.nan
        with config_context(assume_finite=True):
            Z = features.transform(X)
        assert np.isnan(Z).all(axis=1).tolist() == [False] * 4 + [True] + [False] * 2

    def test_largest_numbers_are_finite(self) -> None:
        for dtype in (np.float32, np.float64):
            X = np.full((30, 7), np.finfo(dtype).max, dtype)
            X[0] = 0
            features = RandomFeatures(n_components=8, random_state=0).fit(X[:1])
            assert features.transform(X).shape == (30, 8)
