"""The figures as SVG, one picture per panel, so that a page can arrange them for any width."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import Any

import numpy as np

from krein.experiments.fig1 import pooled_simulation
from krein.experiments.progress import Group
from krein.experiments.render.style import BLUE, GREEN, INK, ORANGE, PALE, VIOLET, style_of
from krein.experiments.setting import KERNEL_TITLES, SIZES
from krein.experiments.store import Row
from krein.experiments.summary import Mean

WIDTH, HEIGHT = 4.6, 3.5  # inches
SETTINGS: Any = {
    "svg.fonttype": "none",  # text stays text: it can be read aloud, searched, and has the font of the page
    "svg.hashsalt": "krein",  # the same SVG for the same rows
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.edgecolor": PALE,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "grid.color": PALE,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
}
DIMENSION_COLOURS = (BLUE, ORANGE, GREEN, VIOLET)


@dataclass(frozen=True)
class Picture:
    """An SVG with what it shows in words."""

    name: str
    title: str
    description: str
    svg: str
    group: str  # pictures of one group stand together under this heading
    methods: tuple[str, ...] = ()


def error_pictures(means: Mapping[Group, Mean]) -> list[Picture]:
    """Figure 2: error at equal s, as in the paper, and the same errors against real columns."""
    return _curves(means, "fig2", "relative error", log=True)


def accuracy_pictures(means: Mapping[Group, Mean]) -> list[Picture]:
    """Figure 3: accuracy at equal s, as in the paper, and against real columns."""
    return _curves(means, "fig3", "accuracy in per cent", log=False, factor=100.0)


def _curves(
    means: Mapping[Group, Mean], experiment: str, label: str, *, log: bool, factor: float = 1.0
) -> list[Picture]:
    pictures = []
    panels = dict.fromkeys(group[1:3] for group in means if group[0] == experiment)
    for against in ("s", "columns"):
        for kernel, data in panels:
            chosen: dict[str, list[tuple[float, Mean]]] = {}
            for group, mean in means.items():
                if group[:3] == (experiment, kernel, data):
                    place = SIZES[group[4]] if against == "s" else float(mean.columns)
                    chosen.setdefault(group[3], []).append((place, mean))
            heading = "At equal s, as in the paper" if against == "s" else "At equal numbers of real columns"
            axis = "s / d, frequencies per sign over dimension" if against == "s" else "real columns of the features"
            svg = _curve_svg(chosen, f"{data}, {kernel}", axis, label, log, factor)
            title = f"{label.capitalize()} on {data} against {axis}; kernel: {KERNEL_TITLES[kernel]}"
            lowest = _describe(chosen, factor)
            pictures.append(
                Picture(f"{experiment}-{against}-{kernel}-{data}", title, lowest, svg, heading, tuple(chosen))
            )
    return pictures


def _describe(chosen: Mapping[str, Sequence[tuple[float, Mean]]], factor: float) -> str:
    """First and last point of every curve, for those who do not see the picture."""
    parts = []
    for method, points in chosen.items():
        (first, start), (last, end) = min(points, key=lambda p: p[0]), max(points, key=lambda p: p[0])
        parts.append(f"{method}: {factor * start.mean:.3g} at {first:g}, {factor * end.mean:.3g} at {last:g}")
    return "; ".join(parts)


def _curve_svg(
    chosen: Mapping[str, list[tuple[float, Mean]]], title: str, axis: str, label: str, log: bool, factor: float
) -> str:
    from matplotlib.ticker import NullFormatter, StrMethodFormatter

    figure, axes = _axes(title, axis, label)
    for method, points in chosen.items():
        style = style_of(method)
        points.sort(key=lambda point: point[0])
        x, y = [place for place, _ in points], np.array([factor * mean.mean for _, mean in points])
        std = np.array([factor * mean.std for _, mean in points])
        low = np.minimum(std, 0.9 * y) if log else std
        axes.errorbar(
            x, y, yerr=[low, std], color=style.colour, marker=style.marker, linestyle=style.dash, markersize=5,
            linewidth=1.6, elinewidth=0.7, capsize=2,
        )  # fmt: skip
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    if log:
        axes.set_yscale("log")
        axes.yaxis.set_minor_formatter(NullFormatter())
        axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    return _svg(figure)


def variance_pictures(rows: Sequence[Row]) -> list[Picture]:
    """Figure 1: variance of orthogonal minus that of independent frequencies, exact (line) and simulated (points)."""
    pictures = []
    for scheme, name in (("gorf-blocks", "orthonormal blocks per sign"), ("gorf", "Algorithm 1 as printed")):
        for kernel in dict.fromkeys(row["kernel"] for row in rows):
            curves = variance_differences(rows, kernel, scheme)
            if not curves:
                continue
            figure, axes = _axes(f"{kernel}: {name}", "distance z", "Var(orthogonal) \N{MINUS SIGN} Var(independent)")
            words = []
            for (data, curve), colour in zip(curves.items(), DIMENSION_COLOURS, strict=False):
                z, exact, simulated, error = curve
                axes.plot(z, exact, color=colour, linewidth=1.6, label=data)
                axes.errorbar(
                    z, simulated, yerr=2 * error, color=colour, linestyle="none", marker=".", markersize=4,
                    elinewidth=0.7,
                )  # fmt: skip
                words.append(f"{data}: lowest {exact.min():.3g}, negative at {np.mean(exact < 0):.0%} of the distances")
            axes.axhline(0, color=INK, linewidth=0.8)
            axes.legend(frameon=False, fontsize=9, labelcolor=INK)
            title = f"Variance saved by {name}, {KERNEL_TITLES[kernel]}"
            pictures.append(
                Picture(f"fig1-{scheme}-{kernel}", title, "; ".join(words), _svg(figure), name.capitalize())
            )
    return pictures


def variance_differences(rows: Sequence[Row], kernel: str, scheme: str) -> dict[str, tuple[Any, Any, Any, Any]]:
    """By dimension: distances, exact difference to independent frequencies, simulated one, its standard error."""
    found = {}
    for data in dict.fromkeys(row["data"] for row in rows):
        of = {
            method: [row for row in rows if (row["kernel"], row["data"], row["method"]) == (kernel, data, method)]
            for method in (scheme, "grff")
        }
        if not all(of.values()):
            continue
        z, exact = np.array(of[scheme][0]["distance"]), {m: np.array(own[0]["exact"]) for m, own in of.items()}
        (first, error), (second, other) = (pooled_simulation(of[method]) for method in (scheme, "grff"))
        found[data] = z, exact[scheme] - exact["grff"], first - second, np.hypot(error, other)
    return found


def _axes(title: str, x: str, y: str) -> tuple[Any, Any]:
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(SETTINGS):
        figure = Figure(figsize=(WIDTH, HEIGHT), layout="constrained")
        axes = figure.subplots()
        axes.set_title(title, fontsize=11)
        axes.set(xlabel=x, ylabel=y)
        axes.grid(alpha=0.35, linewidth=0.5)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
    return figure, axes


def _svg(figure: Any) -> str:
    from matplotlib import rc_context

    stream = StringIO()
    with rc_context(SETTINGS):
        figure.savefig(stream, format="svg", metadata={"Date": None})
    return stream.getvalue()
