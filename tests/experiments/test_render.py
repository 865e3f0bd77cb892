"""The report: well-formed, self-contained, readable aloud, with the right entries marked."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from krein.experiments.check import check_rows
from krein.experiments.expectations import Expectation
from krein.experiments.registry import plan
from krein.experiments.render import write_report
from krein.experiments.render.inline import inline_svg
from krein.experiments.render.latex import escape, latex
from krein.experiments.render.model import Entry, Line, Table, differs
from krein.experiments.render.phrases import count
from krein.experiments.render.pictures import Picture
from krein.experiments.render.tables import make_tables
from krein.experiments.render.words import in_words
from krein.experiments.runner import measure
from krein.experiments.store import make_row
from krein.experiments.summary import Mean, summarize

pytest.importorskip("matplotlib", reason="the extra 'report' is not installed")
Row = dict[str, Any]
Rows = Callable[..., list[Row]]
VOID = {"meta", "link", "br", "hr", "img", "input"}


class Page(HTMLParser):
    """Collects tags, ids and links, and checks that tags are nested properly."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: Counter[str] = Counter()
        self.attributes: list[tuple[str, dict[str, str]]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def all(self, name: str) -> list[str]:
        return [attributes[name] for _, attributes in self.attributes if name in attributes]


@pytest.fixture(scope="module")
def rows(table_2: Rows) -> list[Row]:
    """Every kind of row: Table II as published, made-up figures and housing, two real errata."""
    found = table_2()
    for cell in plan(["fig2", "fig3", "table3", "table4"], 1, ["letter", "housing"]):
        name = {"fig2": "error", "fig3": "accuracy"}.get(cell.experiment, "rmse")
        values = {name: 0.25 + cell.rep, "columns": 8 * (len(cell.size) + len(cell.method))}
        found.append(make_row(cell.names, cell.seed, 0.1, values))
    found += [measure(cell) for cell in plan(["errata"], 1, quick=True) if cell.method in ("erratum-2", "erratum-11")]
    curve = {"distance": [0.5, 1.0], "exact": [0.1, 0.2], "simulated": [0.11, 0.19], "standard_error": [0.01, 0.01]}
    found += [make_row(cell.names, cell.seed, 0.1, curve) for cell in plan(["fig1"], 2)]
    return found


@pytest.fixture(scope="module")
def report(rows: list[Row], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    paths = write_report(rows, check_rows(rows), folder)
    assert paths[0] == folder / "index.html"
    assert all(path.is_file() for path in paths)
    assert len(set(paths)) == len(paths) == sum(path.is_file() for path in folder.rglob("*"))
    return folder


@pytest.fixture(scope="module")
def page(report: Path) -> Page:
    return Page((report / "index.html").read_text("utf-8"))


def test_the_page_is_nested_properly_and_has_all_sections(page: Page) -> None:
    assert page.open == []
    ids = set(page.all("id"))
    assert {"words", "fig1", "fig2", "table2", "fig3", "table3", "table4", "errata", "how"} <= ids
    assert page.tags["h1"] == 1


def test_names_in_the_page_are_unique_and_links_lead_somewhere(page: Page) -> None:
    ids = page.all("id")
    assert [name for name, n in Counter(ids).items() if n > 1] == []
    inner = [link[1:] for link in page.all("href") + page.all("xlink:href") if link.startswith("#")]
    assert len(inner) > 20
    assert set(inner) <= set(ids)
    named = [name for value in page.all("aria-labelledby") for name in value.split()]
    assert set(named) <= set(ids)


def test_the_page_needs_nothing_from_elsewhere(report: Path, page: Page) -> None:
    assert page.tags["script"] == page.tags["img"] == page.tags["iframe"] == 0
    assert page.all("src") == []
    assert [link for tag, a in page.attributes if tag == "link" and (link := a["href"]) != "data:,"] == []
    text = (report / "index.html").read_text("utf-8")
    assert not re.search(r"@import|url\((?!#)", text)


def test_tables_and_pictures_can_be_read_aloud(page: Page) -> None:
    headers = [attributes for tag, attributes in page.attributes if tag == "th"]
    assert all(attributes.get("scope") in ("col", "row", "rowgroup") for attributes in headers)
    assert page.tags["caption"] == 2 + 2 + 2 + 1 + 1
    pictures = [attributes for tag, attributes in page.attributes if tag == "svg" and "aria-hidden" not in attributes]
    assert len(pictures) == 4 + 4 + 4
    assert all(attributes["role"] == "img" and attributes["aria-labelledby"] for attributes in pictures)
    regions = [a for tag, a in page.attributes if a.get("role") == "region"]
    assert all(a["tabindex"] == "0" and a["aria-label"] for a in regions)  # scrolls with the keyboard


def test_the_page_follows_the_reader(report: Path) -> None:
    text = (report / "index.html").read_text("utf-8")
    assert "prefers-color-scheme: dark" in text
    assert "@media print" in text
    assert 'name="viewport" content="width=device-width' in text
    inline = text[text.index("<main>") :]
    assert not re.search(r"#[0-9a-f]{6}", inline)  # every colour is a variable of the page


def test_pictures_are_files_of_their_own(report: Path) -> None:
    files = sorted(report.glob("figures/*.svg"))
    assert len(files) == 12
    for path in files:
        assert ElementTree.parse(path).getroot().tag.endswith("svg")


def test_tables_as_csv_have_full_precision(report: Path, rows: list[Row]) -> None:
    with (report / "tables.csv").open(encoding="utf-8", newline="") as stream:
        lines = list(csv.DictReader(stream))
    means = summarize(rows)
    own = [line for line in lines if line["table"] == "table2-polynomial" and line["method"] == "krein, optimal design"]
    assert len(own) == 12
    for line in own:
        mean = means["table2", "polynomial", line["data"], "optimal", line["size"]]
        assert float(line["mean"]) == mean.mean
        assert line["best"] == "1"
    with (report / "fig1.csv").open(encoding="utf-8", newline="") as stream:
        assert len(list(csv.DictReader(stream))) == 2 * 2 * 3 * 3 * 2


def test_latex_is_balanced(report: Path) -> None:
    files = sorted(report.glob("tables/*.tex"))
    assert len(files) == 8
    for path in files:
        text = path.read_text("utf-8")
        assert text.count("{") == text.count("}")
        assert text.count("$") % 2 == 0
        assert text.isascii() or not re.search("[^\x00-\x7f\N{RIGHT SINGLE QUOTATION MARK}]", text), path
        widths = {line.count("&") for line in text.splitlines() if line.endswith(r"\\")}
        assert len(widths) == 1


def test_text_is_escaped() -> None:
    assert escape("50 % of A_b & C") == r"50 \% of A\_b \& C"
    svg = '<?xml version="1.0"?><svg width="1" viewBox="0 0 1 1"><g id="a"/><use href="#a"/></svg>'
    shown = inline_svg(Picture("p", "a < b & c", '"quoted"', svg, "group"))
    assert "a &lt; b &amp; c" in shown
    assert '<g id="p-a"/><use href="#p-a"/>' in shown
    ElementTree.fromstring(shown)


TABLE = Table(
    "t", "A caption", ("d", "2d"),
    (
        Line("letter", "GRFF", "paper", (Entry(0.2, 0.01, 10), Entry(0.15, 0.01, 10))),
        Line("letter", "GORF", "krein", (Entry(0.1, 0.01, 3, 64), None)),
        Line("usps", "GRFF", "paper", (Entry(0.01, None, None), Entry(0.000012, 0.0, 3))),
    ),
    digits=4,
)  # fmt: skip


def test_the_best_of_each_group_and_size_is_marked() -> None:
    best = [[entry is not None and entry.best for entry in line.entries] for line in TABLE.with_best().lines]
    assert best == [[False, True], [True, False], [True, True]]
    larger = Table(**{**vars(TABLE), "larger_is_better": True}).with_best()
    assert [line.entries[0].best for line in larger.lines if line.entries[0]] == [True, False, True]
    assert r"\mathbf{0.1000} \pm 0.0100" in latex(TABLE.with_best())


def test_numbers() -> None:
    assert TABLE.number(0.12345) == "0.1235"
    assert TABLE.number(0.000012) == "1.2e-05"  # not 0.0000
    assert TABLE.number(0.0) == "0.0000"
    assert count(3, 3) == "all 3"
    assert count(2, 3) == "2 of 3"


@pytest.mark.parametrize(("mean", "expected"), [(0.102, False), (0.12, True), (0.08, True)])
def test_a_difference_beyond_two_standard_errors_is_marked(mean: float, expected: bool) -> None:
    """Two standard errors are 2 sqrt(0.01^2/10 + 0.01^2/5) = 0.011."""
    assert differs(Mean(mean, 0.01, 5, 64), Expectation(0.1, 0.01, 10)) is expected


def test_published_lines_stand_above_reproduced_ones(rows: list[Row]) -> None:
    table = make_tables(summarize(rows))["table2"][0]
    sources = [line.source for line in table.lines if line.group == "letter"]
    assert sources == ["paper", "reproduced", "paper", "reproduced", "krein"]


def test_words_follow_the_numbers(table_2: Rows) -> None:
    good, worse = (in_words(summarize(rows), rows) for rows in (table_2(), table_2("gorf-blocks", 10.0)))
    assert any("all 48 cells" in text for text in good.agrees)
    assert any("all 12 cells" in text and "delta-gaussian" in text for text in good.agrees)
    assert not any("all 48 cells" in text for text in worse.agrees)
    assert any("delta-gaussian kernel in 0 of 12 cells" in text for text in worse.differs)
    assert len(good.adds) == 2


def test_regressors_are_compared_one_by_one_and_not_by_the_best_of_them() -> None:
    """Half of the splits of one learner are below every published error, all those of the others above."""
    rows = []
    for cell in plan(["table3", "table4"], 1):
        error = (0.0 if cell.rep else 2.0) if cell.method == "KreinSVR" else 20.0
        rows.append(make_row(cell.names, cell.seed, 0.1, {"rmse": error, "columns": 8}))
    (text,) = in_words(summarize(rows), rows).adds
    assert "KreinSVR on the optimal design, all 6;" in text
    assert "KreinSVR on the features of GORF, 0 of 6" in text
    assert "KreinRidge on the optimal design, 0 of 6" in text
    assert "12 of 48 single splits" in text


def test_words_without_rows() -> None:
    words = in_words({}, [])
    assert (words.agrees, words.differs, words.adds) == ((), (), ())
