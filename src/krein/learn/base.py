"""What all learners share: the map behind ``feature_map``, checked rows, blocks of features, progress."""

from __future__ import annotations

from copy import copy
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from krein._random import RandomState
from krein._validation import Rows
from krein.features import FeatureMap
from krein.kernels import Kernel
from krein.kernels.base import row_blocks
from krein.learn.feature_maps import fitted_map
from krein.learn.moments import Moments, moments
from krein.learn.progress import Callback, Progress

Array = NDArray[np.float64]
LARGEST_TARGET = 1e150  # sums of squares of more overflow
CHUNK_ROWS = 8192  # rows between two reports of progress, and of features in memory when predicting


class KreinLearner(BaseEstimator):
    """Base of the learners: ``feature_map_`` is the fitted map."""

    feature_map: Any
    random_state: RandomState
    callback: Callback | None
    verbose: bool
    feature_map_: FeatureMap
    _made_by_fit: str  # the attribute that makes a learner fitted

    def _fit_rows(self, X: Any, y: Any = "no_validation", **options: Any) -> Any:
        """Checked rows (and targets), with which ``fit`` begins."""
        return validate_data(self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32], **options)

    def _fit_map(self, X: Rows, sample_weight: Array | None) -> None:
        self.feature_map_ = fitted_map(self.feature_map, X, sample_weight, self.random_state)

    def _linear(self) -> tuple[Array, Any]:
        """What follows the features: Z @ weights + offset."""
        raise NotImplementedError

    def _project(self, X: Any) -> NDArray[Any]:
        """Z @ weights + offset in float64 by blocks of rows, in the precision of X."""
        check_is_fitted(self)
        weights, offset = self._linear()
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        out = np.empty((X.shape[0], *weights.shape[1:]), dtype=X.dtype)
        for rows in row_blocks(X.shape[0], CHUNK_ROWS):
            out[rows] = self.feature_map_.transform(X[rows]).astype(np.float64, copy=False) @ weights + offset
        return out

    def set_params(self, **params: Any) -> Self:
        """Set parameters; where ``feature_map`` is a kernel, ``feature_map__scale`` replaces it by a changed copy."""
        prefix = "feature_map__"
        target = params.get("feature_map", self.feature_map)
        if isinstance(target, Kernel):
            nested = {name: params.pop(name) for name in list(params) if name.startswith(prefix)}
            if nested:
                inner = {name[len(prefix) :]: value for name, value in nested.items()}
                params["feature_map"] = copy(target).set_params(**inner)
        super().set_params(**params)
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, self._made_by_fit)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class StreamingLearner(KreinLearner):
    """Base of the learners that need only sums over rows: ``_moments`` is complete after every block of rows."""

    _made_by_fit = "_moments"
    _moments: Moments
    _solution: Any  # None until the solution for the sums is asked for

    def _start(self, X: Rows, Y: Array, sample_weight: Array | None, *, centre: bool) -> None:
        """Forget all rows, fit the map, and choose the constant that is taken from the targets."""
        self.__dict__.pop("_moments", None)
        self._fit_map(X, sample_weight)
        self._shift = np.average(Y, axis=0, weights=sample_weight) if centre else np.zeros(Y.shape[1])

    def _add(self, X: Rows, Y: Array, sample_weight: Array | None, factors: Array | None = None) -> None:
        """Add rows; when interrupted, those of the finished blocks are in. ``factors`` weigh, but do not count rows."""
        progress = Progress(self.callback, self.verbose)
        for rows in row_blocks(X.shape[0], CHUNK_ROWS):
            w, f = (None if given is None else given[rows] for given in (sample_weight, factors))
            batch = moments(self.feature_map_, X[rows], Y[rows], w, f, self._shift)
            self._solution = None
            self._moments = self._moments + batch if hasattr(self, "_moments") else batch
            progress("rows", rows.stop, X.shape[0])


def check_targets(y: Any) -> Array:
    """Targets of a squared loss as float64, small enough for their squares."""
    Y = np.asarray(y, dtype=np.float64)
    if (largest := float(np.abs(Y).max())) > LARGEST_TARGET:
        raise ValueError(
            f"y must have no absolute value above {LARGEST_TARGET:g}, beyond which sums of squares overflow; got "
            f"{largest:g}. Divide y by a constant."
        )
    return Y


def check_weights(sample_weight: Any, n_rows: int) -> Array | None:
    """Weights >= 0, one per row and not all 0, as float64; None stays None."""
    if sample_weight is None:
        return None
    if isinstance(sample_weight, Real):
        sample_weight = np.full(n_rows, float(sample_weight))
    w = check_array(sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight")
    if w.shape != (n_rows,):
        raise ValueError(f"sample_weight must have shape ({n_rows},), one weight per row; got {w.shape}.")
    if w.min() < 0:
        raise ValueError(f"sample_weight must have no negative weights; got {w.min()}.")
    if not w.max() > 0:
        raise ValueError("sample_weight must have a weight that is not zero; got zero for every row.")
    return np.asarray(w)
