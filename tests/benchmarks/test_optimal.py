"""The benchmark of the optimal design runs, prints bounds that hold, and notices one that does not."""

from __future__ import annotations

import re

import optimal
import pytest
from optimal_cases import every_case, narrow_cases, published_cases, smooth_cases


def test_the_smooth_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert optimal.main(["--only", "smooth", "--draws", "3"]) == 0
    printed = capsys.readouterr().out
    assert len(re.findall(r"letter +Gaussian 2\.83 .* quadrature \d", printed)) == 3
    assert "3 bounds, 0 missed" in printed


def test_properties_of_designs(capsys: pytest.CaptureFixture[str]) -> None:
    assert optimal.main(["--only", "float32", "--data", "wine"]) == 0
    assert "3 bounds, 0 missed" in capsys.readouterr().out


def test_a_wrong_prediction_is_noticed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    cases = [case for case in published_cases("delta-gaussian", "letter") if case.columns == 33]
    monkeypatch.setattr(optimal, "every_case", lambda data: iter(cases))
    options = ["--only", "prediction", "--rotations", "60"]  # the measured value has a standard error of 1 %
    assert optimal.main(options) == 0
    monkeypatch.setattr(optimal, "_predicted", lambda case, rows: 1.15 * case.features(0).fit(rows).predicted_error_)
    assert optimal.main(options) == 1
    assert "1 bounds, 1 missed" in capsys.readouterr().out


@pytest.mark.parametrize(("measured", "bound", "missed"), [(1, 2, False), (2, 1, True), (float("nan"), 1, True)])
def test_a_cell_over_its_bound_is_missed(measured: float, bound: float, missed: bool) -> None:
    assert optimal.Cell("", measured, bound).missed is missed


def test_a_cell_without_a_bound_is_not_missed() -> None:
    assert not optimal.Cell("", 1.0, None).missed


def test_widths() -> None:
    assert [case.columns for case in published_cases("delta-gaussian", "letter")] == [33, 65, 129, 513]
    assert [case.columns for case in narrow_cases()] == [32, 33, 128, 512]
    assert [case.columns for case in smooth_cases()] == [34, 102, 170]
    assert {case.data for case in every_case(["wine", "iris"])} == {"wine", "iris"}


def test_wrong_arguments(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        optimal.main(["--draws", "1"])
    assert "--draws and --rotations must be at least 2; got 1 and 200" in capsys.readouterr().err
