"""Designs: the recipes, their exact errors, what is rotated, and the cache."""

from __future__ import annotations

import numpy as np
import pytest

from krein.kernels import DeltaGaussian, Gaussian, PolynomialOnSphere, RadialKernel, Tanh
from krein.sampling import design_search
from krein.sampling.design import Design
from krein.sampling.design_cache import find_design
from krein.sampling.design_search import DesignProblem, _joint_shapes, _shapes
from krein.sampling.directions import haar
from krein.sampling.distance_weight import uniform_weight
from krein.sampling.error import predicted_error
from krein.sampling.frequencies import Frequencies
from krein.spectral import omega
from krein.testing import z_scores

DELTA = DeltaGaussian((1.0, -1.0), (1.0, 10.0))
WEIGHT = uniform_weight(2.0)


def problem(kernel: RadialKernel = DELTA, dim: int = 4, max_bias: float | None = None) -> DesignProblem:
    return DesignProblem(kernel, dim, WEIGHT, max_bias)


class TestShapes:
    @pytest.mark.parametrize("n_columns", [2, 3, 4, 9, 10, 33, 64])
    def test_never_more_columns_than_asked(self, n_columns: int) -> None:
        for n, constant in _shapes(n_columns, 4):
            assert 1 <= 2 * n + constant <= n_columns
        design = problem().design(n_columns)
        assert design.n_columns <= n_columns
        assert design.rotated(np.random.default_rng(0)).n_columns == design.n_columns

    def test_a_single_column_has_a_phase(self) -> None:
        design = problem(Gaussian()).design(1)
        frequencies = design.rotated(np.random.default_rng(0))
        assert design.phased
        assert design.n_columns == frequencies.n_columns == 1

    def test_remarks_of_a_single_column_are_its_own(self) -> None:
        """Its deviation is that with the phase: without, in one dimension, there would be none."""
        design = DesignProblem(Gaussian(), 1, uniform_weight(1.0)).design(1)
        assert design.standard_deviation > 10 * design.bias > 0
        assert design.remarks == ()

    @pytest.mark.parametrize("dim", [2, 22, 256, 784, 4096])
    def test_copies_of_whole_blocks(self, dim: int) -> None:
        for n in (1, 30, 399, 400, 401, 1000, 4096):
            shapes = _joint_shapes(n, dim)
            assert shapes[0][0] * shapes[0][1] > 0.8 * n or shapes[0][0] % dim == 0
            for size, copies in shapes:
                assert size * copies <= n
                assert size <= 400

    def test_more_columns_than_one_set_are_no_loss(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Two sets of 12 frequencies have more error than one of 24, which also fits."""
        monkeypatch.setattr(design_search, "JOINT_SIZE", 24)
        search = problem(Gaussian(), 3)
        assert _joint_shapes(28, 3) == [(12, 2), (24, 1)]
        narrow = search.design(49).error.mean_squared
        assert search.design(57).error.mean_squared <= 1.01 * narrow
        monkeypatch.setattr(design_search, "FEW_COPIES", 0)  # the mutant: all columns, in two sets
        assert search.design(57).error.mean_squared > 2 * narrow


class TestError:
    @pytest.mark.parametrize("n_columns", [1, 2, 9, 17, 33])
    @pytest.mark.parametrize("kernel", [DELTA, Tanh(2.0, -0.5)], ids=repr)
    def test_simulated(self, kernel: RadialKernel, n_columns: int) -> None:
        """Mean squared error over rotations and over the weight, at one difference vector per distance."""
        design = problem(kernel).design(n_columns)
        rng, squares = np.random.default_rng(12345), []
        a = np.random.default_rng(1).standard_normal(4)
        for _ in range(1500):
            frequencies = design.rotated(rng)
            if frequencies.phases is None:
                k_hat = frequencies.evaluate(WEIGHT.z[:, None] * np.eye(4)[0])
            else:
                x, y = a[None, :], a + WEIGHT.z[:, None] * np.eye(4)[0]
                cosines = [np.cos(rows @ frequencies.weights.T + frequencies.phases) for rows in (x, y)]
                k_hat = 2 * (cosines[0] * cosines[1]) @ frequencies.coefficients
            squares.append(WEIGHT.mean((k_hat - kernel.profile(WEIGHT.z)) ** 2))
        assert abs(z_scores(squares, design.error.mean_squared)) < 5
        if design.phased:  # the mutant: no variance of the phase
            one = problem(kernel).design(2)
            assert abs(z_scores(squares, one.error.mean_squared)) > 5
        if n_columns > 2:
            assert abs(z_scores(squares, design.error.squared_bias)) > 5  # the mutant: no variance

    def test_is_the_public_prediction(self) -> None:
        design = problem(dim=16).design(65)
        frequencies = design.rotated(np.random.default_rng(0))
        public = predicted_error(frequencies, 16, DELTA, WEIGHT.z, weights=WEIGHT.rho)
        assert design.error.mean_squared == pytest.approx(public.mean_squared, rel=1e-6)

    def test_independent_copies(self) -> None:
        """Several rotations of one set: the variance is that of one over the number, the bias stays."""
        design = problem(dim=2).design(4001)
        assert design.copies > 1
        one = Design("joint", 2, tuple(type(b)(b.weights, b.coefficients * b.copies) for b in design.blocks),
                     design.constant, 2.0, design.error, 0.0)  # fmt: skip
        frequencies = one.rotated(np.random.default_rng(0))
        alone = predicted_error(frequencies, 2, DELTA, WEIGHT.z, weights=WEIGHT.rho)
        assert design.error.variance == pytest.approx(alone.variance / design.copies, rel=1e-4)
        assert design.error.squared_bias == pytest.approx(alone.squared_bias, rel=1e-4)

    def test_rotation_must_be_haar(self) -> None:
        """Without the correction of signs the diagonal of Q prefers one sign: another expectation."""
        design = problem(Gaussian(), dim=3).design(9)
        z = np.linspace(0.2, 2, 8)[:, None] * np.array([0.8, 0.6, 0.0])
        right, wrong, rng = [], [], np.random.default_rng(12345)
        weights, c = design.blocks[0].weights, design.blocks[0].coefficients
        for _ in range(20_000):
            q = np.linalg.qr(rng.standard_normal((3, 3)))[0]
            wrong.append(Frequencies(weights @ q[: weights.shape[1]], c, design.constant).evaluate(z))
            right.append(Frequencies(weights @ haar(3, 3, 1, rng)[0], c, design.constant).evaluate(z))
        exact = design.constant + omega(3, np.linspace(0.2, 2, 8)[:, None] * design.blocks[0].radii) @ c
        assert np.abs(z_scores(right, exact)).max() < 5
        assert np.abs(z_scores(wrong, exact)).max() > 5


class TestRecipes:
    def test_a_design_is_no_random_variable(self) -> None:
        first, second = problem().design(33), problem().design(33)
        assert (first.blocks[0].weights == second.blocks[0].weights).all()
        assert first.constant == second.constant

    def test_directions_of_the_search_leave_no_trace(self) -> None:
        """A rotation by the very directions that the search began with must not undo them."""
        weights = problem(dim=4).design(33).blocks[0].weights
        assert (np.triu(weights, 1) == 0).all()

    @pytest.mark.parametrize("n_columns", [17, 65, 257])
    def test_better_than_orthonormal_blocks_of_the_measure(self, n_columns: int) -> None:
        search = problem(dim=8)
        blocks = [search._on_blocks(measure, *_shapes(n_columns, 8)[0]) for measure in search.measures()]
        assert search._loss(search.design(n_columns)) <= min(map(search._loss, blocks))

    @pytest.mark.parametrize("n_columns", [1, 2, 3, 5])
    @pytest.mark.parametrize("kernel", [DELTA, Gaussian(0.3), Tanh(2.0, -0.5)], ids=repr)
    def test_few_columns_are_no_constant(self, kernel: RadialKernel, n_columns: int) -> None:
        """Even where a constant has the least error."""
        search = problem(kernel)
        assert search._variation(search.design(n_columns)) > 0.05

    def test_affine_kernel_takes_a_full_block_and_the_constant(self) -> None:
        design = problem(PolynomialOnSphere(3.0, 1), dim=16).design(33)
        assert design.error.relative < 3e-4

    @pytest.mark.parametrize("max_bias", [1e-2, 1e-3, 1e-4])
    def test_max_bias(self, max_bias: float) -> None:
        design = problem(Gaussian(), 8, max_bias).design(33)
        assert design.bias_bound <= max_bias
        assert not design.remarks or "exceeds" in design.remarks[0]

    def test_atoms_and_masses(self) -> None:
        design = problem(dim=4).design(33)
        z = np.linspace(0, 2, 9)
        found = design.constant + omega(4, np.multiply.outer(z, design.atoms)) @ design.masses
        frequencies = design.rotated(np.random.default_rng(0))
        np.testing.assert_allclose(found, frequencies.expectation(z), rtol=0, atol=1e-8)

    def test_arrays(self) -> None:
        for n_columns in (1, 33):
            design = problem().design(n_columns)
            twin = Design.from_arrays(design.to_arrays())
            first, second = (one.rotated(np.random.default_rng(3)) for one in (design, twin))
            assert (first.weights == second.weights).all()
            assert twin.error == design.error
            assert (twin.remarks, twin.phased, twin.reach) == (design.remarks, design.phased, design.reach)


class TestCache:
    def test_the_same_request(self) -> None:
        twin = DeltaGaussian((1, -1), (1, 10))
        assert find_design(DELTA, 3, WEIGHT, 17) is find_design(twin, 3, uniform_weight(2.0), 17)

    def test_everything_that_matters(self) -> None:
        found = {
            id(find_design(kernel, dim, weight, n_columns, max_bias))
            for kernel, dim, weight, n_columns, max_bias in [
                (DELTA, 3, WEIGHT, 17, None),
                (DeltaGaussian((1, -1), (1, 11)), 3, WEIGHT, 17, None),
                (DELTA, 4, WEIGHT, 17, None),
                (DELTA, 3, uniform_weight(2.1), 17, None),
                (DELTA, 3, WEIGHT.mixed(), 17, None),
                (DELTA, 3, WEIGHT, 19, None),
                (DELTA, 3, WEIGHT, 17, 1e-3),
            ]
        }
        assert len(found) == 7

    def test_a_kernel_that_is_changed_later(self) -> None:
        kernel = Gaussian(1.0)
        first = find_design(kernel, 3, WEIGHT, 9)
        kernel.set_params(scale=2.0)
        assert find_design(kernel, 3, WEIGHT, 9) is not first
        assert find_design(Gaussian(1.0), 3, WEIGHT, 9) is first
