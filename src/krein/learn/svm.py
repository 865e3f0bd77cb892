"""Support vector machines in a Krein space: trained on the flipped spectrum, mapped back with the signs.

The kernel matrix Z J Z^T = U diag(lambda) U^T is replaced by U diag(|lambda|) U^T, on which the problem is convex; its
solution f = U diag(|lambda|) U^T a is also Z J Z^T b with b = U diag(signs) U^T a, and b is taken to new rows (Loosli,
Canu and Ong: Learning SVM in Krein spaces, 2016). In the coordinates Z T of `Spectrum.orthonormal` that is an ordinary
linear machine.
"""

from __future__ import annotations

import warnings
from itertools import islice
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.multiclass import check_classification_targets

from krein._random import RandomState, Streams
from krein._validation import Rows, check_choice, check_finite, check_integer, check_positive
from krein.features import GramAccumulator
from krein.kernels.base import row_blocks
from krein.learn.base import CHUNK_ROWS, KreinLearner, check_weights
from krein.learn.inner_product import spectrum
from krein.learn.one_vs_rest import OneVsRestClassifier, check_classes, class_factors, signed_labels
from krein.learn.progress import Callback, Progress
from krein.learn.solvers import SquaredEpsilonInsensitive, SquaredHinge, SquaredLoss, newton, weighted_gram

Array = NDArray[np.float64]


class SupportVectorLearner(KreinLearner):
    """What classification and regression share: coordinates, the two solvers, the way back to columns."""

    C: float
    loss: str
    regularization: str
    fit_intercept: bool
    tol: float
    max_iter: int
    coef_: Array
    intercept_: Any
    n_iter_: Any
    _made_by_fit = "coef_"

    def _check_parameters(self, losses: tuple[str, str]) -> None:
        check_positive(self.C, "C")
        check_positive(self.tol, "tol")
        check_integer(self.max_iter, "max_iter", 1)
        check_choice(self.loss, "loss", losses)
        check_choice(self.regularization, "regularization", ("flip", "hilbert"))

    def _train(self, X: Rows, targets: list[Any], sample_weight: Array | None, factors: Array | None = None) -> None:
        """One machine per target; an interruption keeps the iterates so far."""
        self.__dict__.pop("coef_", None)
        progress = Progress(self.callback, self.verbose)
        self._fit_map(X, sample_weight)
        rows, back = self._coordinates(X, sample_weight, progress)
        w = np.ones(len(rows))
        for given in (sample_weight, factors):
            w = w if given is None else w * given
        found = np.zeros((len(targets), rows.shape[1]))
        iterations = np.zeros(len(targets), dtype=int)
        try:
            if isinstance(targets[0], np.ndarray):
                for k, y in enumerate(targets):
                    found[k], iterations[k] = self._liblinear(rows, y, w)
                    progress("machines", k + 1, len(targets))
            else:
                self._newton(rows, targets, self.C * w, found, iterations, progress)
        finally:
            width = rows.shape[1] - bool(self.fit_intercept)
            coef = found[:, :width] if back is None else found[:, :width] @ back.T
            self._keep(coef, found[:, width] if self.fit_intercept else np.zeros(len(targets)), iterations)

    def _coordinates(self, X: Rows, sample_weight: Array | None, progress: Progress) -> tuple[Array, Array | None]:
        """Rows Z T, with a column of ones for an intercept, and T; None for T = I."""
        J = self.feature_map_.signature_
        D = len(J)
        Z = np.empty((X.shape[0], D + bool(self.fit_intercept)))
        sums = GramAccumulator()
        for rows in row_blocks(len(Z), CHUNK_ROWS):
            Z[rows, :D] = self.feature_map_.transform(X[rows])
            if self.regularization == "flip":
                sums.add(Z[rows, :D], sample_weight=None if sample_weight is None else sample_weight[rows])
            progress("rows", rows.stop, len(Z))
        T = None
        if self.regularization == "flip":
            T = spectrum(sums.G, J, "flip").orthonormal()
            for rows in row_blocks(len(Z), CHUNK_ROWS):
                Z[rows, : T.shape[1]] = Z[rows, :D] @ T
            Z = Z[:, : T.shape[1] + bool(self.fit_intercept)]
        if self.fit_intercept:
            Z[:, -1] = 1.0
        return Z, T

    def _newton(
        self, rows: Array, targets: list[SquaredLoss], c: Array, found: Array, iterations: Any, progress: Progress
    ) -> None:
        full = weighted_gram(rows, c)
        for k, loss in enumerate(targets):
            iterates = islice(newton(rows, c, loss, self.tol, full), self.max_iter + 1)
            for iterations[k], (found[k], gap) in enumerate(iterates):  # noqa: B007
                pass
            if gap > self.tol:
                warnings.warn(
                    f"The relative duality gap must be at most tol={self.tol:g}; got {gap:.3g} after {iterations[k]} "
                    "steps. Make C smaller, or max_iter or tol larger.",
                    ConvergenceWarning,
                    stacklevel=4,
                )
            progress("machines", k + 1, len(targets))

    def _liblinear(self, rows: Array, y: Array, w: Array) -> tuple[Array, int]:
        raise NotImplementedError

    def _keep(self, coef: Array, intercept: Array, iterations: Any) -> None:
        raise NotImplementedError

    def _seed(self) -> int:
        """For LIBLINEAR, which draws the order of its coordinates."""
        return int(Streams(self.random_state)("liblinear").integers(2**31))


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
        y = np.asarray(y, dtype=np.float64)
        squared = self.loss == "squared_epsilon_insensitive"
        target = SquaredEpsilonInsensitive(y, self.epsilon) if squared else y
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
