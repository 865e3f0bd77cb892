"""Pictures of a comparison: error against columns, and error against transform time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

Row = dict[str, Any]

PICTURES = {  # file name: key of the horizontal axis, its factor, its label
    "error_against_columns": ("columns", 1.0, "real columns of Z"),
    "error_against_time": ("transform_seconds_per_row", 1e6, "transform time per row (µs)"),
}
MARKERS = "osD^v<>Ph*X"
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")  # safe for colour-blind readers


def need_matplotlib() -> None:
    """Raise ImportError that names the extra, where matplotlib is missing."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError("Pictures need matplotlib; install it with: pip install 'krein[report]'.") from error


def draw(rows: Sequence[Row], title: str, folder: Path) -> list[Path]:
    """Write every picture as SVG and PNG into ``folder``; rows with a reason are not drawn.

    Parameters
    ----------
    rows : sequence of dict
        As ``krein.experiments.compare.compare`` returns them.
    title : str
    folder : Path

    Returns
    -------
    paths : list of Path
    """
    need_matplotlib()
    from matplotlib import rc_context

    measured = [row for row in rows if row["reason"] is None]
    paths = []
    with rc_context({"svg.hashsalt": "krein", "font.size": 9}):  # the same SVG for the same rows
        for name, (key, factor, label) in PICTURES.items():
            figure = _figure(measured, title, key, factor, label)
            for kind, options in (("svg", {"metadata": {"Date": None}}), ("png", {"dpi": 150})):
                paths.append(folder / f"{name}.{kind}")
                figure.savefig(paths[-1], **options)
    return paths


def _figure(rows: Sequence[Row], title: str, key: str, factor: float, label: str) -> Any:
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    for i, method in enumerate(dict.fromkeys(row["method"] for row in rows)):
        own = sorted((row for row in rows if row["method"] == method), key=lambda row: row["columns_asked"])
        axes.errorbar(
            [factor * row[key] for row in own],
            [row["error"] for row in own],
            yerr=[[min(row["error_std"], 0.9 * row["error"]) for row in own], [row["error_std"] for row in own]],
            label=method,
            color=COLOURS[i % len(COLOURS)],
            marker=MARKERS[i % len(MARKERS)],
            linestyle=("-", "--", ":")[i // len(COLOURS) % 3],
            markersize=4,
            linewidth=1.2,
            elinewidth=0.7,
            capsize=2,
        )
    axes.set(xscale="log", yscale="log", xlabel=label, ylabel="relative error of the Gram matrix", title=title)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter(StrMethodFormatter("{x:g}"))
        axis.set_minor_formatter(NullFormatter())
    if key == "columns":
        ticks = sorted({row["columns_asked"] for row in rows})
        axes.set_xticks(ticks, [str(tick) for tick in ticks])
    axes.grid(alpha=0.3, linewidth=0.5)
    if rows:
        figure.legend(loc="outside right upper", frameon=False)
    return figure
