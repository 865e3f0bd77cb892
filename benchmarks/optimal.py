"""What the scheme ``optimal`` reaches: every figure next to the bound that it has to meet.

    python benchmarks/optimal.py                                  # all tables, an hour
    python benchmarks/optimal.py --only published smooth          # some of them
    python benchmarks/optimal.py --only published --data letter   # on some of the data sets

Relative errors ||K - K_hat|| / ||K|| are means over 10 draws of 1000 rows, each with rows and rotations of its own, the
diagonal as it is; the features are fitted on the same rows, except in the table ``elsewhere``, where the error is that
of test rows. ratio is measured over bound. The exit status is 1 if a bound is missed.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from optimal_cases import (
    ELSEWHERE_DATA,
    EQUAL_COLUMNS,
    Case,
    elsewhere_cases,
    equal_columns_cases,
    every_case,
    loaded,
    narrow_cases,
    published_cases,
    smooth_cases,
)
from protocol import KERNELS, PUBLISHED, WIDTHS, Array, some_rows
from threadpoolctl import threadpool_limits

from krein.exceptions import KreinError
from krein.experiments.expectations import factor_ahead
from krein.experiments.setting import CLASSIFICATION
from krein.kernels import Gaussian, PolynomialOnSphere, RadialKernel
from krein.kernels.base import distances
from krein.sampling import find_design, weight_of_rows
from krein.sampling.design import rotation_error

FACTORS = {  # below the published GORF
    data: tuple(factor_ahead("delta-gaussian", data, size) for size in WIDTHS) for data in CLASSIFICATION
}
UNIFORM_FACTORS = (3, 1.8, 1.9, 5)
POLYNOMIAL_FACTOR, ELSEWHERE_FACTOR, GEOMETRIC_MEAN = 50, 1.8, 0.5
NARROW = {32: 0.032, 33: 0.032, 128: 0.020, 512: 0.005}
ROTATION_ROWS, PREDICTION, FLOAT32 = 400, 0.05, 3e-5
SMALL, CACHED = 1.0, 0.020  # seconds: of a design of at most 64 frequencies, of a cached fit over the draw


@dataclass(frozen=True)
class Options:
    draws: int
    rotations: int
    data: list[str]


@dataclass(frozen=True)
class Cell:
    """A measured figure, the bound that it must not exceed (None: for information), and what else is to be said."""

    label: str
    measured: float
    bound: float | None
    remark: str = ""

    @property
    def missed(self) -> bool:
        return self.bound is not None and not self.measured <= self.bound

    def __str__(self) -> str:
        if self.bound is None:
            return f"{self.label:60}{self.measured:11.3g}{'':19}  {self.remark}".rstrip()
        ratio = f"{self.measured / self.bound:8.2f}{'!' if self.missed else ' '}"
        return f"{self.label:60}{self.measured:11.3g}{self.bound:10.3g}{ratio}  {self.remark}".rstrip()


def label(case: Case) -> str:
    kernel = {Gaussian: "Gaussian", PolynomialOnSphere: "polynomial"}.get(type(case.kernel), type(case.kernel).__name__)
    if isinstance(case.kernel, PolynomialOnSphere):
        kernel += f" a={case.kernel.a:g} m={case.kernel.degree}"
    if isinstance(case.kernel, Gaussian):
        kernel += f" {case.kernel.scale:.3g}"
    if isinstance(case.kernel, type(KERNELS["delta-gaussian"])):
        kernel = " ".join(
            f"{weight:+g}@{scale:g}" for weight, scale in zip(case.kernel.weights, case.kernel.scales, strict=True)
        )
    given = dict(case.options)
    uniform = (" uniform" if "distances" in given else "") + (" max_bias" if "max_bias" in given else "")
    return f"{case.data:9}{kernel + uniform:28}{case.width:8}{case.columns:6} columns"


def published(options: Options) -> Iterator[Cell]:
    """Delta-Gaussian (1,-1; 1,10): below the published GORF by a factor, also with uniform weight on distances.

    The optimum for all distances alike allows more bias where letter has most pairs: ``max_bias=0.05`` is better there.
    """
    for data in FACTORS:
        if data in options.data:
            yield from _below_published(
                "delta-gaussian", published_cases("delta-gaussian", data), FACTORS[data], options
            )
    if "letter" in options.data:
        for more in ({}, {"max_bias": 0.05}):
            cases = published_cases("delta-gaussian", "letter", distances="uniform", distance_range=2.0, **more)
            yield from _below_published("delta-gaussian", cases, UNIFORM_FACTORS, options)


def polynomial(options: Options) -> Iterator[Cell]:
    """Polynomial a=3, degree 1: 50 times below the published GORF."""
    for data in FACTORS:
        if data in options.data:
            factors = (POLYNOMIAL_FACTOR,) * len(WIDTHS)
            yield from _below_published("polynomial", published_cases("polynomial", data), factors, options)


def _below_published(
    kernel: str, cases: Iterator[Case], factors: tuple[float, ...], options: Options
) -> Iterator[Cell]:
    for i, case in enumerate(cases):
        value = PUBLISHED[case.data, kernel, "GORF"][i][0]
        measured = float(case.errors(options.draws).mean())
        yield Cell(label(case), measured, value / factors[i], f"published {value:.4f} / {value / measured:.4g}")


def elsewhere(options: Options) -> Iterator[Cell]:
    """Another kernel, other data, error on test rows: 1.8 times below orthonormal blocks."""
    for data in ELSEWHERE_DATA:
        for case in elsewhere_cases(data) if data in options.data else ():
            measured = float(case.errors(options.draws).mean())
            other = float(case.of("gorf-blocks").errors(options.draws).mean())
            yield Cell(
                label(case), measured, other / ELSEWHERE_FACTOR, f"gorf-blocks {other:.4f} / {other / measured:.2f}"
            )


def equal_columns(options: Options) -> Iterator[Cell]:
    """Below orthonormal blocks, structured and quasi-Monte Carlo features of as many columns, where there are any.

    Where there are none, the bound is the error of the best constant: a design must not be all bias.
    """
    for kernel in EQUAL_COLUMNS:
        for data in ("letter", "ijcnn1"):
            ratios = []
            for case in equal_columns_cases(kernel, data) if data in options.data else ():
                measured = float(case.errors(options.draws).mean())
                found, remarks = _rivals(case, options.draws)
                if found:
                    ratios.append(measured / min(found))
                yield Cell(label(case), measured, min(found, default=_constant_error(case)), ", ".join(remarks))
            if ratios:
                mean = float(np.exp(np.mean(np.log(ratios))))
                yield Cell(f"{data:9}geometric mean of ratios", mean, GEOMETRIC_MEAN)


def _rivals(case: Case, draws: int) -> tuple[list[float], list[str]]:
    """Errors of the other schemes, and a remark for each: its error, or why it has none."""
    found, remarks = [], []
    for scheme in ("gorf-blocks", "sorf", "qmc"):
        try:
            found.append(float(case.of(scheme).errors(draws).mean()))
            remarks.append(f"{scheme} {found[-1]:.4f}")
        except KreinError as reason:
            remarks.append(f"{scheme} {type(reason).__name__}")
    return found, remarks


def _constant_error(case: Case) -> float:
    k = case.kernel(some_rows(loaded(case.data).X_train, 0))
    return float(k.std() / np.sqrt(np.mean(k**2)))


def narrow(options: Options) -> Iterator[Cell]:
    """Gaussian of scale 1 on letter. 16 frequencies and a constant take 33 columns; the bound was asked for at 32."""
    for case in narrow_cases() if "letter" in options.data else ():
        yield Cell(label(case), float(case.errors(options.draws).mean()), NARROW[case.columns])


def smooth(options: Options) -> Iterator[Cell]:
    """Gaussian exp(-z^2/d) on letter: below the spherical-radial rule, which gets a column more for its constant."""
    for case in smooth_cases() if "letter" in options.data else ():
        rule = case.of("quadrature", case.columns + 1)
        bound = float(rule.errors(options.draws).mean())
        measured = float(case.errors(options.draws).mean())
        yield Cell(label(case), measured, bound, f"quadrature {bound:.3g} at {rule.columns} columns")


def prediction(options: Options) -> Iterator[Cell]:
    """|predicted / measured - 1|, measured: root mean square over rotations, on the 400 rows of the fit."""
    for case in every_case(options.data):
        rows = some_rows(loaded(case.data).X_train, 0, ROTATION_ROWS)
        k = case.kernel(rows)
        between = distances(rows, rows)
        fitted = case.features(0).fit(rows)
        reached = fitted.design_.reach >= between.max()
        predicted = _predicted(case, rows)
        squares = []
        for seed in range(options.rotations):
            difference = case.features(seed).fit(rows).approximate_kernel(rows) - k
            squares.append(float(np.sum(difference**2) / np.sum(k**2)))
        measured = np.sqrt(np.mean(squares))
        noise = np.std(squares, ddof=1) / np.sqrt(len(squares)) / (2 * np.mean(squares))
        design = fitted.design_
        remark = f"predicted {predicted:.4g} measured {measured:.4g} +-{noise:.1%}"
        remark += f", bias {design.bias / np.sqrt(design.error.kernel_mean_square):.3g} bound {design.bias_bound:.2g}"
        remark += "" if reached else ", beyond the reach"
        remark += ", bias > deviation" if design.remarks else ""
        yield Cell(label(case), abs(float(predicted / measured) - 1), PREDICTION, remark)


def _predicted(case: Case, rows: Array) -> float:
    """On the rows of the fit; a design for all distances alike predicts another error, so its own is looked up."""
    features = case.features(0).fit(rows)
    if not case.options:
        return features.predicted_error_
    design = features.design_
    weight = weight_of_rows(rows, design.reach)
    return rotation_error(case.kernel, rows.shape[1], design.blocks, design.constant, weight).relative


def float32(options: Options) -> Iterator[Cell]:
    """Largest |K_hat of float32 - K_hat of float64| over max |k|; the Gram matrix itself in float64."""
    for case in every_case(options.data):
        rows = some_rows(loaded(case.data).X_train, 0, ROTATION_ROWS).astype(np.float32)
        features = case.features(0).fit(rows.astype(np.float64))
        coarse = features.transform(rows).astype(np.float64)
        exact = features.transform(rows.astype(np.float64))
        difference = (coarse * features.signature_) @ coarse.T - (exact * features.signature_) @ exact.T
        largest = np.abs(case.kernel(rows.astype(np.float64))).max()
        c = features.frequencies_.coefficients
        yield Cell(label(case), float(np.abs(difference).max() / largest), FLOAT32, f"sum |c| {np.abs(c).sum():.3g}")


def design_times(options: Options) -> Iterator[Cell]:
    """CPU seconds of a design on one thread, its measures included; of a cached fit, what it takes over the draw."""
    sizes = ((13, 26, SMALL), (16, 16, SMALL), (16, 32, SMALL), (16, 64, SMALL), (22, 64, SMALL), (32, 64, SMALL))
    wide = ((16, 400, 10.0), (22, 400, 10.0), (32, 400, 10.0), (256, 4096, 10.0), (784, 4096, None))
    kernels: tuple[RadialKernel, ...] = (KERNELS["delta-gaussian"], *EQUAL_COLUMNS[::2], Gaussian(1.0))
    rng = np.random.default_rng(12345)
    for dim, n, bound in (*sizes, *wide):
        rows = rng.uniform(0, 1, (1000, dim)) ** 3
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        for kernel in kernels:
            case = Case(kernel, "random", 2 * n + 1, f"d={dim}")
            start = time.process_time()
            find_design(kernel, dim, weight_of_rows(rows, 2.0 if kernel.domain == "sphere" else None), case.columns)
            yield Cell(label(case), time.process_time() - start, bound, "s for the design")
            overhead = [_fit_over_draw(case, rows, seed) for seed in range(5)]
            yield Cell(label(case), float(np.median(overhead)), CACHED, "s of a cached fit over its draw")


def _fit_over_draw(case: Case, rows: Array, seed: int) -> float:
    start = time.process_time()
    features = case.features(seed).fit(rows)
    middle = time.process_time()
    features.design_.rotated(np.random.default_rng(seed))
    return 2 * middle - start - time.process_time()


TABLES: dict[str, Callable[[Options], Iterator[Cell]]] = {
    "published": published,
    "polynomial": polynomial,
    "elsewhere": elsewhere,
    "equal-columns": equal_columns,
    "narrow": narrow,
    "smooth": smooth,
    "prediction": prediction,
    "float32": float32,
    "time": design_times,
}


def main(arguments: list[str] | None = None) -> int:
    """Print the tables; 1 if a bound is missed."""
    every = list(dict.fromkeys([*FACTORS, *ELSEWHERE_DATA]))
    parser = argparse.ArgumentParser(description="What the scheme 'optimal' reaches, next to its bounds.")
    parser.add_argument("--only", nargs="+", choices=tuple(TABLES), default=list(TABLES), help="tables (default: all)")
    parser.add_argument("--data", nargs="+", choices=every, default=every, help="data sets (default: all)")
    parser.add_argument("--draws", type=int, default=10, help="draws of rows and rotations per error (default: 10)")
    parser.add_argument("--rotations", type=int, default=200, help="rotations in the table prediction (default: 200)")
    chosen = parser.parse_args(arguments)
    if min(chosen.draws, chosen.rotations) < 2:
        parser.error(f"--draws and --rotations must be at least 2; got {chosen.draws} and {chosen.rotations}")
    options, cells = Options(chosen.draws, chosen.rotations, chosen.data), []
    with threadpool_limits(1):
        for name in chosen.only:
            print(f"\n{name}: {(TABLES[name].__doc__ or '').partition(chr(10))[0]}")
            print(f"{'':60}{'measured':>11}{'bound':>10}{'ratio':>8}")
            for cell in TABLES[name](options):
                cells.append(cell)
                print(cell, flush=True)
    missed = sum(cell.missed for cell in cells)
    print(f"\n{sum(cell.bound is not None for cell in cells)} bounds, {missed} missed")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
