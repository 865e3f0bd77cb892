"""Dot-product kernels on the sphere: oracles, defining expectations, definiteness, and accuracy at small angles."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from scipy import integrate, special, stats
from sklearn.metrics.pairwise import polynomial_kernel, sigmoid_kernel
from sklearn.preprocessing import normalize

from krein.kernels import NTK, ArcCosine, DotProductKernel, DotProductOnSphere, PolynomialOnSphere, Tanh

X = normalize(np.random.default_rng(12345).standard_normal((40, 5)))
Y = normalize(np.random.default_rng(6789).standard_normal((30, 5)))
Z = np.linspace(0, 2, 41)


@pytest.mark.parametrize(
    ("kernel", "oracle"),
    [
        (Tanh(2.0, -0.5), lambda x, y: sigmoid_kernel(x, y, gamma=2.0, coef0=-0.5)),
        (Tanh(-1.5, 0.3), lambda x, y: -sigmoid_kernel(x, y, gamma=1.5, coef0=-0.3)),
        (PolynomialOnSphere(3.0, 2), lambda x, y: polynomial_kernel(x, y, degree=2, gamma=2 / 9, coef0=7 / 9)),
        (PolynomialOnSphere(1.2, 5), lambda x, y: polynomial_kernel(x, y, 5, 2 / 1.44, 1 - 2 / 1.44)),
        (DotProductOnSphere(np.exp), lambda x, y: np.exp(x @ y.T)),
    ],
    ids=lambda value: repr(value) if isinstance(value, DotProductKernel) else None,
)
def test_gram_of_scikit_learn(kernel, oracle) -> None:
    np.testing.assert_allclose(kernel(X, Y), oracle(X, Y), rtol=1e-14, atol=1e-14)
    np.testing.assert_allclose(kernel(X), oracle(X, X), rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize(
    "kernel",
    [Tanh(), PolynomialOnSphere(1.2, 5), ArcCosine(0), ArcCosine(1), ArcCosine(2), NTK(3), DotProductOnSphere(np.exp)],
    ids=repr,
)
def test_profile_and_inner_product_agree(kernel) -> None:
    # near z = 2 an error of 2e-16 in t moves an angle by 2e-8, so the two routes are compared up to 2 - 1e-3
    z = Z[Z < 1.999]
    np.testing.assert_allclose(kernel.of_dot(1 - z**2 / 2), kernel.profile(z), rtol=0, atol=1e-13)
    assert kernel.profile(0.0) == kernel.of_dot(1.0)
    np.testing.assert_allclose(kernel.profile(2.0), kernel.of_dot(-1.0), rtol=1e-14, atol=1e-15)
    np.testing.assert_array_equal(kernel.of_dot([1 + 1e-9, -1 - 1e-9]), kernel.of_dot([1.0, -1.0]))
    assert kernel.of_dot(0.5).shape == ()


# ---- the defining expectations --------------------------------------------------------------------------------------

ANGLES = np.linspace(0.05, 2.6, 12)
N_DRAWS = 200_000


def z_scores(samples: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """Estimate minus exact over its own standard error, one per column."""
    return (samples.mean(axis=0) - exact) / (samples.std(axis=0) / len(samples) ** 0.5)


def pre_activations(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """w.x and w.y for w ~ N(0, I_3) and pairs of unit vectors x, y at ANGLES."""
    W = np.random.default_rng(seed).standard_normal((N_DRAWS, 3))
    x = np.array([[0.6, 0.0, 0.8]] * len(ANGLES))
    y = np.cos(ANGLES)[:, None] * x + np.sin(ANGLES)[:, None] * np.array([0.0, 1.0, 0.0])
    return W @ x.T, W @ y.T


@pytest.mark.parametrize("order", [0, 1, 2])
def test_arc_cosine_is_its_expectation(order: int) -> None:
    u, v = pre_activations(12345)
    samples = 2 * ((u > 0) & (v > 0)) * u**order * v**order
    t = np.cos(ANGLES)
    assert np.abs(z_scores(samples, ArcCosine(order).of_dot(t))).max() < 5
    exact = {n: ArcCosine(n).of_dot(t) for n in (0, 1, 2)}
    # at small angles the standard deviation is 1, 2.2, 4.7 times the mean, so an error of 3, 6, 15 % is 13 standard
    # errors and more
    slightly = 1 + [0.03, 0.06, 0.15][order]
    mutants = [0.5 * exact[order], slightly * exact[order], exact[(order + 1) % 3], ArcCosine(order).of_dot(-t)]
    assert all(np.abs(z_scores(samples, mutant)).max() > 5 for mutant in mutants)


def test_ntk_of_one_hidden_layer_is_its_expectation() -> None:
    # f(x) = sqrt(2/m) sum_j a_j relu(w_j.x): the gradients of one unit have inner product
    # 2 relu(u) relu(v) + 2 a^2 step(u) step(v) x.y, with no bias at any width
    u, v = pre_activations(12345)
    a = np.random.default_rng(6789).standard_normal((N_DRAWS, 1))
    both = (u > 0) & (v > 0)
    t = np.cos(ANGLES)
    samples = 2 * both * (u * v + a**2 * t)
    assert np.abs(z_scores(samples, NTK(depth=1).of_dot(t))).max() < 5
    mutants = [NTK(depth=2).of_dot(t), ArcCosine(1).of_dot(t), ArcCosine(1).of_dot(t) + ArcCosine(0).of_dot(t)]
    assert all(np.abs(z_scores(samples, mutant)).max() > 5 for mutant in mutants)


def expectations(correlation: float) -> tuple[float, float]:
    """2 E step(u) step(v) and 2 E relu(u) relu(v) for a standard bivariate normal, by quadrature over u.

    Given u, v is N(correlation u, 1 - correlation^2), whose positive part has a known mean and probability.
    """
    sigma = (1 - correlation**2) ** 0.5

    def integrand(u: float) -> tuple[float, float]:
        m = correlation * u
        positive = stats.norm.cdf(m / sigma)
        mean = m * positive + sigma * stats.norm.pdf(m / sigma)
        return 2 * stats.norm.pdf(u) * positive, 2 * stats.norm.pdf(u) * u * mean

    points = [abs(sigma / correlation)] if abs(correlation) > 0.1 else None
    parts = [integrate.quad(lambda u, i=i: integrand(u)[i], 0, 12, points=points, epsabs=1e-13) for i in (0, 1)]
    return parts[0][0], parts[1][0]


@pytest.mark.parametrize("t", [-0.9, -0.4, 0.0, 0.3, 0.8, 0.97])
def test_ntk_recursion_by_quadrature(t: float) -> None:
    # covariance and derivative covariance of layer l from a bivariate normal of the correlation of layer l - 1
    similarity, tangent, wrong_layer = t, t, t
    for depth in (1, 2, 3, 4):
        step, relu = expectations(similarity)
        np.testing.assert_allclose(ArcCosine(0).of_dot(similarity), step, rtol=0, atol=1e-11)
        np.testing.assert_allclose(ArcCosine(1).of_dot(similarity), relu, rtol=0, atol=1e-11)
        tangent, similarity = relu + tangent * step, relu
        wrong_layer = relu + wrong_layer * expectations(relu)[0]
        np.testing.assert_allclose(NTK(depth).of_dot(t), tangent, rtol=0, atol=1e-10)
        assert depth == 1 or abs(NTK(depth).of_dot(t) - wrong_layer) > 1e-3


def test_known_values() -> None:
    np.testing.assert_allclose(ArcCosine(0).of_dot([-1.0, 0.0, 1.0]), [0, 1 / 2, 1], rtol=0, atol=1e-15)
    np.testing.assert_allclose(ArcCosine(1).of_dot([-1.0, 0.0, 1.0]), [0, 1 / np.pi, 1], rtol=0, atol=1e-15)
    np.testing.assert_allclose(ArcCosine(2).of_dot([-1.0, 0.0, 1.0]), [0, 1 / 2, 3], rtol=0, atol=1e-15)
    for depth in (1, 2, 7, 30):
        assert NTK(depth).of_dot(1.0) == depth + 1


# ---- accuracy near z = 0 --------------------------------------------------------------------------------------------

SMALL = 10.0 ** np.arange(-16, 0.1, 0.5)


def exact_kappas(t):
    theta = mpmath.acos(t)
    return 1 - theta / mpmath.pi, (mpmath.sin(theta) + (mpmath.pi - theta) * t) / mpmath.pi


def exact_ntk(depth: int, t):
    similarity = tangent = t
    for _ in range(depth):
        step, relu = exact_kappas(similarity)
        similarity, tangent = relu, relu + tangent * step
    return tangent


@pytest.mark.parametrize("depth", [1, 4])
def test_small_angles(depth: int) -> None:
    with mpmath.workdps(60):
        t = [1 - mpmath.mpf(z) ** 2 / 2 for z in SMALL]
        steps = [float(exact_kappas(s)[0]) for s in t]
        tangents = [float(exact_ntk(depth, s)) for s in t]
        dots = [float(exact_ntk(depth, mpmath.mpf(1 - z))) for z in SMALL]
    np.testing.assert_allclose(ArcCosine(0).profile(SMALL), steps, rtol=0, atol=4e-16)
    np.testing.assert_allclose(NTK(depth).profile(SMALL), tangents, rtol=0, atol=1e-15 * depth**2)
    np.testing.assert_allclose(NTK(depth).of_dot(1 - SMALL), dots, rtol=0, atol=1e-15 * depth**2)
    mutant = 1 - np.arccos(1 - SMALL**2 / 2) / np.pi
    assert np.abs(mutant - steps).max() > 1e-10


def test_large_degree() -> None:
    kernel = PolynomialOnSphere(a=40.0, degree=1000)
    with mpmath.workdps(40):
        exact = [float((1 - (mpmath.mpf(z) / 40) ** 2) ** 1000) for z in Z]
    np.testing.assert_allclose(kernel.profile(Z), exact, rtol=1000 * 2e-16)
    np.testing.assert_allclose(kernel.of_dot(1 - Z**2 / 2), exact, rtol=1000 * 4e-16)


# ---- positive definite or not ---------------------------------------------------------------------------------------


def gegenbauer_coefficients(kernel, dim: int, n: int) -> np.ndarray:
    """Coefficients of f in the orthonormal Gegenbauer polynomials: the kernel is positive definite iff all are >= 0."""
    order = dim / 2 - 1
    nodes = 16 if isinstance(kernel, PolynomialOnSphere) else 64  # exact for polynomials up to degree 31
    t, w = special.roots_chebyt(nodes) if dim == 2 else special.roots_gegenbauer(nodes, order)
    P = [special.eval_chebyt(j, t) if dim == 2 else special.eval_gegenbauer(j, order, t) for j in range(n)]
    return np.array([(w * p * kernel.of_dot(t)).sum() / ((w * p**2).sum() * w.sum()) ** 0.5 for p in P])


@pytest.mark.parametrize("dim", [2, 3, 16])
@pytest.mark.parametrize("degree", [1, 2, 3, 4, 7])
def test_polynomial_is_indefinite_exactly_below_root_two(degree: int, dim: int) -> None:
    for factor in (1.0, 1.001, 1.1, 2.0):
        kernel = PolynomialOnSphere(a=factor * 2**0.5, degree=degree)
        assert gegenbauer_coefficients(kernel, dim, 10).min() > -1e-14
        assert kernel.maclaurin(degree + 3).min() >= 0
        assert np.linalg.eigvalsh(kernel(X))[0] > -1e-13
    for factor in (0.999, 0.9, 0.6):
        kernel = PolynomialOnSphere(a=factor * 2**0.5, degree=degree)
        # the only contribution to c_{degree-1} is degree q alpha t^(degree-1), q < 0
        assert gegenbauer_coefficients(kernel, dim, 10)[degree - 1] < -1e-9
        assert kernel.maclaurin(degree + 3).min() < 0


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_polynomial_gram_on_both_sides_of_root_two(degree: int) -> None:
    rows = normalize(np.random.default_rng(12345).standard_normal((200, 3)))
    assert np.linalg.eigvalsh(PolynomialOnSphere(1.40, degree)(rows))[0] < -0.1
    assert np.linalg.eigvalsh(PolynomialOnSphere(1.43, degree)(rows))[0] > -1e-12


@pytest.mark.parametrize(
    ("kernel", "definite"),
    [(ArcCosine(0), True), (ArcCosine(1), True), (ArcCosine(2), True), (NTK(1), True), (NTK(4), True), (Tanh(), False)],
    ids=repr,
)
def test_definiteness(kernel, definite: bool) -> None:
    for dim in (2, 3, 16):
        # the quadrature of kernels with a square root at t = +-1 is good to about 64^-3
        assert (gegenbauer_coefficients(kernel, dim, 10).min() > -1e-5) == definite
    assert (kernel.maclaurin(40).min() >= 0) == definite
    assert (np.linalg.eigvalsh(kernel(X))[0] > -1e-13) == definite
