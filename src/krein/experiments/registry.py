"""Every figure and table of the paper by its name: which cells it has, and how one is measured."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from krein._validation import check_choice, check_integer
from krein.datasets import DATASETS
from krein.experiments import errata, fig1
from krein.experiments.approximation import measure_error
from krein.experiments.cells import Cell
from krein.experiments.learning import CLASSIFIED, REGRESSED, measure_accuracy, measure_rmse
from krein.experiments.methods import BASELINES, METHODS
from krein.experiments.setting import CLASSIFICATION, SIZES

Names = tuple[str, str, str, str]  # kernel, data, method, size


@dataclass(frozen=True)
class Experiment:
    """A figure or a table.

    Parameters
    ----------
    title : str
        As the paper calls it.
    summary : str
        What is measured, one line.
    names : tuple of (kernel, data, method, size)
        Its cells without the repetition. Data that are no data set (the dimensions of Figure 1) need no file.
    measure : callable
        The measured values of a cell, as numbers that JSON can hold.
    value : str
        The name of the value that is averaged over repetitions, "" where there is none.
    repetitions : callable
        Number of repetitions, from the number that the user asks for.
    quick_names : tuple of (kernel, data, method, size) or None, default=None
        Cells of a quick run; None takes those on letter.
    """

    title: str
    summary: str
    names: tuple[Names, ...]
    measure: Callable[[Cell], dict[str, Any]]
    value: str
    repetitions: Callable[[int], int] = lambda reps: reps
    quick_names: tuple[Names, ...] | None = None

    def names_of(self, quick: bool) -> tuple[Names, ...]:
        """Cells of a full or a quick run."""
        if not quick:
            return self.names
        if self.quick_names is not None:
            return self.quick_names
        return tuple(names for names in self.names if names[1] == "letter" or names[1] not in DATASETS)


def _grid(methods: Mapping[str, Iterable[str]], datasets: Sequence[str], sizes: Sequence[str]) -> tuple[Names, ...]:
    return tuple(
        (kernel, data, method, size)
        for kernel, names in methods.items()
        for data in datasets
        for method in names
        for size in sizes
    )


TABLE_2_METHODS = {kernel: [name for name in METHODS[kernel] if name not in BASELINES] for kernel in METHODS}
HOUSING_SIZES = ("2d", "4d", "8d")
FIG_3_METHODS = {kernel: tuple(CLASSIFIED[kernel]) for kernel in METHODS}
FIG_3_LIBLINEAR = {
    kernel: [name for name, about in CLASSIFIED[kernel].items() if not about.learner] for kernel in METHODS
}


def _errata(draws: str) -> tuple[Names, ...]:
    return tuple(("", "letter", f"erratum-{number}", draws) for number in errata.ERRATA)


EXPERIMENTS: dict[str, Experiment] = {
    "fig1": Experiment(
        "Figure 1",
        "variance of orthogonal minus variance of independent frequencies, against distance",
        _grid({kernel: fig1.SCHEMES for kernel in METHODS}, fig1.DIMENSIONS, ("d",)),
        fig1.measure_variance,
        "",
    ),
    "fig2": Experiment(
        "Figure 2",
        "error of every method against the number of features",
        _grid({kernel: METHODS[kernel] for kernel in METHODS}, CLASSIFICATION, tuple(SIZES)),
        measure_error,
        "error",
    ),
    "table2": Experiment(
        "Table II",
        "error with independent and with orthogonal frequencies",
        _grid(TABLE_2_METHODS, CLASSIFICATION, ("d/2", "d", "2d", "8d")),
        measure_error,
        "error",
    ),
    "fig3": Experiment(
        "Figure 3",
        "accuracy of a linear classifier on the features",
        _grid(FIG_3_METHODS, ("letter", "ijcnn1"), ("d", "2d", "4d", "8d"))
        + _grid(FIG_3_METHODS, ("usps",), ("d", "2d"))
        + _grid(FIG_3_LIBLINEAR, ("usps",), ("4d",)),  # 8d would be more columns than usps has rows
        measure_accuracy,
        "accuracy",
        quick_names=_grid(FIG_3_METHODS, ("letter",), ("d", "2d", "4d")),
    ),
    "table3": Experiment(
        "Table III",
        "regression error on housing, polynomial kernel",
        _grid({"polynomial": REGRESSED["polynomial"]}, ("housing",), HOUSING_SIZES),
        measure_rmse,
        "rmse",
        lambda reps: 2 * reps,  # splits vary more than draws, and are cheap
    ),
    "table4": Experiment(
        "Table IV",
        "regression error on housing, delta-Gaussian kernel",
        _grid({"delta-gaussian": REGRESSED["delta-gaussian"]}, ("housing",), HOUSING_SIZES),
        measure_rmse,
        "rmse",
        lambda reps: 2 * reps,
    ),
    "errata": Experiment(
        "Errata",
        "what is wrong in the paper, each item shown by numbers",
        _errata("full"),
        errata.measure_erratum,
        "",
        lambda reps: 1,  # a table has its own draws
        quick_names=_errata("fast"),
    ),
}


def plan(
    experiments: Sequence[str],
    reps: int,
    datasets: Sequence[str] | None = None,
    methods: Sequence[str] | None = None,
    quick: bool = False,
) -> list[Cell]:
    """The cells of the chosen experiments, repetition by repetition.

    Parameters
    ----------
    experiments : sequence of str
        Keys of ``EXPERIMENTS``.
    reps : int
    datasets : sequence of str or None, default=None
        Data sets to keep; None keeps all. Cells that need no data set stay.
    methods : sequence of str or None, default=None
        Methods to keep; a name without ":positive" stands for both forms.
    quick : bool, default=False
        Take the cells of a quick run.

    Examples
    --------
    >>> from krein.experiments.registry import plan
    >>> len(plan(["table2"], reps=2, datasets=["letter"], methods=["grff", "gorf-blocks"]))
    16
    """
    check_integer(reps, "reps", 1)
    for name in experiments:
        check_choice(name, "experiment", EXPERIMENTS)
    known = {method for name in EXPERIMENTS for _, _, method, _ in EXPERIMENTS[name].names}
    for method in methods or ():
        check_choice(method, "method", known | {name.partition(":")[0] for name in known})
    for data in datasets or ():
        check_choice(data, "data set", {data for name in EXPERIMENTS for _, data, _, _ in EXPERIMENTS[name].names})
    cells = [
        Cell(name, *names, rep)
        for name in dict.fromkeys(experiments)
        for rep in range(EXPERIMENTS[name].repetitions(reps))
        for names in EXPERIMENTS[name].names_of(quick)
        if _kept(names, datasets, methods)
    ]
    return sorted(cells, key=lambda cell: cell.rep)  # stable: the first repetition of everything comes first


def _kept(names: Names, datasets: Sequence[str] | None, methods: Sequence[str] | None) -> bool:
    _, data, method, _ = names
    if datasets is not None and data in DATASETS and data not in datasets:
        return False
    return methods is None or bool({method, method.partition(":")[0]} & set(methods))
