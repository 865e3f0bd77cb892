"""Ridge from sums over rows: one alpha by LDL^T, a path of them by one decomposition, the choice among them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from krein._validation import check_choice, check_positive
from krein.exceptions import NearEigenvalueWarning
from krein.learn.base import StreamingLearner
from krein.learn.inner_product import EPS, REGULARIZATIONS, Spectrum, spectrum
from krein.learn.moments import Moments
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
