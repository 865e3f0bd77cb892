"""Compare results with what is expected of them: the paper, and measurements that share no code with krein.

Nothing here comes from krein's own earlier output. ``expectations.json`` says where every number is from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, hypot, sqrt

import numpy as np

from krein.experiments.expectations import expectations, factor_ahead, independent, published
from krein.experiments.fig1 import pooled_simulation
from krein.experiments.methods import METHODS
from krein.experiments.progress import Group
from krein.experiments.store import Row
from krein.experiments.summary import Mean, summarize

TABLE_2_SHARE = 44 / 48  # of the cells of Table II must be within two published standard deviations
Z_LIMIT = 5.0  # standard errors between krein and an independent measurement
ROUNDING = 0.0005  # of independent measurements that are known to three digits
AS_IN_THE_AUTHORS_CODE = {"GRFF", "GORF", "TS", "SRF"}  # RM and DIGMM of that code are other methods (erratum 11)
AS_PRINTED = {"gorf": "GORF, Algorithm 1 as printed", "gorf-blocks": "GORF, blocks per sign"}


@dataclass(frozen=True)
class Finding:
    """One comparison.

    Parameters
    ----------
    kind : str
        What is compared: findings of one kind are counted together.
    what : str
        Which number.
    agrees : bool
    text : str
        Both numbers, in words.
    """

    kind: str
    what: str
    agrees: bool
    text: str


def check_rows(rows: Sequence[Row]) -> list[Finding]:
    """All comparisons that the rows allow."""
    means = summarize(rows)
    return [
        *_published(means),
        *_independent(means),
        *_ahead(means),
        *_simulated(rows),
        *_errata(rows),
    ]


def within_two_published(means: Mapping[Group, Mean]) -> dict[Group, bool]:
    """Whether the mean of each reproduced cell of Table II is within two published standard deviations."""
    found = {}
    for group, mean in means.items():
        experiment, kernel, data, method, size = group
        if experiment == "table2" and (name := METHODS[kernel][method].published):
            cell = published("table2", kernel, data, name, size)
            if cell is not None and cell.std is not None:
                found[group] = abs(mean.mean - cell.mean) <= 2 * cell.std
    return found


def _published(means: dict[Group, Mean]) -> Iterator[Finding]:
    cells = within_two_published(means)
    if not cells:
        return
    needed, outside = ceil(TABLE_2_SHARE * len(cells)), [_name(group) for group, good in cells.items() if not good]
    text = f"{len(cells) - len(outside)} of {len(cells)} cells are within two published standard deviations, at least "
    text += f"{needed} are wanted" + (f"; outside: {', '.join(outside)}" if outside else "")
    yield Finding("Table II of the paper", "all cells", len(cells) - len(outside) >= needed, text)


def _independent(means: dict[Group, Mean]) -> Iterator[Finding]:
    """Means against measurements of other code; methods that this code gets wrong may only be better."""
    for group, mean in means.items():
        experiment, kernel, data, method, size = group
        if experiment not in ("table2", "fig2"):
            continue
        name = METHODS[kernel][method].published if kernel == "polynomial" else AS_PRINTED.get(method)
        cell = None if name is None else independent(kernel, data, name, size)
        if name is None or cell is None:
            continue
        printed = published("table2", kernel, data, "GORF", size)
        z = _z_score(mean, cell.mean, cell.std if cell.std is not None or printed is None else printed.std, cell.n)
        equal = kernel == "delta-gaussian" or name in AS_IN_THE_AUTHORS_CODE
        agrees = abs(z) <= Z_LIMIT if equal else z <= Z_LIMIT
        wanted = f"{'' if equal else 'at most '}{cell.mean:.4f} is wanted"
        text = f"{mean.mean:.4f}, {wanted}; {z:+.1f} standard errors"
        yield Finding("independent measurements", _name(group), agrees, text)


def _z_score(mean: Mean, other: float, std: float | None, n: int | None) -> float:
    """Difference over its standard error, from the spread of the other or the paper: ours has few repetitions."""
    spread = mean.std if std is None else std
    error = hypot(spread * sqrt(1 / mean.n + 1 / (n or 10)), ROUNDING)
    return (mean.mean - other) / error


def _ahead(means: dict[Group, Mean]) -> Iterator[Finding]:
    """The optimal design against the published GORF, by the factor that was aimed at."""
    for group, mean in means.items():
        experiment, kernel, data, method, size = group
        factor, cell = factor_ahead(kernel, data, size), published("table2", kernel, data, "GORF", size)
        if experiment != "table2" or method != "optimal" or factor is None or cell is None:
            continue
        reached = cell.mean / mean.mean if mean.mean else float("inf")
        text = f"{mean.mean:.3g}, {reached:.3g} times below the published {cell.mean:.4f}; {factor:g} times is wanted"
        yield Finding("the optimal design against published GORF", _name(group), reached >= factor, text)


def _simulated(rows: Sequence[Row]) -> Iterator[Finding]:
    """Exact variances against simulated ones, all repetitions together: few draws understate their own error."""
    curves: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        if row["experiment"] == "fig1":
            curves.setdefault((row["kernel"], row["data"], row["method"]), []).append(row)
    for names, same in curves.items():
        simulated, error = pooled_simulation(same)
        scores = (simulated - np.array(same[0]["exact"])) / error
        largest = float(scores[np.argmax(np.abs(scores))])
        text = f"largest difference {largest:+.1f} standard errors, at most {Z_LIMIT:g} are allowed"
        yield Finding("variances by formula and by simulation", ", ".join(names), abs(largest) <= Z_LIMIT, text)


def _errata(rows: Sequence[Row]) -> Iterator[Finding]:
    own = [row for row in rows if row["experiment"] == "errata"]
    tables = {row["method"]: {line[0]: line[1] for line in row["rows"]} for row in own}
    for record in expectations()["errata"]:
        table = tables.get(f"erratum-{record['number']}")
        if table is None:
            continue
        value = float(table.get(record["label"], "nan"))
        agrees = abs(value - record["value"]) <= record["tolerance"]
        text = f"{value:.6g}, {record['value']:.6g} ± {record['tolerance']:.2g} is wanted"
        yield Finding("numbers of the errata", f"erratum {record['number']}, {record['label']}", agrees, text)


def _name(group: Group) -> str:
    _, kernel, data, method, size = group
    return f"{kernel}, {data}, {method}, s = {size}"


def format_findings(findings: Sequence[Finding]) -> str:
    """Counts by kind, and every finding that does not agree."""
    lines = []
    for kind in dict.fromkeys(finding.kind for finding in findings):
        same = [finding for finding in findings if finding.kind == kind]
        bad = [finding for finding in same if not finding.agrees]
        lines.append(f"{kind}: {len(same) - len(bad)} of {len(same)} agree")
        lines += [f"  differs: {finding.what}: {finding.text}" for finding in bad]
    return "\n".join(lines) or "There is nothing that could be compared."
