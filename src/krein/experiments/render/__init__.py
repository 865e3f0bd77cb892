"""The report: HTML, LaTeX, CSV and SVG from rows. Nothing is measured here."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from krein.experiments.check import Finding
from krein.experiments.render.csv_file import write_curves, write_tables
from krein.experiments.render.latex import latex
from krein.experiments.render.page import html_page
from krein.experiments.render.pictures import accuracy_pictures, error_pictures, variance_pictures
from krein.experiments.render.tables import make_tables
from krein.experiments.render.words import in_words
from krein.experiments.store import Row
from krein.experiments.summary import summarize

__all__ = ["write_report"]


def write_report(rows: Sequence[Row], findings: Sequence[Finding], folder: Path) -> list[Path]:
    """Write the report into a folder.

    Parameters
    ----------
    rows : sequence of dict
        As ``krein.experiments.store.read_rows`` returns them.
    findings : sequence of Finding
        As ``krein.experiments.check.check_rows`` returns them.
    folder : Path

    Returns
    -------
    paths : list of Path
        The page first.
    """
    means = summarize(rows)
    tables = make_tables(means)
    fig1 = [row for row in rows if row["experiment"] == "fig1"]
    pictures = {"fig1": variance_pictures(fig1), "fig2": error_pictures(means), "fig3": accuracy_pictures(means)}
    texts = {"index.html": html_page(in_words(means, rows), tables, pictures, findings, rows)}
    texts |= {f"tables/{table.name}.tex": latex(table) for own in tables.values() for table in own}
    texts |= {f"figures/{picture.name}.svg": picture.svg for own in pictures.values() for picture in own}
    paths = _write(texts, folder)
    every = [table for own in tables.values() for table in own]
    if every:
        write_tables(every, folder / "tables.csv")
    if fig1:
        write_curves(fig1, folder / "fig1.csv")
    return [*paths[:1], *(folder / name for name in ("tables.csv", "fig1.csv") if (folder / name).exists()), *paths[1:]]


def _write(texts: Mapping[str, str], folder: Path) -> list[Path]:
    """Write each file whole or not at all, so that an interrupted run leaves no half page."""
    paths = []
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(path.name + ".part")
        unfinished.write_text(text, "utf-8")
        os.replace(unfinished, path)
        paths.append(path)
    return paths
