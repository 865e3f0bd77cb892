"""What every public kernel must do; a new name in krein.kernels.__all__ is covered by itself."""

from __future__ import annotations

import copy
import inspect
import pickle
import re
from dataclasses import FrozenInstanceError, fields

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, clone
from sklearn.preprocessing import normalize

from krein import kernels
from krein.exceptions import DomainError
from krein.kernels import AdditiveKernel, Gaussian, Kernel, Laplacian, RadialKernel, Tanh
from krein.kernels.base import BLOCK_ROWS

# A kernel that cannot be made without arguments needs an example; others may have more than their defaults.
EXAMPLES = {
    "AdditiveChi2": [kernels.AdditiveChi2(), kernels.AdditiveChi2(0.5)],
    "ArcCosine": [kernels.ArcCosine(0), kernels.ArcCosine(1), kernels.ArcCosine(2)],
    "DotProductOnSphere": [kernels.DotProductOnSphere(np.exp)],
    "FromProfile": [kernels.FromProfile(np.sinc), kernels.FromProfile(np.cos, on="sphere")],
    "Matern": [kernels.Matern(0.8, nu) for nu in (0.5, 0.7, 1.5, 2.5, 4.2, 35.0)],
    "NTK": [kernels.NTK(), kernels.NTK(depth=3)],
    "Polynomial": [kernels.Polynomial(), kernels.Polynomial(3, -0.3, 0.5)],
    "PolynomialOnSphere": [kernels.PolynomialOnSphere(), kernels.PolynomialOnSphere(a=1.1, degree=4)],
    "PowerSeries": [kernels.PowerSeries(), kernels.PowerSeries([0.5, -1.0, 0.0, 0.25])],
    "Product": [Gaussian(2.0) * Laplacian(), Tanh() * (Gaussian() + 2 * Tanh(1.0, 0.0))],
    "Scaled": [-3 * Laplacian(), 2 * Tanh()],
    "Sum": [Gaussian() - Laplacian(), Gaussian() - 0.5 * Tanh(), (Gaussian() + Gaussian(2.0)) - Gaussian(3.0)],
}
NAMES = [name for name in kernels.__all__ if not inspect.isabstract(getattr(kernels, name))]
CASES = [kernel for name in NAMES for kernel in EXAMPLES.get(name) or [getattr(kernels, name)()]]
IDS = [re.sub(" at 0x[0-9a-f]+", "", repr(kernel)) for kernel in CASES]  # an address differs from process to process


RADIAL = [kernel for kernel in CASES if isinstance(kernel, RadialKernel)]
IDS_RADIAL = [i for i, kernel in zip(IDS, CASES, strict=True) if isinstance(kernel, RadialKernel)]


def rows(kernel: Kernel, n: int, dim: int = 5, seed: int = 12345) -> np.ndarray:
    X = np.random.default_rng(seed).standard_normal((n, dim))
    if kernel.domain == "nonnegative":
        X = np.abs(X)
    return normalize(X) if kernel.domain == "sphere" else X


def tolerance(K: np.ndarray) -> float:
    """Distances and inner products are good to 1e-13; no profile here is steeper than 10 max |k| in ln z."""
    return 1e-12 * (1 + np.abs(K).max())


def exact_gram(kernel: Kernel, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    if isinstance(kernel, RadialKernel):
        return kernel.profile(cdist(X, Y))
    if isinstance(kernel, AdditiveKernel):
        x, y = X[:, None, :], Y[None, :, :]
        return np.sum((x * y) ** (kernel.degree / 2) * kernel.ratio_profile(np.log(y / x)), axis=2)
    return kernel.of_dot(X @ Y.T)


def has_callable(kernel: Kernel) -> bool:
    return any(callable(value) and not isinstance(value, Kernel) for value in kernel.get_params().values())


def test_all_names_exist() -> None:
    assert all(isinstance(name, str) and issubclass(getattr(kernels, name), Kernel) for name in kernels.__all__)
    assert {type(kernel).__name__ for kernel in CASES} == set(NAMES)
    assert set(EXAMPLES) <= set(NAMES)


@pytest.mark.parametrize("kernel", CASES, ids=IDS)
class TestValue:
    def test_is_immutable(self, kernel: Kernel) -> None:
        for field in fields(kernel):
            with pytest.raises(FrozenInstanceError):
                setattr(kernel, field.name, getattr(kernel, field.name))
        with pytest.raises(FrozenInstanceError):
            kernel.no_such_parameter = 1.0

    @pytest.mark.parametrize(
        "duplicate",
        [clone, copy.copy, copy.deepcopy, lambda k: pickle.loads(pickle.dumps(k))],
        ids=["clone", "copy", "deepcopy", "pickle"],
    )
    def test_copies_are_equal(self, kernel: Kernel, duplicate) -> None:
        twin = duplicate(kernel)
        assert twin is not kernel
        assert type(twin) is type(kernel)
        assert twin == kernel
        assert hash(twin) == hash(kernel)
        assert len({twin, kernel}) == 1

    def test_differs_from_other_kernels(self, kernel: Kernel) -> None:
        assert [other for other in CASES if other == kernel] == [kernel]
        assert kernel != 3

    def test_repr_can_be_evaluated(self, kernel: Kernel) -> None:
        if has_callable(kernel):
            assert "function=" in repr(kernel)
        else:
            assert eval(repr(kernel), dict(vars(kernels))) == kernel

    def test_parameters_make_the_same_kernel(self, kernel: Kernel) -> None:
        params = kernel.get_params(deep=False)
        assert list(params) == list(inspect.signature(type(kernel)).parameters)
        assert type(kernel)(**params) == kernel
        twin = clone(kernel)
        assert twin.set_params(**params) is twin
        assert twin == kernel

    def test_set_params_refuses_and_changes_nothing(self, kernel: Kernel) -> None:
        twin = clone(kernel)
        for name in kernel.get_params(deep=True):
            with pytest.raises(ValueError, match="must"):
                twin.set_params(**{name: "wrong"})
            assert twin == kernel
        with pytest.raises(ValueError, match="Invalid parameter 'no_such_parameter'"):
            twin.set_params(no_such_parameter=1.0)
        leaf = next(name for name, value in kernel.get_params().items() if not isinstance(value, Kernel))
        with pytest.raises(ValueError, match="must be a kernel"):
            twin.set_params(**{f"{leaf}__scale": 1.0})

    def test_is_reached_through_an_estimator(self, kernel: Kernel) -> None:
        holder = clone(Holder(kernel))
        for name, value in kernel.get_params(deep=True).items():
            holder.set_params(**{f"kernel__{name}": value})
        assert holder.kernel == kernel


class Holder(BaseEstimator):
    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel


@pytest.mark.parametrize("kernel", RADIAL, ids=IDS_RADIAL)
class TestProfile:
    def test_is_elementwise_in_float64(self, kernel: Kernel) -> None:
        z = np.linspace(0, 2, 12)
        values = kernel.profile(z)
        assert values.dtype == np.float64
        assert values.shape == z.shape
        assert np.isfinite(values).all()
        np.testing.assert_array_equal(kernel.profile(z.reshape(3, 4)), values.reshape(3, 4))
        np.testing.assert_array_equal(kernel.profile(list(z)), values)
        np.testing.assert_array_equal(kernel.profile(z[::-1]), values[::-1])
        assert np.shape(kernel.profile(0.0)) == ()
        np.testing.assert_allclose([float(kernel.profile(float(r))) for r in z], values, rtol=1e-14, atol=1e-15)
        np.testing.assert_array_equal(kernel.profile(np.array([0, 1, 2])), kernel.profile([0.0, 1.0, 2.0]))

    def test_leaves_its_argument_alone(self, kernel: Kernel) -> None:
        z = np.linspace(0, 2, 5)
        z.flags.writeable = False
        kernel.profile(z)

    def test_is_continuous_at_zero(self, kernel: Kernel) -> None:
        # the steepest profile here is that of -3 Laplacian(): slope 3
        assert abs(kernel.profile(1e-7) - kernel.profile(0.0)) < 1e-5


@pytest.mark.parametrize("kernel", CASES, ids=IDS)
class TestGram:
    def test_is_the_function_that_it_says(self, kernel: Kernel) -> None:
        X, Y = rows(kernel, 40), rows(kernel, 30, seed=6789)
        expected = exact_gram(kernel, X, Y)
        np.testing.assert_allclose(kernel(X, Y), expected, rtol=0, atol=tolerance(expected))
        np.testing.assert_allclose(kernel(Y, X), expected.T, rtol=0, atol=tolerance(expected))

    def test_is_symmetric_over_several_blocks(self, kernel: Kernel) -> None:
        X = rows(kernel, 2 * BLOCK_ROWS + 3)
        K = kernel(X)
        np.testing.assert_array_equal(K, K.T)
        if isinstance(kernel, RadialKernel):
            np.testing.assert_array_equal(np.diag(K), np.full(len(X), kernel.profile(0.0)))
        expected = exact_gram(kernel, X, X)
        np.testing.assert_allclose(K, expected, rtol=0, atol=tolerance(expected))
        np.testing.assert_allclose(K, kernel(X, X.copy()), rtol=0, atol=tolerance(expected))

    @pytest.mark.parametrize("container", [sp.csr_matrix, sp.csr_array, sp.coo_array])
    def test_sparse_is_dense(self, kernel: Kernel, container) -> None:
        X, Y = rows(kernel, 25), rows(kernel, 20, seed=6789)
        X[:, 1] = Y[:, 2] = 0
        if kernel.domain == "sphere":
            X, Y = normalize(X), normalize(Y)
        K = kernel(X, Y)
        for A, B in [(container(X), container(Y)), (container(X), Y), (X, container(Y))]:
            result = kernel(A, B)
            assert type(result) is np.ndarray
            np.testing.assert_allclose(result, K, rtol=0, atol=tolerance(K))
        np.testing.assert_allclose(kernel(container(X)), kernel(X), rtol=0, atol=tolerance(K))

    def test_float32_gives_float32(self, kernel: Kernel) -> None:
        X, Y = rows(kernel, 30).astype(np.float32), rows(kernel, 20, seed=6789).astype(np.float32)
        K = kernel(X, Y)
        assert K.dtype == np.float32
        assert kernel(X).dtype == np.float32
        assert kernel(X, Y.astype(np.float64)).dtype == np.float64
        assert kernel(sp.csr_array(X), sp.csr_array(Y)).dtype == np.float32
        # computed in float64 and rounded once: half a unit in the last place, 2^-24, of the float64 result
        double = kernel(X, Y.astype(np.float64))
        np.testing.assert_allclose(K, double, rtol=6e-8, atol=tolerance(double))
        np.testing.assert_array_equal(kernel(X), kernel(X).T)

    def test_integers_and_lists(self, kernel: Kernel) -> None:
        X = np.eye(3, dtype=int)
        np.testing.assert_array_equal(kernel(X), kernel(X.astype(float)))
        np.testing.assert_array_equal(kernel(X.tolist()), kernel(X.astype(float)))
        assert kernel(X).dtype == np.float64

    def test_refuses_what_is_no_table_of_numbers(self, kernel: Kernel) -> None:
        X = rows(kernel, 4)
        for value in (np.nan, np.inf):
            broken = X.copy()
            broken[2, 1] = value
            with pytest.raises(ValueError, match="Input X contains"):
                kernel(broken)
            with pytest.raises(ValueError, match="Input Y contains"):
                kernel(X, broken)
        with pytest.raises(ValueError, match="Expected 2D array"):
            kernel(X[0])
        with pytest.raises(ValueError, match="minimum of 1 is required"):
            kernel(X[:0])
        with pytest.raises(ValueError, match=r"Y must have as many columns as X \(5\); got 4"):
            kernel(X, rows(kernel, 4, dim=4))

    def test_refuses_rows_outside_its_domain(self, kernel: Kernel) -> None:
        X = rows(kernel, 6)
        X[2] *= 1.5
        X[4] = 0
        if kernel.domain != "sphere":
            assert np.isfinite(kernel(X)).all()
            return
        for A in (X, sp.csr_array(X), X.astype(np.float32)):
            with pytest.raises(DomainError, match=r"Rows of X .* 2 of 6 rows .* row 2 with norm 1.5") as caught:
                kernel(A)
            assert "sklearn.preprocessing.normalize" in str(caught.value)
            assert "rows 4 (1 in all)" in str(caught.value)
        with pytest.raises(DomainError, match="Rows of Y"):
            kernel(rows(kernel, 3), X)
