"""Time of sampling frequencies against the LAPACK work that orthonormal blocks need, side by side.

    python benchmarks/sampling_time.py            # 4096 frequencies, d = 256: at most 2 is wanted
    python benchmarks/sampling_time.py --dim 64 --frequencies 1024 --rounds 5

The yardstick is ``numpy.linalg.qr`` of as many d x d Gaussian matrices as the frequencies fill, drawing them included.
Rounds alternate between the two, so that both see the same machine; a ratio is the median over the rounds.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np

from krein.kernels import DeltaGaussian, Gaussian, Matern, RadialKernel
from krein.sampling import sample_frequencies
from krein.spectral import jordan_parts

KERNELS: dict[str, RadialKernel] = {
    "Gaussian": Gaussian(),
    "delta-Gaussian": DeltaGaussian(),
    "Matern 3/2": Matern(),
}


def lapack_work(dim: int, n_blocks: int, seed: int) -> None:
    """Orthonormal blocks by QR factorisation."""
    rng = np.random.default_rng(seed)
    for _ in range(n_blocks):
        np.linalg.qr(rng.standard_normal((dim, dim)))


def seconds(work: Callable[[int], object], seed: int) -> float:
    start = time.perf_counter()
    work(seed)
    return time.perf_counter() - start


def compare(kernel: RadialKernel, dim: int, n_frequencies: int, rounds: int, directions: str) -> tuple[float, float]:
    """Median seconds of sampling and of the LAPACK work."""
    parts = jordan_parts(kernel, dim)
    share = n_frequencies // len(parts.parts)

    def sample(seed: int) -> object:
        return sample_frequencies(parts, [share] * len(parts.parts), directions=directions, random_state=seed)

    def lapack(seed: int) -> None:
        lapack_work(dim, n_frequencies // dim, seed)

    for work in (sample, lapack):  # caches, and pages of memory
        work(0)
    pairs = [(seconds(sample, seed), seconds(lapack, seed)) for seed in range(1, rounds + 1)]
    return statistics.median(pair[0] for pair in pairs), statistics.median(pair[1] for pair in pairs)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dim", type=int, default=256)
    parser.add_argument("--frequencies", type=int, default=4096, help="a multiple of 2 dim fills blocks")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--directions", default="blocks", choices=("blocks", "shared", "joint", "iid", "simplex"))
    options = parser.parse_args(arguments)
    if options.frequencies < 2 * options.dim or options.rounds < 1 or options.dim < 1:
        parser.error("frequencies must be at least 2 dim, and rounds and dim at least 1")
    print(
        f"{options.frequencies} frequencies, d = {options.dim}, {options.directions}; ratio of sampling to LAPACK work"
    )
    for name, kernel in KERNELS.items():
        sampling, lapack = compare(kernel, options.dim, options.frequencies, options.rounds, options.directions)
        print(f"{name:15} {1e3 * sampling:8.1f} ms / {1e3 * lapack:8.1f} ms = {sampling / lapack:5.2f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
