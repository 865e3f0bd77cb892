"""Sums over rows from which ridge and PCA are solved: they can be added, and rows need not be kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from krein.features import FeatureMap, gram

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Moments:
    """Sums of a batch of rows z with targets y and weights w, in float64.

    Parameters
    ----------
    G, R : ndarray of shape (D, D) and (D, m)
        sum w z z^T and sum w z (y - shift)^T.
    z, y, yy : ndarray of shape (D,), (m,), (m,)
        sum w z, sum w (y - shift) and sum w (y - shift)^2.
    weight : float
        sum w.
    count : float
        Number of rows: sum w without the factors of classes.
    shift : ndarray of shape (m,)
        A constant near the mean of y, the same for all batches, so that targets far from 0 lose no digits.
    """

    G: Array
    R: Array
    z: Array
    y: Array
    yy: Array
    weight: float
    count: float
    shift: Array

    def __add__(self, other: Moments) -> Moments:
        names = ("G", "R", "z", "y", "yy", "weight", "count")
        sums: dict[str, Any] = {name: getattr(self, name) + getattr(other, name) for name in names}
        return Moments(**sums, shift=self.shift)

    @property
    def scale(self) -> float:
        """Largest diagonal entry of G: rounding errors of G are proportional to it."""
        return float(np.diag(self.G).max(initial=0.0))

    def centred(self) -> Moments:
        """The same sums of z and y less their weighted means."""
        mean_z, mean_y = self.z / self.weight, self.y / self.weight
        G = self.G - self.weight * np.outer(mean_z, mean_z)
        R = self.R - self.weight * np.outer(mean_z, mean_y)
        yy = np.maximum(self.yy - self.weight * mean_y**2, 0.0)
        return Moments(G, R, 0 * self.z, 0 * self.y, yy, self.weight, self.count, self.shift)


def moments(
    features: FeatureMap, X: Any, Y: Array, sample_weight: Array | None, factors: Array | None, shift: Array
) -> Moments:
    """Sums of the rows X; w = sample_weight * factors. The column of ones beside the targets gives sum w z."""
    counts = np.ones(len(Y)) if sample_weight is None else sample_weight
    w = counts if factors is None else counts * factors
    Y = Y - shift
    weighted = not (sample_weight is None and factors is None)
    G, R = gram(features, X, np.column_stack([Y, np.ones(len(Y))]), sample_weight=w if weighted else None)
    assert R is not None
    return Moments(G, R[:, :-1], R[:, -1], Y.T @ w, (Y**2).T @ w, float(w.sum()), float(counts.sum()), shift)
