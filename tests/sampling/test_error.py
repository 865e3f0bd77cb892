"""Predicted errors: the exact formula against dense sums and against the errors of actual draws."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from krein.kernels import DeltaGaussian, Gaussian, Polynomial, PolynomialOnSphere
from krein.kernels.base import distances
from krein.sampling import Frequencies, PredictedError, predicted_error, sample_frequencies
from krein.sampling.directions import haar
from krein.sampling.error import OmegaTransform, pair_sum, weighted_distances
from krein.spectral import jordan_parts, omega
from krein.testing import z_scores
from krein.theory import variance

SCHEMES = ("iid", "blocks", "joint", "shared", "simplex")
KERNEL = DeltaGaussian((1.0, -0.5), (1.0, 2.0))


def random_frequencies(n=12, dim=5, constant=0.0, seed=12345, scale=1.0):
    rng = np.random.default_rng(seed)
    return Frequencies(scale * rng.standard_normal((n, dim)), rng.standard_normal(n), constant)


# ---- F(t) = int Omega_d(t z) rho(dz) --------------------------------------------------------------------------------


@pytest.mark.parametrize("reach", [1e-3, 2.0, 300.0])
@pytest.mark.parametrize("dim", [1, 2, 3, 16, 256])
def test_transform_is_the_direct_sum(dim, reach):
    rng = np.random.default_rng(12345)
    z, weights = reach * rng.random(500), rng.standard_normal(500) / 500
    for top in (5.0, 80.0, 900.0):
        t = np.concatenate([[0.0], np.sort(rng.random(300)) * top]) / reach
        direct = omega(dim, t[:, None] * z) @ weights
        # a spline of step h = 0.02/reach: h^4/384 max|F''''|, |F''''| <= reach^4 sum|weights|: 4e-10
        assert_allclose(OmegaTransform(dim, z, weights)(t), direct, atol=1e-8 * np.abs(weights).sum())


@pytest.mark.parametrize("dim", [2, 16])
def test_transform_far_out_is_summed_directly(dim):
    rng = np.random.default_rng(12345)
    z, weights = rng.random(40), rng.random(40)
    transform = OmegaTransform(dim, z, weights)
    t = np.array([[0.5, 999.0, 1001.0], [1e4, 3e5, 2.0]])
    assert_allclose(transform(t), omega(dim, t[..., None] * z) @ weights, atol=1e-8 * weights.sum())
    assert transform(t).shape == (2, 3)


def test_transform_grows_its_table_where_asked():
    rng = np.random.default_rng(12345)
    z, weights = rng.random(40), rng.random(40)
    transform = OmegaTransform(3, z, weights)
    for top in (1.0, 30.0, 2.0, 400.0, 5.0):
        t = np.linspace(0, top, 50)
        assert_allclose(transform(t), omega(3, t[:, None] * z) @ weights, atol=1e-8 * weights.sum())


def test_transform_of_zero_distances():
    transform = OmegaTransform(4, np.zeros(3), np.array([0.5, 0.25, -0.5]))
    assert_allclose(transform(np.array([0.0, 3.0, 1e9])), 0.25)


# ---- the formula ----------------------------------------------------------------------------------------------------


def dense(frequencies, dim, kernel, z, rho, *, minus=True, plus=True):
    """c^T A c - 2 c^T b + int k^2 rho with loops over all pairs; the constant is one more frequency 0."""
    w, c = frequencies.weights, list(frequencies.coefficients)
    w = np.vstack([w, np.zeros(w.shape[1])])
    c = [*c, frequencies.constant]
    k = kernel.profile(z)
    total = 0.0
    for i in range(len(c)):
        for j in range(len(c)):
            a = rho @ omega(dim, np.linalg.norm(w[i] - w[j]) * z) if minus else 0.0
            b = rho @ omega(dim, np.linalg.norm(w[i] + w[j]) * z) if plus else 0.0
            total += c[i] * c[j] * (a + b) / 2
        total -= 2 * c[i] * (rho * k) @ omega(dim, np.linalg.norm(w[i]) * z)
    return total + rho @ k**2


@pytest.mark.parametrize("constant", [0.0, -0.7])
@pytest.mark.parametrize("kernel", [KERNEL, Gaussian(), PolynomialOnSphere(1.0, 3)], ids=repr)
@pytest.mark.parametrize("dim", [1, 2, 5, 64])
def test_predicted_error_is_the_dense_formula(dim, kernel, constant):
    frequencies = random_frequencies(dim=dim, constant=constant)
    rng = np.random.default_rng(1)
    z, weights = 2 * rng.random(30), rng.random(30)
    found = predicted_error(frequencies, dim, kernel, z, weights=weights)
    rho = weights / weights.sum()
    # three sums of spline errors 4e-10, times sum |c|^2
    tolerance = 1e-8 * np.abs([*frequencies.coefficients, constant]).sum() ** 2
    assert_allclose(found.mean_squared, dense(frequencies, dim, kernel, z, rho), atol=tolerance)
    bias = frequencies.expectation(z) - kernel.profile(z)
    assert_allclose(found.squared_bias, rho @ bias**2, rtol=1e-12)
    assert_allclose(found.kernel_mean_square, rho @ kernel.profile(z) ** 2, rtol=1e-12)
    equal = predicted_error(frequencies, dim, kernel, z.reshape(5, 6))
    assert_allclose(equal.mean_squared, dense(frequencies, dim, kernel, z, np.full(30, 1 / 30)), atol=tolerance)


def test_long_frequencies():
    frequencies = random_frequencies(scale=2000.0)  # beyond the spline
    z = np.linspace(0, 2, 9)
    exact = dense(frequencies, 5, Gaussian(), z, np.full(9, 1 / 9))
    tolerance = 1e-8 * np.abs(frequencies.coefficients).sum() ** 2
    assert_allclose(predicted_error(frequencies, 5, Gaussian(), z).mean_squared, exact, atol=tolerance)


def test_zero_distances_only():
    frequencies = random_frequencies(constant=0.3)
    found = predicted_error(frequencies, 5, Gaussian(), [0.0, 0.0])
    exact = (frequencies.coefficients.sum() + 0.3 - 1) ** 2
    assert_allclose((found.mean_squared, found.squared_bias), exact, rtol=1e-12)
    assert_allclose(found.variance, 0.0, atol=1e-12)


def test_pairs_in_blocks_are_pairs_at_once(monkeypatch):
    frequencies = random_frequencies(n=37)
    transform = OmegaTransform(5, np.linspace(0, 1, 9), np.full(9, 1 / 9))
    at_once = pair_sum(frequencies.weights, frequencies.coefficients, transform)
    monkeypatch.setattr("krein.sampling.error.PAIRS_AT_ONCE", 100)
    assert_allclose(pair_sum(frequencies.weights, frequencies.coefficients, transform), at_once, rtol=1e-12)


def test_a_perfect_approximation_has_no_error():
    # the kernel cos(w.(x - y)) averaged over rotations is Omega_d(|w| z); its constant part is a constant
    frequencies = Frequencies(np.zeros((1, 3)), np.array([0.6]), 0.4)
    found = predicted_error(frequencies, 3, Gaussian(1e6), np.linspace(0, 2, 9))
    assert abs(found.mean_squared) < 1e-8
    assert found.relative < 1e-4


def test_properties():
    error = PredictedError(mean_squared=0.05, squared_bias=0.01, kernel_mean_square=0.2)
    assert_allclose(error.variance, 0.04)
    assert_allclose(error.relative, 0.5)
    assert PredictedError(-1e-17, 0.0, 1.0).relative == 0.0


@pytest.mark.parametrize(
    ("z", "weights", "message"),
    [
        ([], None, "distances must be a non-empty array"),
        ([1.0, -1.0], None, "distances must be"),
        ([1.0, np.nan], None, "distances must be"),
        ([1.0, np.inf], None, "distances must be"),
        ([1.0, 2.0], [1.0], "weights must be"),
        ([1.0, 2.0], [1.0, -1.0], "weights must be"),
        ([1.0, 2.0], [0.0, 0.0], "weights must be"),
        ([1.0, 2.0], [1.0, np.nan], "weights must be"),
    ],
)
def test_distances_and_weights_are_checked(z, weights, message):
    with pytest.raises(ValueError, match=message):
        predicted_error(random_frequencies(), 5, Gaussian(), z, weights=weights)


def test_what_cannot_be_predicted_is_refused():
    frequencies = random_frequencies()
    with pytest.raises(TypeError, match="kernel must be a radial kernel"):
        predicted_error(frequencies, 5, Polynomial(), [1.0])
    with pytest.raises(TypeError, match="frequencies must be Frequencies"):
        predicted_error(frequencies.weights, 5, Gaussian(), [1.0])
    with pytest.raises(ValueError, match=r"dim must be an integer >= 1; got 5\.0"):
        predicted_error(frequencies, 5.0, Gaussian(), [1.0])
    with pytest.raises(ValueError, match=r"dimension of the frequencies \(5\); got 6"):
        predicted_error(frequencies, 6, Gaussian(), [1.0])
    w, c = frequencies.weights, frequencies.coefficients
    for other in (Frequencies(w, c, rotated=False), Frequencies(w, c, phases=np.zeros(12))):
        with pytest.raises(ValueError, match="invariant under rotations"):
            predicted_error(other, 5, Gaussian(), [1.0])


def test_weights_are_normalised():
    z, rho = weighted_distances([[1.0, 2.0], [0.0, 3.0]], [1, 1, 0, 6])
    assert_allclose(z, [1, 2, 0, 3])
    assert_allclose(rho, [1 / 8, 1 / 8, 0, 6 / 8])


# ---- against the errors of actual draws -----------------------------------------------------------------------------


def rows(dim):
    return np.random.default_rng(2).standard_normal((12, dim)) / np.sqrt(dim) * 1.2


def measured(frequencies, kernel, X):
    """Mean squared error over all ordered pairs of rows, the diagonal included."""
    return np.mean((frequencies.evaluate(X[:, None] - X) - kernel(X)) ** 2)


@pytest.mark.parametrize("dim", [2, 16])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_predicted_minus_measured_error_over_200_draws(scheme, dim):
    parts, X = jordan_parts(KERNEL, dim), rows(dim)
    z = distances(X, X)
    found, predicted = [], []
    for seed in range(200):
        frequencies = sample_frequencies(parts, (dim + 3, dim), directions=scheme, random_state=seed)
        found.append(measured(frequencies, KERNEL, X))
        predicted.append(predicted_error(frequencies, dim, KERNEL, z).mean_squared)
    assert abs(z_scores(np.array(found) - predicted, 0.0)) < 5


@pytest.mark.parametrize("dim", [2, 16])
def test_wrong_predictions_are_rejected(dim):
    # one set of frequencies, many rotations: the mean error is known to a few per mille
    parts, X = jordan_parts(KERNEL, dim), rows(dim)
    frequencies = sample_frequencies(parts, (dim + 3, dim), random_state=0)
    rotations = haar(dim, dim, 2000, np.random.default_rng(12345))
    w, c = frequencies.weights, frequencies.coefficients
    found = np.array([measured(Frequencies(w @ q, c), KERNEL, X) for q in rotations])
    z = distances(X, X).ravel()
    rho = np.full(len(z), 1 / len(z))
    assert abs(z_scores(found, dense(frequencies, dim, KERNEL, z, rho))) < 5
    assert abs(z_scores(found, predicted_error(frequencies, dim, KERNEL, z).mean_squared)) < 5
    assert abs(z_scores(found, dense(frequencies, 3 * dim // 2, KERNEL, z, rho))) > 5  # Omega of another dimension
    assert abs(z_scores(found, dense(frequencies, dim, KERNEL, z, rho, minus=False))) > 5
    assert abs(z_scores(found, dense(frequencies, dim, KERNEL, z, rho, plus=False))) > 5
    off = z[z > 0]
    without_diagonal = predicted_error(frequencies, dim, KERNEL, off).mean_squared
    assert abs(z_scores(found, without_diagonal)) > 5


@pytest.mark.parametrize("dim", [3, 16])
def test_predictions_average_to_the_exact_variance(dim):
    # over draws of the radii too, the mean prediction at one distance is theory.variance
    parts, z = jordan_parts(KERNEL, dim), 1.1
    errors = [
        predicted_error(sample_frequencies(parts, (dim, dim), random_state=seed), dim, KERNEL, [z]).mean_squared
        for seed in range(150)
    ]
    assert abs(z_scores(np.array(errors), float(variance(KERNEL, dim, "gorf-blocks", dim, z)))) < 5
