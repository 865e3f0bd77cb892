"""Numerical quality of the exact Gram matrix: shifts, near duplicates, blocks, and the test of the domain."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.preprocessing import normalize

from krein._validation import check_unit_rows, row_norms
from krein.exceptions import DomainError
from krein.kernels import ArcCosine, Gaussian, Laplacian, Log, Tanh, base
from krein.kernels.base import distances, row_blocks


def naive_distances(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """The mutant: no centring, and no subtraction of close rows."""
    squares = (X**2).sum(1)[:, None] + (Y**2).sum(1) - 2 * X @ Y.T
    return np.sqrt(np.maximum(squares, 0))


def normal(n: int, dim: int, seed: int = 12345) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, dim))


@pytest.mark.parametrize("kernel", [Gaussian(), Laplacian(), Log()], ids=repr)
def test_a_large_shift_costs_no_digits(kernel) -> None:
    X, Y = normal(60, 7) + 1e6, normal(50, 7, seed=6789) + 1e6
    # adding 1e6 rounded the rows, but taking it away again is exact: the same rows at the origin have the same kernel
    expected = kernel(X - 1e6, Y - 1e6)
    np.testing.assert_allclose(kernel(X, Y), expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(kernel(X), kernel(X - 1e6), rtol=0, atol=1e-12)
    assert np.abs(kernel.profile(naive_distances(X, Y)) - expected).max() > 1e-6


def test_a_large_shift_costs_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = []
    monkeypatch.setattr(base, "subtract_close_rows", lambda squares, X, Y, close: counts.append(close.sum()))
    distances(normal(60, 7) + 1e6, normal(50, 7, seed=6789) + 1e6)
    assert counts == [0]


def pairs_at_all_scales() -> tuple[np.ndarray, np.ndarray]:
    """Two far clusters, so that centring does not help, of rows 1e-9 to 1 apart."""
    X = normal(80, 7)
    X[40:] += 1e5
    steps = 10.0 ** np.linspace(-9, 0, 80)
    return X, X + steps[:, None] * normalize(normal(80, 7, seed=6789))


def test_close_rows_keep_relative_precision() -> None:
    X, Y = pairs_at_all_scales()
    expected = cdist(X, Y)  # cdist subtracts the rows; the centre moves them by half an ulp of 1e5, 7e-12
    close = np.maximum(1e-12 * expected, 1e-11)
    assert (np.abs(distances(X, Y) - expected) < close).all()
    assert (np.abs(naive_distances(X, Y) - expected) > 100 * close).any()


@pytest.mark.parametrize("chunk", [1, 7, 10_000])
def test_close_rows_in_chunks(monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
    X = normal(12, 3)
    Y = np.concatenate([X + 1e-8, X])
    expected = distances(X, Y)
    monkeypatch.setattr(base, "PAIRS", chunk)
    np.testing.assert_array_equal(distances(X, Y), expected)
    np.testing.assert_allclose(expected, cdist(X, Y), rtol=1e-7, atol=0)
    for A, B in [(sp.csr_array(X), sp.csr_array(Y)), (sp.csr_matrix(X), Y), (X, sp.csr_matrix(Y))]:
        np.testing.assert_allclose(distances(A, B), cdist(X, Y), rtol=1e-12, atol=0)


@pytest.mark.parametrize("kernel", [Laplacian(), ArcCosine(0), Tanh()], ids=repr)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_equal_rows_have_the_value_of_the_diagonal(kernel, dtype) -> None:
    X = normalize(normal(30, 9)).astype(dtype)
    K = kernel(X, X.copy())
    # Tanh has slope 2 sech^2 < 1 in x.x, which rounding of the rows moves by 3 ulp
    np.testing.assert_allclose(np.diag(K), kernel.profile(0.0), rtol=0, atol=3 * np.finfo(dtype).eps)
    np.testing.assert_allclose(np.diag(kernel(sp.csr_array(X), X)), np.diag(K), rtol=0, atol=3 * np.finfo(dtype).eps)


def test_nearly_equal_rows_on_the_sphere() -> None:
    X = normalize(normal(40, 6))
    steps = 10.0 ** np.linspace(-12, -1, 40)
    Y = normalize(X + steps[:, None] * normal(40, 6, seed=6789))
    kernel = ArcCosine(order=0)
    z = np.sqrt(((X - Y) ** 2).sum(axis=1))
    expected = 1 - 2 * np.arcsin(z / 2) / np.pi
    np.testing.assert_allclose(np.diag(kernel(X, Y)), expected, rtol=0, atol=1e-13)
    mutant = 1 - np.arccos(np.clip((X * Y).sum(axis=1), -1, 1)) / np.pi
    assert np.abs(mutant - expected).max() > 1e-10


@pytest.mark.parametrize("size", [1, 7, 64])
def test_blocks_do_not_show(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    X, Y = normal(50, 4), normal(33, 4, seed=6789)
    kernel = Laplacian() - 2 * Gaussian(0.5)
    one_shot, symmetric = kernel(X, Y), kernel(X)
    monkeypatch.setattr(base, "row_blocks", lambda n, *_: row_blocks(n, size))
    np.testing.assert_allclose(kernel(X, Y), one_shot, rtol=0, atol=1e-13)
    np.testing.assert_allclose(kernel(X), symmetric, rtol=0, atol=1e-13)
    np.testing.assert_array_equal(kernel(X), kernel(X).T)


@pytest.mark.parametrize("n", [0, 1, 511, 512, 513, 1500])
def test_row_blocks_cover_the_rows_once(n: int) -> None:
    assert [i for block in row_blocks(n) for i in range(block.start, block.stop)] == list(range(n))


@pytest.mark.parametrize("container", [np.asarray, sp.csr_matrix, sp.csr_array])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_row_norms(container, dtype) -> None:
    X = np.array([[3.0, 0.0, 4.0], [0.0, 0.0, 0.0], [1e20, 0.0, 0.0]], dtype=dtype)
    norms = row_norms(container(X))
    assert norms.dtype == np.float64
    np.testing.assert_allclose(norms, [5, 0, np.float64(dtype(1e20))], rtol=1e-15)


@pytest.mark.parametrize(("dtype", "inside", "outside"), [(np.float64, 5e-7, 2e-6), (np.float32, 5e-5, 2e-4)])
def test_how_far_from_the_sphere_a_row_may_be(dtype, inside: float, outside: float) -> None:
    X = np.eye(4)
    check_unit_rows((X * (1 + inside)).astype(dtype))
    check_unit_rows((X * (1 - inside)).astype(dtype))
    for factor in (1 + outside, 1 - outside):
        with pytest.raises(DomainError, match="4 of 4 rows"):
            check_unit_rows((X * factor).astype(dtype))


def test_zero_rows_are_listed() -> None:
    X = np.zeros((9, 3))
    X[[0, 3], 1] = 1
    with pytest.raises(DomainError, match=r"must be removed first: rows 1, 2, 4, 5, 6, \.\.\. \(7 in all\)"):
        Tanh()(X)
