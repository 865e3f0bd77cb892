"""Classification by ridge regression to labels -1 and +1."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.multiclass import check_classification_targets

from krein._random import RandomState
from krein.learn.base import check_weights
from krein.learn.one_vs_rest import OneVsRestClassifier, check_classes, class_factors, signed_labels
from krein.learn.progress import Callback
from krein.learn.ridge_path import RidgeLearner

Array = NDArray[np.float64]


class KreinRidgeClassifier(OneVsRestClassifier, RidgeLearner):
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
