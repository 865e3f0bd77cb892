"""Jordan parts: sign changes, atoms, empty parts, and the law of each part."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from krein.kernels import DeltaGaussian, Gaussian, Laplacian, Matern
from krein.spectral import RadialMeasure, jordan, omega, radial_measure

GRID = np.linspace(0.0, 10.0, 501)


def measure_of(density, cumulative, *atoms: tuple[float, float], dim=3, grid=GRID, error=0.0) -> RadialMeasure:
    return RadialMeasure(dim, density, cumulative, grid, atoms, error)


def uniform(mass: float, low: float, high: float, *atoms: tuple[float, float], dim: int = 3) -> RadialMeasure:
    """Constant density on [low, high]."""
    return measure_of(
        lambda r: np.where((r >= low) & (r <= high), mass / (high - low), 0.0),
        lambda r: mass * np.clip((np.asarray(r) - low) / (high - low), 0.0, 1.0),
        *atoms,
        dim=dim,
        grid=np.linspace(low, high, 101),
    )


def nothing(*atoms: tuple[float, float], dim: int = 3) -> RadialMeasure:
    return measure_of(np.zeros_like, np.zeros_like, *atoms, dim=dim)


# ---- sign changes ---------------------------------------------------------------------------------------------------


def test_number_and_position_of_sign_changes():
    # the density (r-1)(r-2)(r-4)(r-7): positive, negative, positive, negative, positive on [0, 10]
    polynomial = np.polynomial.Polynomial.fromroots([1.0, 2.0, 4.0, 7.0])
    primitive = polynomial.integ()
    parts = jordan(measure_of(polynomial, primitive))
    # the product of four factors is good to 4 eps, and so is the root
    assert_allclose(parts.positive.left, [0, 2, 7], atol=1e-14)
    assert_allclose(parts.positive.right, [1, 4, 10], atol=1e-14)
    assert_allclose(parts.negative.left, [1, 4], atol=1e-14)
    assert_allclose(parts.negative.right, [2, 7], atol=1e-14)
    edges = np.array([0.0, 1.0, 2.0, 4.0, 7.0, 10.0])
    masses = np.diff(primitive(edges))
    assert_allclose(parts.positive.piece_mass, masses[::2], rtol=1e-13)
    assert_allclose(parts.negative.piece_mass, -masses[1::2], rtol=1e-13)
    assert_allclose(parts.total_mass, np.abs(masses).sum(), rtol=1e-13)


def test_roots_on_grid_points_and_double_roots():
    double = np.polynomial.Polynomial.fromroots([3.0, 3.0, GRID[200]])  # touches 0 at 3, changes sign at 4
    parts = jordan(measure_of(double, double.integ()))
    assert len(parts.positive.left) == len(parts.negative.left) == 1
    assert_allclose((parts.negative.right[0], parts.positive.left[0]), GRID[200], rtol=1e-14)


def test_sign_changes_across_a_gap_where_the_density_underflows():
    # chi laws of dimension 1000 around radii 31.6 and 31600: the density is exactly 0 between the two
    kernel = DeltaGaussian((1.0, -0.25), (1.0, 1e-3))
    parts = jordan(radial_measure(kernel, 1000))
    assert_allclose((parts.positive.mass, parts.negative.mass), (1.0, 0.25), rtol=1e-13)
    assert (len(parts.positive.left), len(parts.negative.left)) == (1, 1)


@pytest.mark.parametrize("dim", [2, 3, 16, 256])
def test_oscillating_densities(dim):
    wave = measure_of(np.sin, lambda r: 1 - np.cos(r), dim=dim, grid=np.linspace(0.0, 20 * np.pi, 1001))
    parts = jordan(wave)
    assert_allclose(parts.positive.left, 2 * np.pi * np.arange(10), atol=1e-12)
    assert_allclose(parts.negative.left, 2 * np.pi * np.arange(10) + np.pi, atol=1e-12)
    assert_allclose((parts.positive.mass, parts.negative.mass), (20.0, 20.0), rtol=1e-13)


def test_parts_do_not_overlap():
    parts = jordan(radial_measure(DeltaGaussian((1.0, -0.9, 0.3), (1.0, 1.5, 4.0)), 3))
    for law in parts.parts:
        inside = (law.left + law.right) / 2
        assert (np.sign(law.measure.density(inside)) == law.sign).all()
    pieces = sorted(piece for law in parts.parts for piece in zip(law.left, law.right, strict=True))
    assert len(pieces) == 3
    assert all(right <= left for (_, right), (left, _) in pairwise(pieces))


# ---- empty parts, constants, errors ---------------------------------------------------------------------------------


def test_positive_definite_kernels_have_an_empty_negative_part():
    parts = jordan(radial_measure(Gaussian(), 5))
    assert parts.negative.mass == 0.0
    assert parts.parts == (parts.positive,)
    parts = jordan(radial_measure(-2.0 * Matern(), 5))
    assert parts.positive.mass == 0.0
    assert parts.parts == (parts.negative,)
    assert_allclose(parts.negative.mass, 2.0, rtol=1e-14)


def test_rounding_is_not_a_part():
    # the density should be 0 beyond 5, and is so to rounding
    def density(r):
        return np.where(r < 5, 1.0, -1e-15)

    def cumulative(r):
        return np.minimum(r, 5.0) - 1e-15 * np.maximum(np.asarray(r) - 5.0, 0.0)

    assert jordan(measure_of(density, cumulative)).negative.mass == 0.0


def test_a_part_below_the_error_of_the_measure_is_not_a_part():
    polynomial = np.polynomial.Polynomial.fromroots([1.0])  # masses -1/2 and 81/2
    for error, parts in ((0.1, 2), (0.15, 1)):
        assert len(jordan(measure_of(polynomial, polynomial.integ(), error=error)).parts) == parts


def test_constants_are_kept_apart():
    parts = jordan(uniform(2.0, 1.0, 3.0, (0.0, 5.0), (0.0, -1.5)))
    assert parts.constant == 3.5
    assert parts.total_mass == 2.0
    assert parts.negative.mass == 0.0


@pytest.mark.parametrize("measure", [nothing(), nothing((0.0, 2.0)), nothing((1.0, 0.0)), 0.0 * uniform(2.0, 1.0, 3.0)])
def test_a_constant_has_no_frequencies(measure):
    with pytest.raises(ValueError, match="nothing but a constant"):
        jordan(measure)


# ---- atoms ----------------------------------------------------------------------------------------------------------


def test_atoms_alone():
    parts = jordan(nothing((0.0, 4.0), (2.0, 1.0), (5.0, -0.5), (7.0, 3.0)))
    assert parts.constant == 4.0
    assert_array_equal(parts.positive.left, [2.0, 7.0])
    assert_array_equal(parts.positive.piece_mass, [1.0, 3.0])
    assert_array_equal(parts.negative.left, [5.0])
    law = parts.positive
    assert_allclose(law.cdf([0.0, 1.999, 2.0, 5.0, 6.999, 7.0, 9.0]), [0, 0, 0.25, 0.25, 0.25, 1, 1])
    assert_array_equal(law.quantile([0.0, 0.1, 0.25, 0.2500001, 0.9, 1.0]), [2, 2, 2, 7, 7, 7])
    z = np.linspace(0, 3, 7)
    assert_allclose(law.profile(z), (omega(3, 2 * z) + 3 * omega(3, 7 * z)) / 4, atol=1e-15)
    assert_allclose(law.moment(2.0), (4 + 3 * 49) / 4, rtol=1e-14)


def test_an_atom_inside_a_density():
    law = jordan(uniform(2.0, 1.0, 3.0, (2.0, 2.0))).positive  # half of the mass at 2, a quarter on each side
    assert_allclose(law.mass, 4.0)
    assert_allclose(law.cdf([1.0, 1.5, 2 - 1e-12, 2.0, 2.5, 3.0]), [0, 0.125, 0.25, 0.75, 0.875, 1], atol=1e-12)
    u = [0.0, 0.125, 0.25, 0.2500001, 0.5, 0.75, 0.875, 1.0]
    assert_allclose(law.quantile(u), [1, 1.5, 2, 2, 2, 2, 2.5, 3], atol=1e-12)
    z = np.linspace(0, 3, 7)
    smooth = jordan(uniform(2.0, 1.0, 3.0)).positive.profile(z)
    assert_allclose(law.profile(z), smooth / 2 + omega(3, 2 * z) / 2, atol=1e-12)


def test_an_atom_of_the_other_sign_inside_a_density():
    parts = jordan(uniform(2.0, 1.0, 3.0, (2.0, -0.5)))
    assert_allclose((parts.positive.mass, parts.negative.mass), (2.0, 0.5))
    assert_array_equal(parts.negative.quantile([0.0, 0.5, 1.0]), 2.0)
    assert_allclose(parts.positive.quantile([0.25, 0.5, 0.75]), [1.5, 2.0, 2.5], atol=1e-12)
    assert_allclose(parts.positive.cdf([1.5, 2.0, 2.5]), [0.25, 0.5, 0.75], atol=1e-12)


@pytest.mark.parametrize("radius", [0.25, 1.0, 3.0, 8.0])
def test_atoms_outside_and_at_the_ends_of_the_density(radius):
    law = jordan(uniform(3.0, 1.0, 3.0, (radius, 1.0))).positive
    assert_allclose(law.mass, 4.0)
    share = (np.arange(10_000) + 0.5) / 10_000
    exact = np.sort(np.concatenate([np.full(2500, radius), 1 + 2 * (np.arange(7500) + 0.5) / 7500]))
    assert_allclose(law.quantile(share), exact, atol=2 / 7500)
    assert_allclose(law.cdf(10.0), 1.0)


def test_sums_join_atoms_of_the_same_radius():
    total = nothing((2.0, 1.0), (0.0, 1.0)) + nothing((2.0, -0.25), (0.0, 2.0))
    parts = jordan(total)
    assert parts.constant == 3.0
    assert_allclose((parts.positive.mass, parts.negative.mass), (0.75, 0.0))
    with pytest.raises(ValueError, match="nothing but a constant"):
        jordan(nothing((2.0, 1.0)) + nothing((2.0, -1.0)))


def test_sampling_atoms_and_density():
    law = jordan(uniform(2.0, 1.0, 3.0, (2.0, 2.0))).positive
    radii = law.sample(20_000, np.random.default_rng(12345))
    hits = np.mean(radii == 2.0)
    assert abs(hits - 0.5) / np.sqrt(0.25 / 20_000) < 5
    assert abs(np.mean(radii < 2.0) - 0.25) / np.sqrt(3 / 16 / 20_000) < 5


# ---- the law of a part ----------------------------------------------------------------------------------------------

FOUR_ROOTS = np.polynomial.Polynomial.fromroots([1.0, 2.0, 4.0, 7.0])
LAWS = {
    "gaussian": radial_measure(Gaussian(), 16),
    "three pieces": measure_of(FOUR_ROOTS, FOUR_ROOTS.integ()),
    "heavy": radial_measure(Laplacian(), 2),
    "delta": radial_measure(DeltaGaussian(), 3),
    "with atoms": uniform(2.0, 1.0, 3.0, (2.0, 2.0), (5.0, 1.0)),
    "from zero": uniform(1.0, 0.0, 2.0),
}


@pytest.mark.parametrize("name", LAWS)
def test_quantiles_are_smallest_radii(name):
    law = jordan(LAWS[name]).positive
    u = np.concatenate([np.linspace(1e-6, 1, 301), [0.25, 0.5]])
    r = law.quantile(u)
    assert (law.cdf(r) >= u - 1e-13).all()
    assert (law.cdf(r * (1 - 1e-9)) <= u + 1e-12).all()
    assert r.min() >= law.left[0]
    assert r.max() <= law.right[-1]


@pytest.mark.parametrize("name", LAWS)
def test_cdfs_rise_from_0_to_1(name):
    law = jordan(LAWS[name]).positive
    r = np.concatenate([[0.0], np.geomspace(max(law.left[0], 1e-9) / 2, law.right[-1] * 2, 1000)])
    values = law.cdf(r)
    assert values[0] == 0.0
    assert values[-1] == 1.0
    assert (np.diff(values) >= 0).all()
    scalar = law.cdf(float(r[500]))
    assert np.shape(scalar) == ()
    assert_allclose(scalar, values[500])


@pytest.mark.parametrize("name", LAWS)
def test_quantiles_at_the_ends(name):
    law = jordan(LAWS[name]).positive
    assert_array_equal(law.quantile([0.0, 1.0]), [law.left[0], law.right[-1]])


@pytest.mark.parametrize("u", [-1e-9, 1 + 1e-9, [0.5, 2.0]])
def test_quantiles_outside_0_1_are_refused(u):
    with pytest.raises(ValueError, match=r"u must lie in \[0, 1\]"):
        jordan(LAWS["gaussian"]).positive.quantile(u)


@pytest.mark.parametrize("name", LAWS)
def test_nodes_are_a_probability_law(name):
    law = jordan(LAWS[name]).positive
    for order in (5, 12):
        radii, weights = law.nodes(order)
        assert (weights > 0).all()
        assert_allclose(weights.sum(), 1.0, rtol=1e-13)
        assert law.left[0] <= radii.min()
        assert radii.max() <= law.right[-1]


def test_moments_of_pieces():
    parts = jordan(LAWS["three pieces"])
    for law, intervals in ((parts.positive, [(0, 1), (2, 4), (7, 10)]), (parts.negative, [(1, 2), (4, 7)])):
        for power in (1, 2, 5):
            primitive = (FOUR_ROOTS * np.polynomial.Polynomial([0.0, 1.0]) ** power).integ()
            exact = abs(sum(primitive(b) - primitive(a) for a, b in intervals)) / law.mass
            # the rule leaves out probability 1e-14 at both ends, and is exact for polynomials
            assert_allclose(law.moment(power), exact, rtol=1e-12)


def test_expectations_of_several_functions_at_once():
    law = jordan(LAWS["gaussian"]).positive
    powers = np.array([[1.0], [2.0], [3.0]])
    exact = [stats.chi(16).moment(power) for power in (1, 2, 3)]
    assert_allclose(law.expect(lambda r: r**powers), exact, rtol=1e-11)


@pytest.mark.parametrize("shape", [(), (4,), (2, 3)])
def test_profiles_have_the_shape_of_the_distances(shape):
    z = np.full(shape, 0.7)
    assert_allclose(jordan(LAWS["gaussian"]).positive.profile(z), np.full(shape, np.exp(-0.245)), rtol=1e-12)


def test_samples_follow_the_cdf():
    rng = np.random.default_rng(12345)
    parts = jordan(LAWS["delta"])
    for law, other in ((parts.positive, parts.negative), (parts.negative, parts.positive)):
        thresholds = law.quantile(np.arange(1, 20) / 20)
        error = np.sqrt(np.arange(1, 20) / 20 * (1 - np.arange(1, 20) / 20) / 40_000)
        share = np.mean(law.sample(40_000, rng)[:, None] <= thresholds, axis=0)
        assert (np.abs(share - np.arange(1, 20) / 20) < 5 * error).all()
        wrong = np.mean(other.sample(40_000, rng)[:, None] <= thresholds, axis=0)
        assert (np.abs(wrong - np.arange(1, 20) / 20) > 5 * error).any()
