"""Classification by ridge regression to labels -1 and +1."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import column_or_1d, compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets

from krein._random import RandomState
from krein.learn.base import check_weights
from krein.learn.progress import Callback
from krein.learn.ridge import RidgeLearner

Array = NDArray[np.float64]


class KreinRidgeClassifier(ClassifierMixin, RidgeLearner):
    """Classifier that fits `KreinRidge` to labels -1 and +1, one class against the rest.

    Parameters
    ----------
    feature_map, alpha, alphas, regularization, fit_intercept, random_state, callback, verbose
        As in `KreinRidge`.
    class_weight : dict, "balanced" or None, default=None
        Weights of the rows of every class; "balanced" needs all rows at once, so not with ``partial_fit``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_, intercept_, alpha_, alphas_, scores_
        Of the regression; one target for two classes, else one per class.
    feature_map_ : fitted feature map
    n_features_in_ : int

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.preprocessing import normalize
    >>> from krein.kernels import DeltaGaussian
    >>> from krein.learn import KreinRidgeClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> X = normalize(X)
    >>> classifier = KreinRidgeClassifier(DeltaGaussian(), random_state=0).fit(X[:1200], y[:1200])
    >>> bool(classifier.score(X[1200:], y[1200:]) > 0.9)
    True
    """

    classes_: NDArray[Any]

    def __init__(
        self,
        feature_map: Any = None,
        alpha: float | str = "auto",
        *,
        alphas: ArrayLike | None = None,
        regularization: str = "krein",
        fit_intercept: bool = True,
        class_weight: Any = None,
        random_state: RandomState = None,
        callback: Callback | None = None,
        verbose: bool = False,
    ) -> None:
        self.feature_map = feature_map
        self.alpha = alpha
        self.alphas = alphas
        self.regularization = regularization
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.random_state = random_state
        self.callback = callback
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the map and the classifier.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self
        """
        self._check_parameters()
        X, y = self._fit_rows(X, y)
        check_classification_targets(y)
        self.classes_ = check_classes(np.unique(y))
        self._add_rows(X, y, sample_weight, first=True)
        self._solved()
        return self

    def partial_fit(self, X: Any, y: Any, classes: ArrayLike | None = None, sample_weight: Any = None) -> Self:
        """Add rows. The first call fits the map and must name all classes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        classes : array-like of shape (n_classes,), default=None
            All classes, needed in the first call only.
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self
        """
        self._check_parameters()
        if self.class_weight == "balanced":
            raise ValueError(
                "class_weight must be a dict or None with partial_fit; got 'balanced', which needs all rows."
            )
        first = not self.__sklearn_is_fitted__()
        X, y = self._fit_rows(X, y, reset=first)
        if first and classes is None:
            raise ValueError("classes must be given in the first call of partial_fit; got None.")
        if classes is not None:
            named = check_classes(np.unique(np.asarray(classes)))
            if not first and not np.array_equal(named, self.classes_):
                raise ValueError(f"classes must be those of the first call, {self.classes_}; got {named}.")
            self.classes_ = named
        if not np.isin(y, self.classes_).all():
            raise ValueError(f"y must have no other values than classes {self.classes_}; got {np.unique(y)}.")
        self._add_rows(X, y, sample_weight, first=first)
        return self

    def _add_rows(self, X: Any, y: NDArray[Any], sample_weight: Any, *, first: bool) -> None:
        w = check_weights(sample_weight, len(y))
        Y = signed_labels(y, self.classes_)
        if first:
            self._start(X, Y, w, centre=self.fit_intercept)
            self._single = Y.shape[1] == 1
        self._add(X, Y, w, class_factors(self.class_weight, y))

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Values of the regression: positive for the second of two classes, largest for the predicted one of more.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        values : ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        return self._project(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predicted classes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        return chosen_class(self.decision_function(X), self.classes_)


def check_classes(classes: NDArray[Any]) -> NDArray[Any]:
    """Raise unless there are at least two classes."""
    if len(classes) < 2:
        raise ValueError(f"y must have at least 2 classes; got {len(classes)} class.")
    return classes


def class_factors(class_weight: Any, y: NDArray[Any]) -> Array | None:
    """Factor of the loss of every row; in one-vs-rest, a row has that of its own class everywhere."""
    return None if class_weight is None else np.asarray(compute_sample_weight(class_weight, y), dtype=np.float64)


def signed_labels(y: NDArray[Any], classes: NDArray[Any]) -> Array:
    """+1 for a class and -1 for the others: one column per class, or that of the second of two."""
    own = classes[1:] if len(classes) == 2 else classes
    return np.where(column_or_1d(y)[:, None] == own, 1.0, -1.0)


def chosen_class(values: NDArray[Any], classes: NDArray[Any]) -> NDArray[Any]:
    """The class of the largest value, or of the sign where there are two."""
    return np.asarray(classes[(values > 0).astype(int) if values.ndim == 1 else values.argmax(axis=1)])
