"""The minimum-variance measure: its program, its certificate, and what happens at the limits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import chi

from krein.exceptions import NoFrequenciesError
from krein.kernels import (
    DeltaGaussian,
    Epanechnikov,
    FromProfile,
    Gaussian,
    Kernel,
    Laplacian,
    Log,
    PolynomialOnSphere,
    RadialKernel,
    Tanh,
    ThinPlate,
)
from krein.spectral import jordan_parts, omega
from krein.spectral.minimum_variance import (
    LARGEST_SUM,
    MinimumVarianceMeasure,
    bias_bound,
    block_variance,
    expectation,
    merged,
    minimum_variance_measure,
)

Z = np.linspace(0.01, 2, 60)
RHO = np.full(60, 1 / 60)
KERNELS: list[RadialKernel] = [
    DeltaGaussian((1.0, -1.0), (1.0, 10.0)), Gaussian(), Laplacian(), PolynomialOnSphere(3.0, 1),
    PolynomialOnSphere(2.0, 10), Tanh(2.0, -0.5), Log(), ThinPlate(), Epanechnikov(), FromProfile(np.cos), -Gaussian(),
]  # fmt: skip


def solved(kernel: RadialKernel, dim: int = 16, eps: float = 0.01, reach: float = 2.0) -> MinimumVarianceMeasure:
    return minimum_variance_measure(kernel, dim, reach, eps, Z * reach / 2, RHO)


def bias(measure: MinimumVarianceMeasure, kernel: RadialKernel, n: int = 50_001) -> float:
    """Largest bias on a grid far finer than that of the certificate, and than that of the program."""
    z = np.linspace(0, measure.reach, n)
    found = expectation(measure.dim, measure.radii, measure.masses, measure.constant, z) - kernel.profile(z)
    return float(np.abs(found).max())


@pytest.mark.parametrize("dim", [2, 16, 256])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_certificate(kernel: RadialKernel, dim: int) -> None:
    """Not below the bias anywhere, not far above it, and about what was asked for."""
    for eps in (1e-3, 0.02):
        measure = solved(kernel, dim, eps)
        found = bias(measure, kernel)
        assert found <= measure.bias <= 1.2 * found + 2e-3
        assert measure.bias <= 1.2 * eps or measure.bias <= 0.2  # merging, or the smallest feasible (a cusp at 0)
        assert (
            np.abs(measure.masses).sum() <= 1.001 * LARGEST_SUM * np.abs(kernel.profile(np.linspace(0, 2, 500))).max()
        )
        assert (np.diff(measure.radii) > 0).all()
        assert len(measure.radii) <= 25


@pytest.mark.parametrize("mutant", ["dimension", "constant", "a mass"])
def test_a_certificate_of_something_else_is_no_bound(mutant: str) -> None:
    kernel = DeltaGaussian((1.0, -1.0), (1.0, 10.0))
    measure = solved(kernel, 16, 1e-3)
    arguments: dict[str, Any] = {"dim": 16, "radii": measure.radii, "masses": measure.masses,
                                 "constant": measure.constant}  # fmt: skip
    assert bias_bound(kernel, **arguments, reach=2.0) == measure.bias
    if mutant == "dimension":
        arguments["dim"] = 15
    elif mutant == "constant":
        arguments["constant"] += 0.02
    else:
        arguments["masses"] = 1.05 * measure.masses
    assert bias_bound(kernel, **arguments, reach=2.0) > 5 * measure.bias


def test_bound_holds_between_grid_points() -> None:
    """A wave that is exact at all points of the certificate's grid, and off by 1 between them."""
    step = 2.0 / 1024
    kernel = FromProfile(lambda z: np.sin(np.pi * np.asarray(z) / step))
    assert bias_bound(kernel, 1, np.array([1.0]), np.array([0.0]), 0.0, 2.0) > 0.99


def test_variance_is_that_of_full_blocks() -> None:
    """v(r) by simulation: one frequency of radius r in an orthonormal block, with its share of the covariances."""
    dim, r, z = 5, 3.0, 0.7
    rng = np.random.default_rng(12345)
    q = np.linalg.qr(rng.standard_normal((40_000, dim, dim)))[0]
    sums = np.cos(r * z * q[:, 0, :]).sum(axis=1)  # a block seen from one direction
    v = block_variance(dim, np.array([r]), np.array([z]), np.ones(1))[0]
    deviations = (sums - sums.mean()) ** 2 / dim
    assert abs(deviations.mean() - v) < 5 * deviations.std() / np.sqrt(len(deviations))
    single = (1 + omega(dim, 2 * r * z)) / 2 - omega(dim, r * z) ** 2  # the mutant: no covariances
    assert abs(deviations.mean() - single) > 5 * deviations.std() / np.sqrt(len(deviations))


@pytest.mark.parametrize("kernel", [Gaussian(), DeltaGaussian((1.0, -1.0), (1.0, 10.0))], ids=repr)
def test_less_variance_than_the_canonical_measure(kernel: RadialKernel) -> None:
    """The value of the program is below that of the true Fourier measure, which is feasible for every eps."""
    dim, parts = 16, jordan_parts(kernel, 16)
    r = np.linspace(0.01, 12, 3000)
    densities = [law.mass * np.gradient(law.cdf(r), r) for law in parts.parts]
    canonical = sum(float(np.trapezoid(p * np.sqrt(block_variance(dim, r, Z, RHO)), r)) for p in densities) ** 2
    assert solved(kernel, dim, 1e-3).variance < canonical
    if isinstance(kernel, Gaussian):  # the canonical law of the Gaussian is chi_d
        np.testing.assert_allclose(densities[0], chi(dim).pdf(r), atol=0.01)


def test_an_affine_kernel_of_the_inner_product_costs_nothing() -> None:
    """7/9 + 2/9 x.y is a small radius and a constant: the variance of a full block of them vanishes with the radius."""
    measure = solved(PolynomialOnSphere(3.0, 1), 16, 1e-3)
    assert measure.variance < 1e-5
    assert measure.radii.max() < 2


def test_smallest_feasible_bias() -> None:
    """A jump of the profile cannot be met: what is reached is said."""
    kernel = FromProfile(lambda z: np.where(np.asarray(z) < 1, 1.0, 0.0))
    measure = solved(kernel, 16, 1e-6)
    assert measure.asked == 1e-6
    assert measure.bias > 0.05
    assert bias(measure, kernel) <= measure.bias


def test_neighbours_are_merged() -> None:
    radii, masses = merged(np.array([1.0, 1.05, 1.1, 3.0, 3.1]), np.array([1.0, 2.0, -1.0, 0.5, 0.5]))
    np.testing.assert_allclose(masses, [3.0, -1.0, 1.0])
    np.testing.assert_allclose(radii, [np.sqrt((1 + 2 * 1.05**2) / 3), 1.1, np.sqrt((9 + 3.1**2) / 2)])


class NotRadial(Kernel):
    def _gram_block(self, X: Any, Y: Any) -> Any:
        return X @ Y.T


@pytest.mark.parametrize(
    ("kernel", "dim", "reach", "eps", "error"),
    [
        (NotRadial(), 3, 2.0, 0.1, TypeError),
        (Gaussian(), 0, 2.0, 0.1, ValueError),
        (Gaussian(), 3, 0.0, 0.1, ValueError),
        (Gaussian(), 3, 2.0, -0.1, ValueError),
        (FromProfile(np.ones_like), 3, 2.0, 0.1, NoFrequenciesError),
        (FromProfile(lambda z: 1 / np.asarray(z)), 3, 2.0, 0.1, ValueError),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_refused(kernel: Any, dim: int, reach: float, eps: float, error: type[Exception]) -> None:
    with pytest.raises(error, match=r"must be|must return finite|constant"):
        minimum_variance_measure(kernel, dim, reach, eps, Z, RHO)
