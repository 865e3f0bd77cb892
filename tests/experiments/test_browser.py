"""The report in a browser, where there is one: nothing is logged, nothing is wider than a phone, it prints."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from krein.experiments.check import check_rows
from krein.experiments.registry import plan
from krein.experiments.render import write_report
from krein.experiments.runner import measure

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = [
    "--headless", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--hide-scrollbars", "--enable-logging=stderr",
]  # fmt: skip
PROBE = """<script>addEventListener("load", () => { const root = document.documentElement;
document.title = "width " + root.scrollWidth + " of " + root.clientWidth; });</script></body>"""
pytestmark = pytest.mark.skipif(BROWSER is None, reason="chromium is not installed")


@pytest.fixture(scope="module")
def report(table_2: Callable[..., list[dict[str, Any]]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("matplotlib", reason="the extra 'report' is not installed")
    rows = table_2("gorf-blocks", 10.0)  # with marks, whose hidden words once made the page wider than a phone
    rows += [measure(cell) for cell in plan(["fig2"], 1, ["letter"], ["rm", "published-gorf"])]
    rows += [measure(cell) for cell in plan(["errata"], 1, quick=True) if cell.method == "erratum-2"]
    return write_report(rows, check_rows(rows), tmp_path_factory.mktemp("report"))[0]


def browse(page: Path, profile: Path, *flags: str) -> tuple[str, str]:
    """Standard output and the messages of the page's console."""
    assert BROWSER is not None
    sandbox = ["--no-sandbox"] if hasattr(os, "getuid") and os.getuid() == 0 else []  # root has none
    command = [BROWSER, *FLAGS, *sandbox, f"--user-data-dir={profile}", *flags, page.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return done.stdout, "\n".join(line for line in done.stderr.splitlines() if "CONSOLE" in line)


@pytest.mark.parametrize("width", [390, 1200])
def test_nothing_is_logged_and_nothing_is_wider_than_the_window(report: Path, tmp_path: Path, width: int) -> None:
    probe = tmp_path / "probe.html"
    probe.write_text(report.read_text("utf-8").replace("</body>", PROBE), "utf-8")
    flags = ["--dump-dom", f"--window-size={width},900", "--virtual-time-budget=3000"]
    out, console = browse(probe, tmp_path / "profile", *flags)
    assert console == ""
    title = out[out.index("<title>") + 7 : out.index("</title>")]
    found, window = int(title.split()[1]), int(title.split()[3])
    assert found <= window  # wide tables scroll in their own box


@pytest.mark.parametrize("flags", [[], ["--blink-settings=preferredColorScheme=0"]])
def test_a_picture_of_the_page(report: Path, tmp_path: Path, flags: list[str]) -> None:
    picture = tmp_path / "page.png"
    _, console = browse(report, tmp_path / "profile", f"--screenshot={picture}", "--window-size=800,2000", *flags)
    assert console == ""
    assert picture.stat().st_size > 50_000  # text and curves, not an empty page


def test_it_prints(report: Path, tmp_path: Path) -> None:
    paper = tmp_path / "page.pdf"
    _, console = browse(report, tmp_path / "profile", f"--print-to-pdf={paper}", "--no-pdf-header-footer")
    assert console == ""
    assert paper.read_bytes().startswith(b"%PDF")
