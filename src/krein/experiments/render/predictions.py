"""Sentences of the report about predictions: classification, regression, and krein's own learners."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean

from krein.experiments.cells import cell_of
from krein.experiments.expectations import Expectation, published
from krein.experiments.krein_learners import KREIN_CLASSIFIERS
from krein.experiments.learning import POSITIVE, REGRESSED
from krein.experiments.methods import GORF
from krein.experiments.progress import Group, group_of
from krein.experiments.render.phrases import Means, count
from krein.experiments.store import Row


def _published_regressions(means: Means) -> Iterator[tuple[Group, Expectation]]:
    """Measured cells of Tables III and IV that have a published error of GORF."""
    for group in means:
        name, kernel, data, _, size = group
        cell = published(name, kernel, data, "GORF", size) if name in ("table3", "table4") else None
        if cell is not None:
            yield group, cell


def regression(means: Means) -> Iterator[str]:
    """Tables III and IV against splits, which differ more than methods do."""
    cells = [
        (means[group], cell) for group, cell in _published_regressions(means) if group[3] == GORF[group[1]] + POSITIVE
    ]
    if cells:
        near = sum(abs(mean.mean - cell.mean) <= 2 * mean.std for mean, cell in cells)
        yield (
            "Tables III and IV: the published errors of GORF are within two standard deviations of one split of ours "
            f"in {count(near, len(cells))} cells. The paper used one split of housing, which it does not name. Splits "
            f"differ by about {fmean(mean.std for mean, _ in cells):.2f} here, more than the methods do, so that one "
            "split cannot show which method is better."
        )


def regressors(means: Means, rows: Sequence[Row]) -> Iterator[str]:
    """Own regressors, each against the published errors of GORF, which are those of one split."""
    own: dict[str, list[tuple[Group, Expectation]]] = {}
    for group, cell in _published_regressions(means):
        if learner := REGRESSED[group[1]][group[3]].learner:
            features = "the optimal design" if group[3] == learner else "the features of GORF"
            own.setdefault(f"{learner} on {features}", []).append((group, cell))
    if not own:
        return
    below = {title: sum(means[group].mean <= cell.mean for group, cell in cells) for title, cells in own.items()}
    listed = "; ".join(f"{title}, {count(below[title], len(cells))}" for title, cells in own.items())
    limits = {group: cell.mean for cells in own.values() for group, cell in cells}
    splits = [row["rmse"] <= limits[group] for row in rows if (group := group_of(cell_of(row))) in limits]
    text = (
        "krein's regressors choose alpha, C and epsilon within the training rows. Cells of Tables III and IV in which "
        f"their mean over splits is at most the published error of GORF: {listed}. "
    )
    reason = (
        f"That number is of one split: {count(sum(splits), len(splits))} single splits here are at or below it. Where "
        "the mean is above, we cannot tell a harder split from a worse method."
    )
    yield text + reason


def negative_part(means: Means) -> Iterator[str]:
    """What the columns of negative signature add, which the paper left out."""
    gains: dict[str, list[float]] = {group[2]: [] for group in means if group[0] == "fig3"}
    for group, mean in means.items():
        whole = means.get((*group[:3], group[3].removesuffix(POSITIVE), group[4]))
        if group[0] == "fig3" and group[3].endswith(POSITIVE) and whole is not None:
            gains[group[2]].append(100 * (whole.mean - mean.mean))
    found = {data: values for data, values in gains.items() if values}
    if found:
        listed = ", ".join(f"{fmean(values):+.1f} points on {data}" for data, values in found.items())
        yield (
            "The classification and regression results of the paper used the columns of the positive part only: the "
            "columns of the negative part are imaginary there, and LIBLINEAR reads real parts. With both parts as "
            f"real columns the accuracy changes by {listed}, on average over sizes and kernels."
        )


def better_is_not_better(means: Means) -> Iterator[str]:
    """Where the exact kernel is affine, an exact approximation makes a linear model."""
    for experiment, data in (("fig3", "letter"), ("table3", "housing")):
        sizes = [group[4] for group in means if group[:4] == (experiment, "polynomial", data, "optimal")]
        pairs = [
            (mean, means[experiment, "polynomial", data, "optimal", size])
            for size in sizes
            if (mean := means.get((experiment, "polynomial", data, "published-gorf", size)))
        ]
        if not pairs:
            continue
        gorf, optimal = (fmean(pair[i].mean for pair in pairs) for i in (0, 1))
        if (gorf > optimal) is (experiment == "fig3"):
            scale, unit = (100, " % accuracy") if experiment == "fig3" else (1, " error")
            yield (
                f"A better approximation of the polynomial kernel does not predict better. On {data} the GORF "
                f"features reach {scale * gorf:.3g}{unit} on average over s, the nearly exact ones of the optimal "
                f"design {scale * optimal:.3g}. The kernel is affine in x·y, so that its exact model is a linear one; "
                "the errors of the random features add the curvature that helps."
            )


def learners(means: Means) -> Iterator[str]:
    """Own classifiers against the setting of the paper, over the sizes that both have."""
    for learner in KREIN_CLASSIFIERS:
        gains: dict[str, list[float]] = {}
        for (name, kernel, data, method, size), mean in means.items():
            other = means.get((name, kernel, data, GORF[kernel] + POSITIVE, size)) if name == "fig3" else None
            if method == learner and other is not None:
                gains.setdefault(data, []).append(100 * (mean.mean - other.mean))
        if gains:
            listed = ", ".join(f"{fmean(values):+.1f} points on {data}" for data, values in gains.items())
            yield (
                f"{learner} on the optimal design, against LIBLINEAR on the positive part of GORF as in the paper, at "
                f"equal s: {listed}, on average over sizes and kernels."
            )
