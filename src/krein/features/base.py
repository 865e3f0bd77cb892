"""What every feature map shares: Z = transform(X) with a signature, so that K ~ Z diag(signature) Z^T."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from copy import copy
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted, validate_data

from krein._validation import Domain, Rows, check_choice, check_domain, check_integer
from krein.features._output import aligned_empty, check_output
from krein.features._threads import in_threads, n_threads
from krein.kernels.base import Kernel, row_blocks

Array = NDArray[np.float64]
PRECISIONS = (np.dtype(np.float64), np.dtype(np.float32))


@runtime_checkable
class FeatureMap(Protocol):
    """All that learners, Dask and saving may use of a map; cosines are not assumed."""

    signature_: Array

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw or choose the features."""

    def transform(self, X: Any) -> Any:
        """Features of the rows of X."""

    def transform_blocks(self, X: Any, rows: int = 1024, *, reuse: bool = False) -> Iterator[NDArray[Any]]:
        """Features of the rows of X, by blocks."""

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
    n_jobs: int | None
    output: str
    signature_: Array
    n_features_in_: int

    __metadata_request__transform = {"out": UNUSED}  # noqa: RUF012  (scikit-learn's: `out` is no metadata)

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

    def transform(self, X: Any, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Features of the rows of X, computed by blocks of rows in ``n_jobs`` threads.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        out : ndarray of shape (n_samples, n_columns), default=None
            Where to write, for example the result of an earlier call: memory that has been in use takes less time than
            new memory. It must have the precision of the result, contiguous rows, and no memory in common with X.
            An error may leave anything in it.

        Returns
        -------
        Z : ndarray of shape (n_samples, n_columns)
            float32 for float32 input, else float64; complex where ``output="complex"``. ``out`` where that is given.
        """
        check_is_fitted(self)
        return self._transform_rows(self._rows_to_map(X), out, complex_output=self.output == "complex")

    def transform_blocks(self, X: Any, rows: int = 1024, *, reuse: bool = False) -> Iterator[NDArray[Any]]:
        """Features of the rows of X, a block of rows at a time: for more rows than memory has room for features.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Checked as a whole before this returns.
        rows : int, default=1024
            Rows of a block; the last one may have fewer.
        reuse : bool, default=False
            Write all blocks to the same memory, which is faster: a block is then lost when the next one is made.

        Returns
        -------
        blocks : iterator of ndarrays of shape (rows, n_columns)
            One below the other they are what ``transform`` returns.

        Examples
        --------
        >>> import numpy as np
        >>> from krein import RandomFeatures
        >>> X = np.random.default_rng(0).normal(size=(2500, 3))
        >>> features = RandomFeatures(n_components=8, random_state=0).fit(X)
        >>> [Z.shape for Z in features.transform_blocks(X)]
        [(1024, 8), (1024, 8), (452, 8)]
        """
        check_is_fitted(self)
        check_integer(rows, "rows", 1)
        return self._each_block(self._rows(X, reset=False), rows, reuse=reuse, complex_output=self.output == "complex")

    def row(self, x: NDArray[Any]) -> NDArray[Any]:
        """Features of a single row, without the checks that take most of the time of ``transform``.

        Parameters
        ----------
        x : array-like of shape (n_features,)
            float32 gives float32. Only its shape is checked: what is not finite gives nan, and a kernel on the unit
            sphere takes rows of any norm.

        Returns
        -------
        z : ndarray of shape (n_columns,)

        Examples
        --------
        >>> import numpy as np
        >>> from krein import RandomFeatures
        >>> X = np.random.default_rng(0).normal(size=(10, 3))
        >>> features = RandomFeatures(n_components=8, random_state=0).fit(X)
        >>> bool((features.row(X[4]) == features.transform(X)[4]).all())
        True
        """
        x = np.asarray(x)
        if x.dtype not in PRECISIONS:
            x = x.astype(np.float64)
        try:
            if x.shape != (self.n_features_in_,):
                raise ValueError(f"x must have shape ({self.n_features_in_},); got {x.shape}.")
        except AttributeError:
            check_is_fitted(self)
            raise
        z = np.empty((1, len(self.signature_)), x.dtype)
        self._map_rows(x[None], z)
        return np.asarray(z[0] if self.output == "real" else z[0] * self._units(z.dtype))

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

    def _rows_to_map(self, X: Any) -> Rows:
        """Validated rows; a map may leave it to ``_map_all`` to refuse rows that are not finite."""
        return self._rows(X, reset=False)

    def _transform_real(self, X: Any) -> NDArray[Any]:
        check_is_fitted(self)
        return self._transform_rows(self._rows(X, reset=False), None, complex_output=False)

    def _transform_rows(self, X: Rows, out: NDArray[Any] | None, *, complex_output: bool) -> NDArray[Any]:
        """Features of validated rows."""
        dtype = np.result_type(X.dtype, np.complex64) if complex_output else X.dtype
        shape = X.shape[0], self._n_features_out
        if out is None:
            out = aligned_empty(shape, dtype)
        else:
            check_output(out, shape, dtype, X)
        if complex_output:
            self._in_blocks(self._map_complex, X, out)
        else:
            self._map_all(X, out)
        return out

    def _each_block(self, X: Rows, rows: int, *, reuse: bool, complex_output: bool) -> Iterator[NDArray[Any]]:
        memory: NDArray[Any] | None = None
        for block in row_blocks(X.shape[0], rows):
            out = None if memory is None else memory[: block.stop - block.start]
            Z = self._transform_rows(X[block], out, complex_output=complex_output)
            if reuse and memory is None:
                memory = Z
            yield Z

    def _map_all(self, X: Rows, out: NDArray[Any]) -> None:
        """``_map_rows`` for any number of rows."""
        self._in_blocks(self._map_rows, X, out)

    def _in_blocks(self, write: Callable[[Rows, NDArray[Any]], None], X: Rows, out: NDArray[Any]) -> None:
        """``write`` by blocks of rows, whose work space stays small."""
        blocks = list(row_blocks(X.shape[0]))
        in_threads(lambda rows: write(X[rows], out[rows]), blocks, n_threads(self.n_jobs), uses_blas=True)

    def _map_complex(self, X: Rows, out: NDArray[Any]) -> None:
        """Columns of negative sign times 1j."""
        real = np.empty(out.shape, dtype=X.dtype)
        self._map_rows(X, real)
        np.multiply(real, self._units(X.dtype), out=out)

    def _units(self, dtype: np.dtype[Any]) -> NDArray[Any]:
        return np.where(self.signature_ > 0, 1, 1j).astype(np.result_type(dtype, np.complex64))

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
