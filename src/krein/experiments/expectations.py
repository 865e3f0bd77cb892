"""What the experiments are compared with: published numbers, and measurements that share no code with krein.

They are in ``data/expectations.json``, which says where each kind comes from.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any


@dataclass(frozen=True)
class Expectation:
    """Mean and standard deviation of ``n`` repetitions; None where they are not known."""

    mean: float
    std: float | None
    n: int | None


@cache
def expectations() -> dict[str, Any]:
    """The file as it is: lists of records, and where they come from.

    Examples
    --------
    >>> from krein.experiments.expectations import expectations
    >>> sorted(expectations())
    ['ahead', 'errata', 'independent', 'origin', 'published']
    """
    text = (files("krein.experiments") / "data" / "expectations.json").read_text("utf-8")
    return dict(json.loads(text))


def published(experiment: str, kernel: str, data: str, method: str, size: str) -> Expectation | None:
    """Mean and standard deviation of a cell of a table of the paper.

    Examples
    --------
    >>> from krein.experiments.expectations import published
    >>> published("table2", "delta-gaussian", "letter", "GORF", "d")
    Expectation(mean=0.1133, std=0.0181, n=10)
    """
    record = _index("published", ("experiment", "kernel", "data", "method", "size")).get(
        (experiment, kernel, data, method, size)
    )
    return None if record is None else Expectation(record["mean"], record["std"], 10)


def independent(kernel: str, data: str, method: str, size: str) -> Expectation | None:
    """Relative error of K_hat that code other than krein measured, mostly the authors' own.

    Examples
    --------
    >>> from krein.experiments.expectations import independent
    >>> independent("polynomial", "letter", "RM", "8d")
    Expectation(mean=0.1868, std=0.0704, n=100)
    """
    record = _index("independent", ("kernel", "data", "method", "size")).get((kernel, data, method, size))
    return None if record is None else Expectation(record["mean"], record["std"], record["n"])


def factor_ahead(kernel: str, data: str, size: str) -> float | None:
    """By which factor krein's own design is to be below the published GORF."""
    record = _index("ahead", ("kernel", "data", "size")).get((kernel, data, size))
    return None if record is None else float(record["factor"])


@cache
def _index(kind: str, names: tuple[str, ...]) -> dict[tuple[str, ...], dict[str, Any]]:
    return {tuple(record[name] for name in names): record for record in expectations()[kind]}
