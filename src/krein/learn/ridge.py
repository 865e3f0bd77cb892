"""Kernel ridge regression in a Krein space: linear in the number of rows, and streamed."""

from __future__ import annotations

from typing import Any, Self

from numpy.typing import ArrayLike, NDArray
from sklearn.base import MultiOutputMixin, RegressorMixin

from krein._random import RandomState
from krein.learn.base import check_targets, check_weights
from krein.learn.progress import Callback
from krein.learn.ridge_path import RidgeLearner


class KreinRidge(MultiOutputMixin, RegressorMixin, RidgeLearner):
    """Ridge regression with an indefinite kernel: the stationary point of ||y - f||^2 + alpha <f, f>.

    In the columns Z of a feature map with signature J it solves (Z^T Z + alpha J) w = Z^T y: the cost is linear in the
    number of rows, and only sums over rows are kept.

    Parameters
    ----------
    feature_map : feature map, Kernel or None, default=None
        An unfitted map of ``krein.features`` or one with the same methods; a kernel stands for
        ``RandomFeatures(kernel, n_components=256)`` (scheme "optimal", designed for the distances between the rows of
        ``fit``), one that is not radial for ``IndefiniteNystroem`` of that width. None is a Gaussian whose scale is
        sqrt(d var(X) / 2) (scikit-learn's ``gamma="scale"``), of the scheme "gorf-blocks": it depends on the rows
        through that scale only, so that a weight of 2 is the row twice for the map as well.
    alpha : float > 0 or "auto", default="auto"
        Regularisation. "auto" takes the candidate of least generalised cross-validation score.
    alphas : array-like or None, default=None
        Candidates for "auto". None means 20 from 1e-8 to 1 times the largest absolute eigenvalue of the kernel matrix.
    regularization : {"krein", "flip", "hilbert"}, default="krein"
        What <f, f> is: the indefinite inner product; the one of the flipped spectrum |Z J Z^T|; or that of the
        associated Hilbert space, J replaced by I. The three are the same for a positive definite kernel.
    fit_intercept : bool, default=True
        A constant that is not regularised.
    random_state : int, Generator, RandomState or None, default=None
        For maps whose own ``random_state`` is None.
    callback : callable or None, default=None
        Called as ``callback(stage, done, total)`` after every block of rows.
    verbose : bool, default=False
        A progress bar on stderr.

    Attributes
    ----------
    coef_, intercept_, alpha_, alphas_, scores_
        Solved when first asked for after ``partial_fit``.
    feature_map_ : fitted feature map
    n_features_in_ : int

    Notes
    -----
    With "krein" the problem has one stationary point unless -alpha is an eigenvalue of the kernel matrix. Near one the
    solution blows up: NearEigenvalueWarning says which alphas are not. "flip" and "hilbert" have a minimum always.

    Sample weights count rows: weight 2 is the row twice. When a fit is interrupted, the rows that it has seen are
    fitted. A map is not fitted again to rows that it was fitted to before, as in a grid search over ``alpha``, if
    its ``random_state`` is an int.

    Examples
    --------
    >>> import numpy as np
    >>> from krein import RandomFeatures
    >>> from krein.kernels import DeltaGaussian
    >>> from krein.learn import KreinRidge
    >>> X = np.random.default_rng(0).uniform(size=(1000, 2))
    >>> y = np.sin(6 * X[:, 0]) * X[:, 1]
    >>> features = RandomFeatures(DeltaGaussian((1.0, -0.5), (0.5, 2.0)), n_components=200)
    >>> ridge = KreinRidge(features, random_state=0).fit(X[:800], y[:800])
    >>> bool(ridge.score(X[800:], y[800:]) > 0.999)
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
        random_state: RandomState = None,
        callback: Callback | None = None,
        verbose: bool = False,
    ) -> None:
        self.feature_map = feature_map
        self.alpha = alpha
        self.alphas = alphas
        self.regularization = regularization
        self.fit_intercept = fit_intercept
        self.random_state = random_state
        self.callback = callback
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the map and the ridge.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight, first=True)._finish()

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Add rows. The first call fits the map; the order of the batches does not matter beyond that and rounding.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight, first=not self.__sklearn_is_fitted__())

    def _fit(self, X: Any, y: Any, sample_weight: Any, *, first: bool) -> Self:
        self._check_parameters()
        X, y = self._fit_rows(X, y, multi_output=True, y_numeric=True, reset=first)
        Y = check_targets(y if y.ndim == 2 else y[:, None])
        w = check_weights(sample_weight, len(Y))
        if first:
            self._start(X, Y, w, centre=self.fit_intercept)
            self._single = y.ndim == 1
        elif (self._single, len(self._shift)) != (y.ndim == 1, Y.shape[1]):
            raise ValueError(f"y must have the same number of targets in every batch; got {y.shape[1:]}.")
        self._add(X, Y, w)
        return self

    def _finish(self) -> Self:
        self._solved()
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Predicted targets.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_targets)
        """
        return self._project(X)
