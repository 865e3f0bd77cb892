"""Every scheme is unbiased, from rows to Gram matrix, but ``published-*``, which have the bias that is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.preprocessing import normalize

from krein import RandomFeatures, make_features
from krein.features import SCHEMES, BaseFeatureMap, Scheme
from krein.kernels import DeltaGaussian, FromProfile, Gaussian, Laplacian, PolynomialOnSphere, RadialKernel
from krein.spectral import Jordan, jordan, published_polynomial

Array = NDArray[np.float64]
Mutant = Callable[[RandomFeatures], None]

DRAWS = 100
N_COMPONENTS = 512
DRAWN_ONE_BY_ONE = {"rff", "orf", "grff", "gorf", "gorf-blocks", "simplex"}
BIASED = {"sorf"}  # as its documentation says
PAIRS = 8  # of rows at every distance
DIMS = [2, 3, 16, 256]
Z = np.array([0.3, 0.6, 1.0, 1.5, 2.0, 3.0, 4.5, 6.0])
DELTA = DeltaGaussian((1.0, -0.5), (1.0, 3.0))
WITH_CONSTANT = FromProfile(lambda z: 0.3 + 0.7 * np.exp(-(z**2) / 2))  # through the numerical transform
INDEFINITE = WITH_CONSTANT - 0.6 * Gaussian(3.0)
KERNELS: dict[bool, list[RadialKernel]] = {True: [Laplacian(2.0), WITH_CONSTANT], False: [DELTA, INDEFINITE]}
UNBIASED = [scheme for scheme in SCHEMES.values() if not (scheme.published or scheme.designed or scheme.name in BIASED)]
# Where frequencies are drawn one by one: all dimensions for the second kernel, which has a numerical law, a constant
# and (where it may) both signs; the first and the last dimension for the other. Structured ones and rules: d = 3, and
# the last where N_COMPONENTS are enough.
CASES = [
    pytest.param(scheme.name, kernel, dim, id=f"{scheme.name}-{i}-{dim}")
    for scheme in UNBIASED
    for i, kernel in enumerate(KERNELS[scheme.positive_definite])
    for dim in DIMS
    if (i, dim) == (1, 3)
    or (scheme.name in DRAWN_ONE_BY_ONE and (i == 1 or dim in (DIMS[0], DIMS[-1])))
    or ("quadrature" not in scheme.name and (i, dim) == (0, DIMS[-1]))
]


def pairs(dim: int, z: Array, *, on_sphere: bool = False) -> tuple[Array, Array]:
    """PAIRS pairs of rows at each distance, in random places and directions."""
    rng = np.random.default_rng(12345)
    X, U = rng.normal(size=(2, len(z) * PAIRS, dim))
    distance = np.repeat(z, PAIRS)[:, None]
    if not on_sphere:
        return X, X + distance * normalize(U)
    X = normalize(X)
    tangent = normalize(U - X * np.sum(U * X, axis=1, keepdims=True))
    angle = 2 * np.arcsin(distance / 2)  # the chord of this angle has length z
    return X, np.cos(angle) * X + np.sin(angle) * tangent


def estimates(make: Callable[[int], BaseFeatureMap], X: Array, Y: Array, mutant: Mutant | None = None) -> Array:
    """K_hat(z) of every draw, averaged over the pairs of that distance: shape (draws, distances)."""
    found = []
    for seed in range(DRAWS):
        features = make(seed).fit(X)
        if mutant:
            mutant(features)
        products = features.transform(X) * features.transform(Y) @ features.signature_
        found.append(products.reshape(-1, PAIRS).mean(axis=1))
    return np.array(found)


def z_scores(estimate: Array, exact: Array) -> Array:
    error = estimate.std(axis=0, ddof=1) / np.sqrt(len(estimate))
    return np.asarray((estimate.mean(axis=0) - exact) / error)


def worst(kernel: RadialKernel, dim: int, mutant: Mutant | None = None, **options: object) -> float:
    """Largest |z| over the distances."""
    options = {"n_components": N_COMPONENTS, "scheme": "gorf-blocks"} | options

    estimate = estimates(lambda seed: RandomFeatures(kernel, random_state=seed, **options), *pairs(dim, Z), mutant)
    return float(np.abs(z_scores(estimate, kernel.profile(Z))).max())


@pytest.mark.parametrize(("scheme", "kernel", "dim"), CASES)
def test_scheme_is_unbiased(scheme: str, kernel: RadialKernel, dim: int) -> None:
    assert worst(kernel, dim, scheme=scheme) < 5


@pytest.mark.parametrize(
    "options",
    [
        {"directions": "shared"},
        {"radii": "stratified"},
        {"allocation": "mass"},
        {"allocation": "variance"},
        {"directions": "shared", "radii": "stratified", "allocation": "variance"},
    ],
    ids=str,
)
def test_options_are_unbiased(options: dict[str, str]) -> None:
    assert worst(DELTA, 3, **options) < 5


@pytest.mark.parametrize(("kernel", "n_components"), [(Gaussian(), 1), (DELTA, 2), (DELTA, 3), (WITH_CONSTANT, 2)])
def test_single_columns_are_unbiased(kernel: RadialKernel, n_components: int) -> None:
    """Too few columns for pairs of cosine and sine: each frequency gets one column with a random phase."""
    assert worst(kernel, 2, n_components=n_components) < 5


@pytest.mark.parametrize("scheme", UNBIASED, ids=lambda scheme: scheme.name)
def test_distance_zero_is_exact(scheme: Scheme) -> None:
    """cos^2 + sin^2 = 1: the diagonal has no error, whatever is drawn."""
    kernel = KERNELS[scheme.positive_definite][1]
    X = np.random.default_rng(12345).normal(size=(50, 4))
    features = make_features(scheme.name, kernel, 200, random_state=0).fit(X)
    diagonal = np.diag(features.approximate_kernel(X))
    # Both kernels go through the numerical transform, which is good to some 1e-9 of the mass.
    np.testing.assert_allclose(diagonal, float(kernel.profile(0.0)), rtol=0, atol=1e-7)


# ---- mutants: what a wrong feature map would be ----


def wrong_amplitude(features: RandomFeatures) -> None:
    features.frequencies_ = replace(features.frequencies_, coefficients=features.frequencies_.coefficients * 1.05)


def lost_constant(features: RandomFeatures) -> None:
    features.frequencies_ = replace(features.frequencies_, constant=0.0)
    features.signature_ = features.signature_[:-1]


def ignored_signature(features: RandomFeatures) -> None:
    features.signature_ = np.ones_like(features.signature_)


def lost_sines(features: RandomFeatures) -> None:
    n = len(features.frequencies_.coefficients)
    features.signature_ = features.signature_ * (np.arange(len(features.signature_)) // n != 1)


def wrong_scale(features: RandomFeatures) -> None:
    features.frequencies_ = replace(features.frequencies_, weights=features.frequencies_.weights * 1.05)


MUTANTS = [wrong_amplitude, lost_constant, ignored_signature, lost_sines, wrong_scale]


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("mutant", MUTANTS)
def test_mutant_is_rejected(mutant: Mutant, dim: int) -> None:
    assert worst(INDEFINITE, dim, mutant) > 5


# ---- the published recipe, which leaves out the Jacobian r^(d-1) ----


def profile(parts: Jordan, z: Array) -> Array:
    values = np.full(z.shape, parts.constant)
    for part in parts.parts:
        values += part.sign * part.mass * part.profile(z)
    return values


@pytest.mark.parametrize(("dim", "degree"), [(2, 1), (3, 3), (16, 1)])
@pytest.mark.parametrize("scheme", [scheme.name for scheme in SCHEMES.values() if scheme.published])
def test_published_schemes_converge_to_another_kernel(scheme: str, dim: int, degree: int) -> None:
    kernel = PolynomialOnSphere(3.0, degree)
    z = np.linspace(0.25, 2.0, 8)
    X, Y = pairs(dim, z, on_sphere=True)
    estimate = estimates(lambda seed: make_features(scheme, kernel, N_COMPONENTS, random_state=seed), X, Y)
    limit = profile(jordan(published_polynomial(kernel.a, kernel.degree, dim)), z)
    assert np.abs(z_scores(estimate, limit)).max() < 5
    assert np.abs(z_scores(estimate, kernel.profile(z))).max() > 8
    assert np.abs(limit - kernel.profile(z)).max() > 0.01
