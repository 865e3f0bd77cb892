"""The Maclaurin series f(t) = sum_n a_n t^n of a dot-product kernel, cut off, and columns shared by its degrees."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from krein._validation import Rows, check_positive, row_norms
from krein.kernels import (
    DotProductKernel,
    Kernel,
    Polynomial,
    PolynomialOnSphere,
    PowerSeries,
    Product,
    RadialKernel,
    Scaled,
    Sum,
)

Array = NDArray[np.float64]
MAX_DEGREE = 60  # of a series that is cut off; a polynomial may have any degree
GRID = np.cos(np.linspace(0, np.pi, 1001))  # inner products of unit rows, densest at -1 and 1


def power_series(kernel: Kernel, tol: float, owner: Any) -> Array:
    """Coefficients a_0, ..., a_n of the shortest partial sum that is f on the unit sphere, the last of them not 0.

    Parameters
    ----------
    kernel : Kernel
        ``Polynomial``, ``PolynomialOnSphere`` and ``PowerSeries`` have all their coefficients, whatever ``tol``.
    tol : float
        Largest error of the partial sum for -1 <= t <= 1, relative to the largest |f(t)|.
    owner : object
        Whose class the messages name.

    Raises
    ------
    TypeError
        If the kernel is not made of dot-product kernels.
    ValueError
        If no partial sum of degree up to 60 is that near, as where the series diverges; or if a coefficient overflows.
    """
    check_positive(tol, "tol")
    name = type(owner).__name__
    if isinstance(kernel, Polynomial | PolynomialOnSphere | PowerSeries):
        a = kernel.maclaurin(kernel.degree + 1)
    else:
        a = _cut(kernel, tol, name)
    if not np.isfinite(a).all() or not a.any():
        raise ValueError(f"The Maclaurin coefficients of kernel must be finite and not all 0; got {a} for {kernel!r}.")
    return np.trim_zeros(a, "b")


def _cut(kernel: Kernel, tol: float, name: str) -> Array:
    """The shortest partial sum within ``tol`` of f, found with as few coefficients as will do."""
    best = np.inf
    for n_terms in (8, 16, 32, MAX_DEGREE + 1):
        a = _coefficients(kernel, n_terms, name)
        assert isinstance(kernel, RadialKernel)  # it is made of kernels on the sphere
        f = kernel.profile(np.sqrt(2 - 2 * GRID))
        partial_sums = np.cumsum(a * np.vander(GRID, n_terms, increasing=True), axis=1)
        errors = np.abs(partial_sums - f[:, None]).max(axis=0) / max(np.abs(f).max(), np.finfo(float).tiny)
        if (errors <= tol).any():
            return a[: int(np.argmax(errors <= tol)) + 1]
        best = min(best, float(errors.min()))
    raise ValueError(
        f"kernel must have a Maclaurin series that is within tol={tol:g} of it on [-1, 1] (relative to its largest "
        f"value) by degree {MAX_DEGREE} for {name}; got {kernel!r}, whose nearest partial sum is {best:.1g} off: the "
        "series diverges on a part of [-1, 1] or converges slowly. A larger tol accepts that bias; RandomFeatures "
        "needs no series."
    )


def _coefficients(kernel: Kernel, n_terms: int, name: str) -> Array:
    """Maclaurin coefficients of sums, products and multiples of dot-product kernels on the sphere."""
    match kernel:
        case DotProductKernel():
            return kernel.maclaurin(n_terms)
        case Sum():
            return _coefficients(kernel.left, n_terms, name) + _coefficients(kernel.right, n_terms, name)
        case Scaled():
            return kernel.factor * _coefficients(kernel.kernel, n_terms, name)
        case Product():
            left, right = (_coefficients(part, n_terms, name) for part in (kernel.left, kernel.right))
            return np.convolve(left, right)[:n_terms]
    raise TypeError(
        f"kernel must be a dot-product kernel for {name}: Polynomial, PowerSeries, a DotProductKernel on the unit "
        "sphere (PolynomialOnSphere, Tanh, DotProductOnSphere, ...), or a sum, product or multiple of the latter; "
        f"got {kernel!r}."
    )


def mean_square(kernel: Kernel, X: Rows) -> float:
    """Mean of ||x||^2, the typical size of |x.y|: 1 on the sphere."""
    return 1.0 if kernel.domain == "sphere" else float(np.mean(row_norms(X) ** 2))


def share_columns(a: Array, size: float, n_columns: int) -> NDArray[np.int_]:
    """Numbers of columns per degree, at least 1 where a_n != 0, with the least bound on the variance.

    A column of degree n has the variance a_n^2 (E (w.x)^2n (w.y)^2n - t^2n) <= a_n^2 (3^n - 1) ||x||^2n ||y||^2n, both
    for products of n random signs and for tensor sketches; ||x||^2 is taken as ``size``. The columns are given out one
    by one where the sum over n of that bound / s_n falls most. Degree 0 is exact with its one column.
    """
    degrees = np.flatnonzero(a)
    if len(degrees) > n_columns:
        raise ValueError(
            f"n_components must be at least {len(degrees)}, one for every degree of the Maclaurin series "
            f"({', '.join(map(str, degrees[:8]))}{', ...' if len(degrees) > 8 else ''}); got {n_columns}."
        )
    with np.errstate(divide="ignore"):
        logs = 2 * np.log(np.abs(a[degrees])) + np.log1p(-(3.0**-degrees)) + degrees * np.log(3 * (size or 1.0) ** 2)
    variances = np.exp(logs - max(logs.max(), -1e300))
    counts = np.ones(len(degrees), dtype=int)
    for _ in range(n_columns - len(degrees) if variances.any() else 0):
        counts[np.argmax(variances / (counts * (counts + 1)))] += 1
    columns = np.zeros(len(a), dtype=int)
    columns[degrees] = counts
    return columns
