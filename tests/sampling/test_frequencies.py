"""Frequencies: the frozen hand-over object, and what it stands for."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from krein import RandomFeatures
from krein.kernels import DeltaGaussian
from krein.sampling import Frequencies, sample_frequencies
from krein.sampling.directions import haar
from krein.spectral import jordan_parts, omega
from krein.testing import z_scores


def example(constant=0.25, phases=None):
    rng = np.random.default_rng(12345)
    return Frequencies(2 * rng.standard_normal((7, 3)), rng.standard_normal(7), constant, phases=phases)


def test_it_is_frozen_and_owns_its_arrays():
    weights, coefficients = np.ones((2, 3)), np.array([1.0, -1.0])
    frequencies = Frequencies(weights, coefficients)
    weights[0, 0] = coefficients[0] = 7.0
    assert frequencies.weights[0, 0] == frequencies.coefficients[0] == 1.0
    for name in ("weights", "coefficients", "constant"):
        with pytest.raises(FrozenInstanceError):
            setattr(frequencies, name, 0)
    for array in (frequencies.weights, frequencies.coefficients):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 5.0


def test_anything_numeric_is_converted_to_float64():
    frequencies = Frequencies([[1, 2], [3, 4]], np.array([1, -2], dtype=np.int32), np.float32(0.5))
    assert frequencies.weights.dtype == frequencies.coefficients.dtype == np.float64
    assert type(frequencies.constant) is float
    assert (frequencies.dim, frequencies.n_columns) == (2, 5)


@pytest.mark.parametrize(
    ("weights", "coefficients"),
    [
        (np.ones(3), np.ones(3)),
        (np.ones((3, 2)), np.ones(2)),
        (np.ones((3, 2)), np.ones((3, 1))),
        (np.ones((3, 2, 1)), np.ones(3)),
        (np.ones((3, 2)), 1.0),
    ],
)
def test_shapes_are_checked(weights, coefficients):
    with pytest.raises(ValueError, match=r"weights must have shape \(n, dim\) and coefficients \(n,\); got"):
        Frequencies(weights, coefficients)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("where", ["weights", "coefficients", "constant"])
def test_everything_must_be_finite(where, bad):
    fields = {"weights": np.ones((2, 2)), "coefficients": np.ones(2), "constant": 1.0}
    fields[where] = fields[where] * bad
    with pytest.raises(ValueError, match="must be finite"):
        Frequencies(**fields)


def test_phases_are_checked():
    with pytest.raises(ValueError, match=r"phases must have shape \(2,\); got \(3,\)"):
        Frequencies(np.ones((2, 2)), np.ones(2), phases=np.zeros(3))


@pytest.mark.parametrize("constant", [0.0, 0.5, -0.5])
def test_signature_and_columns(constant):
    frequencies = Frequencies(np.eye(3), np.array([2.0, -1.0, 0.5]), constant)
    signs = [1, -1, 1, 1, -1, 1] + ([np.sign(constant)] if constant else [])
    assert_array_equal(frequencies.signature, signs)
    assert frequencies.n_columns == len(signs)
    assert_allclose(frequencies.amplitudes, np.sqrt([2.0, 1.0, 0.5]))
    assert_array_equal(frequencies.radii, [1, 1, 1])


def test_phases_take_one_column_per_frequency():
    frequencies = Frequencies(np.eye(3), np.array([2.0, -1.0, 0.5]), 0.5, phases=np.zeros(3))
    assert_array_equal(frequencies.signature, [1, -1, 1, 1])
    assert frequencies.n_columns == 4
    assert_allclose(frequencies.amplitudes, np.sqrt([4.0, 2.0, 1.0]))


@pytest.mark.parametrize("shape", [(3,), (5, 3), (2, 4, 3)])
def test_evaluate_is_the_sum_it_stands_for(shape):
    frequencies = example()
    x = np.random.default_rng(1).standard_normal(shape)
    exact = np.zeros(shape[:-1])
    for index in np.ndindex(*shape[:-1]):
        exact[index] = frequencies.constant
        for w, c in zip(frequencies.weights, frequencies.coefficients, strict=True):
            exact[index] += c * np.cos(w @ x[index])
    assert_allclose(frequencies.evaluate(x), exact, atol=1e-13)


def test_evaluate_is_what_features_give():
    kernel = DeltaGaussian((1.0, -0.5), (1.0, 2.0))
    X = np.random.default_rng(1).standard_normal((6, 3))
    features = RandomFeatures(kernel, 40, random_state=0).fit(X)
    exact = features.frequencies_.evaluate(X[:, None] - X)
    assert_allclose(features.approximate_kernel(X), exact, atol=1e-13)


def test_radii_are_lengths():
    assert_allclose(example().radii, np.linalg.norm(example().weights, axis=1), rtol=1e-15)


def test_expectation_is_the_mean_over_rotations():
    frequencies, z = example(), np.array([0.3, 0.8, 1.5, 2.5])
    rotations = haar(3, 3, 20_000, np.random.default_rng(12345))
    first = (frequencies.weights @ rotations)[:, :, 0]  # w_i . e of the rotated frequencies
    samples = frequencies.constant + np.einsum(
        "rni,i->rn", np.cos(np.einsum("ri,n->rni", first, z)), frequencies.coefficients
    )
    assert np.abs(z_scores(samples, frequencies.expectation(z))).max() < 5
    plane = haar(2, 2, 20_000, np.random.default_rng(12345))  # mutant: rotations of a plane only
    first = frequencies.weights[:, :2] @ plane
    samples = frequencies.constant + np.einsum(
        "rni,i->rn", np.cos(np.einsum("ri,n->rni", first[:, :, 0], z)), frequencies.coefficients
    )
    assert np.abs(z_scores(samples, frequencies.expectation(z))).max() > 5


@pytest.mark.parametrize("shape", [(), (4,), (2, 3)])
def test_expectation_has_the_shape_of_the_distances(shape):
    frequencies, z = example(), np.full(shape, 0.9)
    exact = frequencies.constant + omega(3, 0.9 * frequencies.radii) @ frequencies.coefficients
    assert_allclose(frequencies.expectation(z), np.full(shape, exact), rtol=1e-13)


@pytest.mark.parametrize("phases", [None, np.linspace(0, 6, 7)])
def test_arrays_restore_it(phases):
    frequencies = example(phases=phases)
    again = Frequencies.from_arrays(frequencies.to_arrays())
    for name in ("weights", "coefficients", "constant", "phases", "rotated"):
        assert_array_equal(getattr(again, name), getattr(frequencies, name))


# ---- sample_frequencies ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("counts", [(4, 4), (3, 9), (20, 1)])
def test_coefficients_are_masses_over_counts(counts):
    parts = jordan_parts(DeltaGaussian((1.0, -0.5), (1.0, 2.0)), 5)
    frequencies = sample_frequencies(parts, counts, random_state=0)
    p, n = counts
    exact = np.concatenate([np.full(p, parts.positive.mass / p), np.full(n, -parts.negative.mass / n)])
    assert_allclose(frequencies.coefficients, exact, rtol=1e-15)
    assert_allclose(frequencies.coefficients.sum(), 0.5, atol=1e-14)
    assert frequencies.constant == 0.0


@pytest.mark.parametrize("radii", ["iid", "stratified"])
@pytest.mark.parametrize("directions", ["iid", "blocks", "joint", "shared", "simplex"])
def test_one_seed_gives_one_draw(directions, radii):
    parts = jordan_parts(DeltaGaussian(), 5)
    options = {"directions": directions, "radii": radii}
    a, b, c = (sample_frequencies(parts, (6, 3), random_state=seed, **options) for seed in (1, 1, 2))
    assert_array_equal(a.weights, b.weights)
    assert (a.weights != c.weights).all()
    generator = np.random.default_rng(1)
    d, e = (sample_frequencies(parts, (6, 3), random_state=generator, **options) for _ in range(2))
    assert (d.weights != e.weights).all()


def test_stages_have_streams_of_their_own():
    # another radius scheme does not shift the directions, other directions do not shift the radii
    parts = jordan_parts(DeltaGaussian(), 5)

    def draw(**options):
        return sample_frequencies(parts, (6, 6), random_state=3, **options)

    iid, strata = draw(radii="iid"), draw(radii="stratified")
    assert_allclose(iid.weights / iid.radii[:, None], strata.weights / strata.radii[:, None], atol=1e-14)
    assert (np.abs(iid.radii - strata.radii) > 1e-9).all()
    assert_allclose(draw(directions="iid").radii, iid.radii, rtol=1e-13)
    # the radii of one part do not depend on how many the other has, nor are they those of the other
    assert_allclose(sample_frequencies(parts, (9, 6), random_state=3).radii[9:], iid.radii[6:], rtol=1e-13)
    laws = parts.positive, parts.negative
    u, v = (law.cdf(r) for law, r in zip(laws, np.split(iid.radii, 2), strict=True))
    assert (np.abs(u - v) > 1e-9).all()


@pytest.mark.parametrize(
    ("counts", "options", "message"),
    [
        ((4,), {}, "counts must be 2 integers >= 1"),
        ((4, 4, 4), {}, "counts must be 2 integers >= 1"),
        ((4, 0), {}, r"counts must be 2 integers >= 1, one per part with mass; got \(4, 0\)"),
        (4, {}, "counts must be 2 integers >= 1, one per part with mass; got 4"),
        ((4.5, 4), {}, "counts must be 2 integers >= 1"),
        ((4, 4), {"directions": "qr"}, "directions must be one of"),
        ((4, 4), {"radii": "qmc"}, "radii must be one of"),
        ((4, 4), {"random_state": -1}, "random_state must be"),
    ],
)
def test_errors(counts, options, message):
    with pytest.raises(ValueError, match=message):
        sample_frequencies(jordan_parts(DeltaGaussian(), 5), counts, **options)
