"""From a kernel to its measure: dispatch, infinite masses, errors and warnings, total mass."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest
from numpy.testing import assert_allclose

from krein.exceptions import InfiniteMassError, NoFrequenciesError, SpectralAccuracyError, SpectralAccuracyWarning
from krein.kernels import (
    NTK,
    AdditiveChi2,
    ArcCosine,
    Cauchy,
    DeltaGaussian,
    DotProductOnSphere,
    Epanechnikov,
    FromProfile,
    Gaussian,
    InverseMultiquadric,
    Laplacian,
    Log,
    Matern,
    Polynomial,
    PolynomialOnSphere,
    RationalQuadratic,
    Tanh,
    ThinPlate,
)
from krein.spectral import (
    has_positive_decomposition,
    jordan,
    jordan_parts,
    numerical_measure,
    omega,
    radial_measure,
    total_mass,
)

MODULE = import_module("krein.spectral.radial_measure")  # the package has a function of the same name
DISTANCES = np.concatenate([[0.0], np.geomspace(0.1, 3.0, 10)])


def reconstructed(parts, z):
    return parts.constant + sum(law.sign * law.mass * law.profile(z) for law in parts.parts)


# ---- positive definite kernels without a closed form ----------------------------------------------------------------


def real_only(z):
    return (1 + np.asarray(z, dtype=float) ** 2) ** -2.0


@pytest.mark.filterwarnings("ignore::krein.exceptions.SpectralAccuracyWarning")  # d=64
@pytest.mark.parametrize(
    ("kernel", "dim"),
    [(FromProfile(real_only), 16), (FromProfile(real_only), 64), (Gaussian(1.2) * Cauchy(1.2), 1000)],
    ids=["real z, d=16", "real z, d=64", "complex z, d=1000"],
)
def test_noise_of_the_transform_is_not_a_negative_part(kernel, dim):
    parts, error = jordan_parts(kernel, dim), radial_measure(kernel, dim).error
    assert parts.negative.mass == 0.0
    # what was left out is below four errors of the measure, or 1e-11; its own error comes on top
    assert_allclose(reconstructed(parts, DISTANCES), kernel.profile(DISTANCES), rtol=0, atol=max(5 * error, 1e-11))


# ---- infinite masses ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dim", [1, 2, 16, 256])
@pytest.mark.parametrize(
    "kernel", [Log(2.0), ThinPlate(), Tanh(), Tanh() - Gaussian(), Gaussian() + 0.5 * Log()], ids=repr
)
def test_infinite_mass_in_every_dimension(kernel, dim):
    with pytest.raises(InfiniteMassError, match=rf"infinite mass in .*dimension.*{dim}"):
        radial_measure(kernel, dim)
    assert total_mass(kernel, dim) == np.inf
    assert not has_positive_decomposition(kernel, dim)


@pytest.mark.parametrize("dim", [16, 256])
@pytest.mark.parametrize(
    "kernel",
    [
        ArcCosine(0),
        ArcCosine(1),
        ArcCosine(2),
        NTK(1),
        NTK(3),
        PolynomialOnSphere(3.0, 1),
        PolynomialOnSphere(1.0, 2),
        PolynomialOnSphere(2.0, 7),
        DotProductOnSphere(np.exp),
        FromProfile(np.cos, on="sphere"),
    ],
    ids=repr,
)
def test_kernels_on_the_sphere_extended_by_zero(kernel, dim):
    with pytest.raises(InfiniteMassError) as caught:
        radial_measure(kernel, dim)
    for word in (repr(kernel) if "Polynomial" not in repr(kernel) else "polynomial", str(dim), "Use a map"):
        assert word in str(caught.value)
    assert not has_positive_decomposition(kernel, dim)


@pytest.mark.parametrize(("dim", "finite"), [(1, True), (2, True), (3, False), (4, False), (16, False)])
def test_epanechnikov_has_finite_mass_up_to_two_dimensions(dim, finite):
    assert has_positive_decomposition(Epanechnikov(0.7), dim) is finite


@pytest.mark.parametrize("dim", [2, 3, 7, 8, 9])
@pytest.mark.parametrize("degree", [1, 2, 3, 4, 5])
def test_the_polynomial_with_a_2_has_finite_mass_from_degree_d_minus_1_over_2_on(dim, degree):
    assert has_positive_decomposition(PolynomialOnSphere(2.0, degree), dim) is (degree > (dim - 1) / 2)


def test_scaled_and_summed_infinities():
    assert total_mass(-3.0 * Log(), 4) == np.inf
    assert total_mass(Gaussian() - 0.1 * PolynomialOnSphere(3.0, 1), 16) == np.inf


# ---- finite masses and closed forms ---------------------------------------------------------------------------------

CLOSED = [
    Gaussian(0.8),
    DeltaGaussian(),
    Gaussian() * DeltaGaussian((1.0, -1.0), (1.0, 3.0)),
    Laplacian(1.2),
    Matern(0.9, 2.5),
    RationalQuadratic(1.0, 2.0),
    Cauchy(1.5),
    InverseMultiquadric(0.8),
]


@pytest.mark.parametrize("dim", [1, 2, 3, 16, 256])
@pytest.mark.parametrize("kernel", [kernel for kernel in CLOSED if not isinstance(kernel, DeltaGaussian)], ids=repr)
def test_positive_definite_kernels_have_the_mass_k_of_0(kernel, dim):
    parts = jordan_parts(kernel, dim)
    if parts.negative.mass == 0:
        assert_allclose(total_mass(kernel, dim), kernel.profile(0.0), rtol=1e-12)
    assert has_positive_decomposition(kernel, dim)
    assert radial_measure(kernel, dim).error == 0.0


@pytest.mark.parametrize("dim", [3, 16, 256])
@pytest.mark.parametrize("kernel", CLOSED, ids=repr)
def test_the_numerical_route_agrees_with_the_closed_form(kernel, dim):
    exact, numerical = jordan(radial_measure(kernel, dim)), jordan(numerical_measure(kernel, dim))
    assert_allclose(numerical.positive.mass, exact.positive.mass, rtol=1e-6)
    assert_allclose(numerical.negative.mass, exact.negative.mass, atol=1e-6 * exact.total_mass)
    for law, other in zip(exact.parts, numerical.parts, strict=True):
        u = np.linspace(0.02, 0.98, 25)
        assert_allclose(other.cdf(law.quantile(u)), u, atol=1e-6)


def test_the_numerical_route_is_not_taken_for_known_kernels(monkeypatch):
    def never(kernel, dim):
        raise AssertionError(f"{kernel!r} has a closed form")

    monkeypatch.setattr(MODULE, "numerical_measure", never)
    for kernel in [*CLOSED, 2 * Cauchy() - Laplacian(), Epanechnikov(), PolynomialOnSphere(2.0, 3)]:
        radial_measure(kernel, 2)
    with pytest.raises(AssertionError, match="closed form"):
        radial_measure(FromProfile(np.cos), 2)


@pytest.mark.parametrize("dim", [2, 16])
def test_sums_and_multiples_are_linear(dim):
    kernel = 2.0 * Matern(1.0, 2.5) - (Laplacian() + 0.5 * Gaussian())
    measure, r = radial_measure(kernel, dim), np.geomspace(0.1, 30, 20)
    parts = [(2.0, Matern(1.0, 2.5)), (-1.0, Laplacian()), (-0.5, Gaussian())]
    exact = sum(factor * radial_measure(part, dim).density(r) for factor, part in parts)
    assert_allclose(measure.density(r), exact, rtol=1e-12, atol=1e-15)
    assert_allclose(total_mass(kernel, dim), total_mass(-3 * kernel, dim) / 3, rtol=1e-12)


@pytest.mark.parametrize("scale", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("dim", [1, 2])
def test_epanechnikov_by_direct_integration(dim, scale):
    # m(r) = C r^(d-1) int_0^s (1 - z^2/s^2) z^(d-1) Omega_d(r z) dz,  C = 2^(2-d) / Gamma(d/2)^2
    r = np.linspace(0.5, 20, 12) / scale
    x, w = np.polynomial.legendre.leggauss(200)
    z = scale * (x + 1) / 2
    constant = {1: 2 / np.pi, 2: 1.0}[dim]
    integral = omega(dim, np.multiply.outer(r, z)) @ (w * scale / 2 * (1 - (z / scale) ** 2) * z ** (dim - 1))
    exact = constant * r ** (dim - 1) * integral
    # a quintic spline of step 0.1/scale in r: 1e-8 of the largest value
    assert_allclose(radial_measure(Epanechnikov(scale), dim).density(r), exact, atol=1e-8 * scale)


# ---- the numerical route --------------------------------------------------------------------------------------------


def ripple(z):
    """Changes sign, and so does its density in most dimensions; analytic."""
    return np.exp(-(z**2) / 2) * (1 - z**2 / 4)


def with_limit(z):
    return 2 + np.exp(-(z**2))


@pytest.mark.parametrize("dim", [1, 2, 3, 16, 256])
def test_profile_of_a_callable(dim):
    kernel = FromProfile(ripple)
    parts = jordan_parts(kernel, dim)
    assert_allclose(reconstructed(parts, DISTANCES), kernel.profile(DISTANCES), atol=1e-10)
    assert_allclose(parts.positive.mass - parts.negative.mass, 1.0, atol=1e-10)
    assert radial_measure(kernel, dim).error < 1e-8


@pytest.mark.parametrize("dim", [2, 3, 16, 256])
def test_density_of_a_callable(dim):
    # z^2 k(z) has the Fourier density -Laplacian p = (d - r^2) p, p that of the Gaussian
    r = np.sqrt(dim) * np.linspace(0.3, 2.0, 15)
    law = radial_measure(Gaussian(), dim)
    exact = law.density(r) * (1 - (dim - r**2) / 4)
    found = radial_measure(FromProfile(ripple), dim).density(r)
    assert_allclose(found, exact, atol=1e-8 * np.abs(exact).max())


@pytest.mark.parametrize("dim", [3, 16, 256])
def test_a_limit_at_infinity_is_a_constant(dim):
    parts = jordan_parts(FromProfile(with_limit), dim)
    assert_allclose(parts.constant, 2.0, rtol=1e-12)
    assert_allclose(parts.total_mass, 1.0, rtol=1e-9)
    # as a multiple too
    assert_allclose(jordan_parts(-2.0 * FromProfile(with_limit), dim).constant, -4.0, rtol=1e-12)


def test_a_constant_callable_has_no_frequencies():
    with pytest.raises(NoFrequenciesError, match="nothing but a constant"):
        jordan_parts(FromProfile(np.ones_like), 3)


@pytest.mark.parametrize(
    "kernel",
    [FromProfile(np.ones_like), 0.0 * Gaussian(), 0 * Laplacian(), Gaussian() - Gaussian()],
    ids=["ones", "0 * Gaussian", "0 * Laplacian", "Gaussian - Gaussian"],
)
def test_a_constant_has_mass_0_and_a_positive_decomposition(kernel):
    assert total_mass(kernel, 3) == 0.0
    assert has_positive_decomposition(kernel, 3)


@pytest.mark.parametrize("kernel", ["rbf", None, Gaussian, Polynomial(), AdditiveChi2()], ids=str)
@pytest.mark.parametrize("function", [radial_measure, jordan_parts, total_mass, has_positive_decomposition])
def test_what_is_no_radial_kernel_is_refused(function, kernel):
    with pytest.raises(TypeError, match=r"kernel must be a radial kernel of krein\.kernels; got"):
        function(kernel, 3)


@pytest.mark.parametrize("function", [np.cos, np.square, np.exp])
def test_callables_without_a_limit_have_infinite_mass(function):
    with pytest.raises((InfiniteMassError, ValueError)):
        radial_measure(FromProfile(lambda z: function(np.minimum(z, 300.0) if function is np.exp else z)), 3)


def test_rough_results_come_with_a_warning():
    kernel = FromProfile(lambda z: np.maximum(0.0, 1 - z))  # a kink, which is just smooth enough for d = 2
    with pytest.warns(SpectralAccuracyWarning, match="dimension 2"):
        measure = radial_measure(kernel, 2)
    with pytest.warns(SpectralAccuracyWarning):
        parts = jordan_parts(kernel, 2)
    found = np.abs(reconstructed(parts, DISTANCES) - kernel.profile(DISTANCES)).max()
    assert 1e-8 < found < 1e-2
    assert_allclose(measure.dim, 2)


def test_hopeless_results_are_errors(monkeypatch):
    monkeypatch.setattr(MODULE, "FAIL_ABOVE", 1e-30)
    with pytest.raises(SpectralAccuracyError, match=r"dimension 3 could not be computed.*sum of simpler"):
        radial_measure(FromProfile(ripple), 3)


# ---- the interface --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dim", [0, -1, 2.0, "3", True, None])
def test_dimensions_are_checked(dim):
    with pytest.raises(ValueError, match="dim must be an integer >= 1"):
        radial_measure(Gaussian(), dim)


def test_parts_are_kept_for_equal_kernels():
    assert jordan_parts(Gaussian(1.5), 7) is jordan_parts(Gaussian(1.5), 7)
    assert jordan_parts(Gaussian(1.5), 7) is not jordan_parts(Gaussian(1.5), 8)
    assert jordan_parts(Gaussian(1.5), 7) is not jordan_parts(Gaussian(1.25), 7)


def test_changing_a_kernel_in_place_does_not_change_what_was_kept():
    kernel = Gaussian(1.5)
    before = jordan_parts(kernel, 7)
    kernel.set_params(scale=3.0)
    assert_allclose(jordan_parts(kernel, 7).positive.quantile(0.5), before.positive.quantile(0.5) / 2, rtol=1e-12)
    assert jordan_parts(Gaussian(1.5), 7) is before


class Unhashable:
    __hash__ = None  # type: ignore[assignment]

    def __call__(self, z):
        return ripple(z)


def test_unhashable_parameters_are_no_obstacle():
    parts = jordan_parts(FromProfile(Unhashable()), 3)
    assert_allclose(parts.total_mass, jordan_parts(FromProfile(ripple), 3).total_mass, rtol=1e-12)
