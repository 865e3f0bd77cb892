"""What every feature map shares: Z = transform(X) with a signature, so that K ~ Z diag(signature) Z^T."""

from __future__ import annotations

from abc import abstractmethod
from copy import copy
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from krein._validation import Domain, Rows, check_choice, check_domain, check_integer
from krein.kernels.base import Kernel, row_blocks

Array = NDArray[np.float64]


@runtime_checkable
class FeatureMap(Protocol):
    """All that learners, Dask and saving may use of a map; cosines are not assumed."""

    signature_: Array

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw or choose the features."""

    def transform(self, X: Any) -> Any:
        """Features of the rows of X."""

    def approximate_kernel(self, X: Any, Y: Any = None) -> NDArray[Any]:
        """Z diag(signature) Z^T."""

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Fitted state as named arrays."""

    def from_arrays(self, arrays: dict[str, NDArray[Any]]) -> Self:
        """Restore the fitted state."""


class BaseFeatureMap(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """scikit-learn transformer with a signature; a concrete map defines the four methods below.

    ``_fit(X)`` sets the fitted attributes, among them ``signature_``; ``_map_rows(X, out)`` writes the real columns
    of a few rows; ``_get_state`` and ``_set_state`` turn the fitted attributes into arrays and back.
    """

    kernel: Kernel
    n_components: int
    output: str
    signature_: Array
    n_features_in_: int

    # ---- what a concrete map gives ----

    @abstractmethod
    def _fit(self, X: Rows) -> None:
        """Set the fitted attributes from validated rows."""

    @abstractmethod
    def _map_rows(self, X: Rows, out: NDArray[Any]) -> None:
        """Write the real columns of validated rows X into ``out``."""

    @abstractmethod
    def _get_state(self) -> dict[str, NDArray[Any]]:
        """Fitted state as arrays."""

    @abstractmethod
    def _set_state(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Restore what ``_get_state`` gave."""

    # ---- the public interface ----

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw the features for rows like those of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        if not isinstance(self.kernel, Kernel):
            raise TypeError(f"kernel must be a kernel of krein.kernels; got {self.kernel!r}.")
        self._check_n_components()
        check_choice(self.output, "output", ("real", "complex"))
        self._fit(self._rows(X, reset=True))
        return self

    def transform(self, X: Any) -> NDArray[Any]:
        """Features of the rows of X, computed by blocks of rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        Z : ndarray of shape (n_samples, n_columns)
            float32 for float32 input, else float64; complex where ``output="complex"``.
        """
        return self._transform_real(X) if self.output == "real" else self._transform_complex(X)

    def approximate_kernel(self, X: Any, Y: Any = None) -> NDArray[Any]:
        """K_hat = Z_X diag(signature) Z_Y^T.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples_X, n_features)
        Y : array-like or sparse matrix of shape (n_samples_Y, n_features), default=None
            ``None`` means X.

        Returns
        -------
        K_hat : ndarray of shape (n_samples_X, n_samples_Y)
        """
        Z = self._transform_real(X)
        other = Z if Y is None else self._transform_real(Y)
        return np.asarray((Z * self.signature_.astype(Z.dtype)) @ other.T)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Fitted state as named arrays; ``from_arrays`` restores it, ``krein.save`` writes it to a file."""
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        columns = {} if names is None else {"feature_names_in": np.array(names, dtype=str)}
        return {"n_features_in": np.array(self.n_features_in_), **columns, **self._get_state()}

    def from_arrays(self, arrays: dict[str, NDArray[Any]]) -> Self:
        """Restore the fitted state that ``to_arrays`` gave."""
        own = dict(arrays)
        self.n_features_in_ = int(own.pop("n_features_in"))
        names = own.pop("feature_names_in", None)
        if names is not None:
            self.feature_names_in_ = names.astype(object)
        self._set_state(own)
        return self

    # ---- shared work ----

    def _check_n_components(self) -> None:
        check_integer(self.n_components, "n_components", 1)

    @property
    def _n_features_out(self) -> int:
        return len(self.signature_)

    def _domain(self) -> Domain:
        return self.kernel.domain

    def _rows(self, X: Any, *, reset: bool) -> Rows:
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=reset)
        check_domain(X, self._domain())
        return X

    def _transform_real(self, X: Any) -> NDArray[Any]:
        check_is_fitted(self)
        X = self._rows(X, reset=False)
        Z = np.empty((X.shape[0], self._n_features_out), dtype=X.dtype)
        for rows in row_blocks(X.shape[0]):
            self._map_rows(X[rows], Z[rows])
        return Z

    def _transform_complex(self, X: Any) -> NDArray[Any]:
        """Columns of negative sign times 1j."""
        check_is_fitted(self)
        X = self._rows(X, reset=False)
        Z = np.empty((X.shape[0], self._n_features_out), dtype=np.result_type(X.dtype, np.complex64))
        units = np.where(self.signature_ > 0, 1, 1j).astype(Z.dtype)
        for rows in row_blocks(X.shape[0]):
            real = np.empty((X[rows].shape[0], self._n_features_out), dtype=X.dtype)
            self._map_rows(X[rows], real)
            np.multiply(real, units, out=Z[rows])
        return Z

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``kernel__name`` replaces the kernel by a changed copy, because others may hold it too."""
        nested = {name: params.pop(name) for name in list(params) if name.startswith("kernel__")}
        super().set_params(**params)
        if nested and not isinstance(self.kernel, Kernel):
            raise ValueError(f"kernel must be a kernel of krein.kernels to have {sorted(nested)}; got {self.kernel!r}.")
        if nested:
            self.kernel = copy(self.kernel).set_params(**{name[len("kernel__") :]: nested[name] for name in nested})
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
