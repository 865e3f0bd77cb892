"""From the parameter ``feature_map`` to a fitted map, which is not drawn or designed again for the same rows."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from copy import deepcopy
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from krein._random import RandomState
from krein._validation import Rows
from krein.features import FeatureMap, RandomFeatures
from krein.features.baselines import IndefiniteNystroem
from krein.kernels import Gaussian, Kernel, RadialKernel

DEFAULT_COLUMNS = 256
Array = NDArray[np.float64]
REMEMBERED = 16  # fitted maps; a grid search returns to the rows of a fold after all its other folds


def unfitted_map(feature_map: Any, X: Rows, sample_weight: Array | None, random_state: RandomState) -> Any:
    """A new unfitted map: the given one, or the default map of the given kernel or of a Gaussian.

    A radial kernel gets the default scheme of RandomFeatures, "optimal". The map of None is of "gorf-blocks", which
    depends on the rows through the scale only, so that a weight of 2 is the row twice: a design depends on the
    distances between the rows, and a row that is there twice adds a distance of 0. A map whose own ``random_state``
    is None gets that of the learner.
    """
    common: dict[str, Any] = {"n_components": DEFAULT_COLUMNS, "random_state": random_state}
    if feature_map is None:
        return RandomFeatures(Gaussian(scale_of(X, sample_weight)), scheme="gorf-blocks", **common)
    if isinstance(feature_map, Kernel):
        make: Any = RandomFeatures if isinstance(feature_map, RadialKernel) else IndefiniteNystroem
        return make(feature_map, **common)
    if isinstance(feature_map, type) or not (hasattr(feature_map, "fit") and hasattr(feature_map, "transform")):
        raise TypeError(
            "feature_map must be a feature map (for example of krein.features), a kernel of krein.kernels or None; "
            f"got {feature_map!r}."
        )
    own = clone(feature_map)
    if own.get_params(deep=False).get("random_state", 0) is None:
        own.set_params(random_state=random_state)
    return own


def scale_of(X: Rows, sample_weight: Array | None = None) -> float:
    """sqrt(d var / 2) over all entries, the scale of the Gaussian of scikit-learn's gamma="scale"; 1 where var is 0."""
    w = np.ones(X.shape[0]) if sample_weight is None else sample_weight
    total = float(w.sum()) * X.shape[1]
    mean = float(np.asarray(X.T @ w).sum()) / total
    sparse = hasattr(X, "tocsr")
    squares = X.power(2) if sparse else (X - mean) ** 2
    variance = float(np.asarray(squares.T @ w).sum()) / total - (mean**2 if sparse else 0.0)
    return float(np.sqrt(X.shape[1] * variance / 2)) if variance > 0 else 1.0


def fitted_map(feature_map: Any, X: Rows, sample_weight: Array | None, random_state: RandomState) -> FeatureMap:
    """Fit a new map, or copy one that was fitted with the same parameters on the same rows.

    Only maps that such a fit determines are remembered: their random_state is an int, or they have none.
    """
    own = unfitted_map(feature_map, X, sample_weight, random_state)
    key = _key(own, X)
    known = _recent.get(key)
    if known is None:
        known = own.fit(X, None)
        check_map(known, X)
        _recent.put(key, known)
    return known


def check_map(features: Any, X: Rows) -> None:
    """Raise unless the fitted map has a signature and real columns."""
    if getattr(features, "signature_", None) is None:
        raise TypeError(f"feature_map must have the attribute signature_ after fit; {features!r} has not.")
    Z = features.transform(X[:1])
    if np.iscomplexobj(Z):
        raise ValueError(f"feature_map must have real columns (output='real'); got {Z.dtype} columns of {features!r}.")


class _Recent:
    """The last few fitted maps."""

    def __init__(self, size: int) -> None:
        self.size, self.maps, self.lock = size, OrderedDict[str, FeatureMap](), threading.Lock()

    def get(self, key: str | None) -> FeatureMap | None:
        with self.lock:
            if key is None or key not in self.maps:
                return None
            self.maps.move_to_end(key)
            return deepcopy(self.maps[key])

    def put(self, key: str | None, features: FeatureMap) -> None:
        if key is None:
            return
        with self.lock:
            self.maps[key] = deepcopy(features)
            while len(self.maps) > self.size:
                self.maps.popitem(last=False)


_recent = _Recent(REMEMBERED)


def _key(own: Any, X: Any) -> str | None:
    """Digest of the parameters and of all rows; None where the fit is not determined by them."""
    params = own.get_params(deep=False)
    if not isinstance(params.get("random_state", 0), int | np.integer):
        return None
    try:
        digest = hashlib.sha1(str(joblib.hash((type(own), params))).encode(), usedforsecurity=False)
    except Exception:  # a kernel made from a lambda cannot be pickled; pickle raises several kinds of errors
        return None
    for part in (X.data, X.indices, X.indptr) if hasattr(X, "tocsr") else (X,):
        digest.update(f"{part.dtype} {X.shape}".encode())
        digest.update(np.ascontiguousarray(part).view(np.uint8).data)
    return digest.hexdigest()
