"""Concomitant rank order features (Kafai & Eshghi 2017): which of many random projections of a unit row are largest."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri, owens_t

from krein._random import RandomState, Streams
from krein._validation import Domain, Rows, check_integer
from krein.features.base import Array, BaseFeatureMap
from krein.kernels import Gaussian, Kernel


class CroFeatures(BaseFeatureMap):
    """Binary features of the Gaussian kernel on the unit sphere: 1/sqrt(tau) at the tau largest of U projections of x.

    Parameters
    ----------
    kernel : Gaussian, default=Gaussian()
        What to approximate. Rows must have norm 1; they are not normalised here, as that would be another kernel.
    n_components : int, default=100
        Number U of projections, which is the number of columns.
    tau : int or None, default=None
        Number of columns that are not 0 in a row. None rounds exp(-1/scale^2) U, so that the limit is exact for equal
        and for orthogonal rows.
    random_state : int, Generator, RandomState or None, default=None
    n_jobs : int or None, default=None
        Threads of ``transform``; -1 is all cores, None one unless joblib's ``parallel_config`` says otherwise.
    output : {"real", "complex"}, default="real"
        The same here but for the dtype, as no column has a negative sign.

    Attributes
    ----------
    projections_ : ndarray of shape (n_features, n_components)
    tau_ : int
    bias_ : float
        sup |k_hat - k| over the sphere in the limit of many columns with this share tau / U: what no number of columns
        removes. About 0.1.
    signature_ : ndarray of shape (n_columns,)
    n_features_in_ : int

    Notes
    -----
    With a = tau / U and h = Phi^-1(a), the mean of k_hat is Phi_2(h, h; x.y) / a, the chance that two standard normal
    variables of correlation x.y are both below h, plus a deviation of order 1/U; it is near the Gaussian kernel, not
    equal to it. Rows are sparse where the scale is small (for scale 0.5, 1.8 % of the columns are not 0), the result of
    ``transform`` is a dense array all the same.

    References
    ----------
    M. Kafai and K. Eshghi: CROification: accurate kernel classification with the efficiency of sparse linear SVM.
    PAMI 41 (2019).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.preprocessing import normalize
    >>> from krein.features.baselines import CroFeatures
    >>> from krein.kernels import Gaussian
    >>> X = normalize(np.random.default_rng(0).normal(size=(200, 8)))
    >>> features = CroFeatures(Gaussian(0.7), n_components=500, random_state=0).fit(X)
    >>> np.count_nonzero(features.transform(X), axis=1)[:4]
    array([65, 65, 65, 65])
    >>> round(features.bias_, 2)
    0.1
    """

    projections_: Array
    tau_: int
    bias_: float

    def __init__(
        self,
        kernel: Kernel = Gaussian(),  # noqa: B008  (immutable)
        n_components: int = 100,
        *,
        tau: int | None = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        output: str = "real",
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.tau = tau
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.output = output

    def _domain(self) -> Domain:
        return "sphere"

    def _fit(self, X: Rows) -> None:
        if not isinstance(self.kernel, Gaussian):
            raise TypeError(f"CroFeatures needs a Gaussian kernel; got {self.kernel!r}.")
        self.tau_ = self._number_of_ones(float(np.exp(-(self.kernel.scale**-2.0))))
        self.bias_ = _bias(self.kernel, self.tau_ / self.n_components)
        rng = Streams(self.random_state)("projections")
        self.projections_ = rng.standard_normal((X.shape[1], self.n_components))
        self.signature_ = np.ones(self.n_components)

    def _number_of_ones(self, share: float) -> int:
        if self.tau is not None:
            check_integer(self.tau, "tau", 1)
            if self.tau > self.n_components:
                raise ValueError(f"tau must be at most n_components = {self.n_components}; got {self.tau!r}.")
            return int(self.tau)
        if share * self.n_components < 0.5:
            raise ValueError(
                f"n_components must be at least exp(1/scale^2) / 2 = {0.5 / max(share, 1e-300):.4g} for "
                f"{self.kernel!r}, so that one of them is not 0; got {self.n_components}."
            )
        return max(1, round(share * self.n_components))

    def _map_rows(self, X: Rows, out: NDArray[Any]) -> None:
        values = np.asarray(X @ self.projections_)
        largest = np.argpartition(-values, self.tau_ - 1, axis=1)[:, : self.tau_]
        out[:] = 0
        np.put_along_axis(out, largest, out.dtype.type(self.tau_**-0.5), axis=1)

    def _get_state(self) -> dict[str, NDArray[Any]]:
        return {"projections": self.projections_, "tau": np.array(self.tau_), "bias": np.array(self.bias_)}

    def _set_state(self, arrays: dict[str, NDArray[Any]]) -> None:
        self.projections_, self.tau_, self.bias_ = arrays["projections"], int(arrays["tau"]), float(arrays["bias"])
        self.signature_ = np.ones(self.projections_.shape[1])


def rank_order_limit(t: ArrayLike, share: float) -> Array:
    """Phi_2(h, h; t) / share, h = Phi^-1(share): what k_hat tends to for rows of inner product t as U grows.

    Phi_2(h, h; t) = Phi(h) - 2 T(h, sqrt((1 - t) / (1 + t))) with Owen's T.
    """
    inner = np.clip(np.asarray(t, float), -1, 1)
    with np.errstate(divide="ignore"):
        slope = np.sqrt((1 - inner) / (1 + inner))
    return np.asarray(1 - 2 * owens_t(ndtri(share), slope) / share)


def _bias(kernel: Gaussian, share: float) -> float:
    """Largest |limit - kernel| over -1 <= t <= 1; the limit is 1 if all columns are ones."""
    t = 1 - np.geomspace(1e-6, 2, 2001)  # the limit is steep near t = 1
    limit = rank_order_limit(t, share) if share < 1 else np.ones_like(t)
    return float(np.abs(limit - kernel.profile(np.sqrt(2 - 2 * t))).max())
