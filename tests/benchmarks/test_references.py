"""The benchmarks that compare with independent measurements run, agree, and notice what is worse."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from krein.experiments.expectations import Expectation


def load_benchmark(repository: Path, name: str) -> ModuleType:
    """A module of benchmarks/, which is not installed."""
    spec = importlib.util.spec_from_file_location(f"krein_benchmark_{name}", repository / "benchmarks" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def baselines(repository: Path) -> ModuleType:
    return load_benchmark(repository, "baselines")


@pytest.fixture(scope="module")
def scheme_errors(repository: Path) -> ModuleType:
    return load_benchmark(repository, "scheme_errors")


def test_no_baseline_is_above_the_reference(baselines: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert baselines.main(["--draws", "5", "--methods", "rm", "ts", "srf"]) == 0
    printed = capsys.readouterr().out
    assert len(re.findall(r"\d\.\d{4} \+-\d\.\d{4} +\d\.\d{4} \+-", printed)) == 3 * 2 * 6
    assert "no method is above the reference" in printed


def test_columns_are_those_of_the_reference(baselines: ModuleType) -> None:
    cells = baselines.measure("letter", ["rm"], 2)
    assert [cell.columns for cell in cells] == 2 * [4, 8, 16, 32, 64, 128]


@pytest.mark.parametrize(("factors", "found"), [((1, 0.5), 0), ((1.2, 0.5), 1), ((1.2, 1.2), 3), ((1.06, 1.06), 1)])
def test_a_worse_baseline_is_noticed(baselines: ModuleType, factors: tuple[float, float], found: int) -> None:
    """One form must be within 4 standard errors, here 5 % of the reference, and the best of them within 2."""
    errors = np.repeat([0.95, 1.05], 200)  # 0.25 % is the standard error of the mean
    reference = Expectation(1.0, 0.25, 100)  # and 2.5 % that of the reference
    cells = [baselines.Cell("rm", str(f), 8, f * errors, 0.0, 0.0, reference) for f in factors]
    assert len(baselines.failures(cells)) == found


def test_no_scheme_is_above_the_reference(scheme_errors: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert scheme_errors.main(["--draws", "3", "--schemes", "orf", "sorf", "quadrature"]) == 0
    printed = capsys.readouterr().out
    assert len(re.findall(r"\d\.\d{4} \(\d\.\d{3}\)", printed)) == 4 * 4
    assert "no scheme is above the reference" in printed


def test_a_worse_scheme_is_noticed(
    scheme_errors: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Independent directions under the name of orthogonal ones."""
    monkeypatch.setitem(scheme_errors.REFERENCE, ("rff", None), scheme_errors.REFERENCE["orf", None])
    assert scheme_errors.main(["--draws", "10", "--schemes", "rff"]) == 1
    assert "4 cells are above the reference" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["baselines", "scheme_errors"])
def test_wrong_arguments(name: str, repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        load_benchmark(repository, name).main(["--draws", "1"])
    assert "--draws must be at least 2; got 1" in capsys.readouterr().err
