"""krein.theory: variances per kernel, the paper's G and H and their signs, published formulas that are wrong."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from krein import theory
from krein.exceptions import InfiniteMassError
from krein.kernels import DeltaGaussian, Gaussian, Laplacian, Log, Matern, Polynomial, PolynomialOnSphere
from krein.sampling import variance as variance_of_parts
from krein.sampling.variance import single_variance
from krein.spectral import jordan_parts, omega
from krein.testing import spanning_lags, z_scores

ASYMMETRIC = DeltaGaussian((1.0, -0.5), (1.0, 2.0))


@pytest.mark.parametrize(
    ("name", "directions"),
    [
        ("rff", "iid"),
        ("grff", "iid"),
        ("orf", "blocks"),
        ("gorf-blocks", "blocks"),
        ("gorf", "joint"),
        ("shared", "shared"),
    ],
)
def test_scheme_names_mean_direction_schemes(name, directions):
    z = np.linspace(0, 3, 5)
    exact = variance_of_parts(jordan_parts(ASYMMETRIC, 8), directions, (10, 6), z)
    assert_array_equal(theory.variance(ASYMMETRIC, 8, name, (10, 6), z), exact)
    assert_array_equal(theory.variance(ASYMMETRIC, 8, directions, (10, 6), z), exact)


def test_errors():
    with pytest.raises(ValueError, match="scheme must be one of"):
        theory.variance(ASYMMETRIC, 8, "qmc", 8, 1.0)
    with pytest.raises(TypeError, match="kernel must be a radial kernel"):
        theory.variance(Polynomial(), 8, "grff", 8, 1.0)
    with pytest.raises(ValueError, match=r"s must be an integer >= 1; got 2\.5"):
        theory.G(jordan_parts(ASYMMETRIC, 8).positive, 2.5, 1.0)
    with pytest.raises(InfiniteMassError):
        theory.variance(Log(), 8, "grff", 8, 1.0)
    with pytest.raises(ValueError, match="s must be at most the dimension 8; got 9"):
        theory.G(jordan_parts(ASYMMETRIC, 8).positive, 9, 1.0)
    with pytest.raises(ValueError, match="s must be an integer >= 1; got 0"):
        theory.G(jordan_parts(ASYMMETRIC, 8).positive, 0, 1.0)


def test_masses_are_reported_here_too():
    assert theory.has_positive_decomposition(ASYMMETRIC, 16)
    assert not theory.has_positive_decomposition(PolynomialOnSphere(3.0, 1), 16)
    assert theory.total_mass(PolynomialOnSphere(3.0, 1), 16) == np.inf
    assert_allclose(theory.total_mass(DeltaGaussian(), 256), 2.0, rtol=1e-12)


# ---- G ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [Gaussian(), Matern(1.0, 2.5), Laplacian(), DeltaGaussian(), ASYMMETRIC], ids=repr)
@pytest.mark.parametrize("dim", [2, 16, 64])
def test_g_is_negative_for_small_distances(kernel, dim):
    # expand in z: -(s-1)/s Var(...) < 0 as long as |w|z is below 2 or so
    for law in jordan_parts(kernel, dim).parts:
        z = np.array([0.1, 0.5, 1.0]) / law.quantile(0.9) * np.sqrt(dim)
        assert (theory.G(law, dim, z) < 0).all()
        assert_allclose(theory.G(law, dim, 0.0), 0.0, atol=1e-12)


@pytest.mark.parametrize("dim", [2, 16])
def test_g_is_what_orthogonality_changes(dim):
    law, z = jordan_parts(Gaussian(), dim).positive, np.linspace(0.2, 3, 6)
    for s in range(1, dim + 1, max(1, dim // 4)):
        difference = theory.variance(Gaussian(), dim, "orf", s, z) - theory.variance(Gaussian(), dim, "rff", s, z)
        assert_allclose(theory.G(law, s, z), difference, atol=1e-13)
    assert_array_equal(theory.G(law, 1, z), 0.0)


@pytest.mark.parametrize("s", [2, 7, 16])
def test_g_by_simulation(s):
    # E Omega(sqrt(R1^2 + R2^2) z) - (E Omega(R z))^2, the paper's two terms in the other order
    law, z = jordan_parts(Gaussian(), 16).positive, np.linspace(0.3, 2.5, 6)
    rng = np.random.default_rng(12345)
    r1, r2 = np.sqrt(rng.chisquare(16, (2, 100_000)))
    samples = omega(16, np.multiply.outer(np.hypot(r1, r2), z)) - omega(16, np.multiply.outer(r1, z)) * omega(
        16, np.multiply.outer(r2, z)
    )
    exact = theory.G(law, s, z)
    factor = (s - 1) / s
    assert np.abs(z_scores(factor * samples, exact)).max() < 5
    assert np.abs(z_scores(-factor * samples, exact)).max() > 5  # exchanged, as printed
    assert np.abs(z_scores(samples, exact)).max() > 5  # without (s - 1)/s


def test_orthogonality_nearly_removes_the_variance_at_small_distances():
    z = np.array([0.1, 0.2])
    blocks, iid = (theory.variance(Gaussian(), 16, scheme, 16, z) for scheme in ("gorf-blocks", "grff"))
    ratio = blocks / iid
    # at order z^4: Var sum R_i^2 u_i^2 = d Var(R^2) E u^4 = 6 d/(d + 2) for blocks, d Var(w_1^2) = 2 d for iid
    assert_allclose(ratio, 3 / 18, atol=0.01)


# ---- H ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [DeltaGaussian(), ASYMMETRIC, Matern(1.0, 2.5) - 0.5 * Gaussian(2.0)], ids=repr)
@pytest.mark.parametrize("dim", [2, 16, 64])
def test_h_is_positive_for_small_distances(kernel, dim):
    parts = jordan_parts(kernel, dim)
    z = np.array([0.1, 0.5, 1.0]) / parts.positive.quantile(0.9) * np.sqrt(dim)
    assert (theory.H(parts, z) > 0).all()
    assert_allclose(theory.H(parts, 0.0), 0.0, atol=1e-12)


def test_h_vanishes_without_a_second_part():
    assert_array_equal(theory.H(jordan_parts(Gaussian(), 16), [0.5, 1.0]), [0.0, 0.0])
    assert_array_equal(theory.H(jordan_parts(-Gaussian(), 16), [[0.5, 1.0]]), [[0.0, 0.0]])


def test_h_by_simulation():
    # 2 ||mu+|| ||mu-|| (E a E b - E ab) for orthogonal directions across the signs
    parts, z = jordan_parts(ASYMMETRIC, 16), np.linspace(0.3, 3, 6)
    rng = np.random.default_rng(12345)
    r1, r2 = (law.sample(50_000, rng) for law in parts.parts)
    u = rng.standard_normal((50_000, 2, 16))
    u[:, 0] /= np.linalg.norm(u[:, 0], axis=1, keepdims=True)
    u[:, 1] -= np.sum(u[:, 0] * u[:, 1], axis=1, keepdims=True) * u[:, 0]
    u[:, 1] /= np.linalg.norm(u[:, 1], axis=1, keepdims=True)
    a, b = (np.cos(np.multiply.outer(r * u[:, i, 0], z)) for i, r in enumerate((r1, r2)))
    exact = theory.H(parts, z)
    masses = 2 * parts.positive.mass * parts.negative.mass
    samples = -masses * (a - parts.positive.profile(z)) * (b - parts.negative.profile(z))
    assert np.abs(z_scores(samples, exact)).max() < 5
    assert np.abs(z_scores(-samples, exact)).max() > 5


def test_orthogonal_signs_raise_and_shared_directions_lower_the_variance():
    z = np.array([0.3, 0.7, 1.0])
    separate, shared = (theory.variance(ASYMMETRIC, 16, scheme, 16, z) for scheme in ("blocks", "shared"))
    h = theory.H(jordan_parts(ASYMMETRIC, 16), z)
    assert (shared < separate).all()
    assert (separate + h > separate).all()


def test_the_printed_algorithm_is_between_independent_and_orthogonal():
    z = spanning_lags(DeltaGaussian(), 5)[:2]
    iid, joint, blocks = (
        theory.variance(DeltaGaussian(), 16, scheme, 16, z) for scheme in ("grff", "gorf", "gorf-blocks")
    )
    assert (blocks < joint).all()
    assert (joint < iid).all()


# ---- orders of magnitude ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["grff", "gorf-blocks"])
def test_variance_falls_like_1_over_n(scheme):
    z = spanning_lags(ASYMMETRIC, 6)
    few, many = (theory.variance(ASYMMETRIC, 16, scheme, n, z) for n in (16, 160))
    assert_allclose(many, few / 10, rtol=1e-12)  # ten independent blocks


def test_iid_variance_is_the_sum_over_the_parts():
    parts, z = jordan_parts(ASYMMETRIC, 16), spanning_lags(ASYMMETRIC, 6)
    exact = sum(law.mass**2 / n * single_variance(law, z) for law, n in zip(parts.parts, (8, 4), strict=True))
    assert_allclose(theory.variance(ASYMMETRIC, 16, "grff", (8, 4), z), exact, rtol=1e-13)


def test_all_names_exist():
    for name in theory.__all__:
        assert hasattr(theory, name)
