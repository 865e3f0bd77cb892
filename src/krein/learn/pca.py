"""Kernel principal components of an indefinite kernel: the leading eigenpairs by magnitude, with their signs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from krein._random import RandomState
from krein._validation import check_integer
from krein.learn.base import StreamingLearner
from krein.learn.inner_product import spectrum
from krein.learn.progress import Callback

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Axes:
    """Components kept, and all eigenvalues."""

    weights: Array
    components: Array
    eigenvalues: Array
    all_eigenvalues: Array


class KreinPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, StreamingLearner):
    """Principal components in a Krein space: eigenpairs of the centred Z J Z^T of largest absolute eigenvalue.

    Parameters
    ----------
    feature_map : feature map, Kernel or None, default=None
        As in `KreinRidge`.
    n_components : int or None, default=None
        Number of components; None keeps all of eigenvalues other than 0.
    random_state : int, Generator, RandomState or None, default=None
        For maps whose own ``random_state`` is None.
    callback : callable or None, default=None
        Called as ``callback(stage, done, total)`` after every block of rows.
    verbose : bool, default=False
        A progress bar on stderr.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_components_,)
        With their signs, by falling absolute value.
    signature_ : ndarray of shape (n_components_,)
        The signs.
    components_ : ndarray of shape (n_components_, n_columns)
        Axes in the columns of the map, orthonormal in the indefinite inner product: components_ J components_^T =
        diag(signature_).
    mean_ : ndarray of shape (n_columns,)
    explained_inertia_ratio_ : ndarray of shape (n_components_,)
        Absolute eigenvalue over the sum of all absolute eigenvalues.
    positive_inertia_, negative_inertia_ : float
        Sums of all positive, and of all absolute negative eigenvalues.
    feature_map_ : fitted feature map
    n_features_in_ : int

    Notes
    -----
    The scores S of the training rows satisfy S diag(signature_) S^T = the centred kernel matrix, up to the components
    left out, and S^T S = diag(|eigenvalues_|). The attributes are computed when first asked for after ``partial_fit``.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.kernels import DeltaGaussian
    >>> from krein.learn import KreinPCA
    >>> X = np.random.default_rng(0).normal(size=(500, 3))
    >>> pca = KreinPCA(DeltaGaussian((1.0, -0.8), (0.5, 1.0)), n_components=8, random_state=0).fit(X)
    >>> pca.transform(X).shape
    (500, 8)
    >>> sorted(set(pca.signature_.tolist()))
    [-1.0, 1.0]
    """

    def __init__(
        self,
        feature_map: Any = None,
        n_components: int | None = None,
        *,
        random_state: RandomState = None,
        callback: Callback | None = None,
        verbose: bool = False,
    ) -> None:
        self.feature_map = feature_map
        self.n_components = n_components
        self.random_state = random_state
        self.callback = callback
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the map and the components.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        self._add_rows(X, first=True)
        self._solved()
        return self

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Add rows. The first call fits the map; the order of the batches does not matter beyond that and rounding.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        self._add_rows(X, first=not self.__sklearn_is_fitted__())
        return self

    def _add_rows(self, X: Any, *, first: bool) -> None:
        if self.n_components is not None:
            check_integer(self.n_components, "n_components", 1)
        X = self._fit_rows(X, reset=first)
        nothing = np.zeros((X.shape[0], 0))
        if first:
            self._start(X, nothing, None, centre=False)
        self._add(X, nothing, None)

    def _solved(self) -> Axes:
        check_is_fitted(self)
        if self._solution is None:
            decomposed = spectrum(self._moments.centred().G, self.feature_map_.signature_, "flip", self._moments.scale)
            order = np.argsort(-decomposed.eigenvalues, kind="stable")
            values = decomposed.eigenvalues[order] * decomposed.signs[order]
            T = decomposed.orthonormal()[:, order]
            largest = np.abs(T).argmax(axis=0)
            T = T * np.where(T[largest, np.arange(T.shape[1])] < 0, -1.0, 1.0)  # an eigenvector has no sign of its own
            kept = T[:, : self.n_components]
            components = np.sign(values[: self.n_components])[:, None] * kept.T * self.feature_map_.signature_
            self._solution = Axes(kept, components, values[: self.n_components], values)
        solution: Axes = self._solution
        return solution

    def _linear(self) -> tuple[Array, Any]:
        weights = self._solved().weights
        return weights, -(self.mean_ @ weights)

    def transform(self, X: Any) -> NDArray[Any]:
        """Scores of the rows of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples, n_components_)
        """
        return self._project(X)

    def inverse_transform(self, scores: Any) -> NDArray[Any]:
        """Columns Z of the map from scores; exact where all components were kept and Z had full rank.

        Parameters
        ----------
        scores : array-like of shape (n_samples, n_components_)

        Returns
        -------
        Z : ndarray of shape (n_samples, n_columns)
        """
        components = self._solved().components
        scores = check_array(scores, dtype=[np.float64, np.float32], input_name="scores")
        if scores.shape[1] != len(components):
            raise ValueError(f"scores must have {len(components)} columns, one per component; got {scores.shape[1]}.")
        return np.asarray((scores @ components + self.mean_).astype(scores.dtype, copy=False))

    # ---- what is known after fit ----

    @property
    def eigenvalues_(self) -> Array:
        """With their signs, by falling absolute value."""
        return self._solved().eigenvalues

    @property
    def signature_(self) -> Array:
        """Signs of the eigenvalues."""
        return np.sign(self._solved().eigenvalues)

    @property
    def components_(self) -> Array:
        """Axes in the columns of the map."""
        return self._solved().components

    @property
    def mean_(self) -> Array:
        """Mean of the columns of the map."""
        check_is_fitted(self)
        return np.asarray(self._moments.z / self._moments.weight)

    @property
    def explained_inertia_ratio_(self) -> Array:
        """Absolute eigenvalues over the sum of all absolute eigenvalues."""
        return np.asarray(np.abs(self.eigenvalues_) / np.abs(self._solved().all_eigenvalues).sum())

    @property
    def positive_inertia_(self) -> float:
        """Sum of all positive eigenvalues."""
        values = self._solved().all_eigenvalues
        return float(values[values > 0].sum())

    @property
    def negative_inertia_(self) -> float:
        """Sum of all absolute negative eigenvalues."""
        values = self._solved().all_eigenvalues
        return float(-values[values < 0].sum())

    @property
    def _n_features_out(self) -> int:
        return len(self._solved().eigenvalues)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
