"""Which width and scheme a kernel needs, before any data is seen: predicted errors as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from krein._random import RandomState, Streams
from krein._validation import check_choice, check_integer, check_positive
from krein.features.designed import distance_weight
from krein.features.schemes import SCHEMES, Scheme
from krein.kernels.base import RadialKernel, check_radial
from krein.sampling import DistanceWeight, find_design, predicted_error

DRAWS = 5  # over which the predicted error of a drawn scheme is averaged; one where pairs of frequencies are many
MANY = 1000
NO_PREDICTION = (
    "The law of the frequencies is not invariant under rotations, or they have random phases: no prediction."
)


@dataclass(frozen=True)
class PlanRow:
    """What is predicted for one scheme and width.

    Parameters
    ----------
    scheme : str
    n_components : int
        Columns asked for.
    columns : int or None
        Columns that are used.
    error : float or None
        Root mean square relative error over random rotations; None where it cannot be predicted.
    bias : float or None
        Root mean square bias, relative as ``error`` is: the part that no average over draws removes.
    bias_bound : float or None
        "optimal": certified bound on the bias at every distance. 0 for unbiased schemes.
    remark : str
        Why there is no prediction, or what else should be known.
    """

    scheme: str
    n_components: int
    columns: int | None = None
    error: float | None = None
    bias: float | None = None
    bias_bound: float | None = None
    remark: str = ""


class Plan:
    """Predicted errors of schemes and widths; prints as a table.

    Parameters
    ----------
    rows : sequence of PlanRow
    """

    def __init__(self, rows: Sequence[PlanRow]) -> None:
        self.rows = tuple(rows)

    def to_dicts(self) -> list[dict[str, Any]]:
        """One dictionary per row, for ``pandas.DataFrame``."""
        return [asdict(row) for row in self.rows]

    def __repr__(self) -> str:
        widths = list(dict.fromkeys(row.n_components for row in self.rows))
        cells = {(row.scheme, row.n_components): row for row in self.rows}
        remarks: dict[str, int] = {}
        lines = ["predicted relative error" + "".join(f"{width:>12d}" for width in widths) + "  columns"]
        for scheme in dict.fromkeys(row.scheme for row in self.rows):
            lines.append(f"{scheme:24}" + "".join(f"{_cell(cells[scheme, w], remarks):>12}" for w in widths))
        return "\n".join([*lines, *(f"[{number}] {text}" for text, number in remarks.items())])


def _cell(row: PlanRow, remarks: dict[str, int]) -> str:
    """The error with the number of its remark; the same remark has the same number everywhere."""
    text = "-" if row.error is None else f"{row.error:.4g}"
    if not row.remark:
        return text
    return f"{text} [{remarks.setdefault(row.remark.partition('; got')[0], len(remarks) + 1)}]"


def plan(
    kernel: RadialKernel,
    dim: int,
    n_components: Sequence[int] = (64, 128, 256, 512, 1024),
    *,
    schemes: Sequence[str] | None = None,
    distances: str | ArrayLike = "uniform",
    distance_range: float | None = None,
    max_bias: float | None = None,
    random_state: RandomState = 0,
) -> Plan:
    """Tabulate the predicted error of schemes against the number of columns, without touching data.

    Parameters
    ----------
    kernel : RadialKernel
    dim : int
        Dimension of the rows.
    n_components : sequence of int
        Numbers of columns.
    schemes : sequence of str, default=None
        Keys of ``krein.features.SCHEMES``; None means all except "published-*".
    distances : "uniform" or array-like, default="uniform"
        Which distances between rows count: all up to ``distance_range`` alike, or a sample.
    distance_range : float, default=None
        Largest distance between rows; 2 for a kernel on the unit sphere, and the largest of a sample.
    max_bias : float, default=None
        For "optimal", as in ``RandomFeatures``.
    random_state : int, Generator, RandomState or None, default=0
        For schemes whose error depends on the drawn radii: it is averaged over a few draws.

    Returns
    -------
    Plan

    Examples
    --------
    >>> import krein
    >>> from krein.kernels import PolynomialOnSphere
    >>> kernel = PolynomialOnSphere(a=2.0, degree=5)
    >>> table = krein.plan(kernel, dim=16, n_components=(64, 256), schemes=("optimal", "gorf-blocks"))
    >>> optimal, wider = table.rows[:2]
    >>> bool(wider.error < optimal.error), table.rows[2].error is None
    (True, True)
    """
    check_radial(kernel)
    check_integer(dim, "dim", 1)
    if not len(n_components):
        raise ValueError("n_components must have at least one entry.")
    for width in n_components:
        check_integer(width, "n_components", 1)
    if max_bias is not None:
        check_positive(max_bias, "max_bias")
    names = [name for name in SCHEMES if not SCHEMES[name].published] if schemes is None else list(schemes)
    for name in names:
        check_choice(name, "schemes", SCHEMES)
    weight = distance_weight(kernel, None, distances, distance_range)
    streams = Streams(random_state)
    rows = []
    for name in names:
        for width in map(int, n_components):
            if SCHEMES[name].designed:
                rows.append(_designed(name, kernel, dim, weight, width, max_bias))
            else:
                rows.append(_drawn(SCHEMES[name], kernel, dim, weight, width, streams(f"{name} {width}")))
    return Plan(rows)


def _designed(
    name: str, kernel: RadialKernel, dim: int, weight: DistanceWeight, width: int, max_bias: float | None
) -> PlanRow:
    design = find_design(kernel, dim, weight, width, max_bias)
    columns = design.n_columns
    bias = design.bias / np.sqrt(design.error.kernel_mean_square)
    return PlanRow(
        name, width, columns, design.error.relative, float(bias), design.bias_bound, " ".join(design.remarks)
    )


def _drawn(
    scheme: Scheme, kernel: RadialKernel, dim: int, weight: DistanceWeight, width: int, rng: np.random.Generator
) -> PlanRow:
    try:
        parts = scheme.parts(kernel, dim)
        errors = []
        for _ in range(DRAWS if width <= MANY else 1):
            frequencies = scheme.draw(parts, width, weight.z, rng)
            if not frequencies.rotated or frequencies.phases is not None:
                return PlanRow(scheme.name, width, frequencies.n_columns, remark=NO_PREDICTION)
            errors.append(predicted_error(frequencies, dim, kernel, weight.z, weights=weight.rho))
    except (ValueError, ArithmeticError) as reason:  # infinite mass, too few columns, not positive definite
        return PlanRow(scheme.name, width, remark=str(reason))
    relative = np.sqrt(np.mean([error.relative**2 for error in errors]))
    return PlanRow(scheme.name, width, frequencies.n_columns, float(relative), 0.0, 0.0)
