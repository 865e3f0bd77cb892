"""Which lines each table of the report has: published, reproduced and krein's own side by side."""

from __future__ import annotations

from collections.abc import Mapping

from krein.experiments.expectations import published
from krein.experiments.learning import CLASSIFIED, REGRESSED, Learned
from krein.experiments.methods import METHODS, Method
from krein.experiments.progress import Group
from krein.experiments.registry import EXPERIMENTS
from krein.experiments.render.model import Line, Table, measured_entry, published_entry
from krein.experiments.setting import KERNEL_TITLES
from krein.experiments.summary import Mean

METHODS_OF: dict[str, Mapping[str, Mapping[str, Method | Learned]]] = {
    "fig2": METHODS,
    "table2": METHODS,
    "fig3": CLASSIFIED,
    "table3": REGRESSED,
    "table4": REGRESSED,
}
CAPTIONS = {
    "fig2": "Relative error of the approximate kernel matrix, ‖K \N{MINUS SIGN} K̂‖ / ‖K‖",
    "table2": "Relative error of the approximate kernel matrix, ‖K \N{MINUS SIGN} K̂‖ / ‖K‖",
    "fig3": "Accuracy on the test rows in per cent",
    "table3": "Root mean square error on housing, in thousands of dollars",
    "table4": "Root mean square error on housing, in thousands of dollars",
}


def make_tables(means: Mapping[Group, Mean]) -> dict[str, list[Table]]:
    """All tables by experiment, one for each kernel; an experiment without rows has none."""
    found: dict[str, list[Table]] = {}
    for name in CAPTIONS:
        for kernel in dict.fromkeys(group[1] for group in means if group[0] == name):
            found.setdefault(name, []).append(_table(name, kernel, means))
    return found


def _table(name: str, kernel: str, means: Mapping[Group, Mean]) -> Table:
    own = [group for group in means if group[:2] == (name, kernel)]
    planned = [size for names in EXPERIMENTS[name].names if names[0] == kernel for size in (names[3],)]
    sizes = tuple(size for size in dict.fromkeys(planned) if any(group[4] == size for group in own))
    lines: list[Line] = []
    for data in dict.fromkeys(group[2] for group in own):
        for method, about in METHODS_OF[name][kernel].items():
            if any(group[2:4] == (data, method) for group in own):
                lines += _lines(name, kernel, data, method, about, sizes, means)
    percent = name == "fig3"
    return Table(
        f"{name}-{kernel}",
        f"{CAPTIONS[name]}; {KERNEL_TITLES[kernel]}",
        sizes,
        tuple(lines),
        digits=2 if percent else 3 if name in ("table3", "table4") else 4,
        larger_is_better=percent,
        factor=100.0 if percent else 1.0,
    ).with_best()


def _lines(
    name: str,
    kernel: str,
    data: str,
    method: str,
    about: Method | Learned,
    sizes: tuple[str, ...],
    means: Mapping[Group, Mean],
) -> list[Line]:
    """The published line, where there is one, and the measured one below it."""
    printed = about.published or ""
    cells = [published(name, kernel, data, printed, size) for size in sizes]
    found = [means.get((name, kernel, data, method, size)) for size in sizes]
    lines = []
    if any(cells):
        lines.append(Line(data, printed, "paper", tuple(published_entry(cell) for cell in cells)))
    entries = tuple(measured_entry(mean, cell) for mean, cell in zip(found, cells, strict=True))
    lines.append(Line(data, about.title, "reproduced" if any(cells) else "krein", entries))
    return lines
