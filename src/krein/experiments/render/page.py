"""The report as one HTML page that needs nothing else: no network, no script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files

from krein import __version__
from krein.datasets import DATASETS
from krein.experiments.check import Finding
from krein.experiments.errata import ERRATA
from krein.experiments.expectations import expectations
from krein.experiments.progress import clock
from krein.experiments.registry import EXPERIMENTS
from krein.experiments.render.html_table import html_errata_table, html_table
from krein.experiments.render.inline import colour_variables, inline_svg, swatch
from krein.experiments.render.model import Table
from krein.experiments.render.pictures import Picture
from krein.experiments.render.style import style_of
from krein.experiments.render.tables import METHODS_OF
from krein.experiments.render.words import Words
from krein.experiments.store import Row

PAPER = (
    '<a href="https://arxiv.org/abs/2104.06204">Towards Unbiased Random Features with Lower Variance For Stationary '
    "Indefinite Kernels</a> by Qin Luo, Kun Fang, Jie Yang and Xiaolin Huang"
)
EXPLAINED = {
    "fig1": """What orthogonal directions do to the variance of the estimated kernel value at a distance z, for s = d.
Below zero they help. Lines are exact, points are simulated, with two standard errors. For the polynomial kernel the law
of the frequencies is that of the published recipe.""",
    "fig2": """Error of the approximate kernel matrix on 1000 rows, mean and standard deviation over repetitions; all
methods of a repetition see the same rows. First as in the paper, at equal s; then the same points against the real
columns that a method needs, which is what it costs.""",
    "table2": """Published, reproduced and krein's own numbers side by side, for s frequencies per sign. The lowest
error of a data set is bold. A † marks a reproduced mean that is further than two standard errors of the difference
from the published one. GRFF and GORF have 4s real columns, the optimal design 4s + 1.""",
    "fig3": """Share of test rows that LIBLINEAR (C = 1000, squared hinge) classifies rightly with the features, and
krein's own learners. “Positive part only” is what the paper's code did.""",
    "table3": """LIBLINEAR support vector regression (C = 1000) on 405 rows, tested on 101, and krein's own learners.
The paper used one split; here every repetition has its own, and the standard deviation is over splits.""",
    "table4": "As Table III, for the delta-Gaussian kernel.",
    "errata": """What the paper states, what is true, and numbers that show it, computed in this run. After ± stands a
standard error, or the standard deviation of Table II.""",
}


def html_page(
    words: Words,
    tables: Mapping[str, Sequence[Table]],
    pictures: Mapping[str, Sequence[Picture]],
    findings: Sequence[Finding],
    rows: Sequence[Row],
) -> str:
    """The whole page."""
    present = [name for name in EXPERIMENTS if any(row["experiment"] == name for row in rows)]
    sections = [_section(name, tables.get(name, ()), pictures.get(name, ()), rows) for name in present]
    links = "".join(f'<li><a href="#{name}">{EXPERIMENTS[name].title}</a></li>' for name in present)
    style = (files("krein.experiments.render") / "page.css").read_text("utf-8")
    light, dark = colour_variables(dark=False), colour_variables(dark=True)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>The paper, reproduced with krein {__version__}</title>
<link rel="icon" href="data:,">
<style>
:root {{ {light} }}
@media screen and (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}
{style}</style>
</head>
<body>
<header>
<p class="soft">krein {__version__}, experiments</p>
<h1>Random features for indefinite kernels: the paper, reproduced</h1>
<p class="lead">Every number below was measured in this run, next to the one that is printed in {PAPER}.
Three things are kept apart: what the paper prints, what its methods give here, and what krein does beyond them.</p>
</header>
<main>
{_cards(findings)}
<nav aria-label="Contents"><ul><li><a href="#words">In plain words</a></li>{links}<li><a
href="#how">How this was made</a></li></ul></nav>
{_words(words)}
{"".join(sections)}
{_how(findings, rows)}
</main>
</body>
</html>
"""


def _cards(findings: Sequence[Finding]) -> str:
    """One number for each kind of comparison."""
    items = []
    for kind in dict.fromkeys(finding.kind for finding in findings):
        same = [finding for finding in findings if finding.kind == kind]
        if len(same) == 1:  # a count over cells, in words
            value, text = (
                same[0].text.partition(" cells")[0],
                "cells of Table II within two published standard deviations",
            )
        else:
            value, text = f"{sum(finding.agrees for finding in same)} of {len(same)}", f"as expected: {kind}"
        items.append(f"<li><b>{escape(value)}</b>{escape(text)}</li>")
    return f'<ul class="cards">{"".join(items)}</ul>' if items else ""


def _words(words: Words) -> str:
    parts = []
    for title, kind, texts in (
        ("What agrees", "agree", words.agrees),
        ("What does not, and why", "differ", words.differs),
        ("What krein adds", "new", words.adds),
    ):
        if texts:
            items = "".join(f"<li>{escape(text)}</li>" for text in texts)
            parts.append(f'<h3>{title}</h3><ul class="points {kind}">{items}</ul>')
    return f'<section id="words"><h2>In plain words</h2>{"".join(parts)}</section>'


def _section(name: str, tables: Sequence[Table], pictures: Sequence[Picture], rows: Sequence[Row]) -> str:
    about = EXPERIMENTS[name]
    body = [f'<section id="{name}"><h2>{about.title}: {escape(about.summary)}</h2><p>{EXPLAINED[name]}</p>']
    body.append(_panels(name, pictures))
    shown = "".join(html_table(table) for table in tables)
    body.append(
        f"<details><summary>The same numbers as tables</summary>{shown}</details>" if pictures and shown else shown
    )
    if name == "errata":
        body += [_erratum(row) for row in rows if row["experiment"] == "errata"]
    return "".join(body) + "</section>\n"


def _panels(name: str, pictures: Sequence[Picture]) -> str:
    if not pictures:
        return ""
    methods = dict.fromkeys(method for picture in pictures for method in picture.methods)
    titles: dict[str, str] = {}
    for kernel in METHODS_OF.get(name, {}).values():
        titles |= {method: titles.get(method, about.title) for method, about in kernel.items()}
    items = "".join(f"<li>{swatch(style_of(method))}{escape(titles[method])}</li>" for method in methods)
    legend = f'<ul class="legend" aria-label="Curves">{items}</ul>' if items else ""
    shown = [legend]
    for group in dict.fromkeys(picture.group for picture in pictures):
        figures = "".join(
            f"<figure>{inline_svg(picture)}<figcaption>{escape(picture.title)}</figcaption></figure>"
            for picture in pictures
            if picture.group == group
        )
        shown.append(f'<h3>{escape(group)}</h3><div class="panels">{figures}</div>')
    return "".join(shown)


def _erratum(row: Row) -> str:
    number = int(row["method"].removeprefix("erratum-"))
    erratum = ERRATA[number]
    return (
        f"<details><summary>{number}. {escape(erratum.title)}</summary><p><strong>The paper.</strong> "
        f"{escape(erratum.claim)}</p><p><strong>In fact.</strong> {escape(erratum.truth)}</p>"
        f"{html_errata_table(number, row['rows'])}</details>"
    )


def _how(findings: Sequence[Finding], rows: Sequence[Row]) -> str:
    """Data, seeds, time, sources of the expectations, and what did not agree."""
    bad = [finding for finding in findings if not finding.agrees]
    names = [name for name in DATASETS if any(row["data"] == name for row in rows)]
    data = "".join(
        f"<li><b>{name}</b>: {escape(DATASETS[name].citation)}. {escape(DATASETS[name].licence)}</li>" for name in names
    )
    origins = "".join(f"<li>{escape(text)}</li>" for text in expectations()["origin"].values())
    listed = "".join(
        f"<li>{escape(finding.kind)}: {escape(finding.what)}: {escape(finding.text)}</li>" for finding in bad
    )
    reps = 1 + max(row["rep"] for row in rows)
    return f"""<section id="how"><h2>How this was made</h2>
<p>{len(rows)} rows, {escape(clock(sum(row["seconds"] for row in rows)))} of computing on one core, at most {reps}
repetitions. Each row is named by experiment, kernel, data, method, size and repetition, and its seed follows from that
name: the same version gives the same numbers up to rounding. They are in <code>rows.jsonl</code> beside this page, the
tables also as CSV and LaTeX, the pictures as SVG. <code>krein reproduce --check</code> compares them with:</p>
<ul>{origins}</ul>
{f"<p>These comparisons do not agree:</p><ul>{listed}</ul>" if bad else "<p>All comparisons agree.</p>"}
<h3>Data</h3><ul>{data or "<li>None was needed.</li>"}</ul></section>"""
