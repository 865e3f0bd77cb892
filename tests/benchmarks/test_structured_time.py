"""The benchmark of structured projections runs, and reads off the overtaking width as it says."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import pytest

from krein.sampling import STRUCTURED_DIRECTIONS


@pytest.fixture(scope="module")
def benchmark(repository: Path) -> dict[str, Any]:
    return runpy.run_path(str(repository / "benchmarks/structured_time.py"))


def test_smoke_run_prints_ratios(benchmark: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    assert benchmark["main"](["--smoke"]) == 0
    printed = capsys.readouterr().out
    assert len(re.findall(r"\( *\d+\.\d\dx\)", printed)) == 2 * 2 * len(STRUCTURED_DIRECTIONS)  # dtypes x dimensions
    assert len(re.findall(r"overtakes the dense product at d = ", printed)) == 2 * len(STRUCTURED_DIRECTIONS)


@pytest.mark.parametrize(
    ("faster_at", "width"), [([], None), ([64], 64), ([32, 64], 32), ([16], None), ([16, 32, 64], 16), ([16, 64], 64)]
)
def test_overtaking_width(benchmark: dict[str, Any], faster_at: list[int], width: int | None) -> None:
    found = {dim: {"dense": 1.0, "fast": 0.5 if dim in faster_at else 1.5} for dim in (16, 32, 64)}
    assert benchmark["overtaking_width"](found, "fast") == width


def test_wrong_arguments(benchmark: dict[str, Any]) -> None:
    with pytest.raises(SystemExit):
        benchmark["main"](["--dims", "0"])
