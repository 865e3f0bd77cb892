"""RandomFeatures with the optimal scheme, its default: widths, predictions, parameters, and what they refuse."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.preprocessing import normalize

from krein import RandomFeatures, relative_error
from krein.features import designed
from krein.kernels import (
    NTK,
    ArcCosine,
    Cauchy,
    DeltaGaussian,
    Epanechnikov,
    FromProfile,
    Gaussian,
    InverseMultiquadric,
    Laplacian,
    Log,
    Matern,
    PolynomialOnSphere,
    RadialKernel,
    RationalQuadratic,
    Tanh,
    ThinPlate,
)
from krein.kernels.base import distances
from krein.sampling import Design, predicted_error
from krein.spectral import omega
from krein.testing import rows_at_distances, z_scores

DELTA = DeltaGaussian((1.0, -1.0), (1.0, 10.0))
KERNELS: list[RadialKernel] = [
    DELTA, Gaussian(), Gaussian() - 0.5 * Laplacian(2.0), Laplacian(), Matern(1.0, 1.5), RationalQuadratic(), Cauchy(),
    PolynomialOnSphere(3.0, 1), PolynomialOnSphere(2.0, 10), Tanh(2.0, -0.5), ArcCosine(1), NTK(2), Log(), ThinPlate(),
    Epanechnikov(), InverseMultiquadric(), FromProfile(np.cos), -Gaussian(),
]  # fmt: skip
X = normalize(np.random.default_rng(12345).normal(size=(60, 5)) + 0.5)
X.flags.writeable = False


def fitted(kernel: RadialKernel = DELTA, n_components: Any = 41, **options: Any) -> RandomFeatures:
    return RandomFeatures(kernel, n_components, **({"random_state": 0} | options)).fit(X)


SCALE = 1.0


def named_profile(z: Any) -> NDArray[np.float64]:
    return np.exp(-(np.asarray(z) ** 2) / (2 * SCALE**2))


def exact_error(kernel: RadialKernel, features: RandomFeatures) -> float:
    """Root mean square over rotations of the relative error on X, from the final frequencies."""
    return predicted_error(features.frequencies_, X.shape[1], kernel, distances(X, X)).relative


class TestPrediction:
    @pytest.mark.parametrize("kernel", KERNELS, ids=repr)
    def test_predicted_error_and_bias_bound(self, kernel: RadialKernel) -> None:
        """For every kernel, those of infinite Fourier mass included.

        ``predicted_error_`` is that of the very distances between the rows but for their binning, which moves it by
        little: each bin is at its mean distance.
        """
        features = fitted(kernel)
        assert features.predicted_error_ == pytest.approx(exact_error(kernel, features), rel=0.03, abs=1e-6)
        assert features.predicted_error_ < 0.5
        z = np.linspace(0, features.design_.reach, 20_001)
        bias = features.frequencies_.expectation(z) - kernel.profile(z)
        assert np.abs(bias).max() <= features.bias_bound_
        assert features.bias_bound_ <= 1.5 * np.abs(bias).max() + 2e-3  # and is no empty promise

    def test_measured_error(self) -> None:
        """The prediction is of the mean square over rotations of the squared error on the rows."""
        features = [fitted(random_state=seed) for seed in range(200)]
        squares = [relative_error(DELTA, one, X) ** 2 for one in features]
        exact = exact_error(DELTA, features[0]) ** 2
        assert abs(z_scores(squares, exact)) < 5
        assert abs(z_scores(squares, 1.3 * exact)) > 5

    @pytest.mark.parametrize("n_components", [1, 2, 41])
    def test_rotations_have_the_expectation(self, n_components: int) -> None:
        """2000 rotations agree with c_0 + sum c_i Omega_d(||w_i|| z); not with that of another dimension."""
        z = np.array([0.1, 0.4, 0.8, 1.2, 1.6, 2.0])
        A, B = rows_at_distances(z, 5, "sphere", np.random.default_rng(1))
        draws, design = [], fitted(n_components=n_components).design_
        for seed in range(2000):
            frequencies = design.rotated(np.random.default_rng(seed))
            if frequencies.phases is None:
                draws.append(frequencies.evaluate(A - B))
            else:
                a, b = (np.cos(rows @ frequencies.weights.T + frequencies.phases) for rows in (A, B))
                draws.append(2 * (a * b) @ frequencies.coefficients)
        exact = frequencies.expectation(z)
        assert np.abs(z_scores(draws, exact)).max() < 5
        wrong = frequencies.constant + omega(4, z[:, None] * frequencies.radii) @ frequencies.coefficients
        assert np.abs(z_scores(draws, wrong)).max() > 5 or n_components < 41

    def test_better_than_blocks(self) -> None:
        ours = np.mean([relative_error(DELTA, fitted(random_state=seed), X) for seed in range(10)])
        blocks = [fitted(n_components=44, scheme="gorf-blocks", random_state=seed) for seed in range(10)]
        assert ours < 0.5 * np.mean([relative_error(DELTA, one, X) for one in blocks])

    def test_more_columns_less_error(self) -> None:
        errors = [fitted(n_components=n).predicted_error_ for n in (11, 21, 41, 81, 161)]
        assert (np.diff(errors) < 0).all()

    @pytest.mark.parametrize("kernel", KERNELS, ids=repr)
    def test_float32(self, kernel: RadialKernel) -> None:
        """Coefficients are bounded, so that K_hat keeps the digits of float32."""
        for n_components in (11, 41, 121):
            features = fitted(kernel, n_components)
            Z, Z32 = features.transform(X), features.transform(X.astype(np.float32)).astype(np.float64)
            difference = (Z32 * features.signature_) @ Z32.T - (Z * features.signature_) @ Z.T
            assert np.abs(difference).max() < 3e-5 * np.abs(kernel.profile(np.linspace(0, 2, 200))).max()


class TestParameters:
    def test_default(self) -> None:
        assert RandomFeatures().scheme == "optimal"

    def test_seed_rotates_only(self) -> None:
        first, second = fitted(random_state=0), fitted(random_state=1)
        assert first.design_ is second.design_
        assert not (first.frequencies_.weights == second.frequencies_.weights).any()
        assert (first.frequencies_.coefficients == second.frequencies_.coefficients).all()
        np.testing.assert_allclose(first.frequencies_.radii, second.frequencies_.radii, rtol=1e-12)

    def test_a_refit_finds_its_design(self) -> None:
        kernel = DeltaGaussian((1.0, -0.9), (1.0, 7.0))
        start = time.process_time()
        fitted(kernel, 81)
        first = time.process_time() - start
        start = time.process_time()
        fitted(DeltaGaussian((1.0, -0.9), (1.0, 7.0)), 81, random_state=1)
        assert time.process_time() - start < first / 5

    def test_auto_takes_the_smallest_width(self) -> None:
        features = fitted(n_components="auto", target_error=0.02)
        columns = len(features.signature_)
        assert features.predicted_error_ <= 0.02
        assert fitted(n_components=columns - 2).predicted_error_ > 0.02
        assert fitted(n_components=columns).predicted_error_ == features.predicted_error_

    def test_auto_says_what_can_be_reached(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(designed, "JOINT_WIDTH", 64)
        with pytest.raises(ValueError, match=r"target_error must be at least .* here.*; got 1e-300"):
            RandomFeatures(Gaussian(), "auto", target_error=1e-300).fit(X[:, :2] * 3)

    def test_uniform_distances(self) -> None:
        features = fitted(distances="uniform", distance_range=2.0)
        assert fitted(distances="uniform", distance_range=2.0).fit(X[::-1] / 3).design_ is features.design_
        assert features.design_.reach == 2.0
        half = fitted().fit(X / 3).design_.reach
        assert fitted(distances="uniform").fit(X / 3).design_.reach == half < 1
        assert features.predicted_error_ != fitted().predicted_error_

    def test_own_distances(self) -> None:
        z = distances(X, X)
        features = fitted(distances=z, distance_range=fitted().design_.reach)
        assert features.predicted_error_ == pytest.approx(fitted().predicted_error_, rel=0.05)
        assert fitted(distances=z).design_.reach == z.max()

    def test_a_kernel_on_the_sphere_is_certified_on_all_of_it(self) -> None:
        assert fitted(Tanh()).design_.reach == 2.0
        assert fitted(Tanh(), distance_range=1.5).design_.reach == 1.5

    def test_max_bias(self) -> None:
        loose, tight = fitted(), fitted(max_bias=1e-3)
        scale = np.abs(DELTA.profile(np.linspace(0, tight.design_.reach, 500))).max()
        assert loose.bias_bound_ > 1e-3 * scale >= tight.bias_bound_
        assert tight.predicted_error_ > loose.predicted_error_

    def test_bias_larger_than_the_deviation_is_said(self) -> None:
        features = fitted(Tanh(2.0, -0.5), 21)
        assert features.design_.bias > features.design_.standard_deviation
        assert "exceeds the standard deviation" in features.design_.remarks[0]
        with_bound = fitted(ThinPlate(), 21, max_bias=1e-9)
        assert "No bias as small as" in with_bound.design_.remarks[-1]

    def test_rows_beyond_the_range_are_said(self) -> None:
        features = fitted(distance_range=0.8)
        share = np.mean(distances(X, X)[np.triu_indices(len(X), 1)] > 0.8)
        assert f"{share:.2%} of the pairs of rows are further apart than 0.8" in features.design_.remarks[-1]
        assert not any("further apart" in remark for remark in fitted().design_.remarks)

    def test_memory(self, tmp_path: Any) -> None:
        from joblib import Memory

        kept = fitted(memory=str(tmp_path))
        assert len(list(tmp_path.rglob("output.pkl"))) == 1
        again = fitted(memory=Memory(str(tmp_path), verbose=0), random_state=0)
        assert len(list(tmp_path.rglob("output.pkl"))) == 1
        assert (again.frequencies_.weights == kept.frequencies_.weights).all()
        assert (fitted().frequencies_.weights == kept.frequencies_.weights).all()

    def test_memory_of_what_cannot_be_pickled(self, tmp_path: Any) -> None:
        kernel = FromProfile(lambda z: np.exp(-np.asarray(z)))
        with pytest.raises(ValueError, match="memory must be None for a kernel that cannot be pickled; got From"):
            fitted(kernel, 9, memory=str(tmp_path))

    def test_memory_of_a_function_that_was_edited(self, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        """A function is pickled by its name: a design for what it was before must not be found."""
        kernel = FromProfile(named_profile)
        before = fitted(kernel, 9, memory=str(tmp_path))
        monkeypatch.setitem(globals(), "SCALE", 3.0)
        after = fitted(kernel, 9, memory=str(tmp_path))
        assert after.bias_bound_ == pytest.approx(fitted(Gaussian(3.0), 9).bias_bound_, rel=1e-6)
        assert before.bias_bound_ == pytest.approx(fitted(Gaussian(1.0), 9).bias_bound_, rel=1e-6)
        assert after.bias_bound_ < 0.5 * before.bias_bound_
        assert fitted(kernel, 9).bias_bound_ == after.bias_bound_

    def test_a_fitted_design_cannot_be_changed(self) -> None:
        """All fits that ask for the same design share it."""
        design = fitted().design_
        for array in (design.blocks[0].weights, design.blocks[0].coefficients, design.atoms, design.masses):
            with pytest.raises(ValueError, match="read-only"):
                array[:] = 0

    def test_arrays_keep_the_design(self) -> None:
        features = fitted(Tanh(2.0, -0.5), 21)
        twin = RandomFeatures(Tanh(2.0, -0.5)).from_arrays(features.to_arrays())
        assert twin.predicted_error_ == features.predicted_error_
        assert twin.bias_bound_ == features.bias_bound_
        assert twin.design_.remarks == features.design_.remarks
        assert (twin.design_.atoms == features.design_.atoms).all()
        assert (twin.design_.masses == features.design_.masses).all()

    def test_another_fit_leaves_nothing(self) -> None:
        features = fitted()
        features.set_params(scheme="gorf-blocks").fit(X)
        assert not hasattr(features, "predicted_error_")
        assert not hasattr(features, "design_")
        assert "design.recipe" not in features.to_arrays()

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"n_components": 0}, "n_components must be an integer >= 1; got 0"),
            ({"n_components": "many"}, "n_components must be an integer >= 1; got 'many'"),
            ({"n_components": "auto"}, "needs a target_error"),
            ({"target_error": 0.1}, 'target_error must be None unless n_components="auto"; got 0.1'),
            ({"n_components": "auto", "target_error": 0.0}, "target_error must be a finite number > 0; got 0.0"),
            ({"scheme": "grff", "target_error": 0.1}, "target_error must be None for scheme 'grff'"),
            ({"n_components": "auto", "scheme": "grff"}, "n_components for scheme 'grff' must be an integer"),
            ({"distances": "columns"}, 'distances must be "rows", "uniform", None or an array'),
            ({"distances": [-1.0]}, "distances must be a non-empty array of finite numbers >= 0"),
            ({"distances": [0.0]}, "distance_range must be a finite number > 0"),
            ({"distances": [3.0], "distance_range": 2.0}, "distances must have an entry within the distance_range 2"),
            ({"distance_range": -1.0}, "distance_range must be a finite number > 0; got -1.0"),
            ({"max_bias": 0}, "max_bias must be a finite number > 0; got 0"),
            ({"scheme": "gorf-blocks", "max_bias": 0.1}, "max_bias must be None for scheme 'gorf-blocks'"),
            ({"scheme": "gorf-blocks", "distances": "rows"}, "distances must be None for scheme 'gorf-blocks'"),
            ({"directions": "blocks"}, "directions must be None for scheme 'optimal', which chooses it itself"),
            ({"allocation": "mass"}, "allocation must be None for scheme 'optimal', which chooses it itself"),
        ],
        ids=str,
    )  # fmt: skip
    def test_refused(self, options: dict[str, Any], message: str) -> None:
        with pytest.raises(ValueError, match=message):
            fitted(**options)

    @pytest.mark.parametrize("rows", [np.ones((3, 4)), np.zeros((1, 2)), np.full((5, 1), 7.0)], ids=str)
    def test_equal_rows(self, rows: NDArray[np.float64]) -> None:
        features = RandomFeatures(Gaussian(), 9, random_state=0).fit(rows)
        assert np.isfinite(features.transform(rows)).all()

    @pytest.mark.parametrize("scale", [1e-100, 1e-6, 1e-3, 1e3, 1e6, 1e12, 1e100])
    def test_scale_of_the_rows(self, scale: float) -> None:
        features = RandomFeatures(Gaussian(scale), 41, random_state=0).fit(scale * X)
        assert features.predicted_error_ == pytest.approx(fitted(Gaussian()).predicted_error_, rel=1e-2)
        design = features.design_
        found = design.constant + omega(5, np.outer([0, scale], design.atoms)) @ design.masses
        np.testing.assert_allclose(found, features.frequencies_.expectation(np.array([0, scale])), rtol=0, atol=1e-8)

    @pytest.mark.parametrize("factor", [1e-120, -1e-12, 1e12, 1e120])
    def test_scale_of_the_kernel(self, factor: float) -> None:
        features = fitted(factor * Gaussian())
        assert features.predicted_error_ == pytest.approx(fitted(Gaussian()).predicted_error_, rel=0.05)

    @pytest.mark.parametrize("factor", [1e-200, 1e200])
    def test_kernel_whose_square_is_no_normal_number(self, factor: float) -> None:
        with pytest.raises(ValueError, match=r"kernel must have its largest absolute value on .* within"):
            fitted(factor * Gaussian())

    def test_distances_far_beyond_the_scale(self) -> None:
        """The Gram matrix is then all but the identity: a finite answer, and an honest prediction."""
        far = 1000 * np.random.default_rng(0).normal(size=(50, 30))
        features = RandomFeatures(Gaussian(), 101, random_state=0).fit(far)
        assert np.isfinite(features.transform(far)).all()
        measured = relative_error(Gaussian(), features, far)
        assert features.predicted_error_ == pytest.approx(measured, rel=0.5)

    def test_many_dimensions(self) -> None:
        rows = np.random.default_rng(0).normal(size=(30, 784)) / 28
        features = RandomFeatures(Gaussian(), 1001, random_state=0).fit(rows)
        assert features.transform(rows).shape == (30, 1001)
        assert relative_error(Gaussian(), features, rows) < 0.05

    def test_design_says_what_it_is(self) -> None:
        design = fitted().design_
        assert isinstance(design, Design)
        assert design.recipe in {"blocks", "joint"}
        assert design.n_frequencies == 20
        assert design.n_columns == 41
        assert design.masses.sum() + design.constant == pytest.approx(0, abs=fitted().bias_bound_)  # k(0) = 0
