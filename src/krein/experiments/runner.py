"""Measure cells in parallel processes and append each row as it finishes."""

from __future__ import annotations

import os
import signal
import threading
import time
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import active_children, connection, get_context, parent_process
from pathlib import Path

from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from krein.experiments.cells import Cell, cell_of
from krein.experiments.progress import Progress
from krein.experiments.registry import EXPERIMENTS
from krein.experiments.store import Row, RowFile, make_row

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class CellsFailed(RuntimeError):
    """Some cells could not be measured; all others are in the file."""


def measure(cell: Cell) -> Row:
    """The row of one cell."""
    start = time.perf_counter()
    values = EXPERIMENTS[cell.experiment].measure(cell)
    return make_row(cell.names, cell.seed, time.perf_counter() - start, values)


def run(cells: Sequence[Cell], path: Path, jobs: int) -> list[Row]:
    """Measure every cell that has no row in the file yet, and append its row.

    Parameters
    ----------
    cells : sequence of Cell
        In the order in which they are begun.
    path : Path
        The JSONL file. Rows of other cells in it stay.
    jobs : int
        Number of processes; each computes with one thread.

    Returns
    -------
    rows : list of dict
        Of ``cells``, in that order.

    Raises
    ------
    CellsFailed
        After all other cells were measured. The file is usable, and the same call tries the missing ones again.
    """
    with RowFile(path) as file:
        known = {cell_of(row): row for row in file.rows}
        left = [cell for cell in cells if cell not in known]
        if left:
            progress = Progress(left, jobs, [(cell, row["seconds"]) for cell, row in known.items()])
            _run_left(left, file, jobs, progress)
        rows = {cell_of(row): row for row in file.rows}
    return [rows[cell] for cell in cells]


def _run_left(left: Sequence[Cell], file: RowFile, jobs: int, progress: Progress) -> None:
    failures: list[str] = []
    waiting = list(reversed(left))
    running: dict[Future[Row], Cell] = {}
    with _one_thread_each(), _processes(jobs) as pool:
        while waiting or running:
            while waiting and len(running) < 2 * jobs:  # one at work and one at hand for each process
                cell = waiting.pop()
                running[pool.submit(measure, cell)] = cell
            for done in wait(running, return_when=FIRST_COMPLETED).done:
                _finish(running.pop(done), done, file, progress, failures)
    if failures:
        raise CellsFailed(f"{len(failures)} of {len(left)} rows could not be computed:\n" + "\n".join(failures))


def _finish(cell: Cell, done: Future[Row], file: RowFile, progress: Progress, failures: list[str]) -> None:
    try:
        row = done.result()
    except BrokenProcessPool as error:
        raise CellsFailed(
            "A process ended before its row was finished, perhaps for lack of memory. Continue with --resume, and with "
            "fewer --jobs."
        ) from error
    except Exception as error:  # any defect of one cell: the others are still wanted, and it is reported at the end
        failures.append(f"  {cell.key}: {type(error).__name__}: {error}")
        progress.finished(cell, 0.0)
        return
    file.append(row)
    progress.finished(cell, row["seconds"])


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Environment in which new processes give BLAS and OpenMP one thread."""
    before = {name: os.environ.get(name) for name in THREAD_VARIABLES}
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def _processes(jobs: int) -> Iterator[ProcessPoolExecutor]:
    """A pool that is ended at once, without waiting for what it is at, where the block is left by an error."""
    others = active_children()
    pool = ProcessPoolExecutor(jobs, get_context("spawn"), initializer=_start_worker)
    try:
        yield pool
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for process in active_children():
            if process not in others:
                process.terminate()
        raise
    pool.shutdown()


def _start_worker() -> None:
    """In every process: one thread, Ctrl-C is for the parent, and no life without the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threadpool_limits(1)
    warnings.simplefilter("ignore", ConvergenceWarning)  # rows say themselves whether the solver converged
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)
