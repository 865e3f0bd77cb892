"""Cells, their seeds, and which of them a choice of experiments has."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from krein.datasets import DATASETS
from krein.experiments.cells import Cell, cell_of
from krein.experiments.check import factor_ahead
from krein.experiments.expectations import expectations, independent, published
from krein.experiments.methods import METHODS
from krein.experiments.registry import EXPERIMENTS, plan
from krein.experiments.setting import SIZES, frequencies_per_sign, measured_rows

ALL = plan(list(EXPERIMENTS), 10)


def test_no_cell_is_there_twice_and_no_seed_is_shared() -> None:
    assert len(set(ALL)) == len(ALL)
    assert len({cell.seed for cell in ALL}) > len(ALL) - 5  # of 2^32; a few thousand cells hardly ever share one
    assert all(0 <= cell.seed < 2**32 for cell in ALL)


def test_a_seed_follows_from_the_names_alone() -> None:
    """The same in another process or version: it is the beginning of a SHA-256."""
    assert Cell("table2", "polynomial", "letter", "optimal", "2d", 3).seed == 0x5F5A1BD0
    assert cell_of({**ALL[0].names, "error": 1.0}) == ALL[0]


def test_repetitions_come_one_after_the_other() -> None:
    reps = [cell.rep for cell in ALL]
    assert reps == sorted(reps)
    counts = Counter(cell.experiment for cell in ALL if cell.rep == 19)
    assert set(counts) == {"table3", "table4"}  # 20 splits where the user asks for 10 repetitions


def test_a_quick_run_needs_no_data_but_letter() -> None:
    quick = plan(list(EXPERIMENTS), 3, quick=True)
    assert {cell.data for cell in quick} & set(DATASETS) == {"letter"}
    assert {cell.experiment for cell in quick} == set(EXPERIMENTS) - {"table3", "table4"}


def test_choices() -> None:
    cells = plan(["table2", "fig1", "table2"], 1, datasets=["usps"], methods=["grff", "optimal"])
    assert {cell.method for cell in cells} == {"grff", "optimal"}
    assert {cell.data for cell in cells if cell.experiment == "table2"} == {"usps"}
    assert any(cell.experiment == "fig1" for cell in cells)  # it needs no data set
    both = plan(["fig3"], 1, ["letter"], ["gorf-blocks"])
    assert {cell.method for cell in both} == {"gorf-blocks", "gorf-blocks:positive"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (dict(experiments=["table5"], reps=1), "experiment must be one of"),
        (dict(experiments=["table2"], reps=1, methods=["gorff"]), "method must be one of"),
        (dict(experiments=["table2"], reps=1, datasets=["mnist"]), "data set must be one of"),
        (dict(experiments=["table2"], reps=0), "reps must be an integer >= 1; got 0"),
    ],
)
def test_unknown_names(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        plan(**arguments)  # type: ignore[arg-type]


def test_all_methods_of_a_repetition_see_the_same_rows() -> None:
    first, again, other = measured_rows("letter", 0), measured_rows("letter", 0), measured_rows("letter", 1)
    assert first.shape == (1000, 16)
    assert len(np.unique(first, axis=0)) > 900  # letter has equal rows; drawn without replacement
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_sizes() -> None:
    assert [frequencies_per_sign(size, 16) for size in SIZES] == [4, 8, 16, 32, 64, 128]
    assert frequencies_per_sign("d/4", 22) == 6  # 5.5, as in the independent measurements


def test_expectations_are_those_of_the_paper() -> None:
    assert Counter(record["experiment"] for record in expectations()["published"]) == {
        "table2": 48,
        "table3": 15,
        "table4": 6,
    }
    for record in expectations()["published"]:
        found = published(*(record[name] for name in ("experiment", "kernel", "data", "method", "size")))
        assert found is not None
        assert (found.mean, found.std) == (record["mean"], record["std"])
    assert published("table2", "polynomial", "letter", "RM", "d") is None
    assert independent("polynomial", "usps", "DIGMM", "d/2") is None  # the authors' code fails there
    factors = [factor_ahead(kernel, data, size) for kernel in METHODS for data in ("letter", "ijcnn1", "usps")
               for size in ("d/2", "d", "2d", "8d")]  # fmt: skip
    assert len(factors) == 24
    assert all(factor is not None and factor > 1 for factor in factors)
