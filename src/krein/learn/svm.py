"""Support vector classification and regression with an indefinite kernel."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.utils.multiclass import check_classification_targets

from krein._random import RandomState
from krein._validation import check_finite
from krein.learn.base import check_targets, check_weights
from krein.learn.machine import SupportVectorLearner
from krein.learn.one_vs_rest import OneVsRestClassifier, check_classes, class_factors, signed_labels
from krein.learn.progress import Callback
from krein.learn.solvers import SquaredEpsilonInsensitive, SquaredHinge

Array = NDArray[np.float64]


class KreinSVC(OneVsRestClassifier, SupportVectorLearner):
    """Support vector classifier with an indefinite kernel, linear in the number of rows.

    Parameters
    ----------
    feature_map : feature map, Kernel or None, default=None
        As in `KreinRidge`.
    C : float, default=1.0
        The loss is multiplied by C: less regularisation where it is large.
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
        "squared_hinge" is minimised by Newton's method, "hinge" by LIBLINEAR (scikit-learn's LinearSVC).
    regularization : {"flip", "hilbert"}, default="flip"
        "flip" trains on the flipped spectrum of Z J Z^T and maps the solution back with the signs; "hilbert" trains on
        the columns Z as they are, the setting of the paper.
    fit_intercept : bool, default=True
        A column of ones, regularised as every other column is (as in LinearSVC).
    class_weight : dict, "balanced" or None, default=None
        Factors of C. In one-vs-rest, a row has the factor of its own class everywhere.
    tol : float, default=1e-4
        Relative duality gap for "squared_hinge"; LIBLINEAR's own tolerance for "hinge".
    max_iter : int, default=1000
        Newton steps, or passes of LIBLINEAR.
    random_state : int, Generator, RandomState or None, default=None
        For maps whose own ``random_state`` is None, and for LIBLINEAR.
    callback : callable or None, default=None
        Called as ``callback(stage, done, total)`` after every block of rows and every machine.
    verbose : bool, default=False
        A progress bar on stderr.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (1, n_columns) or (n_classes, n_columns)
        Weights of the columns of the map: of the second of two classes, or of each class against the rest.
    intercept_ : ndarray of shape (1,) or (n_classes,)
    n_iter_ : int
        Largest number of iterations.
    feature_map_ : fitted feature map
    n_features_in_ : int

    Notes
    -----
    The features of all rows are in memory, in float64. When training is interrupted, the iterates so far are kept.
    Probabilities: ``sklearn.calibration.CalibratedClassifierCV(KreinSVC(...))``.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.preprocessing import normalize
    >>> from krein.kernels import DeltaGaussian
    >>> from krein.learn import KreinSVC
    >>> X, y = load_digits(return_X_y=True)
    >>> X = normalize(X)
    >>> classifier = KreinSVC(DeltaGaussian(), C=10.0, random_state=0).fit(X[:1200], y[:1200])
    >>> bool(classifier.score(X[1200:], y[1200:]) > 0.9)
    True
    """

    def __init__(
        self,
        feature_map: Any = None,
        C: float = 1.0,
        *,
        loss: str = "squared_hinge",
        regularization: str = "flip",
        fit_intercept: bool = True,
        class_weight: Any = None,
        tol: float = 1e-4,
        max_iter: int = 1000,
        random_state: RandomState = None,
        callback: Callback | None = None,
        verbose: bool = False,
    ) -> None:
        self.feature_map = feature_map
        self.C = C
        self.loss = loss
        self.regularization = regularization
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.callback = callback
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the map and one machine for two classes, or one per class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            Factors of C.

        Returns
        -------
        self
        """
        self._check_parameters(("squared_hinge", "hinge"))
        X, y = self._fit_rows(X, y)
        check_classification_targets(y)
        self.classes_ = check_classes(np.unique(y))
        labels = [np.ascontiguousarray(column) for column in signed_labels(y, self.classes_).T]
        targets = labels if self.loss == "hinge" else [SquaredHinge(label) for label in labels]
        self._train(X, targets, check_weights(sample_weight, len(y)), class_factors(self.class_weight, y))
        return self

    def _liblinear(self, rows: Array, y: Array, w: Array) -> tuple[Array, int]:
        from sklearn.svm import LinearSVC

        machine = LinearSVC(C=self.C, loss="hinge", fit_intercept=False, tol=self.tol, max_iter=self.max_iter,
                            random_state=self._seed())  # fmt: skip
        machine.fit(rows, y, sample_weight=w)
        return machine.coef_[0], int(machine.n_iter_)

    def _keep(self, coef: Array, intercept: Array, iterations: Any) -> None:
        self.intercept_, self.n_iter_, self.coef_ = intercept, int(iterations.max()), coef

    def _linear(self) -> tuple[Array, Any]:
        return (self.coef_[0], self.intercept_[0]) if len(self.coef_) == 1 else (self.coef_.T, self.intercept_)


class KreinSVR(RegressorMixin, SupportVectorLearner):
    """Support vector regression with an indefinite kernel, linear in the number of rows.

    Parameters
    ----------
    feature_map, C, regularization, fit_intercept, tol, max_iter, random_state, callback, verbose
        As in `KreinSVC`.
    epsilon : float >= 0, default=0.0
        Errors up to this size cost nothing.
    loss : {"squared_epsilon_insensitive", "epsilon_insensitive"}, default="squared_epsilon_insensitive"
        The squared one is minimised by Newton's method, the other by LIBLINEAR (scikit-learn's LinearSVR).

    Attributes
    ----------
    coef_ : ndarray of shape (n_columns,)
        Weights of the columns of the map.
    intercept_ : float
    n_iter_ : int
    feature_map_ : fitted feature map
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from krein.kernels import DeltaGaussian
    >>> from krein.learn import KreinSVR
    >>> X = np.random.default_rng(0).uniform(size=(500, 2))
    >>> y = np.sin(6 * X[:, 0]) * X[:, 1]
    >>> kernel = DeltaGaussian((1.0, -0.5), (0.5, 2.0))
    >>> regressor = KreinSVR(kernel, C=100.0, epsilon=0.01, random_state=0).fit(X[:400], y[:400])
    >>> bool(regressor.score(X[400:], y[400:]) > 0.99)
    True
    """

    def __init__(
        self,
        feature_map: Any = None,
        C: float = 1.0,
        *,
        epsilon: float = 0.0,
        loss: str = "squared_epsilon_insensitive",
        regularization: str = "flip",
        fit_intercept: bool = True,
        tol: float = 1e-4,
        max_iter: int = 1000,
        random_state: RandomState = None,
        callback: Callback | None = None,
        verbose: bool = False,
    ) -> None:
        self.feature_map = feature_map
        self.C = C
        self.epsilon = epsilon
        self.loss = loss
        self.regularization = regularization
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.callback = callback
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the map and the machine.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            Factors of C.

        Returns
        -------
        self
        """
        self._check_parameters(("squared_epsilon_insensitive", "epsilon_insensitive"))
        check_finite(self.epsilon, "epsilon")
        if self.epsilon < 0:
            raise ValueError(f"epsilon must be >= 0; got {self.epsilon!r}.")
        X, y = self._fit_rows(X, y, y_numeric=True)
        squared = self.loss == "squared_epsilon_insensitive"
        target = SquaredEpsilonInsensitive(check_targets(y), self.epsilon) if squared else np.asarray(y, np.float64)
        self._train(X, [target], check_weights(sample_weight, len(y)))
        return self

    def _liblinear(self, rows: Array, y: Array, w: Array) -> tuple[Array, int]:
        from sklearn.svm import LinearSVR

        machine = LinearSVR(C=self.C, epsilon=self.epsilon, fit_intercept=False, tol=self.tol, max_iter=self.max_iter,
                            random_state=self._seed())  # fmt: skip
        machine.fit(rows, y, sample_weight=w)
        return machine.coef_, int(machine.n_iter_)

    def _keep(self, coef: Array, intercept: Array, iterations: Any) -> None:
        self.intercept_, self.n_iter_, self.coef_ = float(intercept[0]), int(iterations[0]), coef[0]

    def _linear(self) -> tuple[Array, Any]:
        return self.coef_, self.intercept_

    def predict(self, X: Any) -> NDArray[Any]:
        """Predicted targets.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        return self._project(X)
