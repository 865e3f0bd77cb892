"""The positive law fitted to a kernel: optimal, certified, sampled as it is, its bias reported."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from krein.kernels import DeltaGaussian, Epanechnikov, FromProfile, Gaussian, PolynomialOnSphere, Tanh
from krein.kernels.base import RadialKernel
from krein.spectral import omega
from krein.spectral._mixture_problem import MixtureProblem
from krein.spectral.mixture_fit import cell_law, default_shift, fit_spectrum, fitted_range

DEGREE_ONE = PolynomialOnSphere(a=3.0, degree=1)
EDGES = np.linspace(0.0, 3.0, 31)


class Pole(RadialKernel):
    def profile(self, z: Any) -> Any:
        return 1 / np.maximum(1 - np.asarray(z, float), 0)


def problem(dim: int = 16, n: int = 256) -> MixtureProblem:
    return MixtureProblem(dim, np.linspace(0.0, 1.0, n), DEGREE_ONE.profile(np.linspace(0.0, 2.0, n)), 2.4)


def two_shells() -> np.ndarray:
    masses = np.zeros(30)
    masses[[4, 5, 21]] = 0.125, 0.25, 0.125
    return masses


class TestOptimum:
    @pytest.mark.parametrize(("dim", "cost"), [(16, 9.30e-5), (22, 9.89e-5), (256, 1.150e-4)])
    def test_degree_one_reaches_the_smallest_cost_of_all_positive_laws(self, dim: int, cost: float) -> None:
        fit = fit_spectrum(DEGREE_ONE, dim, 2.0)
        assert fit.smallest_cost == pytest.approx(cost, rel=1e-3)  # the accuracy of the figures
        assert fit.smallest_cost * (1 - 1e-9) < fit.cost < 1.05 * fit.smallest_cost
        assert fit_spectrum(DEGREE_ONE, dim, 2.0, solver="nnls").cost == fit.smallest_cost

    @pytest.mark.parametrize(("dim", "cost"), [(16, 1.16e-5), (22, 2.31e-5), (256, 7.0e-5)])
    def test_degree_five(self, dim: int, cost: float) -> None:
        assert fit_spectrum(PolynomialOnSphere(a=4.0, degree=5), dim, 2.0).cost < 1.01 * cost

    @pytest.mark.parametrize("dim", [2, 16, 256])
    def test_nnls_has_no_duality_gap(self, dim: int) -> None:
        """Convexity: cost(q) >= cost(p) + g.(q - p) >= cost(p) - (g.p - min g) for every other law q."""
        one = problem(dim)
        p = one.nonnegative_masses()
        g = one.omegas @ (one.weights * (p @ one.omegas - one.target))
        assert p.min() >= 0
        assert p.sum() == pytest.approx(1, abs=1e-14)
        assert g @ p - g.min() < 1e-12
        worse = np.roll(p, 5)
        g = one.omegas @ (one.weights * (worse @ one.omegas - one.target))
        assert g @ worse - g.min() > 1e-6

    @pytest.mark.parametrize("dim", [16, 22, 256])
    def test_gaussian_is_in_the_family(self, dim: int) -> None:
        z = np.linspace(0, 2, 500)
        assert np.abs(fit_spectrum(Gaussian(1.0), dim, 2.0).profile(z) - Gaussian(1.0).profile(z)).max() < 1e-3

    def test_gradient(self) -> None:
        """Against central differences; c > 0 has no clip, mixed signs have one that these steps do not move."""
        one, rng = problem(), np.random.default_rng(12345)
        for sign in (np.abs, np.asarray):
            log_sigma = np.log(2.4) - rng.uniform(0, 1.5, 6)
            v = np.append(log_sigma, sign(rng.normal(size=6)) + 0.3)
            gradient = one.mixture_cost(v)[1]
            h = 1e-5
            numeric = [(one.mixture_cost(v + e)[0] - one.mixture_cost(v - e)[0]) / (2 * h) for e in h * np.eye(12)]
            assert np.abs(gradient).max() > 1e-3
            np.testing.assert_allclose(gradient, numeric, rtol=0, atol=1e-6 * np.abs(gradient).max())

    def test_laws_of_the_components(self) -> None:
        """A_i has mass 1 and its kernel is exp(-sigma^2 z^2)."""
        one = problem()
        laws = one.gaussian_laws(np.log([0.3, 1.0]))[0] * one.edges[1]
        np.testing.assert_allclose(laws.sum(axis=0), 1, atol=1e-6)
        np.testing.assert_allclose(laws.T @ one.omegas, np.exp(-(np.outer([0.3, 1.0], one.x) ** 2)), atol=1e-5)

    def test_no_mass_at_all_costs_more_than_any_law(self) -> None:
        cost, gradient = problem().mixture_cost(np.append(np.zeros(3), -np.ones(3)))
        assert cost > 2
        assert not gradient.any()


class TestFit:
    @pytest.mark.parametrize("solver", ["mixture", "nnls"])
    @pytest.mark.parametrize("kernel", [DEGREE_ONE, DeltaGaussian(), Tanh(), Gaussian(0.5)], ids=repr)
    def test_mass_constant_and_bias(self, kernel: Any, solver: str) -> None:
        fit = fit_spectrum(kernel, 16, 2.0, solver=solver)
        law = fit.parts.positive
        assert fit.parts.negative.mass == 0
        assert law.piece_mass.min() > 0
        assert float(fit.profile(np.zeros(1))[0]) == pytest.approx(float(kernel.profile(0.0)), abs=1e-12)
        z = np.linspace(0, 2, 3001)
        found = np.abs(fit.profile(z) - kernel.profile(z)).max()
        assert fit.bias == pytest.approx(found, rel=1e-2)
        np.testing.assert_allclose(
            law.mass * law.profile(z[::300]) + fit.parts.constant, fit.profile(z[::300]), atol=1e-9
        )
        assert fit.cost == pytest.approx(
            np.trapezoid((fit.profile(z) - kernel.profile(z)) ** 2, z) / 2, rel=0.01, abs=1e-9
        )

    def test_delta_gaussian_needs_its_shift(self) -> None:
        z = np.linspace(0, 2, 2001)
        kernel = DeltaGaussian()
        shift = -fit_spectrum(kernel, 16, 2.0).parts.constant
        assert shift == pytest.approx(-1.2 * kernel.profile(z).min(), rel=1e-6)
        assert fit_spectrum(kernel, 16, 2.0).bias < 1e-3
        assert fit_spectrum(kernel, 256, 2.0, shift=1.0).bias < 3e-3
        assert fit_spectrum(kernel, 256, 2.0, shift=0.85).bias > 0.03

    @pytest.mark.parametrize("kernel", [-Gaussian(1.0), FromProfile(np.sin), -1.0 * DeltaGaussian()], ids=repr)
    def test_shift_makes_the_mass_positive(self, kernel: Any) -> None:
        shift = default_shift(kernel, 2.0)
        assert float(kernel.profile(0.0)) + shift > 0
        assert np.isfinite(fit_spectrum(kernel, 3, 2.0).bias)

    def test_negative_kernels_only_are_shifted(self) -> None:
        assert default_shift(DEGREE_ONE, 2.0) == 0
        assert fit_spectrum(DEGREE_ONE, 16, 2.0).parts.constant == 0

    def test_long_range(self) -> None:
        """The kernel is fitted where it is, and the bias counts over the whole range."""
        span, width = fitted_range(Gaussian(0.01), 1e4)
        assert span == pytest.approx(4 * 0.01 * np.sqrt(2 * np.log(1e3)), rel=0.02)
        assert width == pytest.approx(0.01 * np.sqrt(2 * np.log(2)), rel=0.02)
        fit = fit_spectrum(Gaussian(0.01), 5, 1e4)
        assert fit.bias < 1e-3
        z = np.geomspace(1e-4, 1e4, 400)
        assert np.abs(fit.profile(z) - Gaussian(0.01).profile(z)).max() < 1e-3
        assert fit_spectrum(Epanechnikov(1.0), 5, 1e4).bias > 0.05  # not positive definite: nothing can fit it

    def test_units(self) -> None:
        """Distances in other units give radii in other units; powers of 2 leave no rounding."""
        u = np.linspace(0.01, 0.99, 50)
        one, two = fit_spectrum(Gaussian(1.0), 5, 3.0), fit_spectrum(Gaussian(2.0), 5, 6.0)
        np.testing.assert_allclose(two.parts.positive.quantile(u) * 2, one.parts.positive.quantile(u), rtol=1e-12)
        assert two.cost == pytest.approx(2 * one.cost)
        tall = fit_spectrum(4.0 * Gaussian(1.0), 5, 3.0)
        assert tall.cost == pytest.approx(16 * one.cost)
        assert tall.bias == pytest.approx(4 * one.bias)


class TestCache:
    def test_equal_kernels_share_a_fit(self) -> None:
        assert fit_spectrum(Gaussian(1.5), 7, 2) is fit_spectrum(Gaussian(1.5), np.int64(7), 2.0)
        assert fit_spectrum(Gaussian(1.5), 7, 2.0) is not fit_spectrum(Gaussian(1.5), 8, 2.0)

    def test_a_changed_kernel_does_not_get_the_old_fit(self) -> None:
        kernel = Gaussian(1.5)
        old = fit_spectrum(kernel, 7, 2.0)
        kernel.set_params(scale=0.5)
        assert fit_spectrum(kernel, 7, 2.0).parts.positive.moment(2) > 4 * old.parts.positive.moment(2)
        assert fit_spectrum(Gaussian(1.5), 7, 2.0) is old


class TestCells:
    def test_uniform_within_cells_and_nothing_between(self) -> None:
        law = cell_law(3, EDGES, two_shells())
        assert law.mass == 0.5
        r = law.sample(100_000, np.random.default_rng(12345))
        inside = (r >= 0.4) & (r <= 0.6) | (r >= 2.1) & (r <= 2.2)
        assert inside.all()
        for low, high, p in ((0.4, 0.45, 0.125), (0.5, 0.6, 0.5), (2.1, 2.11, 0.025)):
            z = (np.mean((r >= low) & (r < high)) - p) / np.sqrt(p * (1 - p) / len(r))
            assert abs(z) < 5
        nodes = np.append(0.0, (EDGES[1:] + EDGES[:-1])[two_shells() > 0] / 2)  # the law interpolated between its nodes
        wrong = np.interp(np.linspace(0, 1, 999), np.append(0.0, np.cumsum([0.25, 0.5, 0.25])), nodes)
        assert np.mean((wrong > 0.6) & (wrong < 2.1)) > 0.1

    def test_moments_density_and_profile(self) -> None:
        law = cell_law(3, EDGES, two_shells())
        p, a, b = np.array([0.25, 0.5, 0.25]), law.left, law.right
        assert law.moment(2) == pytest.approx(p @ (a * a + a * b + b * b) / 3, rel=1e-12)
        assert law.measure.density(np.array([0.45, 1.0, 2.15, 3.0, 5.0])) == pytest.approx([1.25, 0, 1.25, 0, 0])
        r = np.linspace(a, b, 2001)
        direct = [p @ omega(3, t * r).mean(axis=0) for t in (0.5, 2.0)]
        np.testing.assert_allclose(law.profile(np.array([0.5, 2.0])), direct, atol=1e-5)

    def test_pickle(self) -> None:
        law = fit_spectrum(DEGREE_ONE, 16, 2.0).parts.positive
        twin = pickle.loads(pickle.dumps(law))
        u = np.linspace(0, 1, 20)
        assert (twin.quantile(u) == law.quantile(u)).all()


class TestErrors:
    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"solver": "adam"}, r"solver must be one of \['mixture', 'nnls'\]; got 'adam'"),
            ({"n_mixture": 0}, "n_mixture must be an integer >= 1; got 0"),
            ({"dim": 0}, "dim must be an integer >= 1; got 0"),
            ({"max_distance": 0.0}, r"max_distance must be a finite number > 0; got 0\.0"),
            ({"shift": np.nan}, "shift must be a finite number; got nan"),
            ({"shift": -1.0}, r"shift must be larger than -k\(0\) = -1 .*; got -1\.0"),
            ({"kernel": FromProfile(np.zeros_like)}, "kernel must not be 0 for all distances up to 2"),
            ({"kernel": Pole()}, r"kernel must be finite for 0 <= z <= 2; got Pole\(\)"),
        ],
    )
    def test_refused(self, changes: dict[str, Any], message: str) -> None:
        arguments = {"kernel": Gaussian(1.0), "dim": 3, "max_distance": 2.0, **changes}
        with np.errstate(divide="ignore"), pytest.raises(ValueError, match=message):
            fit_spectrum(**arguments)
