"""Checks shared by all stages. Messages say what, must be, got."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

from krein.exceptions import DomainError

Domain = Literal["euclidean", "sphere", "nonnegative"]
Rows = Any  # a 2-d float32 or float64 array or CSR matrix, after check_rows


def check_rows(X: Any, domain: Domain = "euclidean", *, name: str = "X") -> Rows:
    """Return X as a finite two-dimensional float32/float64 array or CSR matrix whose rows lie in ``domain``."""
    X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], input_name=name)
    check_domain(X, domain, name=name)
    return X


def check_domain(X: Rows, domain: Domain, *, name: str = "X") -> None:
    """Raise DomainError unless every row lies in ``domain``."""
    if domain == "sphere":
        check_unit_rows(X, name=name)
    elif domain == "nonnegative":
        check_nonnegative_rows(X, name=name)


def check_nonnegative_rows(X: Rows, *, name: str = "X") -> None:
    """Raise DomainError where an entry is negative."""
    if not X.shape[1] or X.min() >= 0:
        return
    smallest = np.asarray(X.min(axis=1).toarray() if hasattr(X, "tocsr") else X.min(axis=1)).ravel()
    bad = np.flatnonzero(smallest < 0)
    raise DomainError(
        f"Negative values in data: entries of {name} must be at least 0; got {len(bad)} of {len(smallest)} rows with a "
        f"negative entry, the first is row {bad[0]} with {smallest[bad[0]]:.6g}. Use for example "
        "sklearn.preprocessing.MinMaxScaler(clip=True)."
    )


def check_unit_rows(X: Rows, *, name: str = "X") -> None:
    """Raise DomainError unless every row has length 1 (to the precision of its dtype)."""
    norms = row_norms(X)
    tolerance = 1e-4 if X.dtype == np.float32 else 1e-6
    bad = np.flatnonzero(np.abs(norms - 1) > tolerance)
    if not len(bad):
        return
    zero = np.flatnonzero(norms == 0)
    message = (
        f"Rows of {name} must lie on the unit sphere (norm 1 within {tolerance:g}); got {len(bad)} of {len(norms)} "
        f"rows that do not, the first is row {bad[0]} with norm {norms[bad[0]]:.6g}. "
        "Use sklearn.preprocessing.normalize, which gives every non-zero row norm 1."
    )
    if len(zero):
        shown = ", ".join(map(str, zero[:5])) + (", ..." if len(zero) > 5 else "")
        message += f" Zero rows have no direction and must be removed first: rows {shown} ({len(zero)} in all)."
    raise DomainError(message)


def row_norms(X: Rows) -> NDArray[np.float64]:
    """Euclidean length of every row, in float64."""
    if hasattr(X, "tocsr"):
        X = X.astype(np.float64, copy=False)
        squares: NDArray[np.float64] = np.asarray(X.multiply(X).sum(axis=1)).ravel()
    else:
        squares = np.einsum("ij,ij->i", X, X, dtype=np.float64)
    return np.sqrt(squares)


def check_positive(value: Any, name: str) -> None:
    """Raise unless value is a finite real number > 0."""
    if not _is_real(value) or value <= 0:
        raise ValueError(f"{name} must be a finite number > 0; got {value!r}.")


def check_finite(value: Any, name: str) -> None:
    """Raise unless value is a finite real number."""
    if not _is_real(value):
        raise ValueError(f"{name} must be a finite number; got {value!r}.")


def _is_real(value: Any) -> bool:
    try:
        return not isinstance(value, bool) and isinstance(value, Real) and math.isfinite(value)
    except OverflowError:  # an int beyond the range of a float
        return False


def check_integer(value: Any, name: str, minimum: int) -> None:
    """Raise unless value is an integer >= minimum."""
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < minimum:
        raise ValueError(f"{name} must be an integer >= {minimum}; got {value!r}.")


def check_choice(value: Any, name: str, choices: Any) -> None:
    """Raise unless value is one of choices."""
    if value not in list(choices):
        raise ValueError(f"{name} must be one of {sorted(choices)}; got {value!r}.")
