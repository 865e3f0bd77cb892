"""The error that is predicted for a fitted map, against the error that it makes on rows, for every scheme by its name.

Predicted per draw, from its frequencies alone, with the distances of exactly the rows that are measured (the diagonal
included): over draws, measured minus predicted has mean 0. A scheme whose law is not invariant under rotations must
refuse.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.preprocessing import normalize

from krein import RandomFeatures
from krein.features import SCHEMES
from krein.kernels import DeltaGaussian, FromProfile, Gaussian, PolynomialOnSphere, RadialKernel
from krein.kernels.base import distances
from krein.sampling import Frequencies, predicted_error
from krein.testing import z_scores

Array = NDArray[np.float64]
Predict = Callable[[Frequencies, RadialKernel, Array], float]

DRAWS = 200
NOT_PREDICTED = {"sorf", "fastfood", "circulant", "qmc", "qmc-halton"}
DELTA = DeltaGaussian((1.0, -0.5), (1.0, 2.0))
WITH_CONSTANT = FromProfile(lambda z: np.exp(-(z**2) / 2) - 0.4 * np.exp(-(z**2) / 8) + 0.3)
KERNELS: dict[str, RadialKernel] = {
    **{name: Gaussian(0.8) for name, scheme in SCHEMES.items() if scheme.positive_definite},
    **{name: PolynomialOnSphere(3.0, 1) for name, scheme in SCHEMES.items() if scheme.published},
}
OPTIONS: list[dict[str, str]] = [
    {"directions": "shared"},
    {"radii": "stratified"},
    {"allocation": "mass"},
    {"directions": "joint", "radii": "stratified", "allocation": "variance"},
]


def exact(frequencies: Frequencies, kernel: RadialKernel, z: Array) -> float:
    return predicted_error(frequencies, frequencies.dim, kernel, z).mean_squared


def score(
    kernel: RadialKernel, dim: int, n_components: int, predict: Predict = exact, draws: int = DRAWS, **options: str
) -> float:
    """z-score of measured minus predicted squared error."""
    X = normalize(np.random.default_rng(2).standard_normal((6, dim)))
    K, z = kernel(X), distances(X, X)
    differences = []
    for seed in range(draws):
        features = RandomFeatures(kernel, n_components, random_state=seed, **options).fit(X)
        measured = np.mean((features.approximate_kernel(X) - K) ** 2)
        differences.append(measured - predict(features.frequencies_, kernel, z))
    return abs(float(z_scores(differences, 0.0)))


@pytest.mark.parametrize("scheme", [name for name in SCHEMES if name not in NOT_PREDICTED])
def test_predicted_error_of_every_scheme(scheme: str) -> None:
    # 82 columns are 20 frequencies per sign: whole groups of the rules, and a cut block of d = 3 elsewhere
    assert score(KERNELS.get(scheme, DELTA), 3, 82, scheme=scheme) < 5


@pytest.mark.parametrize("scheme", ["gorf-blocks", "published-gorf"])
def test_predicted_error_in_more_dimensions(scheme: str) -> None:
    assert score(KERNELS.get(scheme, DELTA), 16, 72, scheme=scheme) < 5


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_predicted_error_with_options_and_a_constant(options: dict[str, str]) -> None:
    assert score(WITH_CONSTANT, 3, 40, scheme="gorf-blocks", **options) < 5


@pytest.mark.parametrize("scheme", sorted(NOT_PREDICTED))
def test_what_is_not_predicted_says_so(scheme: str) -> None:
    X = np.eye(3)
    frequencies = RandomFeatures(DELTA, 60, scheme=scheme, random_state=0).fit(X).frequencies_
    with pytest.raises(ValueError, match="only be predicted for frequencies whose law is invariant under rotations"):
        predicted_error(frequencies, 3, DELTA, [1.0])


# ---- mutants --------------------------------------------------------------------------------------------------------


def without_diagonal(frequencies: Frequencies, kernel: RadialKernel, z: Array) -> float:
    return exact(frequencies, kernel, z[z > 1e-9])


def without_constant(frequencies: Frequencies, kernel: RadialKernel, z: Array) -> float:
    return exact(Frequencies(frequencies.weights, frequencies.coefficients), kernel, z)


def longer_frequencies(frequencies: Frequencies, kernel: RadialKernel, z: Array) -> float:
    longer = Frequencies(1.1 * frequencies.weights, frequencies.coefficients, frequencies.constant)
    return exact(longer, kernel, z)


def bias_alone(frequencies: Frequencies, kernel: RadialKernel, z: Array) -> float:
    return predicted_error(frequencies, frequencies.dim, kernel, z).squared_bias


@pytest.mark.parametrize("mutant", [without_diagonal, without_constant, longer_frequencies, bias_alone])
def test_a_wrong_prediction_is_rejected(mutant: Predict) -> None:
    assert score(WITH_CONSTANT, 3, 40, mutant, 2 * DRAWS, scheme="gorf-blocks") > 5
