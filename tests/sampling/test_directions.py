"""Direction schemes: orthonormality, Haar law, Algorithm 1 as printed, shared directions."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from krein.sampling import DIRECTIONS
from krein.sampling.directions import BATCHED_QR_UP_TO, haar, normalise_rows, orthonormal_blocks
from krein.sampling.variance import joint_correlations
from krein.testing import z_scores

# ---- shapes and orthonormality ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("counts", [[1], [5], [3, 7], [40, 1], [8, 8], [16, 16]])
@pytest.mark.parametrize("dim", [1, 2, 8, 16, 70])
@pytest.mark.parametrize("scheme", DIRECTIONS)
def test_one_unit_vector_per_frequency(scheme, dim, counts):
    directions = DIRECTIONS[scheme](dim, counts, np.random.default_rng(12345))
    assert [part.shape for part in directions] == [(count, dim) for count in counts]
    for part in directions:
        assert_allclose(np.linalg.norm(part, axis=1), 1, atol=1e-13)


@pytest.mark.parametrize("dim", [1, 2, 5, BATCHED_QR_UP_TO, BATCHED_QR_UP_TO + 1, 100])
def test_blocks_are_orthonormal_and_the_last_one_is_cut(dim):
    rest = max(dim // 3, 1) % dim
    directions = orthonormal_blocks(dim, 3 * dim + rest, np.random.default_rng(12345))
    for start in range(0, len(directions), dim):
        block = directions[start : start + dim]
        assert_allclose(block @ block.T, np.eye(len(block)), atol=1e-13)  # dim eps, and a few reflections
    if dim > 1:  # blocks are independent, not copies
        assert np.abs(directions[:dim] @ directions[dim : 2 * dim].T - np.eye(dim)).max() > 0.1


@pytest.mark.parametrize("dim", [3, 16, 65, 256])
@pytest.mark.parametrize("count", [1, 2])
def test_fewer_directions_than_dimensions_are_orthonormal(dim, count):
    directions = orthonormal_blocks(dim, count, np.random.default_rng(12345))
    assert_allclose(directions @ directions.T, np.eye(count), atol=1e-13)


def test_no_directions():
    assert orthonormal_blocks(5, 0, np.random.default_rng(0)).shape == (0, 5)


@pytest.mark.parametrize("scheme", DIRECTIONS)
def test_dimension_1_is_a_fair_sign(scheme):
    rng = np.random.default_rng(12345)
    signs = np.array([DIRECTIONS[scheme](1, [1], rng)[0][0, 0] for _ in range(4000)])
    assert_allclose(np.abs(signs), 1, atol=1e-14)
    assert abs(z_scores(signs, 0.0)) < 5


@pytest.mark.parametrize("counts", [[5, 20], [20, 5], [16, 16]])
def test_shared_directions_are_shared(counts):
    first, second = DIRECTIONS["shared"](8, counts, np.random.default_rng(12345))
    same = min(counts)
    assert_array_equal(first[:same], second[:same])


@pytest.mark.parametrize("scheme", ["iid", "blocks", "joint"])
def test_other_directions_are_not_shared(scheme):
    first, second = DIRECTIONS[scheme](8, [8, 8], np.random.default_rng(12345))
    assert np.abs(first - second).min(axis=1).max() > 1e-3


@pytest.mark.parametrize("scheme", DIRECTIONS)
def test_directions_depend_on_the_generator_alone(scheme):
    draw = DIRECTIONS[scheme]
    a, b, c = (draw(8, [9, 4], np.random.default_rng(seed)) for seed in (1, 1, 2))
    for part in range(2):
        assert_array_equal(a[part], b[part])
        assert np.abs(a[part] - c[part]).max() > 0.1


# ---- every single direction is uniform on the sphere -----------------------------------------------------------------


def marginal_scores(directions, dim):
    """z-scores of first, second and fourth moments of coordinates; directions: (replicates, count, dim)."""
    chosen = directions[:, :, [0, dim - 1]]
    return np.concatenate(
        [
            z_scores(chosen.mean(axis=1), 0.0),
            z_scores((chosen**2).mean(axis=1), 1 / dim),
            z_scores((chosen**4).mean(axis=1), 3 / (dim * (dim + 2))),
            z_scores((chosen[:, :, 0] * chosen[:, :, 1]).mean(axis=1)[:, None], 0.0),
            z_scores((chosen[:, :, :1] ** 2 * chosen[:, :, 1:] ** 2).mean(axis=1), 1 / (dim * (dim + 2))),
        ]
    )


@pytest.mark.parametrize(("dim", "count", "replicates"), [(2, 3, 4000), (3, 5, 4000), (16, 24, 2000), (80, 30, 500)])
@pytest.mark.parametrize("scheme", DIRECTIONS)
def test_moments_of_one_direction(scheme, dim, count, replicates):
    rng = np.random.default_rng(12345)
    drawn = [DIRECTIONS[scheme](dim, [count, count], rng) for _ in range(replicates)]
    for part in range(2):
        directions = np.array([pair[part] for pair in drawn])
        assert np.abs(marginal_scores(directions, dim)).max() < 5


@pytest.mark.parametrize("dim", [2, 3, 16])
def test_first_coordinate_follows_a_beta_law(dim):
    # u_1^2 ~ Beta(1/2, (d-1)/2)
    rng = np.random.default_rng(12345)
    u = np.array([DIRECTIONS["blocks"](dim, [1], rng)[0][0, 0] for _ in range(8000)])
    levels = np.arange(1, 20) / 20
    thresholds = stats.beta(0.5, (dim - 1) / 2).ppf(levels)
    assert np.abs(z_scores(u[:, None] ** 2 <= thresholds, levels)).max() < 5
    square = normalise_rows(rng.uniform(-1, 1, (8000, dim)))  # mutant: directions of a cube
    assert np.abs(z_scores(square[:, :1] ** 2 <= thresholds, levels)).max() > 5


# ---- Haar law of whole matrices --------------------------------------------------------------------------------------


def matrix_scores(q):
    """z-scores of moments that a Haar matrix of order n has exactly; q: (replicates, n, n)."""
    n = q.shape[1]
    trace = np.trace(q, axis1=1, axis2=2)
    a, b, c, d = q[:, 0, 0], q[:, 0, 1], q[:, 1, 0], q[:, 1, 1]
    last = q[:, -1, -1]
    samples = {
        "diagonal": (a + d + last, 0.0),
        "trace": (trace, 0.0),
        "trace^2": (trace**2, 1.0),
        "trace^4": (trace**4, 3.0),
        "trace of the square": (np.einsum("kij,kji->k", q, q), 1.0),
        "diagonal^2": (a**2 * d**2, (n + 1) / (n * (n - 1) * (n + 2))),
        "row^2": (a**2 * b**2, 1 / (n * (n + 2))),
        "cycle": (a * b * c * d, -1 / (n * (n - 1) * (n + 2))),
    }
    return {name: float(z_scores(values, exact)) for name, (values, exact) in samples.items()}


@pytest.mark.parametrize(
    ("n", "replicates"),
    [(4, 20_000), (16, 8000), (BATCHED_QR_UP_TO, 600), (BATCHED_QR_UP_TO + 1, 600), (100, 400)],
)
def test_square_matrices_are_haar(n, replicates):
    scores = matrix_scores(haar(n, n, replicates, np.random.default_rng(12345)))
    assert max(map(abs, scores.values())) < 5, scores


@pytest.mark.parametrize(("n", "replicates"), [(16, 8000), (BATCHED_QR_UP_TO + 1, 600)])
def test_matrices_without_the_sign_correction_are_rejected(n, replicates):
    q, r = np.linalg.qr(np.random.default_rng(12345).standard_normal((replicates, n, n)))
    scores = matrix_scores(q)
    assert min(abs(scores[name]) for name in ("trace", "diagonal")) > 5
    corrected = q * np.sign(np.diagonal(r, axis1=1, axis2=2))[:, None, :]
    assert max(map(abs, matrix_scores(corrected).values())) < 5


@pytest.mark.parametrize("dim", [BATCHED_QR_UP_TO, BATCHED_QR_UP_TO + 1, 300])
def test_first_column_is_the_first_gaussian_vector(dim):
    # both ways orthonormalise Gaussian columns with R_11 > 0, so that the first one keeps its direction
    q = haar(dim, 5, 1, np.random.default_rng(12345))[0]
    rng = np.random.default_rng(12345)
    first = rng.standard_normal((dim, 5))[:, 0] if dim <= BATCHED_QR_UP_TO else rng.standard_normal((5, dim))[0]
    assert_allclose(q[:, 0], first / np.linalg.norm(first), atol=1e-14)


@pytest.mark.parametrize(("dim", "columns"), [(16, 5), (100, 7)])
def test_thin_matrices_are_parts_of_haar_matrices(dim, columns):
    q = haar(dim, columns, 3000, np.random.default_rng(12345))
    a, b, c, d = q[:, 0, 0], q[:, 0, 1], q[:, 1, 0], q[:, 1, 1]
    scores = [
        z_scores(np.trace(q[:, :columns], axis1=1, axis2=2), 0.0),
        z_scores(np.trace(q[:, :columns], axis1=1, axis2=2) ** 2, columns / dim),
        z_scores(a**2 * d**2, (dim + 1) / (dim * (dim - 1) * (dim + 2))),
        z_scores(a * b * c * d, -1 / (dim * (dim - 1) * (dim + 2))),
    ]
    assert np.abs(scores).max() < 5


# ---- Algorithm 1 as printed ------------------------------------------------------------------------------------------


def printed_columns(dim, s, rng):
    """Algorithm 1, literally: QR of a 2m x 2m Gaussian matrix, first d rows, columns renormalised."""
    m = max(s, dim)
    q, r = np.linalg.qr(rng.standard_normal((2 * m, 2 * m)))
    columns = (q * np.sign(np.diagonal(r)))[:dim]
    columns = columns / np.linalg.norm(columns, axis=0)
    return columns[:, :s].T, columns[:, m : m + s].T


def correlation_moments(pair):
    """Means of q^2, q^4 and of products of q within a part and between parts: what the variance of k_hat depends on."""
    first, second = pair
    within, between = first @ first.T, first @ second.T
    off = ~np.eye(len(first), dtype=bool)
    return [
        (within[off] ** 2).mean(),
        (within[off] ** 4).mean(),
        (between**2).mean(),
        (between**4).mean(),
        (within[0, 1] * within[1, -1] * within[-1, 0]),
    ]


@pytest.mark.parametrize(("dim", "s"), [(2, 3), (16, 8), (16, 16), (16, 24)])
def test_joint_has_the_law_of_the_printed_algorithm(dim, s):
    rng = np.random.default_rng(12345)
    fast = np.array([correlation_moments(DIRECTIONS["joint"](dim, [s, s], rng)) for _ in range(1500)])
    printed = np.array([correlation_moments(printed_columns(dim, s, rng)) for _ in range(1500)])
    assert np.abs(z_scores(fast - printed, 0.0)).max() < 5
    for mutant in ("iid", "blocks", "shared"):
        other = np.array([correlation_moments(DIRECTIONS[mutant](dim, [s, s], rng)) for _ in range(1500)])
        assert np.abs(z_scores(other - printed, 0.0)).max() > 5


@pytest.mark.parametrize(("dim", "s"), [(2, 2), (16, 16), (16, 48), (40, 10)])
def test_mean_square_correlation_of_joint_columns(dim, s):
    q, weights = joint_correlations(dim, [s, s])
    second, fourth = weights @ q**2, weights @ q**4
    assert_allclose(weights.sum(), 1, atol=1e-13)
    rng = np.random.default_rng(12345)
    found = np.array([correlation_moments(DIRECTIONS["joint"](dim, [s, s], rng))[:4] for _ in range(1500)])
    assert np.abs(z_scores(found, [second, fourth, second, fourth])).max() < 5
    iid = np.array([correlation_moments(DIRECTIONS["iid"](dim, [s, s], rng))[:4] for _ in range(1500)])
    assert np.abs(z_scores(iid, [second, fourth, second, fourth])).max() > 5


def test_mean_square_correlations_at_d_16():
    q, weights = joint_correlations(16, [16, 16])
    assert abs(weights @ q**2 - 0.034) < 5e-4
    rng = np.random.default_rng(12345)
    iid = np.array([correlation_moments(DIRECTIONS["iid"](16, [16, 16], rng))[0] for _ in range(1000)])
    assert abs(z_scores(iid, 1 / 16)) < 5
    first, _ = DIRECTIONS["blocks"](16, [16, 16], rng)
    assert_allclose((first @ first.T) ** 2, np.eye(16), atol=1e-14)
