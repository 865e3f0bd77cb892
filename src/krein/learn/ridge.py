"""Kernel ridge regression in a Krein space: linear in the number of rows, streamed, one decomposition per path."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from krein._random import RandomState
from krein._validation import check_choice, check_positive
from krein.exceptions import NearEigenvalueWarning
from krein.learn.base import StreamingLearner, check_weights
from krein.learn.inner_product import EPS, REGULARIZATIONS, Spectrum, spectrum
from krein.learn.moments import Moments
from krein.learn.progress import Callback
from krein.learn.solvers import solve_ldl

Array = NDArray[np.float64]
NEAR = 100.0  # an amplification above this is reported, and avoided by alpha="auto"
GROWTH = 2.0  # so are fitted values this much longer than the targets; without negative eigenvalues they are shorter
DEFAULT_ALPHAS = np.geomspace(1.0, 1e-8, 20)  # times the largest absolute eigenvalue; below, rounding of G shows


@dataclass(frozen=True, eq=False)
class Solution:
    """Weights of the columns, one column per target, at the chosen alpha; scores of all alphas where it was chosen."""

    weights: Array
    alpha: float
    alphas: Array | None = None
    scores: Array | None = None


class RidgeLearner(StreamingLearner):
    """Ridge on the columns of a map with a signature; regression and classification differ in their targets."""

    alpha: float | str
    alphas: ArrayLike | None
    regularization: str
    fit_intercept: bool
    _single: bool

    def _check_parameters(self) -> None:
        check_choice(self.regularization, "regularization", REGULARIZATIONS)
        if self.alpha != "auto":
            if not isinstance(self.alpha, Real):
                raise ValueError(f"alpha must be a number > 0 or 'auto'; got {self.alpha!r}.")
            check_positive(self.alpha, "alpha")
            if self.alphas is not None:
                raise ValueError(f"alphas must be None unless alpha='auto'; got alpha={self.alpha!r}.")

    # ---- the solution, from the sums ----

    def _centred(self) -> Moments:
        return self._moments.centred() if self.fit_intercept else self._moments

    def _spectrum(self, sums: Moments) -> Spectrum:
        return spectrum(sums.G, self.feature_map_.signature_, self.regularization, self._moments.scale)

    def _solved(self) -> Solution:
        """The solution for the rows so far, computed when it is first asked for."""
        check_is_fitted(self)
        if self._solution is None:
            sums = self._centred()
            alpha = self.alpha
            self._solution = self._choose(sums) if isinstance(alpha, str) else self._solve(sums, float(alpha))
        solution: Solution = self._solution
        return solution

    def _solve(self, sums: Moments, alpha: float, decomposed: Spectrum | None = None) -> Solution:
        """For one alpha: LDL^T, which needs no eigenvalues; they are computed where alpha is close to one."""
        signature = self.feature_map_.signature_
        if decomposed is None and self.regularization != "flip":
            J = signature if self.regularization == "krein" else np.ones_like(signature)
            weights, amplification = solve_ldl(sums.G, J, alpha, sums.R)
            if amplification <= NEAR and not grown(sums, weights):
                return Solution(weights, alpha)
        decomposed = decomposed or self._spectrum(sums)
        weights = decomposed.weights(alpha, sums.R)
        near = float(decomposed.amplification(np.array([alpha]))[0])
        if near > NEAR or grown(sums, weights):
            nearest = -decomposed.eigenvalues[np.abs(decomposed.eigenvalues + alpha).argmin()]
            warnings.warn(
                f"alpha must not be near the negative of an eigenvalue of the kernel matrix; got {alpha:.6g}, and "
                f"{nearest:.6g} is one: an error in the targets is multiplied by {near:.3g} in its direction. "
                "alpha='auto' looks for one that is not near, and regularization='flip' has no such alphas.",
                NearEigenvalueWarning,
                stacklevel=2,
            )
        return Solution(weights, alpha)

    def _choose(self, sums: Moments) -> Solution:
        """The alpha of least generalised cross-validation score, away from eigenvalues if that is possible."""
        decomposed = self._spectrum(sums)
        alphas = self._alphas(decomposed)
        n = sums.count - bool(self.fit_intercept)
        scores = decomposed.gcv(alphas, sums.R, float(sums.yy.sum()), n)
        amplification = decomposed.amplification(alphas)
        allowed = amplification <= max(NEAR, amplification.min())
        if n < 1 or not np.isfinite(scores[allowed]).any():
            raise ValueError(
                "alpha='auto' needs more rows than degrees of freedom at some alpha; got "
                f"n_samples={sums.count:.6g}, the sum of the sample weights, which count rows. Give other "
                "alphas, a number as alpha, or weights that sum to the number of rows: multiply sample_weight by a "
                "constant."
            )
        alpha = float(alphas[np.argmin(np.where(allowed, scores, np.inf))])
        return replace(self._solve(sums, alpha, decomposed), alphas=alphas, scores=scores)

    def _alphas(self, decomposed: Spectrum) -> Array:
        """Candidates, from the largest to the smallest."""
        if self.alphas is None:
            return DEFAULT_ALPHAS * (np.abs(decomposed.eigenvalues).max(initial=0.0) or 1.0)
        alphas = np.sort(np.asarray(self.alphas, dtype=np.float64).ravel())[::-1]
        if not len(alphas) or not (np.isfinite(alphas) & (alphas > 0)).all():
            raise ValueError(f"alphas must be numbers > 0, at least one; got {self.alphas!r}.")
        return alphas

    def _intercept(self, weights: Array) -> Array:
        """Mean of the targets less Z w, for weights of shape (..., D, m)."""
        sums = self._moments
        if not self.fit_intercept:
            return np.zeros((*weights.shape[:-2], weights.shape[-1]))
        return np.asarray(sums.shift + (sums.y - sums.z @ weights) / sums.weight)

    def _linear(self) -> tuple[Array, Any]:
        weights = self._solved().weights
        intercept = self._intercept(weights)
        return (weights[:, 0], intercept[0]) if self._single else (weights, intercept)

    # ---- what is known after fit ----

    @property
    def coef_(self) -> Array:
        """Weights of the columns of the map, of shape (n_columns,) or (n_targets, n_columns)."""
        return self._linear()[0].T

    @property
    def intercept_(self) -> Any:
        """A float, or an array of shape (n_targets,)."""
        return self._linear()[1]

    @property
    def alpha_(self) -> float:
        """The regularisation that was used."""
        return self._solved().alpha

    @property
    def alphas_(self) -> Array | None:
        """The candidates of ``alpha="auto"``, falling."""
        return self._solved().alphas

    @property
    def scores_(self) -> Array | None:
        """Generalised cross-validation score of every candidate, summed over targets."""
        return self._solved().scores

    def coef_path(self, alphas: ArrayLike) -> tuple[Array, Array]:
        """Coefficients and intercepts for many alphas, from one eigendecomposition and without a pass over rows.

        Parameters
        ----------
        alphas : array-like of shape (n_alphas,)

        Returns
        -------
        coefs : ndarray of shape (n_alphas, n_columns) or (n_alphas, n_targets, n_columns)
        intercepts : ndarray of shape (n_alphas,) or (n_alphas, n_targets)
        """
        check_is_fitted(self)
        alphas = np.atleast_1d(np.asarray(alphas, dtype=np.float64))
        for alpha in alphas:
            check_positive(float(alpha), "every one of alphas")
        sums = self._centred()
        decomposed = self._spectrum(sums)
        weights = np.array([decomposed.weights(alpha, sums.R) for alpha in alphas])
        intercepts = self._intercept(weights)
        coefs = np.swapaxes(weights, 1, 2)
        return (coefs[:, 0], intercepts[:, 0]) if self._single else (coefs, intercepts)


def grown(sums: Moments, weights: Array) -> bool:
    """Whether fitted values are more than GROWTH times as long as the (centred) targets."""
    fitted = np.einsum("jm,jm->m", weights, sums.G @ weights)
    return bool((fitted > GROWTH**2 * sums.yy + EPS * sums.scale).any())


class KreinRidge(MultiOutputMixin, RegressorMixin, RidgeLearner):
    """Ridge regression with an indefinite kernel: the stationary point of ||y - f||^2 + alpha <f, f>.

    In the columns Z of a feature map with signature J it solves (Z^T Z + alpha J) w = Z^T y: the cost is linear in the
    number of rows, and only sums over rows are kept.

    Parameters
    ----------
    feature_map : feature map, Kernel or None, default=None
        An unfitted map of ``krein.features`` or one with the same methods; a kernel stands for
        ``RandomFeatures(kernel, n_components=256)``, one that is not radial for ``IndefiniteNystroem`` of that width.
        None is a Gaussian whose scale is sqrt(d var(X) / 2) (scikit-learn's ``gamma="scale"``).
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
        Y = np.asarray(y if y.ndim == 2 else y[:, None], dtype=np.float64)
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
