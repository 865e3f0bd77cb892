"""Structured weights: each fast product is the dense product, for every dtype, shape and container."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

import krein
from krein.kernels import DeltaGaussian
from krein.sampling import STRUCTURED_DIRECTIONS, Frequencies
from krein.sampling.structured import (
    CirculantWeights,
    HadamardWeights,
    StackedWeights,
    hadamard_transform,
    structured_from_arrays,
)

SHAPES = [(1, 3), (2, 5), (3, 4), (3, 9), (16, 16), (16, 7), (22, 50), (64, 130), (100, 130), (128, 256)]  # (d, s)
KERNEL = DeltaGaussian((1.0, -0.5), (1.0, 3.0))


def draw(scheme, dim, count, seed=12345):
    rng = np.random.default_rng(seed)
    weights = STRUCTURED_DIRECTIONS[scheme](dim, [count], rng)[0]
    return weights.rescaled(rng.uniform(0.5, 3.0, count))


def dense_hadamard(weights: HadamardWeights) -> np.ndarray:
    """The same matrix as a product of dense factors: H D_k P ... H D_1, cut to d columns and s rows."""
    size = weights.diagonals.shape[-1]
    H, blocks = scipy.linalg.hadamard(size) / np.sqrt(size), []
    for block, stages in enumerate(weights.diagonals):
        product = np.eye(size)
        for stage, diagonal in enumerate(stages):
            if weights.permutation is not None and stage == len(stages) - 1:
                product = product[weights.permutation[block]]
            product = H @ np.diag(diagonal) @ product
        blocks.append(product[:, : weights.dim])
    return weights.scales[:, None] * np.concatenate(blocks)[: len(weights.radii)]


def dense_circulant(weights: CirculantWeights) -> np.ndarray:
    blocks = [scipy.linalg.circulant(g).T * signs for g, signs in zip(weights.generators, weights.signs, strict=True)]
    return weights.radii[:, None] * np.concatenate(blocks)[: len(weights.radii)]


def dense(weights):
    if isinstance(weights, StackedWeights):
        return np.concatenate([dense(piece) for piece in weights.pieces])
    return dense_hadamard(weights) if isinstance(weights, HadamardWeights) else dense_circulant(weights)


# ---- the Hadamard transform -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 2, 4, 32, 64, 128, 1024, 4096])
def test_hadamard_transform_is_that_of_scipy(size):
    x = np.random.default_rng(12345).standard_normal((3, size))
    expected = x @ scipy.linalg.hadamard(size) / np.sqrt(size)
    np.testing.assert_allclose(hadamard_transform(x), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-13), (np.float32, 1e-5)])
@pytest.mark.parametrize("size", [1, 8, 64, 256, 8192, 1 << 14])  # above 4096 the transform calls itself
def test_hadamard_transform_is_an_orthogonal_involution(size, dtype, tolerance):
    x = np.random.default_rng(12345).standard_normal((5, size)).astype(dtype)
    once = hadamard_transform(x)
    assert once.dtype == dtype
    np.testing.assert_allclose(hadamard_transform(once), x, rtol=0, atol=10 * tolerance)
    np.testing.assert_allclose(once @ once.T, x @ x.T, rtol=0, atol=size * tolerance)


# ---- fast product = dense product -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("dim", "count"), SHAPES)
@pytest.mark.parametrize("scheme", STRUCTURED_DIRECTIONS)
def test_fast_product_is_the_dense_product(scheme, dim, count):
    weights = draw(scheme, dim, count)
    W, X = dense(weights), np.random.default_rng(12345).standard_normal((70, dim))
    assert weights.shape == W.shape == (count, dim)
    np.testing.assert_allclose(weights.toarray(), W, rtol=0, atol=1e-12 * dim)
    np.testing.assert_allclose(weights.apply(X), X @ W.T, rtol=0, atol=1e-12 * dim)
    np.testing.assert_allclose(np.linalg.norm(W, axis=1), weights.radii, rtol=1e-10)


@pytest.mark.parametrize("scheme", STRUCTURED_DIRECTIONS)
def test_many_rows_are_worked_on_in_pieces(scheme):
    weights = draw(scheme, 700, 1500)  # padded to 1024: 64 rows at a time
    X = np.random.default_rng(12345).standard_normal((131, 700))
    np.testing.assert_allclose(weights.apply(X), X @ dense(weights).T, rtol=0, atol=1e-10)


@pytest.mark.parametrize(("dim", "count"), [(16, 40), (22, 50), (100, 130)])
@pytest.mark.parametrize("scheme", STRUCTURED_DIRECTIONS)
def test_float32_and_sparse_rows(scheme, dim, count):
    weights = draw(scheme, dim, count)
    X = np.random.default_rng(12345).standard_normal((20, dim))
    X[np.abs(X) < 1] = 0
    reference = X @ dense(weights).T
    for rows in (X, sp.csr_matrix(X), sp.csr_array(X)):
        single = weights.apply(rows.astype(np.float32))
        assert single.dtype == np.float32
        # every stage is orthogonal and rounds by eps: |error| < (stages and factors) eps |w| |x|
        bound = 40 * np.finfo(np.float32).eps * 3.0 * np.linalg.norm(X, axis=1, keepdims=True)
        assert np.all(np.abs(single - reference) < bound)
        np.testing.assert_allclose(weights.apply(rows), reference, rtol=0, atol=1e-11)


@pytest.mark.parametrize("scheme", STRUCTURED_DIRECTIONS)
def test_mutants_are_not_the_dense_product(scheme):
    weights = draw(scheme, 16, 32)
    X = np.random.default_rng(12345).standard_normal((5, 16))
    other = dense(draw(scheme, 16, 32, seed=1))
    reversed_rows = dense(weights).reshape(2, 16, 16)[:, ::-1].reshape(32, 16)
    for mutant in (other, reversed_rows, np.roll(dense(weights), 1, axis=1)):
        assert np.abs(weights.apply(X) - X @ mutant.T).max() > 1e-3


@pytest.mark.parametrize("scheme", STRUCTURED_DIRECTIONS)
def test_rows_have_the_lengths_asked_for_and_keep_their_directions(scheme):
    rng = np.random.default_rng(12345)
    weights = STRUCTURED_DIRECTIONS[scheme](22, [50], rng)[0]
    np.testing.assert_allclose(weights.radii, 1)
    radii = rng.uniform(0, 5, 50)
    again = weights.rescaled(radii).rescaled(2 * radii)  # twice: lengths are set, not multiplied
    np.testing.assert_allclose(dense(again), 2 * radii[:, None] * dense(weights), rtol=0, atol=1e-12)


# ---- stacked parts, and files ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", STRUCTURED_DIRECTIONS)
def test_stacked_weights_are_the_parts_below_one_another(scheme):
    stacked = StackedWeights((draw(scheme, 22, 40), draw(scheme, 22, 9)))
    X = np.random.default_rng(12345).standard_normal((6, 22))
    assert stacked.shape == (49, 22)
    np.testing.assert_allclose(stacked.radii, np.linalg.norm(dense(stacked), axis=1), rtol=1e-10)
    np.testing.assert_allclose(stacked.apply(X), X @ dense(stacked).T, rtol=0, atol=1e-11)
    np.testing.assert_array_equal(stacked.toarray(), np.concatenate([piece.toarray() for piece in stacked.pieces]))


@pytest.mark.parametrize("scheme", STRUCTURED_DIRECTIONS)
def test_arrays_define_the_weights(scheme):
    stacked = StackedWeights((draw(scheme, 22, 40), draw(scheme, 22, 9)))
    again = structured_from_arrays(stacked.to_arrays())
    X = np.random.default_rng(12345).standard_normal((6, 22))
    np.testing.assert_array_equal(again.apply(X), stacked.apply(X))
    np.testing.assert_array_equal(again.radii, stacked.radii)


@pytest.mark.parametrize("scheme", [*STRUCTURED_DIRECTIONS, "qmc", "qmc-halton", "quadrature", "simplex"])
def test_saved_maps_come_back_bit_for_bit(scheme, tmp_path):
    X = np.random.default_rng(12345).standard_normal((9, 22))
    features = krein.make_features(scheme, KERNEL, 400, random_state=0).fit(X)
    krein.save(features, tmp_path / "map.npz")
    again = krein.load(tmp_path / "map.npz")
    np.testing.assert_array_equal(again.transform(X), features.transform(X))
    assert again.frequencies_.rotated == features.frequencies_.rotated


@pytest.mark.parametrize("scheme", STRUCTURED_DIRECTIONS)
def test_structured_frequencies_estimate_what_dense_ones_do(scheme):
    features = krein.make_features(scheme, KERNEL, 400, random_state=0).fit(np.eye(1, 22))
    found = features.frequencies_
    matrix = Frequencies(dense(found.weights), found.coefficients, found.constant)
    differences = np.random.default_rng(12345).standard_normal((8, 22))
    np.testing.assert_allclose(found.evaluate(differences), matrix.evaluate(differences), rtol=0, atol=1e-12)
    assert not found.rotated
    with pytest.raises(ValueError, match="cannot for structured"):
        krein.theory.predicted_error(found, 22, KERNEL, [1.0])
