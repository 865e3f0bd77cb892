"""The benchmarks that compare with independent measurements run, agree, and notice what is worse."""

from __future__ import annotations

import re
from collections.abc import Callable
from types import ModuleType

import numpy as np
import pytest

from krein.experiments.expectations import Expectation

LoadBenchmark = Callable[[str], ModuleType]


@pytest.fixture(scope="module")
def baselines(load_benchmark: LoadBenchmark) -> ModuleType:
    return load_benchmark("baselines")


@pytest.fixture(scope="module")
def scheme_errors(load_benchmark: LoadBenchmark) -> ModuleType:
    return load_benchmark("scheme_errors")


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


def test_z_of_few_draws_is_as_rare_as_their_t(baselines: ModuleType) -> None:
    rng = np.random.default_rng(12345)
    ours, theirs = rng.standard_normal((2, 4000, 10))
    found = np.array(
        [
            baselines.Cell("rm", "", 8, a, 0.0, 0.0, Expectation(b.mean(), b.std(ddof=1), 10)).z
            for a, b in zip(ours, theirs, strict=True)
        ]
    )
    share = np.mean(np.abs(found) > 2)  # 4.55 % of normal scores; Student's t with 18 degrees would give 6.1 %
    assert abs(share - 0.0455) < 5 * np.sqrt(0.0455 / 4000)


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
def test_wrong_arguments(name: str, load_benchmark: LoadBenchmark, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        load_benchmark(name).main(["--draws", "1"])
    assert "--draws must be at least 2; got 1" in capsys.readouterr().err
