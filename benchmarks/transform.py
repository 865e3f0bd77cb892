"""What this machine can do, what transform, row and gram reach of it, and how they compare with others.

    python benchmarks/transform.py [--out result.json] [--rounds 7] [--sizes 0 1 2 3 4] [--smoke]

The roofline of n rows in dimension d with s frequencies (2 s columns) is the larger of

    2 n d s / peak + n s / sincos rate        and        2 n s bytes / bandwidth

with the peak of multiply and add, the rate of (sine, cosine) pairs in the nearest cache and the bandwidth of stores
past the caches measured first, by the best instruction set of this processor. All candidates of a size are timed in
turn, in every round, and medians are compared. With one thread times are CPU times, which other programs disturb least;
with more they are wall times, for which the machine must be idle. What is reached is printed for the map alone, and for
transform with out=, which checks what it is given. The AVX2 kernels are compared with their own
roofline too.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.kernel_approximation import RBFSampler
from threadpoolctl import threadpool_limits

from krein import RandomFeatures
from krein.features import _native_map, gram
from krein.features._map import reference_map
from krein.features._output import aligned_empty
from krein.kernels import Gaussian
from krein.kernels.base import row_blocks

SIZES = [(50_000, 16, 128), (50_000, 16, 2048), (10_000, 256, 2048), (10_000, 784, 4096), (100_000, 22, 176)]
SMOKE = [(600, 3, 20), (300, 300, 70)]
MOST_PRODUCTS = 1e10  # n d s: larger sizes are measured with fewer rows, and at least 2000
GRAMS = [(100_000, 22, 352), (16_000, 16, 4096)]
Candidates = dict[str, Callable[[], object]]


def medians(candidates: Candidates, rounds: int, clock: Callable[[], float]) -> dict[str, float]:
    """Seconds of every candidate, each the median over interleaved rounds after one that is not counted."""
    times: dict[str, list[float]] = {name: [] for name in candidates}
    names = list(candidates)
    for k in range(rounds + 1):
        for name in names[k % len(names) :] + names[: k % len(names)]:  # nobody always follows the same one
            start = clock()
            candidates[name]()
            if k:
                times[name].append(clock() - start)
    return {name: float(np.median(found)) for name, found in times.items()}


def limits(instructions: str, dtype: Any, rounds: int, scale: int) -> dict[str, float]:
    """Operations, pairs of sine and cosine, and bytes per second on one core."""
    native: Any = _native_map._native
    precision, n = np.dtype(dtype).char, 1024
    t, c, s = (aligned_empty((1, n), np.dtype(dtype))[0] for _ in range(3))
    t[:] = np.random.default_rng(0).uniform(-5, 5, n)
    memory = aligned_empty((1, (1 << 25) // (1024 * scale) * 1024), np.dtype(dtype))[0]
    repeats = 500_000 // scale
    found = medians(
        {
            "peak": lambda: native.multiply_add(instructions, precision, repeats),
            "sincos": lambda: native.sincos(instructions, t, c, s, repeats // 100),
            "bandwidth": lambda: native.fill(instructions, memory),
        },
        rounds,
        time.process_time,
    )
    amounts = {
        "peak": native.multiply_add(instructions, precision, repeats),
        "sincos": n * (repeats // 100),
        "bandwidth": memory.nbytes,
    }
    return {name: amounts[name] / seconds for name, seconds in found.items()}


def roofline(n: int, d: int, s: int, limit: dict[str, float], itemsize: int, threads: int) -> float:
    """Seconds; the bandwidth is shared."""
    arithmetic = 2 * n * d * s / limit["peak"] + n * s / limit["sincos"]
    return max(arithmetic / threads, 2 * n * s * itemsize / limit["bandwidth"])


def candidates_of(n: int, d: int, s: int, dtype: Any, threads: int) -> Candidates:
    """Maps of the same rows to 2 s columns."""
    X = (np.random.default_rng(0).normal(size=(n, d)) / np.sqrt(d)).astype(dtype)
    few = X[:200]
    features = RandomFeatures(Gaussian(), n_components=2 * s, scheme="orf", random_state=0, n_jobs=threads).fit(few)
    structured = RandomFeatures(Gaussian(), n_components=2 * s, scheme="sorf", random_state=0, n_jobs=threads).fit(few)
    rbf = RBFSampler(gamma=0.5, n_components=2 * s, random_state=0).fit(few)
    Z = np.asarray(features.transform(X))

    def numpy_reference() -> None:
        for rows in row_blocks(n):
            reference_map(X[rows], features.frequencies_, Z[rows])

    found: Candidates = {
        "map": lambda: features._map_all(X, Z),
        "out=": lambda: features.transform(X, out=Z),
        "fresh": lambda: features.transform(X),
        "sorf, out=": lambda: structured.transform(X, out=Z),
        "numpy": numpy_reference,
        "RBFSampler": lambda: rbf.transform(X),
    }
    if threads == 1 and "avx2" in _native_map.INSTRUCTIONS[1:]:
        avx2 = _native_map.CompiledMap(features.frequencies_, X.dtype, "avx2")
        found["avx2"] = lambda: avx2(X, features.frequencies_, Z, stream=Z.nbytes > 1 << 24)
    return found | peers(X, features.frequencies_.weights)


def peers(X: NDArray[Any], weights: Any) -> Candidates:
    """Other libraries, where they are installed."""
    try:
        import torch
    except ImportError:
        return {}
    rows, W = torch.from_numpy(X), torch.from_numpy(np.ascontiguousarray(weights.T.astype(X.dtype)))

    def eager() -> object:
        angles = rows @ W
        return torch.cat([torch.cos(angles), torch.sin(angles)], dim=1)

    return {"torch": eager}


def measure_transform(
    sizes: list[tuple[int, int, int]], threads: int, limit: dict[str, dict[str, Any]], rounds: int
) -> list[dict[str, Any]]:
    clock = time.process_time if threads == 1 else time.perf_counter
    results = []
    for dtype in (np.float32, np.float64):
        name, itemsize = np.dtype(dtype).name, np.dtype(dtype).itemsize
        for n, d, s in sizes:
            n = int(min(n, max(2000, MOST_PRODUCTS / (d * s))))
            with threadpool_limits(threads):
                times = medians(candidates_of(n, d, s, dtype, threads), rounds, clock)
            best = roofline(n, d, s, limit[name][_native_map.INSTRUCTIONS[0]], itemsize, threads)
            row = {"n": n, "d": d, "s": s, "dtype": name, "threads": threads, "roofline": best, "seconds": times}
            if "avx2" in times:
                row["roofline of avx2"] = roofline(n, d, s, limit[name]["avx2"], itemsize, threads)
            results.append(row)
            print(render(row), flush=True)
    return results


def render(row: dict[str, Any]) -> str:
    """One line: milliseconds of the roofline, its share that is reached, and how many times faster than others."""
    t = row["seconds"]
    others = [name for name in t if name not in ("map", "out=", "fresh", "sorf, out=", "avx2")]
    cells = [
        f"{row['dtype']} n={row['n']:<6} d={row['d']:<4} s={row['s']:<5} threads={row['threads']}:",
        f"roofline {1e3 * row['roofline']:7.2f} ms, reached {100 * row['roofline'] / t['map']:4.0f} %,",
        f"with the checks of transform {100 * row['roofline'] / t['out=']:.0f} %;",
        *(f"{t[name] / t['fresh']:5.1f}x {name} ({t[name] / t['out=']:.1f}x with out=);" for name in others),
        f"sorf {t['out='] / t['sorf, out=']:.1f}x dense",
    ]
    if "avx2" in t:
        shares = [100 * row[key] / t["avx2"] for key in ("roofline", "roofline of avx2")]
        cells.append(f"; avx2 {shares[0]:.0f} % of the roofline, {shares[1]:.0f} % of its own")
    return " ".join(cells)


def measure_row(rounds: int, calls: int) -> dict[str, float]:
    """Microseconds of one row through the public calls, d = 16, 256 columns, float32."""
    X = np.random.default_rng(0).normal(size=(100, 16)).astype(np.float32)
    features = RandomFeatures(Gaussian(), n_components=256, scheme="orf", random_state=0).fit(X)
    rbf = RBFSampler(n_components=256, random_state=0).fit(X)
    x, first = X[0], X[:1]
    work: Candidates = {
        "row": lambda: [features.row(x) for _ in range(calls)],
        "transform": lambda: [features.transform(first) for _ in range(calls)],
        "RBFSampler": lambda: [rbf.transform(first) for _ in range(calls)],
    }
    return {name: 1e6 * t / calls for name, t in medians(work, rounds, time.process_time).items()}


def measure_gram(sizes: list[tuple[int, int, int]], peak: float, rounds: int) -> list[dict[str, float]]:
    """Share of the peak in float64: the n D (D + 1) operations of Z^T Z, in the time of the map and the products."""
    results = []
    for n, d, columns in sizes:
        X = np.random.default_rng(0).normal(size=(n, d))
        features = RandomFeatures(Gaussian(), n_components=columns, scheme="orf", random_state=0).fit(X[:200])
        block = features.transform(X[:1024])
        with threadpool_limits(1):
            work: Candidates = {"gram": lambda: gram(features, X), "blas": lambda: block.T @ block}  # noqa: B023
            times = medians(work, rounds, time.process_time)
        shares = {
            "gram": n * columns * (columns + 1) / times["gram"] / peak,
            "blas": len(block) * columns * (columns + 1) / times["blas"] / peak,
        }
        print(
            f"gram of {n} rows, {columns} columns: {times['gram']:.3f} s, {100 * shares['gram']:.0f} % of the peak "
            f"(Z.T @ Z of one block by numpy, without the map: {100 * shares['blas']:.0f} %)",
            flush=True,
        )
        results.append({"n": n, "d": d, "columns": columns, "seconds": times["gram"], "share of peak": shares["gram"]})
    return results


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="a JSON file for all figures")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(range(len(SIZES))), help="which of the five sizes")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument(
        "--parts", nargs="+", default=["transform", "row", "gram"], choices=["transform", "row", "gram"]
    )
    parser.add_argument("--smoke", action="store_true", help="two small sizes, to see that it runs")
    options = parser.parse_args(arguments)
    if options.rounds < 1 or not set(options.sizes) <= set(range(len(SIZES))) or min(options.threads) < 1:
        parser.error("--rounds and --threads must be at least 1, and --sizes from 0 to 4")
    if not _native_map.INSTRUCTIONS:
        print("krein was installed without a C compiler: there is nothing to measure.")
        return 1
    rounds, scale = (1, 50) if options.smoke else (options.rounds, 1)
    limit = {
        np.dtype(dtype).name: {name: limits(name, dtype, rounds, scale) for name in _native_map.INSTRUCTIONS}
        for dtype in (np.float32, np.float64)
    }
    for precision, found in limit.items():
        for name, each in found.items():
            print(
                f"{precision} {name:8} peak {each['peak'] / 1e9:6.1f} Gflop/s, {each['sincos'] / 1e9:5.2f} G pairs/s, "
                f"stores {each['bandwidth'] / 1e9:5.1f} GB/s"
            )
    result: dict[str, Any] = {"limits": limit}
    if "transform" in options.parts:
        sizes = SMOKE if options.smoke else [SIZES[i] for i in options.sizes]
        result["transform"] = [
            row for threads in options.threads for row in measure_transform(sizes, threads, limit, rounds)
        ]
    if "row" in options.parts:
        result["row"] = measure_row(rounds, 20 if options.smoke else 2000)
        print("one row, microseconds: " + ", ".join(f"{name} {t:.1f}" for name, t in result["row"].items()))
    if "gram" in options.parts:
        peak = limit["float64"][_native_map.INSTRUCTIONS[0]]["peak"]
        result["gram"] = measure_gram([(700, 3, 40)] if options.smoke else GRAMS, peak, min(rounds, 3))
    if options.out:
        options.out.write_text(json.dumps(result, indent=1))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
