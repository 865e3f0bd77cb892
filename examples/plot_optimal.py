"""Two pictures of the optimal design, on the letter data that krein ships: why it needs fewer columns, and what it is.

Run it with ``python examples/plot_optimal.py [folder]``; it needs matplotlib (``pip install
'krein[report]'``) and about a minute. ``docs/optimal.md`` shows what it writes.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from krein import RandomFeatures, relative_error
from krein.datasets import load
from krein.exceptions import KreinError
from krein.features import SCHEMES
from krein.kernels import DeltaGaussian, PolynomialOnSphere
from krein.theory import predicted_error

KERNEL = DeltaGaussian(weights=(1.0, -1.0), scales=(1.0, 10.0))
WIDTHS = (33, 65, 129, 257, 513)  # 16, 32, 64, 128, 256 frequencies and a constant
DRAWS = 3
PROFILE, PROFILE_WIDTH = PolynomialOnSphere(a=2.0, degree=5), 129
BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#777777"
STYLE = {"svg.fonttype": "none", "svg.hashsalt": "krein", "font.family": "sans-serif", "font.size": 10}


def errors(scheme: str, X: np.ndarray) -> dict[int, float]:
    """Mean relative error by number of columns; empty for a scheme that the kernel does not allow."""
    found = {}
    for width in WIDTHS:
        try:
            maps = [RandomFeatures(KERNEL, width, scheme=scheme, random_state=seed).fit(X) for seed in range(DRAWS)]
        except (KreinError, ValueError):  # not positive definite, or too few columns
            continue
        found[len(maps[0].signature_)] = float(np.mean([relative_error(KERNEL, one, X) for one in maps]))
    return found


def error_against_columns(X: np.ndarray) -> Figure:
    """Measured errors of every scheme that the kernel allows."""
    figure = Figure(figsize=(7, 4.2), layout="constrained", facecolor="white")
    axes = figure.subplots()
    markers = iter("osD^v<>Ph*Xd")
    for scheme in [name for name in SCHEMES if not SCHEMES[name].published and name != "optimal"] + ["optimal"]:
        found = errors(scheme, X)
        if not found:
            continue
        look: dict[str, Any] = {"color": None, "linewidth": 1, "alpha": 0.8, "marker": next(markers), "markersize": 4}
        if scheme == "optimal":
            look |= {"color": "black", "linewidth": 2.5, "alpha": 1, "markersize": 6}
        axes.loglog(list(found), list(found.values()), label=scheme, **look)
    axes.set_xticks(WIDTHS, [str(width) for width in WIDTHS])
    axes.minorticks_off()
    axes.set_xlabel("columns of Z (data: 16)")
    axes.set_ylabel("relative error of the kernel matrix")
    axes.set_title("exp(-z²/2) - exp(-z²/200), letter")
    axes.grid(alpha=0.3)
    figure.legend(loc="outside right upper", frameon=False)
    return figure


def kernel_profile(X: np.ndarray) -> Figure:
    """k(z), expectation and standard deviation of one design, and the distances that it is made for."""
    features = RandomFeatures(PROFILE, PROFILE_WIDTH, random_state=0).fit(X)
    frequencies, z = features.frequencies_, np.linspace(0, 2, 201)
    expected = frequencies.expectation(z)
    spread = [predicted_error(frequencies, X.shape[1], PROFILE, distances=[one]).variance for one in z]
    deviation = np.sqrt(np.maximum(spread, 0))
    figure = Figure(figsize=(7, 4.2), layout="constrained", facecolor="white")
    top, bottom = figure.subplots(2, sharex=True, height_ratios=(4, 1))
    top.fill_between(z, expected - deviation, expected + deviation, color=ORANGE, alpha=0.3, linewidth=0)
    top.plot(z, expected, color=ORANGE, label="expectation of the features, ± 1 standard deviation")
    top.plot(z, PROFILE.profile(z), color=BLUE, linestyle="--", label="kernel k(z)")
    top.set_title(f"(1 - z²/4)⁵ on the unit sphere, {len(features.signature_)} columns, d = 16")
    top.legend(frameon=False)
    between = np.sqrt(np.maximum(2 - 2 * X @ X.T, 0))[np.triu_indices(len(X), 1)]
    bottom.hist(between, bins=60, color=GREY)
    bottom.set_yticks([])
    bottom.set_ylabel("letter")
    bottom.set_xlabel("distance z between two rows")
    for axes in (top, bottom):
        axes.grid(alpha=0.3)
    return figure


def main() -> None:
    """Write both pictures as SVG into a folder, by default docs/images."""
    default = Path(__file__).resolve().parent.parent / "docs" / "images"
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else default
    folder.mkdir(parents=True, exist_ok=True)
    X = load("letter").X_train[:1000]
    with matplotlib.rc_context(STYLE):
        for name, figure in (("optimal_errors", error_against_columns(X)), ("optimal_profile", kernel_profile(X))):
            figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
            print(folder / f"{name}.svg")


if __name__ == "__main__":
    main()
