"""Blocks of rows in several threads: numpy and the compiled map work without the interpreter lock.

Threads live for one call, so that nothing is left behind that a fork would break.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from numbers import Integral
from typing import Any

import joblib
from threadpoolctl import ThreadpoolController


def n_threads(n_jobs: Any) -> int:
    """How many threads ``n_jobs`` means here.

    As in scikit-learn: None is 1 unless joblib's ``parallel_config`` says otherwise, -1 all cores. Negative numbers
    never mean more threads than BLAS may have, which is what threadpoolctl, OPENBLAS_NUM_THREADS and the workers of
    joblib and Dask limit.
    """
    if n_jobs is not None and not (isinstance(n_jobs, Integral) and n_jobs != 0):
        raise ValueError(f"n_jobs must be None or an integer that is not 0; got {n_jobs!r}.")
    wanted = int(joblib.effective_n_jobs(n_jobs))
    return min(wanted, _blas_threads()) if n_jobs is not None and int(n_jobs) < 0 else wanted


def in_threads(work: Callable[[slice], None], blocks: Sequence[slice], threads: int, *, uses_blas: bool) -> None:
    """``work(rows)`` for all blocks, in so many threads, one of which is the caller's.

    Fewer where other calls of this process are at work. With ``uses_blas`` its own threads are off meanwhile.
    """
    if threads == 1 or len(blocks) < 2:
        for rows in blocks:
            work(rows)
        return
    with _budget.share(min(threads, len(blocks))) as share:
        if not uses_blas or share == 1:
            _run(work, iter(blocks), share)
            return
        with _blas.off():
            _run(work, iter(blocks), share)


def _run(work: Callable[[slice], None], blocks: Iterator[slice], threads: int) -> None:
    """Every thread takes the next block until none is left, or one has failed."""
    errors: list[BaseException] = []

    def until_done() -> None:
        try:
            while not errors and (rows := next(blocks, None)) is not None:
                work(rows)
        except BaseException as error:  # handed to the caller
            errors.append(error)

    others = [threading.Thread(target=until_done, name="krein", daemon=True) for _ in range(threads - 1)]
    for thread in others:
        thread.start()
    until_done()
    for thread in others:
        thread.join()
    if errors:
        raise errors[0]


class _Budget:
    """The threads of this process that are at work, so that calls at the same time do not exceed its cores."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.active = 0

    @contextmanager
    def share(self, wanted: int) -> Iterator[int]:
        with self.lock:
            granted = max(1, min(wanted, max(joblib.cpu_count(), wanted) - self.active))
            self.active += granted
        try:
            yield granted
        finally:
            with self.lock:
                self.active -= granted


class _Blas:
    """BLAS on one thread as long as any call wants it so: the first one switches it, the last one back."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.users = 0
        self.limiter: Any = None

    @contextmanager
    def off(self) -> Iterator[None]:
        with self.lock:
            if not self.users:
                self.limiter = _controller().limit(limits=1, user_api="blas")
            self.users += 1
        try:
            yield
        finally:
            with self.lock:
                self.users -= 1
                if not self.users:
                    self.limiter.restore_original_limits()


@lru_cache(maxsize=1)
def _controller() -> Any:
    """The BLAS libraries of this process; finding them takes milliseconds."""
    return ThreadpoolController()


def _blas_threads() -> int:
    pools = [pool.num_threads for pool in _controller().lib_controllers if pool.user_api == "blas"]
    return max(pools, default=1)


def _start_afresh() -> None:
    """In the child of a fork no thread but the caller's exists, and locks may have been held by others."""
    _budget.__init__()  # type: ignore[misc]
    _blas.__init__()  # type: ignore[misc]


_budget, _blas = _Budget(), _Blas()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_afresh)
