"""Support vector machines in a Krein space: trained on the flipped spectrum, mapped back with the signs.

The kernel matrix Z J Z^T = U diag(lambda) U^T is replaced by U diag(|lambda|) U^T, on which the problem is convex; its
solution f = U diag(|lambda|) U^T a is also Z J Z^T b with b = U diag(signs) U^T a, and b is taken to new rows (Loosli,
Canu and Ong: Learning SVM in Krein spaces, 2016). In the coordinates Z T of `Spectrum.orthonormal` that is an ordinary
linear machine.
"""

from __future__ import annotations

import warnings
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from krein._random import Streams
from krein._validation import Rows, check_choice, check_integer, check_positive
from krein.features import GramAccumulator
from krein.kernels.base import row_blocks
from krein.learn.base import CHUNK_ROWS, KreinLearner
from krein.learn.inner_product import spectrum, spectrum_of_rows
from krein.learn.progress import Progress
from krein.learn.solvers import SquaredLoss, newton, weighted_gram

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
        wide = len(Z) < D  # the N x N matrix is smaller than G
        for rows in row_blocks(len(Z), CHUNK_ROWS):
            Z[rows, :D] = self.feature_map_.transform(X[rows])
            if self.regularization == "flip" and not wide:
                sums.add(Z[rows, :D], sample_weight=None if sample_weight is None else sample_weight[rows])
            progress("rows", rows.stop, len(Z))
        T = None
        if self.regularization == "flip":
            found = spectrum_of_rows(Z[:, :D], J, sample_weight) if wide else spectrum(sums.G, J, "flip")
            T = found.orthonormal()
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
