"""Compare feature maps on a kernel and data: error, bias, columns, fit time and transform time.

    krein compare --kernel "DeltaGaussian((1, -1), (1, 10))" --data letter \
        --methods grff gorf-blocks sorf --columns 32 64 128 --reps 5 --out comparison

Maps are fitted on the training rows and measured on other rows. With --out, the rows of the table are written to
``compare.jsonl`` and two pictures are drawn: error against columns, and error against transform time.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from krein._random import RandomState, Streams
from krein._validation import check_choice, check_integer
from krein.datasets import load
from krein.experiments._expression import parse_kernel
from krein.experiments._plots import draw, need_matplotlib
from krein.features import FEATURE_MAPS, SCHEMES, make_features
from krein.kernels import Kernel

__all__ = ["compare", "parse_kernel", "table"]

Array = NDArray[np.float64]
Row = dict[str, Any]

CANNOT = (ValueError, TypeError, ArithmeticError, NotImplementedError)  # what a map raises for a kernel it cannot do
TRANSFORMS = 3  # timed per repetition; the median is over all
DEFAULT_METHODS = [name for name in FEATURE_MAPS if name not in SCHEMES or not SCHEMES[name].published]


class Cell:
    """Running results of one method at one width: the mean of K_hat over repetitions, and its squared deviations."""

    def __init__(self, K: Array) -> None:
        self.K, self.mean, self.squared_deviation = K, np.zeros_like(K), 0.0
        self.errors: list[float] = []
        self.columns: list[int] = []
        self.fit_seconds: list[float] = []
        self.transform_seconds: list[float] = []

    def measure(self, features: Any, X_train: Any, X_test: Any) -> None:
        """One repetition."""
        start = perf_counter()
        features.fit(X_train)
        self.fit_seconds.append(perf_counter() - start)
        for _ in range(TRANSFORMS):
            start = perf_counter()
            features.transform(X_test)
            self.transform_seconds.append(perf_counter() - start)
        self.columns.append(len(features.signature_))
        K_hat = np.asarray(features.approximate_kernel(X_test), dtype=np.float64)
        self.errors.append(float(np.linalg.norm(K_hat - self.K) / np.linalg.norm(self.K)))
        before = K_hat - self.mean  # Welford's update
        self.mean += before / len(self.errors)
        self.squared_deviation += float(np.vdot(before, K_hat - self.mean))

    def summary(self) -> Row:
        """The measured part of a row."""
        reps, norm = len(self.errors), np.linalg.norm(self.K)
        return {
            "columns": int(np.median(self.columns)),
            "error": float(np.mean(self.errors)),
            "error_std": float(np.std(self.errors, ddof=1)),
            "bias": float(np.linalg.norm(self.mean - self.K) / norm),
            "bias_noise": float(np.sqrt(self.squared_deviation / (reps - 1) / reps) / norm),
            "fit_seconds": float(np.median(self.fit_seconds)),
            "transform_seconds_per_row": float(np.median(self.transform_seconds)) / len(self.K),
            "reps": reps,
        }


def compare(
    kernel: Kernel,
    X_train: Any,
    X_test: Any,
    methods: Sequence[str],
    columns: Sequence[int],
    reps: int = 5,
    random_state: RandomState = None,
) -> list[Row]:
    """Measure feature maps of several widths, all on the same rows.

    Parameters
    ----------
    kernel : Kernel
    X_train : array-like of shape (n_train, d)
        Rows to fit on.
    X_test : array-like of shape (n_test, d)
        Rows whose Gram matrix is approximated.
    methods : sequence of str
        Keys of ``krein.features.FEATURE_MAPS``.
    columns : sequence of int
        Largest numbers of real columns.
    reps : int, default=5
        Independent draws of every map, at least 2.
    random_state : int, Generator, RandomState or None, default=None

    Returns
    -------
    rows : list of dict
        One per method and width, with keys ``kernel``, ``method``, ``columns_asked`` and ``reason``. ``reason`` is why
        the method cannot do this, or None; then there are also ``columns`` (really used), ``error`` and ``error_std``
        (relative Frobenius error, mean and standard deviation over repetitions), ``bias``, ``bias_noise``,
        ``fit_seconds`` and ``transform_seconds_per_row`` (medians), and ``reps``.

    Notes
    -----
    ``bias`` is the relative Frobenius norm of the mean of K_hat over repetitions minus K. An unbiased map has a root
    mean square of ``bias_noise`` there, which falls as 1/sqrt(reps): a bias is seen where ``bias`` is well above it.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.experiments.compare import compare
    >>> from krein.kernels import DeltaGaussian
    >>> X = np.random.default_rng(0).normal(size=(100, 4))
    >>> kernel = DeltaGaussian((1.0, -0.5), (1.0, 3.0))
    >>> rows = compare(kernel, X[:50], X[50:], ["gorf-blocks", "rff"], [64], reps=3, random_state=0)
    >>> [(row["method"], row.get("columns"), row["reason"] is None) for row in rows]
    [('gorf-blocks', 64, True), ('rff', None, False)]
    """
    for method in methods:
        check_choice(method, "method", FEATURE_MAPS)
    check_integer(reps, "reps", 2)
    for width in columns:
        check_integer(width, "columns", 1)
    K = np.asarray(kernel(X_test), dtype=np.float64)
    if not K.any():
        raise ValueError("The kernel is zero on all pairs of rows: the relative error is not defined.")
    streams = Streams(random_state)
    cells = {(method, width): Cell(K) for method in methods for width in columns}
    reasons: dict[tuple[str, int], str] = {}
    for rep in range(reps):  # the outer loop, so that a slow moment of the machine is shared by all methods
        for (method, width), cell in cells.items():
            if (method, width) in reasons:
                continue
            seed = int(streams(f"{method}, {width} columns, repetition {rep}").integers(2**31))
            try:
                cell.measure(make_features(method, kernel, width, seed), X_train, X_test)
            except CANNOT as error:
                reasons[method, width] = str(error)
    return [
        {"kernel": repr(kernel), "method": method, "columns_asked": width, "reason": reasons.get((method, width))}
        | ({} if (method, width) in reasons else cell.summary())
        for (method, width), cell in cells.items()
    ]


def table(rows: Sequence[Row]) -> str:
    """The rows as text, with the methods that cannot do this and why below."""
    lines = [
        f"{'method':16}{'columns':>8}{'used':>7}{'error':>10}{'+-':>9}{'bias':>10}{'(noise)':>10}"
        f"{'fit':>11}{'transform':>15}"
    ]
    for row in rows:
        if row["reason"] is None:
            lines.append(
                f"{row['method']:16}{row['columns_asked']:8}{row['columns']:7}{row['error']:10.4f}{row['error_std']:9.4f}"
                f"{row['bias']:10.4f}{row['bias_noise']:10.4f}{1e3 * row['fit_seconds']:8.1f} ms"
                f"{1e6 * row['transform_seconds_per_row']:9.2f} us/row"
            )
    widths: dict[tuple[str, str], list[int]] = {}  # by method and reason
    for row in rows:
        if row["reason"] is not None:
            widths.setdefault((row["method"], row["reason"]), []).append(row["columns_asked"])
    methods: dict[tuple[str, str], list[str]] = {}  # by widths and reason without the name of the method
    for (method, reason), asked in widths.items():
        shared = reason.replace(f"Scheme {method!r}", "This scheme")
        methods.setdefault((", ".join(map(str, asked)), shared), []).append(method)
    lines += [""] * bool(methods)
    for (columns, reason), names in methods.items():
        lines.append(f"{', '.join(names)} cannot at {columns} columns: {reason}")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None, prog: str = "python -m krein.experiments.compare") -> int:
    """Run the command line of this module."""
    parser = argparse.ArgumentParser(prog=prog, description="Compare feature maps.")
    parser.add_argument("--kernel", default="DeltaGaussian((1, -1), (1, 10))", help="expression of krein.kernels")
    parser.add_argument("--data", default="digits", help="name of a data set, or the path of a file (default: digits)")
    parser.add_argument("--methods", nargs="+", choices=FEATURE_MAPS, default=DEFAULT_METHODS, metavar="METHOD",
                        help=f"any of {', '.join(FEATURE_MAPS)} (default: all that are not published-*)")  # fmt: skip
    parser.add_argument("--columns", nargs="+", type=int, default=[32, 64, 128, 256], help="largest numbers of columns")
    parser.add_argument("--reps", type=int, default=5, help="draws of every map, at least 2 (default: 5)")
    parser.add_argument("--rows", type=int, default=1000, help="test rows to measure on (default: 1000)")
    parser.add_argument("--seed", type=int, default=0, help="seed of rows and maps (default: 0)")
    parser.add_argument("--out", type=Path, help="folder for compare.jsonl and the pictures")
    options = parser.parse_args(arguments)
    try:
        kernel = parse_kernel(options.kernel)
        if options.out is not None:
            need_matplotlib()
        check_integer(options.rows, "rows", 2)
        data = load(options.data, split=options.seed)
        streams = Streams(options.seed)
        order = streams("rows").permutation(len(data.X_test))[: options.rows]
        rows = compare(kernel, data.X_train, data.X_test[order], options.methods, options.columns, options.reps,
                       streams("maps"))  # fmt: skip
    except (ValueError, TypeError, ImportError) as error:
        parser.error(str(error))
    d = data.X_train.shape[1]
    title = f"{kernel!r} on {options.data}, d = {d}"
    print(f"{title}: {len(order)} test rows, {options.reps} draws\n\n{table(rows)}")
    if options.out is not None:
        options.out.mkdir(parents=True, exist_ok=True)
        lines = [json.dumps({"data": options.data, "dim": d, "seed": options.seed, **row}) for row in rows]
        (options.out / "compare.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
        for path in draw(rows, title, options.out):
            print(f"wrote {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
