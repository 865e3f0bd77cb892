"""krein.plan: predicted errors without data, against measured ones, and what cannot be predicted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import krein
from krein import RandomFeatures
from krein.features import SCHEMES, Plan
from krein.kernels import DeltaGaussian, Gaussian, Polynomial, Tanh

DELTA = DeltaGaussian((1.0, -1.0), (1.0, 10.0))


def cells(plan: Plan) -> dict[tuple[str, int], Any]:
    return {(row.scheme, row.n_components): row for row in plan.rows}


def test_all_schemes_and_widths() -> None:
    plan = krein.plan(DELTA, 4, (21, 84), distance_range=2.0)
    found = cells(plan)
    assert set(found) == {(name, n) for name in SCHEMES if not SCHEMES[name].published for n in (21, 84)}
    assert found["optimal", 84].error < 0.5 * found["gorf-blocks", 84].error < found["grff", 84].error
    assert found["sorf", 84].error is None
    assert "not invariant" in found["sorf", 84].remark
    assert "positive definite" in found["orf", 84].remark
    assert found["gorf-blocks", 84].columns == 84
    assert found["gorf-blocks", 84].bias == 0
    assert 0 < found["optimal", 84].bias < found["optimal", 84].error


def test_optimal_is_what_a_fit_predicts() -> None:
    row = krein.plan(DELTA, 4, (33,), schemes=["optimal"], distance_range=2.0).rows[0]
    features = RandomFeatures(DELTA, 33, distances="uniform", distance_range=2.0).fit(np.eye(4))
    assert row.error == features.predicted_error_
    assert row.bias_bound == features.bias_bound_
    assert row.columns == features.frequencies_.n_columns


@pytest.mark.parametrize("scheme", ["optimal", "grff", "gorf", "gorf-blocks", "simplex", "quadrature"])
def test_measured(scheme: str) -> None:
    """Root mean square over 200 draws, at the distances that were planned for: within 10 %."""
    z = np.array([0.0, 0.5, 1.0, 1.5, 2.0])
    row = krein.plan(DELTA, 4, (83,), schemes=[scheme], distances=z).rows[0]
    vectors, k = z[:, None] * np.eye(4)[1], DELTA.profile(z)
    options = {"distances": z} if scheme == "optimal" else {}
    errors = []
    for seed in range(200):
        features = RandomFeatures(DELTA, 83, scheme=scheme, random_state=seed, **options).fit(np.eye(4))
        errors.append(np.mean((features.frequencies_.evaluate(vectors) - k) ** 2) / np.mean(k**2))
    assert row.error == pytest.approx(np.sqrt(np.mean(errors)), rel=0.1 if scheme == "optimal" else 0.3)


def test_infinite_mass_leaves_the_optimal_scheme() -> None:
    found = cells(krein.plan(Tanh(2.0, -0.5), 16, (64,), schemes=["optimal", "gorf-blocks"]))
    assert "infinite mass" in found["gorf-blocks", 64].remark
    assert "exceeds the standard deviation" in found["optimal", 64].remark


def test_table() -> None:
    plan = krein.plan(Tanh(2.0, -0.5), 16, (64, 128), schemes=["grff", "gorf-blocks"])
    lines = repr(plan).splitlines()
    assert lines[0].split()[-3:] == ["64", "128", "columns"]
    assert lines[1].split() == ["grff", "-", "[1]", "-", "[1]"]
    assert lines[2].split() == ["gorf-blocks", "-", "[1]", "-", "[1]"]
    assert lines[3].startswith("[1] The radial measure of Tanh")
    assert len(lines) == 4
    assert plan.to_dicts()[0]["scheme"] == "grff"


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        ((Polynomial(), 3), {}, TypeError, "must be a radial kernel"),
        ((DELTA, 0), {}, ValueError, "dim must be an integer >= 1"),
        ((DELTA, 3, ()), {"distance_range": 1.0}, ValueError, "at least one entry"),
        ((DELTA, 3, (0,)), {"distance_range": 1.0}, ValueError, "n_components must be an integer >= 1"),
        ((DELTA, 3), {}, ValueError, "distance_range must be given"),
        ((DELTA, 3), {"distance_range": -1}, ValueError, "distance_range must be a finite number > 0"),
        ((DELTA, 3), {"distances": "rows"}, ValueError, "distance_range must be given"),
        ((DELTA, 3), {"schemes": ["best"], "distance_range": 1.0}, ValueError, "schemes must be one of"),
        ((Gaussian(), 3), {"max_bias": -1, "distance_range": 1.0}, ValueError, "max_bias must be"),
    ],
)
def test_refused(arguments: Any, options: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        krein.plan(*arguments, **options)
