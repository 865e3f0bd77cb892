"""The optimal design for given rows: which distances count, and how many columns meet a target."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from krein._validation import Rows, check_positive
from krein.kernels.base import RadialKernel
from krein.sampling import Design, DistanceWeight, find_design, sampled_weight, uniform_weight, weight_of_rows

LARGEST_WIDTH = 1 << 15  # columns that are tried for a target error
JOINT_WIDTH = 1024  # columns, above that of the largest set of frequencies that is optimised jointly
RESOLUTION = 64  # widths are told apart by at least one in so many columns
SPHERE_DIAMETER = 2.0


def design_for_rows(
    kernel: RadialKernel,
    X: Rows,
    n_components: int | str,
    *,
    target_error: Any,
    distances: Any,
    distance_range: Any,
    max_bias: Any,
    memory: Any,
) -> Design:
    """The design of at most ``n_components`` columns, or of the fewest that meet ``target_error``."""
    if max_bias is not None:
        check_positive(max_bias, "max_bias")
    weight = distance_weight(kernel, X, distances, distance_range)

    def design(n_columns: int) -> Design:
        return _remarked(find_design(kernel, X.shape[1], weight, n_columns, max_bias, memory), weight)

    if n_components != "auto":
        if target_error is not None:
            raise ValueError(f'target_error must be None unless n_components="auto"; got {target_error!r}.')
        return design(int(n_components))
    if target_error is None:
        raise ValueError('n_components="auto" needs a target_error, the relative error to reach; got None.')
    check_positive(target_error, "target_error")
    return smallest_design(design, float(target_error))


def _remarked(design: Design, weight: DistanceWeight) -> Design:
    if not weight.beyond:
        return design
    remark = (
        f"{weight.beyond:.2%} of the pairs of rows are further apart than {weight.reach:.4g}: for them nothing is "
        "predicted or certified. A larger distance_range includes them."
    )
    return replace(design, remarks=(*design.remarks, remark))


def distance_weight(kernel: RadialKernel, X: Rows | None, distances: Any, distance_range: Any) -> DistanceWeight:
    """The weight on distances that the parameters ``distances`` and ``distance_range`` of a design ask for.

    Without rows ``X`` they have to say all.
    """
    if distance_range is not None:
        check_positive(distance_range, "distance_range")
    reach = SPHERE_DIAMETER if distance_range is None and kernel.domain == "sphere" else distance_range
    if distances is None or isinstance(distances, str):
        if distances not in (None, "rows", "uniform"):
            raise ValueError(f'distances must be "rows", "uniform", None or an array of distances; got {distances!r}.')
        if distances == "uniform" and reach is not None:
            return uniform_weight(reach)
        if X is None:
            raise ValueError("distance_range must be given for a kernel on R^d: the largest distance between rows.")
        of_rows = weight_of_rows(X, reach)
        return uniform_weight(of_rows.reach) if distances == "uniform" else of_rows
    return sampled_weight(np.asarray(distances, dtype=np.float64), reach)


def smallest_design(design: Callable[[int], Design], target: float) -> Design:
    """The design of the fewest columns whose predicted error is at most ``target``, by doubling and bisection.

    Widths are told apart by one column in ``RESOLUTION``, and the error is taken to fall with the width.
    """
    low, high = 1, 2
    found = best = design(high)
    while found.error.relative > target:
        # beyond the widths that are optimised jointly, the error falls with the root of the width at most
        reachable = best.error.relative * min(1.0, np.sqrt(max(high, JOINT_WIDTH) / LARGEST_WIDTH))
        if high >= LARGEST_WIDTH or (high > JOINT_WIDTH and reachable > target):
            raise ValueError(
                f"target_error must be at least {best.error.relative:.3g} here, which is predicted for "
                f"{best.n_columns} columns: {LARGEST_WIDTH} columns reach {reachable:.3g} at best; got {target:g}."
            )
        low, high = high, 2 * high
        found = design(high)
        best = min(best, found, key=lambda one: one.error.relative)
    below = design(low) if low > 1 else found
    while high - low > max(1, low // RESOLUTION):
        middle = _between(low, below.error.relative, high, found.error.relative, target)
        tried = design(middle)
        if tried.error.relative <= target:
            high, found = middle, tried
        else:
            low, below = middle, tried
    return found


def _between(low: int, e_low: float, high: int, e_high: float, target: float) -> int:
    """A width in ]low, high[ where log error, linear in log width, is the target; at least 1/8 from both ends."""
    part = np.log(e_low / target) / np.log(e_low / e_high) if e_low > e_high > 0 else 0.5
    width = low * (high / low) ** part
    margin = (high - low) / 8
    return int(np.clip(np.ceil(np.clip(width, low + margin, high - margin)), low + 1, high - 1))
