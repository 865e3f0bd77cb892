"""A weight on distances: which distances a design is to be good at, and up to which its bias is certified."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from krein._validation import check_positive, row_norms
from krein.kernels.base import distances
from krein.sampling.error import weighted_distances

Array = NDArray[np.float64]

ROWS = 1000  # of a subsample, always the same for the same rows: a refit finds its weight and its design again
BINS = 100
SAMPLE_BINS = 400  # of a sample of distances: what their spread within a bin changes is far below the error
MARGIN = 1.1  # reach over the largest distance of the subsample, where no smaller bound on all distances is known
UNIFORM_SHARE = 0.1  # of a mixed weight
KEPT = 32  # weights of rows


@dataclass(frozen=True, eq=False)
class DistanceWeight:
    """Distances z with weights rho of sum 1, all in [0, reach]; ``beyond`` is the share of those that were left out."""

    z: Array
    rho: Array
    reach: float
    beyond: float = 0.0

    def mixed(self, share: float = UNIFORM_SHARE) -> DistanceWeight:
        """(1 - share) times this weight plus ``share`` times the uniform one on [0, reach]."""
        z = (np.arange(BINS) + 0.5) * self.reach / BINS
        rho = np.concatenate([(1 - share) * self.rho, np.full(BINS, share / BINS)])
        return DistanceWeight(np.concatenate([self.z, z]), rho, self.reach)

    def mean(self, values: Array) -> float:
        """Mean over the weight of values given at the distances z."""
        return float(self.rho @ values)


def uniform_weight(reach: float) -> DistanceWeight:
    """All distances in [0, reach] alike."""
    check_positive(reach, "distance_range")
    return DistanceWeight((np.arange(BINS) + 0.5) * reach / BINS, np.full(BINS, 1 / BINS), float(reach))


def sampled_weight(sample: ArrayLike, reach: float | None = None) -> DistanceWeight:
    """The weight of a sample of distances, by bins; distances beyond ``reach`` are left out."""
    z, _ = weighted_distances(sample)
    reach = float(z.max()) if reach is None else float(reach)
    check_positive(reach, "distance_range")
    within = z <= reach
    if not within.any():
        raise ValueError(f"distances must have an entry within the distance_range {reach:g}.")
    return DistanceWeight(*_binned(z[within], reach), reach, 1 - float(within.mean()))


def weight_of_rows(X: Any, reach: float | None = None, fallback: float = 1.0) -> DistanceWeight:
    """The weight of the distances between rows of X, the distance 0 of a row to itself included.

    From ``ROWS`` rows at most. ``reach=None`` means a little more than the largest distance among them, at most a bound
    on the distances of all rows, and ``fallback`` where all rows are equal.
    """
    n = X.shape[0]
    rows = X[np.sort(np.random.default_rng(0).choice(n, min(n, ROWS), replace=False))]
    bound = float(f"{2 * row_norms(X).max():.12g}")
    key = _digest(rows, (n, bound, reach, fallback))
    weight = _KEPT.get(key)
    if weight is None:
        weight = _weight_of_sample(rows, n, bound, reach, fallback)
        with _LOCK:
            _KEPT[key] = weight
            while len(_KEPT) > KEPT:
                del _KEPT[next(iter(_KEPT))]
    return weight


_KEPT: dict[bytes, DistanceWeight] = {}  # of the last rows, which a refit asks for again
_LOCK = Lock()  # several threads may fit at once


def _digest(rows: Any, numbers: tuple[Any, ...]) -> bytes:
    digest = hashlib.blake2b(repr((rows.shape, str(rows.dtype), numbers)).encode(), digest_size=16)
    for part in (rows.data, rows.indices, rows.indptr) if hasattr(rows, "tocsr") else (rows,):
        digest.update(np.ascontiguousarray(part).data)
    return digest.digest()


def _weight_of_sample(rows: Any, n: int, bound: float, reach: float | None, fallback: float) -> DistanceWeight:
    between = distances(rows, rows)[np.triu_indices(rows.shape[0], 1)]
    if reach is None:
        largest = float(between.max(initial=0.0))
        reach = _rounded_up(min(MARGIN * largest, bound)) if largest > 0 else fallback
    within = between <= reach
    beyond = 1 - float(within.mean()) if len(between) else 0.0
    if not within.any():
        return replace(uniform_weight(reach), beyond=beyond)
    z, rho = _binned(between[within], reach)
    return DistanceWeight(np.append(0.0, z), np.append(1 / n, (1 - 1 / n) * rho), float(reach), beyond)


def _binned(z: Array, reach: float) -> tuple[Array, Array]:
    """Mean distance and share of every bin that is not empty."""
    bins = np.minimum((z * (SAMPLE_BINS / reach)).astype(np.intp), SAMPLE_BINS - 1)
    counts = np.bincount(bins, minlength=SAMPLE_BINS)
    sums = np.bincount(bins, weights=z, minlength=SAMPLE_BINS)
    used = counts > 0
    means = np.round(sums[used] / counts[used] / reach, 9) * reach  # the same for rows that differ by rounding
    return np.minimum(means, reach), counts[used] / counts.sum()


def _rounded_up(x: float) -> float:
    """The smallest number of six digits that is not below x, but for rounding."""
    unit = 10.0 ** (np.floor(np.log10(x)) - 5)
    return float(np.format_float_scientific(np.ceil(x / unit - 1e-6) * unit, 5, unique=False))
