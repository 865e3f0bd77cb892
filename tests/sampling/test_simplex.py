"""Simplex directions: the geometry of the vertices, the law of a block, and its exactly predicted error."""

from __future__ import annotations

import numpy as np
import pytest

from krein.kernels import DeltaGaussian, Gaussian
from krein.sampling import DIRECTIONS, Frequencies, predicted_error, sample_frequencies, sample_with_rule
from krein.sampling.directions import simplex_vertices
from krein.spectral import jordan_parts, omega
from krein.testing import z_scores

DELTA = DeltaGaussian((1.0, -0.5), (1.0, 3.0))


@pytest.mark.parametrize("dim", [1, 2, 3, 16, 300])
def test_vertices_are_a_regular_simplex(dim):
    vertices = simplex_vertices(dim)
    gram = np.full((dim + 1, dim + 1), -1 / dim)
    np.fill_diagonal(gram, 1.0)
    assert vertices.shape == (dim + 1, dim)
    np.testing.assert_allclose(vertices @ vertices.T, gram, rtol=0, atol=1e-13)
    np.testing.assert_allclose(vertices.sum(axis=0), 0, atol=1e-13 * dim)
    np.testing.assert_allclose(vertices.T @ vertices, (dim + 1) / dim * np.eye(dim), atol=1e-13)


@pytest.mark.parametrize("counts", [[8, 8], [4, 9], [1, 3]])
def test_directions_come_in_rotated_simplices_within_each_part(counts):
    dim = 3
    parts = DIRECTIONS["simplex"](dim, counts, np.random.default_rng(12345))
    for part, count in zip(parts, counts, strict=True):
        assert part.shape == (count, dim)
        for block in np.split(part, range(dim + 1, count, dim + 1)):
            off = (block @ block.T)[~np.eye(len(block), dtype=bool)]
            np.testing.assert_allclose(off, -1 / dim, atol=1e-13)
    if min(counts) > dim:  # blocks and parts are rotated on their own
        assert np.abs(parts[0][0] @ parts[1][: dim + 1].T + 1 / dim).max() > 0.01


def block_scores(blocks):
    """z-scores of E cos(t u.v) for single directions, along an axis and the diagonal, over blocks."""
    dim, t = blocks.shape[-1], np.array([1.0, 2.0, 4.0])
    axes = np.c_[np.eye(dim)[0], np.ones(dim) / np.sqrt(dim)]
    cosines = np.cos((blocks @ axes)[..., None] * t)
    return np.concatenate([z_scores(cosines.mean(axis=1), omega(dim, t)), z_scores(cosines[:, 0], omega(dim, t))])


@pytest.mark.parametrize("dim", [2, 3, 16])
def test_every_direction_is_uniform(dim):
    rng = np.random.default_rng(12345)
    blocks = DIRECTIONS["simplex"](dim, [4000 * (dim + 1)], rng)[0].reshape(4000, dim + 1, dim)
    assert np.abs(block_scores(blocks)).max() < 5
    not_rotated = np.tile(simplex_vertices(dim), (4000, 1, 1))
    tilted = not_rotated + 0.1 * rng.standard_normal(not_rotated.shape)
    assert np.abs(block_scores(tilted / np.linalg.norm(tilted, axis=2, keepdims=True))).max() > 5


# ---- the predicted error of rotated schemes: exact, also along the axes of the coordinates --------------------------


REPLICATES = 250


def replicates(scheme, dim):
    """Independent draws of one group per part: a draw of many groups, taken apart."""
    parts = jordan_parts(DELTA, dim)
    group = {"simplex": dim + 1, "spherical-radial-3": dim + 1, "spherical-radial-5": (dim + 1) * (dim + 2)}[scheme]
    counts = [REPLICATES * group] * 2
    if scheme == "simplex":
        found = sample_frequencies(parts, counts, directions="simplex", random_state=12345)
    else:
        found = sample_with_rule(parts, counts, scheme, random_state=12345)
    weights = found.weights.reshape(2, REPLICATES, group, dim).swapaxes(0, 1).reshape(REPLICATES, -1, dim)
    coefficients = REPLICATES * found.coefficients.reshape(2, REPLICATES, group).swapaxes(0, 1).reshape(REPLICATES, -1)
    constants = DELTA.profile(0.0) - coefficients.sum(axis=1)  # what the weights of a rule leave for frequency 0
    assert constants.mean() == pytest.approx(found.constant, abs=1e-10)
    return [Frequencies(*each) for each in zip(weights, coefficients, constants, strict=True)]


def prediction_scores(frequencies, dim):
    """Squared error at fixed differences minus its prediction from the same draw: mean 0 under a rotation law."""
    z, axes = np.array([0.7, 1.5, 3.0]), np.array([np.eye(dim)[0], np.ones(dim) / np.sqrt(dim)])
    found = []
    for drawn in frequencies:
        squared = (drawn.evaluate(z[:, None] * axes[:, None]) - DELTA.profile(z)) ** 2  # (axes, distances)
        found.append(squared - [predicted_error(drawn, dim, DELTA, [distance]).mean_squared for distance in z])
    return z_scores(np.array(found), 0.0)


@pytest.mark.parametrize("dim", [2, 5])
@pytest.mark.parametrize("scheme", ["simplex", "spherical-radial-3", "spherical-radial-5"])
def test_the_error_is_predicted(scheme, dim):
    assert np.abs(prediction_scores(replicates(scheme, dim), dim)).max() < 5


def test_the_prediction_is_wrong_without_rotations():
    """Frequencies along the axes of the coordinates: their error along an axis is not the predicted one."""
    dim, rng = 4, np.random.default_rng(12345)
    laws = jordan_parts(DELTA, dim).parts
    radii = np.concatenate([law.sample(dim * REPLICATES, rng).reshape(REPLICATES, -1) for law in laws], axis=1)
    coefficients = np.repeat([law.sign * law.mass / dim for law in laws], dim)
    axes = np.tile(np.eye(dim), (2, 1))
    frequencies = [Frequencies(r[:, None] * axes, coefficients) for r in radii]
    assert np.abs(prediction_scores(frequencies, dim)).max() > 5


def test_simplex_blocks_vary_about_as_little_as_orthonormal_ones():
    """d + 1 directions where a block has d: the predicted error falls accordingly, and is far below independence."""
    dim, z = 16, np.linspace(0.2, 2, 10)
    parts = jordan_parts(Gaussian(), dim)

    def mean_squared(directions):
        draws = (sample_frequencies(parts, [68], directions=directions, random_state=seed) for seed in range(60))
        return np.mean([predicted_error(found, dim, Gaussian(), z).mean_squared for found in draws])

    simplex, blocks, iid = map(mean_squared, ("simplex", "blocks", "iid"))
    assert simplex < 1.3 * blocks
    assert simplex < 0.6 * iid
