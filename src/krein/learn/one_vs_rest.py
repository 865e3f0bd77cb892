"""One class against the rest: signed labels in, the class of the largest value out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import column_or_1d, compute_sample_weight

Array = NDArray[np.float64]


class OneVsRestClassifier(ClassifierMixin):
    """Prediction for learners whose ``_project`` gives one value for two classes, else one per class."""

    classes_: NDArray[Any]

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Values f(x): positive for the second of two classes, largest for the predicted one of more.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        values : ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        values: NDArray[Any] = self._project(X)
        return values

    def predict(self, X: Any) -> NDArray[Any]:
        """Predicted classes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        values = self.decision_function(X)
        return np.asarray(self.classes_[(values > 0).astype(int) if values.ndim == 1 else values.argmax(axis=1)])


def check_classes(classes: NDArray[Any]) -> NDArray[Any]:
    """Raise unless there are at least two classes."""
    if len(classes) < 2:
        raise ValueError(f"y must have at least 2 classes; got {len(classes)} class.")
    return classes


def class_factors(class_weight: Any, y: NDArray[Any]) -> Array | None:
    """Factor of the loss of every row; in one-vs-rest, a row has that of its own class everywhere."""
    if class_weight is None:
        return None
    factors = np.asarray(compute_sample_weight(class_weight, y), dtype=np.float64)
    if factors.min() < 0 or not factors.max() > 0:
        raise ValueError(f"class_weight must have weights >= 0, not zero for every row; got {class_weight!r}.")
    return factors


def signed_labels(y: NDArray[Any], classes: NDArray[Any]) -> Array:
    """+1 for a class and -1 for the others: one column per class, or that of the second of two."""
    own = classes[1:] if len(classes) == 2 else classes
    return np.where(column_or_1d(y)[:, None] == own, 1.0, -1.0)
