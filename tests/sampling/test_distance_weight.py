"""Weights on distances: of rows, of a sample, uniform, and mixed."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from krein.kernels.base import distances
from krein.sampling.distance_weight import DistanceWeight, sampled_weight, uniform_weight, weight_of_rows

X = np.random.default_rng(12345).normal(size=(80, 3))


def test_uniform() -> None:
    weight = uniform_weight(2.0)
    assert weight.rho.sum() == pytest.approx(1)
    assert weight.mean(weight.z**2) == pytest.approx(4 / 3, rel=1e-3)


def test_rows_with_the_diagonal() -> None:
    """Means over the weight are means over all pairs of rows, those of a row with itself included."""
    weight, z = weight_of_rows(X), distances(X, X)
    assert weight.rho.sum() == pytest.approx(1)
    assert weight.rho[0] == 1 / 80
    for values in (lambda t: t, lambda t: np.exp(-(t**2) / 2), np.cos):
        assert weight.mean(values(weight.z)) == pytest.approx(values(z).mean(), abs=1e-4)
    without_diagonal = values(z).sum() / (80 * 79)
    assert weight.mean(values(weight.z)) != pytest.approx(without_diagonal, abs=1e-4)
    assert z.max() < weight.reach <= 1.1 * z.max() + 1e-4


def test_reach_is_no_more_than_the_rows_allow() -> None:
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    assert weight_of_rows(unit).reach <= 2 + 1e-5
    assert weight_of_rows(X, reach=1.0).z.max() <= 1.0


def test_rounding_does_not_change_it() -> None:
    """Sparse rows, rows in another memory order, and moved by rounding give the same design."""
    weight = weight_of_rows(X)
    for rows in (sp.csr_array(X), np.asfortranarray(X), X * (1 + 1e-15), X + 1e-15):
        other = weight_of_rows(rows)
        assert (other.z == weight.z).all()
        assert (other.rho == weight.rho).all()
        assert other.reach == weight.reach


def test_rows_are_kept_and_told_apart() -> None:
    assert weight_of_rows(X) is weight_of_rows(X.copy())
    assert weight_of_rows(X) is not weight_of_rows(X[:-1])
    assert weight_of_rows(X, 2.0) is not weight_of_rows(X, 3.0)
    for i in range(40):  # more than are kept
        weight_of_rows(X + i * X**2)
    assert (weight_of_rows(X).z == weight_of_rows(X.copy()).z).all()


def test_many_rows_are_sampled() -> None:
    rows = np.random.default_rng(0).normal(size=(5000, 3))
    weight = weight_of_rows(rows)
    assert weight.rho[0] == 1 / 5000
    assert weight.mean(weight.z**2) == pytest.approx(6, rel=0.05)


def test_equal_rows() -> None:
    assert weight_of_rows(np.ones((4, 2))).reach == 1.0
    assert weight_of_rows(np.ones((1, 2)), fallback=3.0).reach == 3.0


def test_sample() -> None:
    z = np.random.default_rng(0).uniform(0, 3, 10_000)
    weight = sampled_weight(z)
    assert weight.reach == z.max()
    assert weight.mean(weight.z) == pytest.approx(z.mean(), rel=1e-6)
    assert sampled_weight(z, 2.0).mean(sampled_weight(z, 2.0).z) == pytest.approx(z[z <= 2].mean(), rel=1e-6)


def test_mixed() -> None:
    weight = DistanceWeight(np.array([1.0]), np.array([1.0]), 2.0)
    mixed = weight.mixed(0.1)
    assert mixed.rho.sum() == pytest.approx(1)
    assert mixed.mean((mixed.z == 1.0).astype(float)) == pytest.approx(0.9)
    assert mixed.mean(mixed.z) == pytest.approx(1.0)


@pytest.mark.parametrize("wrong", [0.0, -1.0, np.inf, np.nan])
def test_refused(wrong: float) -> None:
    with pytest.raises(ValueError, match="distance_range must be a finite number > 0"):
        uniform_weight(wrong)
