"""Sums, differences, multiples and products: values, domains, and how they are printed."""

from __future__ import annotations

from operator import neg

import numpy as np
import pytest
from sklearn.preprocessing import normalize

from krein import kernels
from krein.exceptions import DomainError
from krein.kernels import (
    NTK,
    ArcCosine,
    Cauchy,
    DeltaGaussian,
    Gaussian,
    Laplacian,
    Product,
    Scaled,
    Sum,
    Tanh,
)
from krein.kernels.base import Kernel

A, B, C = Gaussian(2.0), Laplacian(3.0), Cauchy(0.5)
Z = np.linspace(0, 2, 21)
X = normalize(np.random.default_rng(12345).standard_normal((20, 4)))


@pytest.mark.parametrize("right", [B, Tanh(), NTK(depth=2)], ids=repr)
@pytest.mark.parametrize("left", [A, ArcCosine(order=2)], ids=repr)
def test_values(left, right) -> None:
    p, q, P, Q = left.profile(Z), right.profile(Z), left(X), right(X)
    for kernel, profile, gram in [
        (left + right, p + q, P + Q),
        (left - right, p - q, P - Q),
        (2 * left, 2 * p, 2 * P),
        (left * -0.5, -0.5 * p, -0.5 * P),
        (-left, -p, -P),
        (left * right, p * q, P * Q),
        (sum([left, right, left]), p + q + p, P + Q + P),
        (np.float64(3.0) * left, 3 * p, 3 * P),
        (left * np.int64(3), 3 * p, 3 * P),
        ((left - 2 * right) * (left + right), (p - 2 * q) * (p + q), (P - 2 * Q) * (P + Q)),
    ]:
        np.testing.assert_array_equal(kernel.profile(Z), profile)
        np.testing.assert_array_equal(kernel(X), gram)
        np.testing.assert_array_equal(kernel(X, X[:7]).shape, (20, 7))


def test_a_difference_of_gaussians_is_a_mixture() -> None:
    difference, mixture = Gaussian(1.0) - Gaussian(10.0), DeltaGaussian((1.0, -1.0), (1.0, 10.0))
    np.testing.assert_allclose(difference.profile(5 * Z), mixture.profile(5 * Z), rtol=0, atol=2e-16)
    # 1/s^2 = 1/2^2 + 1/3^2
    np.testing.assert_allclose((A * Gaussian(3.0)).profile(Z), Gaussian(6 / 13**0.5).profile(Z), rtol=1e-15)


@pytest.mark.parametrize(
    ("kernel", "tree", "text"),
    [
        (A + B, Sum(A, B), "A + B"),
        (A - B, Sum(A, Scaled(B, -1.0)), "A - B"),
        (A + B + C, Sum(Sum(A, B), C), "A + B + C"),
        (A + (B + C), Sum(A, Sum(B, C)), "A + (B + C)"),
        (A - (B + C), Sum(A, Scaled(Sum(B, C), -1.0)), "A - (B + C)"),
        (A - (B - C), Sum(A, Scaled(Sum(B, Scaled(C, -1.0)), -1.0)), "A - (B - C)"),
        (A + -2 * B, Sum(A, Scaled(B, -2.0)), "A + -2.0 * B"),
        (A - 2 * B, Sum(A, Scaled(Scaled(B, 2.0), -1.0)), "A - 2.0 * B"),
        (-A, Scaled(A, -1.0), "-A"),
        (-A + B, Sum(Scaled(A, -1.0), B), "-A + B"),
        (-(A + B), Scaled(Sum(A, B), -1.0), "-(A + B)"),
        (-(A * B), Scaled(Product(A, B), -1.0), "-(A * B)"),
        (-A * B, Product(Scaled(A, -1.0), B), "-A * B"),
        (neg(neg(A)), Scaled(Scaled(A, -1.0), -1.0), "-(-A)"),
        (2 * (3 * A), Scaled(Scaled(A, 3.0), 2.0), "2.0 * (3.0 * A)"),
        (A * 2, Scaled(A, 2.0), "2.0 * A"),
        (A * B * C, Product(Product(A, B), C), "A * B * C"),
        (A * (B * C), Product(A, Product(B, C)), "A * (B * C)"),
        (A * (2 * B), Product(A, Scaled(B, 2.0)), "A * (2.0 * B)"),
        (2 * A * B, Product(Scaled(A, 2.0), B), "2.0 * A * B"),
        ((A + B) * (A - C), Product(Sum(A, B), Sum(A, Scaled(C, -1.0))), "(A + B) * (A - C)"),
        (sum([A, B, C]), Sum(Sum(A, B), C), "A + B + C"),
        (sum([A]), A, "A"),
        (1e-300 * A, Scaled(A, 1e-300), "1e-300 * A"),
        (Scaled(A, -1), Scaled(A, -1.0), "-A"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_tree_and_repr(kernel: Kernel, tree: Kernel, text: str) -> None:
    assert kernel == tree
    for name, part in {"A": A, "B": B, "C": C}.items():
        text = text.replace(name, repr(part))
    assert repr(kernel) == text
    assert eval(repr(kernel), dict(vars(kernels))) == kernel


def random_tree(rng: np.random.Generator, depth: int) -> Kernel:
    if depth == 0 or rng.random() < 0.2:
        return [A, B, C, Tanh()][rng.integers(4)]
    left, right = random_tree(rng, depth - 1), random_tree(rng, depth - 1)
    return [Sum(left, right), Product(left, right), Scaled(left, [-1.0, 2.0, -0.5][rng.integers(3)])][rng.integers(3)]


def test_repr_of_random_trees() -> None:
    rng = np.random.default_rng(12345)
    for _ in range(300):
        kernel = random_tree(rng, 4)
        assert eval(repr(kernel), dict(vars(kernels))) == kernel


def test_order_matters_for_equality_not_for_values() -> None:
    assert A + B != B + A
    np.testing.assert_array_equal((A + B)(X), (B + A)(X))


def test_the_sphere_wins() -> None:
    assert {kernel.domain for kernel in (A + B, 2 * A, A * B, A - B)} == {"euclidean"}
    for kernel in (A + Tanh(), Tanh() - A, A * Tanh(), Tanh() * A, 2 * Tanh(), A + (B - 2 * Tanh())):
        assert kernel.domain == "sphere"
        with pytest.raises(DomainError, match="normalize"):
            kernel(2 * X)


def test_nested_parameters() -> None:
    kernel = A - 2 * Tanh()
    assert kernel.get_params()["right__kernel__kernel__offset"] == -0.5
    kernel.set_params(left__scale=7.0, right__kernel__factor=3.0)
    assert kernel == Gaussian(7.0) - 3 * Tanh()


@pytest.mark.parametrize(
    "operation",
    [
        lambda: A + 1,
        lambda: 1 + A,
        lambda: A - 1,
        lambda: 1 - A,
        lambda: A * "2",
        lambda: "2" * A,
        lambda: A * 1j,
        lambda: A + None,
        lambda: A * np.ones(2),
        lambda: np.ones(2) * A,
        lambda: A + np.ones(2),
    ],
)
def test_refuses_other_operands(operation) -> None:
    with pytest.raises(TypeError, match=r"unsupported operand|can't multiply|does not support ufuncs"):
        operation()


@pytest.mark.parametrize("factor", [np.nan, np.inf, -np.inf])
def test_refuses_infinite_multiples(factor: float) -> None:
    with pytest.raises(ValueError, match="factor must be a finite number; got"):
        factor * A


def test_refuses_operands_that_are_not_radial() -> None:
    class Linear(Kernel):
        def _gram_block(self, X, Y):
            return X @ Y.T

    np.testing.assert_allclose(Linear()(X), X @ X.T, rtol=0, atol=1e-15)  # the diagonal too
    for make in (lambda: Sum(A, Linear()), lambda: Product(Linear(), A), lambda: Scaled(Linear(), 2.0)):
        with pytest.raises(ValueError, match="must be a radial kernel; got"):
            make()
    with pytest.raises(TypeError, match="unsupported operand"):
        A + Linear()
