"""RandomFeatures: columns and signs, schemes and options, and the errors that say what to use instead."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.preprocessing import normalize

import krein
from krein import FeatureMap, RandomFeatures, make_features
from krein.exceptions import DomainError, InfiniteMassError, NotPositiveDefiniteError
from krein.features import FEATURE_MAPS, SCHEMES
from krein.kernels import DeltaGaussian, FromProfile, Gaussian, Kernel, Log, PolynomialOnSphere, Tanh, ThinPlate
from krein.sampling import ALL_DIRECTIONS, ALLOCATIONS, DIRECTIONS, RADII
from krein.spectral import jordan_parts

DELTA = DeltaGaussian((1.0, -0.5), (1.0, 3.0))
WITH_CONSTANT = FromProfile(lambda z: 0.3 + 0.7 * np.exp(-(z**2) / 2))
DESIGN_OPTIONS = ("target_error", "distances", "distance_range", "max_bias", "memory")
X = np.random.default_rng(12345).normal(size=(40, 5))
X.flags.writeable = False


def fitted(kernel: Kernel = DELTA, n_components: int = 40, **options: Any) -> RandomFeatures:
    return RandomFeatures(kernel, n_components, **({"random_state": 0, "scheme": "gorf-blocks"} | options)).fit(X)


def counts(features: RandomFeatures) -> tuple[int, int]:
    """Frequencies of the positive and of the negative part."""
    sign = features.frequencies_.coefficients
    return int((sign > 0).sum()), int((sign < 0).sum())


def test_public_names() -> None:
    assert {"RandomFeatures", "make_features", "relative_error", "FeatureMap", "save", "load"} <= set(krein.__all__)
    assert issubclass(RandomFeatures, krein.features.BaseFeatureMap)
    assert not isinstance(Gaussian(), FeatureMap)
    assert set(SCHEMES) <= set(FEATURE_MAPS)


class TestColumns:
    @pytest.mark.parametrize("s", [1, 5, 13])
    def test_s_frequencies_per_sign(self, s: int) -> None:
        """4 s columns where both signs have a part, 2 s where one has."""
        assert counts(fitted(DELTA, 4 * s)) == (s, s)
        assert counts(fitted(DELTA, 4 * s + 3)) == (s, s)
        assert fitted(DELTA, 4 * s + 3).transform(X).shape[1] == 4 * s
        assert counts(fitted(Gaussian(), 2 * s)) == (s, 0)
        assert counts(fitted(-Gaussian(), 2 * s + 1)) == (0, s)

    def test_a_constant_is_a_column(self) -> None:
        assert counts(fitted(WITH_CONSTANT, 21)) == (10, 0)
        assert counts(fitted(WITH_CONSTANT, 20)) == (9, 0)
        features = fitted(WITH_CONSTANT, 21)
        np.testing.assert_allclose(features.transform(X)[:, -1], np.sqrt(0.3), rtol=1e-7)
        negative = fitted(Gaussian() - WITH_CONSTANT * Gaussian(9.0) - WITH_CONSTANT, 41)
        assert negative.frequencies_.constant == pytest.approx(-0.3)
        assert negative.signature_[-1] == -1

    def test_columns_are_cosines_then_sines_then_the_constant(self) -> None:
        features = fitted(WITH_CONSTANT - 0.6 * Gaussian(3.0), 41)
        frequencies = features.frequencies_
        angles, amplitudes = X @ frequencies.weights.T, np.sqrt(np.abs(frequencies.coefficients))
        constant = np.full((len(X), 1), np.sqrt(frequencies.constant))
        Z = np.hstack([amplitudes * np.cos(angles), amplitudes * np.sin(angles), constant])
        np.testing.assert_allclose(features.transform(X), Z, rtol=0, atol=1e-14)
        sign = np.sign(frequencies.coefficients)
        assert (features.signature_ == np.concatenate([sign, sign, [1.0]])).all()
        K_hat = frequencies.evaluate(X[:, None] - X[None])
        np.testing.assert_allclose(features.approximate_kernel(X), K_hat, rtol=0, atol=1e-13)

    @pytest.mark.parametrize(("kernel", "n", "columns"), [(DELTA, 2, 2), (DELTA, 3, 2), (Gaussian(), 1, 1)])
    def test_too_few_columns_for_pairs_get_phases(self, kernel: Kernel, n: int, columns: int) -> None:
        features = fitted(kernel, n)
        frequencies = features.frequencies_
        Z = np.sqrt(2 * np.abs(frequencies.coefficients)) * np.cos(X @ frequencies.weights.T + frequencies.phases)
        assert Z.shape[1] == columns
        np.testing.assert_allclose(features.transform(X), Z, rtol=0, atol=1e-14)
        assert fitted(kernel, 4).frequencies_.phases is None

    @pytest.mark.parametrize(
        ("kernel", "needed"), [(DELTA, 2), (WITH_CONSTANT, 2), (WITH_CONSTANT - 0.6 * Gaussian(3.0), 3)]
    )
    def test_too_few_columns(self, kernel: Kernel, needed: int) -> None:
        with pytest.raises(
            ValueError,
            match=rf"n_components must be at least {needed} here, one column for every sign.*; got {needed - 1}",
        ):
            fitted(kernel, needed - 1)
        assert fitted(kernel, needed).transform(X).shape[1] == needed


class TestOptions:
    def test_scheme_is_its_options(self) -> None:
        Z = fitted(scheme="gorf-blocks").transform(X)
        assert (fitted(scheme="grff", directions="blocks").transform(X) == Z).all()
        assert (fitted(scheme="gorf-blocks", radii="iid", allocation="equal").transform(X) == Z).all()
        assert not (fitted(scheme="grff").transform(X) == Z).all()

    def test_names(self) -> None:
        for name in SCHEMES:
            assert set(DESIGN_OPTIONS) <= set(make_features(name, DELTA).get_params())
            features = make_features(name, DELTA, 48, 3, radii="stratified")
            assert features.get_params(deep=False) == {
                "kernel": DELTA, "n_components": 48, "random_state": 3, "scheme": name, "radii": "stratified",
                "directions": None, "allocation": None, "n_jobs": None, "output": "real",
                **dict.fromkeys(DESIGN_OPTIONS),
            }  # fmt: skip

    def test_directions(self) -> None:
        def units(directions: str) -> list[NDArray[np.float64]]:
            frequencies = fitted(DELTA, 20, directions=directions).frequencies_
            return np.split(frequencies.weights / frequencies.radii[:, None], 2)

        def orthonormal(U: NDArray[np.float64]) -> bool:
            return np.allclose(U @ U.T, np.eye(5), rtol=0, atol=1e-13)

        found = {name: units(name) for name in DIRECTIONS}
        assert {name for name, (U, _) in found.items() if orthonormal(U)} == {"blocks", "shared"}
        assert {name for name, (_, V) in found.items() if orthonormal(V)} == {"blocks", "shared"}
        assert {name for name, (U, V) in found.items() if np.allclose(U, V, rtol=0, atol=1e-13)} == {"shared"}

    def test_radii(self) -> None:
        law = jordan_parts(DELTA, 5).positive
        strata = {}
        for name in RADII:
            features = fitted(n_components=400, radii=name)
            radii = features.frequencies_.radii[features.frequencies_.coefficients > 0]
            strata[name] = np.unique(np.floor(100 * law.cdf(radii)))
        assert len(strata["stratified"]) == 100
        assert len(strata["rms"]) == 1
        assert len(strata["iid"]) < 80  # 63.4 expected, standard deviation 3.1

    def test_allocation(self) -> None:
        parts = jordan_parts(DELTA, 5)
        found = {name: counts(fitted(n_components=401, allocation=name)) for name in ALLOCATIONS}
        assert found["equal"] == (100, 100)
        assert found["mass"][0] == pytest.approx(200 * parts.positive.mass / parts.total_mass, abs=1)
        assert found["mass"] != found["variance"] != found["equal"]
        assert all(sum(count) == 200 for count in found.values())
        for name in ALLOCATIONS:
            c = fitted(n_components=401, allocation=name).frequencies_.coefficients
            assert c[c > 0].sum() == pytest.approx(parts.positive.mass)
            assert -c[c < 0].sum() == pytest.approx(parts.negative.mass)

    @pytest.mark.parametrize("option", ["scheme", "directions", "radii", "allocation"])
    @pytest.mark.parametrize("wrong", ["nothing", "GORF", 3, "", ["iid"]], ids=str)
    def test_wrong_option(self, option: str, wrong: Any) -> None:
        registry = {"scheme": SCHEMES, "directions": ALL_DIRECTIONS, "radii": RADII, "allocation": ALLOCATIONS}[option]
        with pytest.raises(ValueError, match=f"{option} must be one of ") as caught:
            fitted(**{option: wrong})
        assert all(repr(name) in str(caught.value) for name in registry)
        assert repr(wrong) in str(caught.value)

    def test_wrong_name(self) -> None:
        with pytest.raises(ValueError, match=r"name must be one of .*'gorf-blocks'.*; got 'gorff'"):
            make_features("gorff", DELTA)


class TestKernelAndScheme:
    @pytest.mark.parametrize("scheme", ["rff", "orf"])
    def test_positive_definite_schemes(self, scheme: str) -> None:
        with pytest.raises(NotPositiveDefiniteError, match=rf"'{scheme}' needs .* dimension 5.*Use 'optimal'"):
            fitted(DELTA, scheme=scheme)
        with pytest.raises(NotPositiveDefiniteError, match=r"negative part of mass 0\.3"):
            fitted(Gaussian() - 0.3 * FromProfile(lambda z: 1 + np.exp(-(z**2) / 2)) + 0.3 * Gaussian(), scheme=scheme)
        fitted(DeltaGaussian((1.0, 0.5), (1.0, 3.0)), scheme=scheme)

    @pytest.mark.parametrize("scheme", ["published-grff", "published-gorf"])
    def test_published_schemes(self, scheme: str) -> None:
        with pytest.raises(ValueError, match=r"recipe.*PolynomialOnSphere only; got Delta.*Use .*'gorf-blocks'"):
            fitted(DELTA, scheme=scheme)

    @pytest.mark.parametrize("kernel", [ThinPlate(), Log(), PolynomialOnSphere(3.0, 1), Tanh()], ids=repr)
    @pytest.mark.parametrize("scheme", ["grff", "gorf", "gorf-blocks"])
    def test_infinite_mass(self, kernel: Kernel, scheme: str) -> None:
        with pytest.raises(InfiniteMassError, match=r"infinite mass in .*dimension.*No unbiased.*Use scheme") as caught:
            RandomFeatures(kernel, scheme=scheme).fit(normalize(X))
        assert type(kernel).__name__ in str(caught.value) or "polynomial" in str(caught.value)
        advised = re.findall(r"'(\w+)'", str(caught.value).partition("Use scheme")[2])
        assert set(advised) <= set(FEATURE_MAPS)
        assert advised

    def test_kernel_that_is_not_radial(self) -> None:
        @dataclass(frozen=True)
        class Linear(Kernel):
            def _gram_block(self, X: Any, Y: Any) -> Any:
                return X @ Y.T

        with pytest.raises(TypeError, match=r"needs a radial kernel; got .*Linear"):
            fitted(Linear())

    def test_kernel_that_is_a_constant(self) -> None:
        with pytest.raises(ValueError, match="nothing but a constant"):
            fitted(FromProfile(lambda z: 1 + 0 * z))

    def test_kernel_on_the_sphere_of_finite_mass(self) -> None:
        features = RandomFeatures(PolynomialOnSphere(2.0, 3), 64, scheme="gorf-blocks", random_state=0)
        with pytest.raises(DomainError, match=r"unit sphere.*sklearn\.preprocessing\.normalize"):
            features.fit(X)
        assert features.fit(normalize(X)).transform(normalize(X)).shape == (40, 64)

    def test_unit_rows_are_judged_in_their_own_precision(self) -> None:
        rows = normalize(X).astype(np.float32)
        RandomFeatures(PolynomialOnSphere(2.0, 3)).fit(rows).transform(rows)

    def test_default_kernel_is_not_shared_state(self) -> None:
        RandomFeatures().set_params(kernel__scale=7.0)
        assert RandomFeatures().kernel == Gaussian(1.0)
