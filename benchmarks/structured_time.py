"""Time per row of the structured projections against the dense product X W^T, and the width at which they overtake it.

    python benchmarks/structured_time.py [--smoke] [--repeats 7] [--dims 16 64 256 1024 4096]

At every dimension d there are n = 2 d frequencies. All operators are timed in turn, again and again in the same run,
and medians are compared, so that a slow moment of the machine does not favour one of them. BLAS has one thread. The
exit status is 1 if an operator is not 5 times faster than the dense product at d = 4096, n = 8192, where that was
measured.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from time import perf_counter

import numpy as np
from threadpoolctl import threadpool_limits

from krein.sampling import STRUCTURED_DIRECTIONS

DIMS = [16, 64, 128, 256, 512, 1024, 2048, 4096]
DTYPES = {"float32": np.float32, "float64": np.float64}
REQUIRED = {4096: 5.0}  # dimension: ratio that every operator must reach


def n_rows(dim: int) -> int:
    """Enough rows for a measurable time, few enough that the dense product stays below a second."""
    return int(np.clip((1 << 20) // dim, 256, 4096))


def medians(dim: int, dtype: str, repeats: int) -> dict[str, float]:
    """Seconds per row of every operator at d = dim, n = 2 dim, each the median over interleaved repeats."""
    rng = np.random.default_rng(12345)
    n = 2 * dim
    X = rng.standard_normal((n_rows(dim), dim)).astype(DTYPES[dtype])
    W = rng.standard_normal((n, dim)).astype(X.dtype)
    operators: dict[str, Callable[[], object]] = {"dense": lambda: X @ W.T}
    for name, scheme in STRUCTURED_DIRECTIONS.items():
        weights = scheme(dim, [n], rng)[0].rescaled(rng.uniform(1, 2, n))
        operators[name] = lambda weights=weights: weights.apply(X)
    times: dict[str, list[float]] = {name: [] for name in operators}
    for repeat in range(repeats + 1):
        for name, operator in operators.items():
            start = perf_counter()
            operator()
            if repeat:  # the first round fills caches
                times[name].append(perf_counter() - start)
    return {name: float(np.median(found)) / len(X) for name, found in times.items()}


def overtaking_width(found: dict[int, dict[str, float]], name: str) -> int | None:
    """The smallest measured dimension from which on an operator is faster than the dense product, or None."""
    slower = [dim for dim, times in found.items() if times[name] >= times["dense"]]
    faster = [dim for dim in found if dim > max(slower, default=0)]
    return min(faster, default=None)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Structured projections against the dense product.")
    parser.add_argument("--dims", type=int, nargs="+", default=DIMS, help="dimensions d, with n = 2 d frequencies")
    parser.add_argument("--repeats", type=int, default=7, help="timed rounds per dimension (default: 7)")
    parser.add_argument("--smoke", action="store_true", help="two small dimensions and two rounds, to see that it runs")
    options = parser.parse_args(arguments)
    dims, repeats = ([16, 64], 2) if options.smoke else (sorted(options.dims), options.repeats)
    if min(dims) < 1 or repeats < 1:
        parser.error(f"--dims and --repeats must be at least 1; got {dims} and {repeats}")
    failed = False
    with threadpool_limits(1):
        for dtype in DTYPES:
            print(f"{dtype}, n = 2 d: microseconds per row (times faster than dense)")
            print(f"{'d':>6}{'n':>6}{'dense':>10}" + "".join(f"{name:>20}" for name in STRUCTURED_DIRECTIONS))
            found = {}
            for dim in dims:
                times = found[dim] = medians(dim, dtype, repeats)
                ratios = {name: times["dense"] / times[name] for name in STRUCTURED_DIRECTIONS}
                cells = "".join(f"{1e6 * times[name]:11.2f} ({ratio:5.2f}x)" for name, ratio in ratios.items())
                print(f"{dim:6}{2 * dim:6}{1e6 * times['dense']:10.2f}{cells}", flush=True)
                failed |= min(ratios.values()) < REQUIRED.get(dim, 0)
            for name in STRUCTURED_DIRECTIONS:
                width = overtaking_width(found, name)
                print(f"{name} overtakes the dense product at d = {width or 'none of these'}")
            print()
    if failed:
        print("An operator is not as much faster as it must be.")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
