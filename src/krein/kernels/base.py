"""What a kernel is: an immutable value with an exact Gram matrix; a radial one has a profile k(z), z = ||x - y||."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, fields
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Self, overload

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from krein._validation import Domain, Rows, check_rows, row_norms

if TYPE_CHECKING:
    from krein.kernels.algebra import Product, Scaled, Sum

Array = NDArray[np.float64]
BLOCK_ROWS = 512  # rows of the Gram matrix made at a time: 512 x 10^4 doubles are 40 MB of work space
CANCELLED = 1e-3  # below this share of ||x||^2 + ||y||^2, the sum ||x||^2 + ||y||^2 - 2 x.y has lost three digits
PAIRS = 4096  # pairs of rows subtracted at a time


@dataclass(frozen=True)
class Kernel(ABC):
    """Base class of all kernels: a frozen dataclass whose fields are its parameters.

    A kernel is compared and printed by value, and ``kernel(X, Y)`` is the exact Gram matrix. It follows scikit-learn's
    parameter protocol, so ``sklearn.base.clone`` and a grid search over ``kernel__scale`` work. ``set_params`` is the
    one way to change a kernel in place (scikit-learn requires it); plain assignment raises. Lists and arrays are stored
    as tuples and NumPy scalars as Python numbers, so that kernels can be hashed and their repr can be evaluated.
    """

    __array_ufunc__: ClassVar[None] = None  # np.float64(2.0) * kernel is then left to __rmul__

    def __post_init__(self) -> None:
        for field in fields(self):
            object.__setattr__(self, field.name, _plain(getattr(self, field.name)))
        self._check_parameters()

    def _check_parameters(self) -> None:  # noqa: B027 - a kernel need not have parameters
        """Raise ValueError where a parameter is not legal."""

    @property
    def domain(self) -> Domain:
        """Where the kernel is defined: ``"euclidean"`` (R^d), ``"sphere"`` (rows of norm 1) or ``"nonnegative"``."""
        return "euclidean"

    @abstractmethod
    def _gram_block(self, X: Rows, Y: Rows) -> Array:
        """Exact kernel values between a few rows X and rows Y, in float64."""

    def __call__(self, X: ArrayLike, Y: ArrayLike | None = None) -> NDArray[Any]:
        """Exact Gram matrix, computed in float64 by blocks of rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples_X, n_features)
        Y : array-like or sparse matrix of shape (n_samples_Y, n_features), default=None
            ``None`` means X, and then the result is exactly symmetric.

        Returns
        -------
        K : ndarray of shape (n_samples_X, n_samples_Y)
            float32 if both inputs are float32, else float64.
        """
        A = check_rows(X, self.domain)
        symmetric = Y is None
        B = A if symmetric else check_rows(Y, self.domain, name="Y")
        if A.shape[1] != B.shape[1]:
            raise ValueError(f"Y must have as many columns as X ({A.shape[1]}); got {B.shape[1]}.")
        K = np.empty((A.shape[0], B.shape[0]), dtype=np.result_type(A.dtype, B.dtype))
        for rows in row_blocks(A.shape[0]):
            first = rows.start if symmetric else 0
            K[rows, first:] = self._gram_block(A[rows], B[first:])
            if symmetric:
                square = np.tril(K[rows, rows], -1)
                K[rows, rows] = square + square.T + np.diag(self._diagonal_block(A[rows]))
                K[rows.stop :, rows] = K[rows, rows.stop :].T
        return K

    def _diagonal_block(self, X: Rows) -> Array:
        """k(x, x) for a few rows."""
        return np.array([self._gram_block(X[i : i + 1], X[i : i + 1])[0, 0] for i in range(X.shape[0])])

    # ---- parameters, as scikit-learn asks for them -------------------------------------------------------------------

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name; with ``deep`` those of nested kernels as ``name__parameter`` too."""
        params = {field.name: getattr(self, field.name) for field in fields(self)}
        if deep:
            for name, value in list(params.items()):
                if isinstance(value, Kernel):
                    params.update({f"{name}__{key}": inner for key, inner in value.get_params().items()})
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters in place (nested ones as ``name__parameter``) and return the kernel.

        Nothing changes if a parameter is not legal. A nested kernel is replaced by a changed copy, never changed
        itself: it may be part of another kernel, as the Gaussian ``g`` in ``g - 2 * g`` is.
        """
        own = self.get_params(deep=False)
        nested: dict[str, dict[str, Any]] = {}
        for name, value in params.items():
            head, _, rest = name.partition("__")
            if head not in own:
                raise ValueError(f"Invalid parameter {head!r} for kernel {self}; valid parameters are {sorted(own)}.")
            if rest:
                nested.setdefault(head, {})[rest] = value
            else:
                own[head] = value
        for head, inner in nested.items():
            if not isinstance(own[head], Kernel):
                raise ValueError(f"{head} must be a kernel to have the parameters {sorted(inner)}; got {own[head]!r}.")
            own[head] = copy(own[head]).set_params(**inner)
        for name, value in type(self)(**own).get_params(deep=False).items():
            object.__setattr__(self, name, value)
        return self


@dataclass(frozen=True)
class RadialKernel(Kernel):
    """A kernel k(x, y) = k(z) of the distance z = ||x - y|| alone."""

    @abstractmethod
    def profile(self, z: ArrayLike) -> Array:
        """Values k(z) at distances z >= 0, in float64, elementwise."""

    def _gram_block(self, X: Rows, Y: Rows) -> Array:
        return self.profile(distances(X, Y))

    def _diagonal_block(self, X: Rows) -> Array:
        return np.full(X.shape[0], float(self.profile(0.0)))

    # ---- algebra ----------------------------------------------------------------------------------------------------

    def __add__(self, other: object) -> Sum:
        from krein.kernels.algebra import Sum

        return Sum(self, other) if isinstance(other, RadialKernel) else NotImplemented

    def __radd__(self, other: object) -> Self:
        """0 + kernel, with which Python's ``sum`` begins."""
        return self if isinstance(other, Real) and other == 0 else NotImplemented

    def __sub__(self, other: object) -> Sum:
        return self + (-1.0) * other if isinstance(other, RadialKernel) else NotImplemented

    def __neg__(self) -> Scaled:
        return -1.0 * self

    @overload
    def __mul__(self, other: RadialKernel) -> Product: ...
    @overload
    def __mul__(self, other: float) -> Scaled: ...
    def __mul__(self, other: object) -> Product | Scaled:
        from krein.kernels.algebra import Product

        return Product(self, other) if isinstance(other, RadialKernel) else self.__rmul__(other)

    def __rmul__(self, factor: object) -> Scaled:
        from krein.kernels.algebra import Scaled

        return Scaled(self, float(factor)) if isinstance(factor, Real) else NotImplemented


def check_radial(kernel: Any) -> None:
    """Raise unless kernel is a radial kernel."""
    if not isinstance(kernel, RadialKernel):
        raise TypeError(f"kernel must be a radial kernel of krein.kernels; got {kernel!r}.")


def as_distances(z: ArrayLike) -> Array:
    """Z as a float64 array. Complex z are kept: an analytic profile is Fourier transformed along a ray of them."""
    z = np.asarray(z)
    return z if np.iscomplexobj(z) else np.asarray(z, dtype=np.float64)


def distances(X: Rows, Y: Rows) -> Array:
    """Euclidean distances between rows, in float64, with a relative error of about 1e-13 however close two rows are."""
    X, Y = (A.astype(np.float64, copy=False) for A in (X, Y))
    if not (sp.issparse(X) or sp.issparse(Y)):
        centre = Y.mean(axis=0)  # a common shift takes no part in a difference, but without it all rows would be close
        X, Y = X - centre, Y - centre
    sums = row_norms(X)[:, None] ** 2 + row_norms(Y) ** 2
    squares = sums - 2 * inner_products(X, Y)
    subtract_close_rows(squares, X, Y, squares < CANCELLED * sums)
    return np.sqrt(squares, out=squares)


def inner_products(X: Rows, Y: Rows) -> Array:
    """Inner products of rows, in float64."""
    inner: Any = X.astype(np.float64, copy=False) @ Y.astype(np.float64, copy=False).T
    return np.asarray(inner.toarray() if hasattr(inner, "toarray") else inner)


def subtract_close_rows(squares: Array, X: Rows, Y: Rows, close: NDArray[np.bool_]) -> None:
    """Replace the entries of ``squares`` marked as ``close`` by ||x - y||^2, summed over the differences themselves."""
    i, j = np.nonzero(close)
    for pairs in row_blocks(len(i), PAIRS):
        difference = X[i[pairs]] - Y[j[pairs]]
        squares[i[pairs], j[pairs]] = row_norms(difference if sp.issparse(difference) else np.asarray(difference)) ** 2


def row_blocks(n_rows: int, size: int = BLOCK_ROWS) -> Iterator[slice]:
    """Slices that cover range(n_rows) in steps of ``size``."""
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))


def _plain(value: Any) -> Any:
    """Lists and arrays as tuples, NumPy scalars as Python numbers; anything else is returned as it is."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if not isinstance(value, list | tuple):
        return value
    items = tuple(map(_plain, value))
    unchanged = isinstance(value, tuple) and all(a is b for a, b in zip(items, value, strict=True))
    return value if unchanged else items  # sklearn.base.clone wants the very object that it gave
