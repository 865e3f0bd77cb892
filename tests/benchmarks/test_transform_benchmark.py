"""The benchmark of transform runs, and prints what it promises."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path
from typing import Any

import pytest

from krein.features import _native_map


@pytest.fixture(scope="module")
def benchmark(repository: Path) -> dict[str, Any]:
    return runpy.run_path(str(repository / "benchmarks/transform.py"))


@pytest.mark.skipif(not _native_map.INSTRUCTIONS, reason="krein was installed without a C compiler")
def test_smoke_run(benchmark: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert benchmark["main"](["--smoke", "--out", str(tmp_path / "result.json")]) == 0
    printed = capsys.readouterr().out
    assert len(re.findall(r"reached +\d+ %, .*x RBFSampler \(", printed)) == 2 * 2 * 2  # sizes, precisions, threads
    assert re.search(r"one row, microseconds: row \d", printed)
    assert re.search(r"gram of 700 rows, 40 columns: .* % of the peak", printed)
    result = json.loads((tmp_path / "result.json").read_text())
    assert set(result) == {"limits", "transform", "row", "gram"}


def test_roofline(benchmark: dict[str, Any]) -> None:
    limit = {"peak": 100.0, "sincos": 10.0, "bandwidth": 4.0}
    assert benchmark["roofline"](10, 5, 2, limit, 1, 1) == 10.0  # 40 bytes: the bandwidth
    assert benchmark["roofline"](10, 500, 2, limit, 1, 2) == (200 + 2) / 2


def test_wrong_arguments(benchmark: dict[str, Any]) -> None:
    with pytest.raises(SystemExit):
        benchmark["main"](["--sizes", "5"])
