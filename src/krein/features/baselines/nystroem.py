"""Nystroem features that keep the signature of an indefinite kernel.

With landmarks L, rows S that contain them and C = k(S, L), the core of k_hat(x, y) = k(x, L) M k(L, y) solves

    min_M || k(S, S) - C M C^T ||_F,        M = C^+ k(S, S) C^+T = V s^-1 (U^T k(S, S) U) s^-1 V^T,      C = U s V^T.

Where S = L it is the core k(L, L)^+ of the classical map. There an indefinite kernel has eigenvalues of both signs
close to 0 whose inverses multiply what L leaves out, and the error has no bound; here k(S, S) is only projected.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from krein._random import RandomState, Streams
from krein._validation import Rows, check_choice, check_positive
from krein.features.base import Array, BaseFeatureMap
from krein.features.baselines._landmarks import LANDMARKS
from krein.kernels import Gaussian, Kernel
from krein.kernels.base import row_blocks


class IndefiniteNystroem(BaseFeatureMap):
    """Nystroem features for any kernel, radial or not, positive definite or not: Z(x) = k(x, landmarks) B.

    Parameters
    ----------
    kernel : Kernel, default=Gaussian()
        What to approximate.
    n_components : int, default=100
        Number of landmarks, and the largest number of columns; at most as many as there are rows.
    landmarks : {"kmeans++", "uniform", "leverage"}, default="kmeans++"
        How the landmarks are chosen among the rows that ``fit`` gets: far from one another, in any order, or in
        proportion to ridge leverage scores.
    oversampling : float, default=4
        The core is fitted to the kernel among this many rows per landmark (of course no more than there are). 1 gives
        the classical map, whose error has no bound for an indefinite kernel.
    threshold : float, default=1e-8
        Singular values of k(S, L) and eigenvalues below this share of the largest are dropped.
    random_state : int, Generator, RandomState or None, default=None
    n_jobs : int or None, default=None
        Threads of ``transform``; -1 is all cores, None one unless joblib's ``parallel_config`` says otherwise.
    output : {"real", "complex"}, default="real"
        "complex" multiplies the columns of negative sign by 1j, so that K_hat = Z Z^T without conjugation.

    Attributes
    ----------
    landmarks_ : ndarray or CSR matrix of shape (n_landmarks, n_features)
    basis_ : ndarray of shape (n_landmarks, n_columns)
        B. Columns are in the order of falling absolute eigenvalues.
    signature_ : ndarray of shape (n_columns,)
        Signs of the eigenvalues.
    n_features_in_ : int

    Notes
    -----
    With l landmarks and m = oversampling * l rows, ``fit`` takes m^2 kernel values, O(m^2 l) operations and memory for
    2 m l numbers; ``transform`` takes l kernel values and l n_columns products per row. The features depend on the rows
    that ``fit`` gets: the map is not unbiased, and its error must be measured on other rows.

    scikit-learn's Nystroem takes the singular values of k(L, L) for its eigenvalues, and so approximates |K|.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.preprocessing import normalize
    >>> from krein import relative_error
    >>> from krein.features.baselines import IndefiniteNystroem
    >>> from krein.kernels import Tanh
    >>> X = normalize(np.random.default_rng(0).normal(size=(300, 4)))
    >>> features = IndefiniteNystroem(Tanh(), n_components=64, random_state=0).fit(X)
    >>> bool(relative_error(Tanh(), features, X) < 0.05)
    True
    >>> sorted(set(features.signature_.tolist()))
    [-1.0, 1.0]
    """

    landmarks_: Rows
    basis_: Array

    def __init__(
        self,
        kernel: Kernel = Gaussian(),  # noqa: B008  (immutable)
        n_components: int = 100,
        *,
        landmarks: str = "kmeans++",
        oversampling: float = 4,
        threshold: float = 1e-8,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        output: str = "real",
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.landmarks = landmarks
        self.oversampling = oversampling
        self.threshold = threshold
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.output = output

    def _fit(self, X: Rows) -> None:
        check_choice(self.landmarks, "landmarks", LANDMARKS)
        check_positive(self.oversampling, "oversampling")
        check_positive(self.threshold, "threshold")
        if self.oversampling < 1:
            raise ValueError(f"oversampling must be at least 1; got {self.oversampling!r}.")
        if self.threshold >= 1:
            raise ValueError(f"threshold must be below 1; got {self.threshold!r}.")
        streams = Streams(self.random_state)
        n_rows = X.shape[0]
        count = min(n_rows, self.n_components)
        choose = LANDMARKS[self.landmarks if count < n_rows else "uniform"]
        chosen = choose(self.kernel, X, count, streams("landmarks"))
        others = np.setdiff1d(np.arange(n_rows), chosen)
        n_others = min(len(others), round((self.oversampling - 1) * count))
        sample = np.concatenate([chosen, streams("sample").choice(others, n_others, replace=False)])
        self.landmarks_ = _c_order(X[chosen])
        self.basis_, self.signature_ = signed_basis(self.kernel, self.landmarks_, _c_order(X[sample]), self.threshold)

    def _map_rows(self, X: Rows, out: NDArray[Any]) -> None:
        out[:] = self.kernel._gram_block(_c_order(X), self.landmarks_) @ self.basis_

    def _get_state(self) -> dict[str, NDArray[Any]]:
        state = {"basis": self.basis_, "signature": self.signature_}
        if not sp.issparse(self.landmarks_):
            return {"landmarks": self.landmarks_, **state}
        parts = {name: getattr(self.landmarks_, name) for name in ("data", "indices", "indptr")}
        return {f"landmarks_{name}": part for name, part in parts.items()} | state

    def _set_state(self, arrays: dict[str, NDArray[Any]]) -> None:
        self.basis_, self.signature_ = arrays["basis"], arrays["signature"]
        if "landmarks" in arrays:
            self.landmarks_ = arrays["landmarks"]
            return
        parts = tuple(arrays[f"landmarks_{name}"] for name in ("data", "indices", "indptr"))
        self.landmarks_ = sp.csr_array(parts, shape=(len(self.basis_), self.n_features_in_))


def signed_basis(kernel: Kernel, landmarks: Rows, sample: Rows, threshold: float) -> tuple[Array, Array]:
    """B = V s^-1 Q sqrt|lambda| and sign(lambda), where Q diag(lambda) Q^T = U^T k(S, S) U.

    One zero column is left where the kernel vanishes on the sample.
    """
    U, s, Vt = np.linalg.svd(gram(kernel, sample, landmarks), full_matrices=False)
    if not s[0] > 0:
        return np.zeros((len(Vt), 1)), np.ones(1)
    kept = s > threshold * s[0]
    U, s, Vt = U[:, kept], s[kept], Vt[kept]
    core = sum(U[rows].T @ (gram(kernel, sample[rows], sample) @ U) for rows in row_blocks(len(U)))
    eigenvalues, Q = np.linalg.eigh((core + core.T) / 2)
    order = np.argsort(-np.abs(eigenvalues), kind="stable")
    order = order[np.abs(eigenvalues[order]) > threshold * np.abs(eigenvalues).max()]
    basis = (Vt.T / s) @ Q[:, order] * np.sqrt(np.abs(eigenvalues[order]))
    return basis, np.sign(eigenvalues[order])


def _c_order(X: Rows) -> Rows:
    """The same rows in one layout, so that a layout does not show in the last bits of an eigenvector."""
    return X if sp.issparse(X) else np.ascontiguousarray(X)


def gram(kernel: Kernel, X: Rows, Y: Rows) -> Array:
    """Kernel values in float64, also for rows of float32; the rows have been checked."""
    return np.concatenate([kernel._gram_block(X[rows], Y) for rows in row_blocks(X.shape[0])])
