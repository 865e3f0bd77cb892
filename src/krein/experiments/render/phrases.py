"""What the sentences of the report share: means by cell, and how counts and factors read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import exp, log
from statistics import fmean

from krein.experiments.progress import Group
from krein.experiments.summary import Mean

Means = Mapping[Group, Mean]
ORTHOGONAL = {  # kernel: what stands for GRFF and for GORF in the tables of the paper
    "polynomial": ("published-grff", "published-gorf"),
    "delta-gaussian": ("grff", "gorf-blocks"),
}


def count(part: int, whole: int) -> str:
    """'all 24' or '22 of 24'."""
    return f"all {whole}" if part == whole else f"{part} of {whole}"


def shown(factor: float) -> str:
    """A factor with three digits, without an exponent."""
    return f"{factor:,.0f}" if factor >= 100 else f"{factor:.3g}"


def geometric_mean(values: Iterable[float]) -> float:
    """Of positive values."""
    return exp(fmean(log(value) for value in values))
