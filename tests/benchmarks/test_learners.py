"""The benchmarks of the learners run, print their ratios, and notice what is worse."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import pytest


def run(repository: Path, name: str) -> dict[str, Any]:
    return runpy.run_path(str(repository / "benchmarks" / f"{name}.py"))


def test_costs(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--rows", "2000", "--columns", "88", "--rounds", "1", "--stream", "20000"]
    run(repository, "learner_costs")["main"](arguments)  # the ratios of so short a run mean nothing
    printed = capsys.readouterr().out
    assert len(re.findall(r"\(\d+\.\d+x\)", printed)) == 2 + 2 + 3
    assert int(re.search(r"20000 x 22 rows, 88 columns: (\d+) MB", printed)[1]) < 600  # type: ignore[index]


def test_a_limit_that_is_missed_is_noticed(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    benchmark = run(repository, "learner_costs")
    benchmark["LIMITS"]["path"] = 0.0
    assert benchmark["main"](["--rows", "500", "--columns", "44", "--rounds", "1", "--parts", "path"]) == 1
    assert "1 figures are beyond their limits" in capsys.readouterr().out


def test_accuracy(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    benchmark = run(repository, "learner_accuracy")
    arguments = ["--data", "letter", "--draws", "2", "--exact-rows", "200", "--rows", "250", "--s", "2"]
    arguments += ["--first", "300"]
    status = benchmark["main"](arguments)
    printed = capsys.readouterr().out
    assert len(re.findall(r"draw \d: KreinSVC", printed)) == 2
    assert re.findall(r"(\S+), \d+ columns, C = ", printed) == ["optimal", "gorf-blocks", "nystroem"]
    assert "200 training rows, exact kernel" in printed
    assert "250 training rows, optimal" in printed
    assert ("every comparison is as it must be" in printed) == (status == 0)
    benchmark["main"].__globals__["ALLOWED"] = -100.0  # nothing is a hundred points better
    assert benchmark["main"]([*arguments, "--parts", "exact"]) == 1


def test_indefinite(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(repository, "indefinite_learners")["main"](["--rows", "150", "--columns", "24", "--test", "100"]) == 0
    printed = capsys.readouterr().out
    assert len(re.findall(r"\d+\.\d\d%", printed)) == (3 + 3) + 2 * (6 + 3)
    assert len(re.findall(r"R2 at alpha", printed)) == 3
