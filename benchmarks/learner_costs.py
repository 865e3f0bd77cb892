"""What the learners cost: a path of alphas, the machine beside LIBLINEAR, memory of a streamed fit.

    python benchmarks/learner_costs.py [--rows 50000] [--parts path svc newton memory]

The exit status is 1 if a figure is above its limit:
- KreinRidge with 20 alphas (alpha="auto", or coef_path) against one alpha: at most 1.5 times, at 704 columns;
- KreinSVC (hinge) against the LIBLINEAR call that it contains: at most 1.2 times, at 176 columns; the same for its L2
  loss against LinearSVC(dual=False);
- Newton's method against LinearSVC(dual=False) for the L2 loss, both to a relative duality gap of 1e-6, for several C:
  at least 3 times faster;
- 10^6 x 22 rows streamed in batches into KreinRidge: at most 600 MB of memory for the whole process.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from krein import RandomFeatures
from krein.kernels import DeltaGaussian
from krein.learn import KreinRidge, KreinSVC
from krein.learn.solvers import SquaredHinge, newton, weighted_gram

Array = NDArray[np.float64]
KERNEL = DeltaGaussian(weights=(1.0, -1.0), scales=(1.0, 10.0))
LIMITS = {"path": 1.5, "svc": 1.2, "newton": 3.0, "memory": 600.0}
DIM = 22
STREAM = """
import sys, numpy as np
from krein import RandomFeatures
from krein.kernels import DeltaGaussian
from krein.learn import KreinRidge
rows, batch, columns = map(int, sys.argv[1:])
rng = np.random.default_rng(0)
ridge = KreinRidge(RandomFeatures(DeltaGaussian(), columns, scheme="gorf-blocks", random_state=0))
for start in range(0, rows, batch):
    X = rng.normal(size=(min(batch, rows - start), 22)) / 22**0.5
    ridge.partial_fit(X, np.sin(3 * X[:, 0]))
print(ridge.score(X, np.sin(3 * X[:, 0])))
"""


def make_rows(n: int) -> tuple[Array, Array]:
    """Rows on the unit sphere, and labels of a rule that is not linear, with some wrong ones."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, DIM))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    value = np.sin(6 * X[:, 0]) + 4 * X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=n)
    return X, np.where(value > 0, 1.0, -1.0)


def features(columns: int) -> RandomFeatures:
    return RandomFeatures(KERNEL, columns, scheme="gorf-blocks", random_state=0)


def seconds(work: Callable[[], Any], rounds: int) -> float:
    """Least CPU time of a few rounds."""
    times = []
    for _ in range(rounds):
        start = time.process_time()
        with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
            work()
        times.append(time.process_time() - start)
    return min(times)


def path(X: Array, y: Array, columns: int, rounds: int) -> float:
    one = seconds(lambda: KreinRidge(features(columns), 1.0).fit(X, y), rounds)
    auto = seconds(lambda: KreinRidge(features(columns)).fit(X, y), rounds)
    fitted = KreinRidge(features(columns), 1.0).fit(X, y)
    alone = seconds(lambda: fitted.coef_path(np.geomspace(1e-6, 1e2, 20)), rounds)
    print(f"ridge, {len(X)} x {columns}: one alpha {one:.3f} s; 20 by alpha='auto' {auto:.3f} s ({auto / one:.2f}x); "
          f"one and coef_path of 20 {one + alone:.3f} s ({1 + alone / one:.2f}x)")  # fmt: skip
    return max(auto / one, 1 + alone / one)


def svc(X: Array, y: Array, columns: int, rounds: int, C: float = 10.0) -> float:
    """Each loss against LIBLINEAR: for the hinge the very call that is inside KreinSVC, on the same numbers."""
    ratios = []
    for loss in ("hinge", "squared_hinge"):
        inside: list[float] = []
        with liblinear_timed(inside):
            whole = seconds(
                lambda loss=loss: KreinSVC(features(columns), C, loss=loss, random_state=0).fit(X, y), rounds
            )
        if not inside:  # the L2 loss contains no such call: beside one on the raw columns
            Z = features(columns).fit(X).transform(X)
            inside.append(seconds(lambda Z=Z: LinearSVC(C=C, dual=False).fit(Z, y), rounds))
        ratios.append(whole / min(inside))
        print(f"svc ({loss}), {len(X)} x {columns}: KreinSVC {whole:.3f} s, LIBLINEAR {min(inside):.3f} s "
              f"({ratios[-1]:.2f}x)", flush=True)  # fmt: skip
    return max(ratios)


@contextmanager
def liblinear_timed(times: list[float]) -> Iterator[None]:
    """Append the CPU time of every LinearSVC.fit."""
    original = LinearSVC.fit

    def timed(self: Any, *args: Any, **options: Any) -> Any:
        start = time.process_time()
        result = original(self, *args, **options)
        times.append(time.process_time() - start)
        return result

    LinearSVC.fit = timed
    try:
        yield
    finally:
        LinearSVC.fit = original


def relative_gap(Z: Array, c: Array, loss: SquaredHinge, w: Array) -> float:
    e = loss.residual(Z @ w)
    a = -2 * c * e
    v = Z.T @ a
    primal = w @ w / 2 + c @ e**2
    return float((primal - (loss.dual(a) - v @ v / 2 - c @ e**2)) / primal)


def newton_against_liblinear(X: Array, y: Array, columns: int, rounds: int) -> float:
    """The smallest tolerance of 1e-2, 1e-3, ... at which LIBLINEAR reaches the gap is the one that is timed."""
    Z = np.column_stack([features(columns).fit(X).transform(X), np.ones(len(X))])
    loss, worst = SquaredHinge(y), np.inf
    for C in (0.01, 1.0, 100.0):
        c = np.full(len(Z), C)
        ours = seconds(lambda c=c: list(newton(Z, c, loss, 1e-6, weighted_gram(Z, c))), rounds)
        for tol in 10.0 ** -np.arange(2, 9):
            machine = LinearSVC(C=C, dual=False, fit_intercept=False, tol=tol)
            theirs = seconds(lambda machine=machine: machine.fit(Z, y), 1)
            gap = relative_gap(Z, c, loss, machine.coef_[0])
            if gap <= 1e-6:
                break
        print(f"L2 loss, {len(Z)} x {Z.shape[1]}, C = {C:g}: Newton {ours:.3f} s, LinearSVC {theirs:.3f} s at gap "
              f"{gap:.1e} ({theirs / ours:.1f}x)", flush=True)  # fmt: skip
        worst = min(worst, theirs / ours)
    return worst


def memory(rows: int, columns: int) -> float:
    """Largest resident memory in MB of another process that streams the rows."""
    subprocess.run(
        [sys.executable, "-c", STREAM, str(rows), "10000", str(columns)], check=True, stdout=subprocess.DEVNULL
    )
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"streamed, {rows} x {DIM} rows, {columns} columns: {peak:.0f} MB")
    return peak


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="What the learners cost.")
    parser.add_argument("--rows", type=int, default=50_000, help="of path, svc and newton (default: 50000)")
    parser.add_argument("--stream", type=int, default=1_000_000, help="rows of memory (default: 1000000)")
    parser.add_argument("--columns", type=int, help="instead of 704 (path, memory) and 176 (svc, newton)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--parts", nargs="+", choices=sorted(LIMITS), default=list(LIMITS))
    options = parser.parse_args(arguments)
    X, y = make_rows(options.rows)
    wide, narrow = options.columns or 704, options.columns or 176
    missed = 0
    for part in options.parts:
        if part == "path":
            missed += path(X, y, wide, options.rounds) > LIMITS[part]
        elif part == "svc":
            missed += svc(X, y, narrow, options.rounds) > LIMITS[part]
        elif part == "newton":
            missed += newton_against_liblinear(X, y, narrow, options.rounds) < LIMITS[part]
        else:
            missed += memory(options.stream, wide) > LIMITS[part]
    print("every figure is within its limit" if not missed else f"{missed} figures are beyond their limits")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
