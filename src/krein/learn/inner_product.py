"""One eigendecomposition that serves every alpha, every target and every learner.

With features Z (N x D), signature J and G = Z^T Z, a pivoted Cholesky factor G = A^T A (A is r x D) writes Z = Q A with
orthonormal columns Q that need never be formed. Then

    A J A^T = V diag(lambda) V^T        K = Z J Z^T = (Q V) diag(lambda) (Q V)^T,      Q V = Z C,  A C = V,

so that lambda are the eigenvalues of the N x N matrix K other than 0, and Q V its eigenvectors. With B = J A^T V

    w = J Z^T beta = B c,  c = (Q V)^T beta        Z w = Q V diag(lambda) c        w^T J w = c^T diag(lambda) c.

(The square root G^(1/2) in place of A gives the same lambda, and costs a second eigendecomposition.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, lapack, solve_triangular

Array = NDArray[np.float64]
REGULARIZATIONS = ("krein", "flip", "hilbert")
EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Eigenvalues of the regularised kernel matrix, and the way from its eigenvectors to the columns of features.

    Parameters
    ----------
    eigenvalues : ndarray of shape (r,)
        Of Z J Z^T for "krein", their absolute values for "flip", and of Z Z^T for "hilbert".
    basis : ndarray of shape (D, r)
        B: coefficients c in the eigenvectors are the weights w = B c of the columns of Z.
    dual : ndarray of shape (D, r)
        C: the eigenvectors are Z C.
    signs : ndarray of shape (r,)
        Signs of the eigenvalues of Z J Z^T (+1 for "hilbert").
    """

    eigenvalues: Array
    basis: Array
    dual: Array
    signs: Array

    def weights(self, alpha: float, R: Array) -> Array:
        """The stationary point w of ||y - Z w||^2 + alpha <w, w>, R = Z^T y: c = (Q V)^T y / (lambda + alpha).

        Where alpha is the negative of an eigenvalue to rounding, its direction is left out.
        """
        gap = self.eigenvalues + alpha
        inverse = np.divide(1.0, gap, out=np.zeros_like(gap), where=np.abs(gap) > EPS * alpha)
        return np.asarray(self.basis @ (self.dual.T @ R * inverse[:, None]))

    def amplification(self, alphas: Array) -> Array:
        """max_j alpha / |lambda_j + alpha|: at most 1 without negative eigenvalues, infinite at one of them."""
        gaps = np.abs(self.eigenvalues + alphas[:, None]).min(axis=1, initial=np.inf)
        with np.errstate(divide="ignore"):
            return np.asarray(np.maximum(alphas / gaps, 1.0))

    def gcv(self, alphas: Array, R: Array, squares: float, n: float) -> Array:
        """Generalised cross-validation n RSS / (n - tr H)^2 for every alpha, tr H = sum_j lambda_j/(lambda_j+alpha).

        ``squares`` is sum y^2 over rows and targets, n the number of rows less one for an intercept. Only the sums are
        needed, not the rows: RSS = |y_perp|^2 + sum_j c_j^2 (alpha/(lambda_j+alpha))^2. Infinite where n <= tr H.
        """
        c2 = ((self.dual.T @ R) ** 2).sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            left = alphas[:, None] / (self.eigenvalues + alphas[:, None])
            freedom = n - len(self.eigenvalues) + left.sum(axis=1)
            scores = n * (max(squares - float(c2.sum()), 0.0) + left**2 @ c2) / freedom**2
        return np.where((freedom > EPS * n) & np.isfinite(scores), scores, np.inf)

    def orthonormal(self) -> Array:
        """T with Z T = Q V |lambda|^(1/2) and T^T J T = diag(signs): coordinates in which the inner product is +-1."""
        return self.basis / np.sqrt(self.eigenvalues)


def spectrum(G: Array, signature: Array, regularization: str, scale: float | None = None) -> Spectrum:
    """Decompose for one of REGULARIZATIONS.

    Directions of G below its rounding errors are left out, but not more: those are harmless beside alpha, and the
    solution needs them where alpha is small. After r pivots the errors of a null direction have grown to about
    0.4 r EPS ``scale``, where ``scale`` is the largest diagonal entry of G before it was centred: D EPS ``scale`` is
    above them. A direction of errors that is kept shows in the weights as (error of R) / alpha. "flip" leaves out
    eigenvalues 0 too, which have no sign.
    """
    J = np.ones_like(signature) if regularization == "hilbert" else signature
    D = len(G)
    scale = float(np.diag(G).max(initial=0.0)) if scale is None else scale
    rounding = max(D, 10) * EPS
    factor, pivots, rank, _ = lapack.dpstrf(G, tol=rounding * scale, lower=0)
    order = pivots - 1
    A = np.triu(factor)[:rank]
    M = (A * J[order]) @ A.T
    eigenvalues, V = eigh(M, driver="evd") if rank else (np.zeros(0), np.zeros((0, 0)))
    if regularization == "flip":
        kept = np.abs(eigenvalues) > rounding * np.abs(eigenvalues).max(initial=0.0)
        eigenvalues, V = eigenvalues[kept], V[:, kept]
    basis, dual = np.zeros((D, len(eigenvalues))), np.zeros((D, len(eigenvalues)))
    basis[order] = J[order, None] * (A.T @ V)
    dual[order[:rank]] = solve_triangular(A[:, :rank], V) if rank else V
    signs = np.where(eigenvalues < 0, -1.0, 1.0)
    if regularization == "flip":
        return Spectrum(np.abs(eigenvalues), basis * signs, dual, signs)
    return Spectrum(eigenvalues, basis, dual, signs)


def spectrum_of_rows(Z: Array, signature: Array, sample_weight: Array | None = None) -> Spectrum:
    """The same for "flip" from the N x N matrix, which is cheaper where there are more columns than rows.

    With K = U diag(lambda) U^T, B = J Z^T U sign(lambda) and C = B / |lambda|; rows have the factors sqrt(w).
    """
    Z = Z if sample_weight is None else np.sqrt(sample_weight)[:, None] * Z
    eigenvalues, U = eigh((Z * signature) @ Z.T, driver="evd")
    kept = np.abs(eigenvalues) > max(len(Z), 10) * EPS * np.abs(eigenvalues).max(initial=0.0)
    sizes, signs = np.abs(eigenvalues[kept]), np.sign(eigenvalues[kept])
    basis = signature[:, None] * (Z.T @ (U[:, kept] * signs))
    return Spectrum(sizes, basis, basis / sizes, signs)
