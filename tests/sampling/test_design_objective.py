"""The error as a function of the frequencies: against the sums it stands for, and its gradient against differences."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from krein.kernels import DeltaGaussian, RadialKernel, Tanh
from krein.sampling.design import Block, rotation_error
from krein.sampling.design_objective import DesignObjective, ErrorTables
from krein.sampling.directions import orthonormal_blocks
from krein.sampling.distance_weight import DistanceWeight, uniform_weight
from krein.sampling.error import predicted_error
from krein.sampling.frequencies import Frequencies

Array = NDArray[np.float64]
DELTA = DeltaGaussian((1.0, -1.0), (1.0, 10.0))


def objective(
    kernel: RadialKernel, dim: int, copies: int = 1, constant: bool = True, weight: DistanceWeight | None = None
) -> DesignObjective:
    tables = ErrorTables(kernel, dim, weight or uniform_weight(2.0), 25.0)
    return DesignObjective(tables, copies, constant)


def some_frequencies(dim: int, n: int) -> Array:
    return 3.0 * np.random.default_rng(n).standard_normal((n, dim)) / np.sqrt(dim)


@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize("copies", [1, 3])
@pytest.mark.parametrize("kernel", [DELTA, Tanh(2.0, -0.5)], ids=repr)
def test_value_is_the_exact_error(kernel: RadialKernel, copies: int, constant: bool) -> None:
    """Of independent rotations: by ``rotation_error``; of one also by the public prediction.

    The squared bias is taken on 64 Chebyshev points here, to which the weight is moved, and on the weight there.
    """
    search, w = objective(kernel, 6, copies, constant), some_frequencies(6, 9)
    fit = search.fit(w)
    block = Block(w, fit.coefficients / copies, copies)
    exact = rotation_error([block], fit.constant, search.tables)
    assert fit.value == pytest.approx(exact.mean_squared, rel=1e-8 if copies == 1 else 5e-3)
    if copies == 1:
        weight = search.tables.weight
        frequencies = Frequencies(w, fit.coefficients, fit.constant)
        public = predicted_error(frequencies, 6, kernel, weight.z, weights=weight.rho)
        assert exact.mean_squared == pytest.approx(public.mean_squared, rel=1e-7)
        assert exact.squared_bias == pytest.approx(public.squared_bias, rel=1e-7)


def test_coefficients_are_the_best() -> None:
    search, w = objective(DELTA, 6), some_frequencies(6, 9)
    fit = search.fit(w)
    for seed in range(5):
        other = fit.coefficients + 1e-3 * np.random.default_rng(seed).standard_normal(9)
        assert rotation_error([Block(w, other)], fit.constant, search.tables).mean_squared > fit.value
    assert rotation_error([Block(w, fit.coefficients)], fit.constant + 1e-3, search.tables).mean_squared > fit.value


def differences(search: DesignObjective, w: Array, step: float = 1e-5) -> Array:
    found = np.empty_like(w)
    for index in np.ndindex(w.shape):
        shifted = [w.copy(), w.copy()]
        shifted[0][index] += step
        shifted[1][index] -= step
        found[index] = (search.fit(shifted[0]).value - search.fit(shifted[1]).value) / (2 * step)
    return found


@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize("copies", [1, 4])
@pytest.mark.parametrize("weighted", [False, True])
def test_gradient(copies: int, constant: bool, weighted: bool) -> None:
    """Central differences of step h err by h^2 and by rounding / h, 1e-8 of the largest entry together."""
    search, w = objective(DELTA, 4, copies, constant), some_frequencies(4, 7)
    if weighted:
        search.bias_weight[:] = np.linspace(0, 0.1, len(search.bias_weight))
    _, gradient = search._evaluate(w, gradient=True)
    expected = differences(search, w)
    tolerance = 1e-5 * np.abs(expected).max()
    np.testing.assert_allclose(gradient, expected, rtol=0, atol=tolerance)
    wrong = gradient.copy()
    wrong[0] *= -1  # the mutant: a sign
    assert np.abs(wrong - expected).max() > 100 * tolerance


def test_minimum_is_stationary_and_lower() -> None:
    search = objective(DELTA, 4)
    start = 3.0 * orthonormal_blocks(4, 8, np.random.default_rng(0))
    w, fit = search.minimise(start, 300)
    assert fit.value < search.fit(start).value
    _, gradient = search._evaluate(w, gradient=True)
    _, before = search._evaluate(start, gradient=True)
    assert np.abs(gradient).max() < 0.05 * np.abs(before).max()


def test_directions_of_equal_radius_gain_what_design_says() -> None:
    """More frequencies than dimensions: optimised together, n = 8 d has less than half the deviation of blocks."""
    dim, n = 8, 64
    search = objective(DELTA, dim)
    start = 3.0 * orthonormal_blocks(dim, n, np.random.default_rng(0))
    _, fit = search.minimise(start, 300)
    assert np.sqrt(fit.value) < 0.5 * np.sqrt(search.fit(start).value)


def test_radii_stay_within_the_tables() -> None:
    search = objective(DELTA, 3)
    w, _ = search.minimise(24.9 * orthonormal_blocks(3, 6, np.random.default_rng(0)), 50)
    assert np.linalg.norm(w, axis=1).max() <= 25.0 * (1 + 1e-12)


def test_equal_frequencies_are_no_trouble() -> None:
    """A singular system: the ridge shares the coefficient out."""
    w = np.tile([[2.0, 0.0, 0.0]], (5, 1))
    fit = objective(DELTA, 3).fit(w)
    np.testing.assert_allclose(fit.coefficients, fit.coefficients.mean(), rtol=1e-3)
    assert np.abs(fit.coefficients).max() < 10
