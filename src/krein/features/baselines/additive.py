"""Homogeneous additive maps (Vedaldi & Zisserman 2012): a cosine series per coordinate, without randomness."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from krein._validation import Rows, check_positive
from krein.features.base import Array, BaseFeatureMap
from krein.kernels import AdditiveChi2, Kernel
from krein.kernels.additive import AdditiveKernel

STEPS = np.geomspace(0.02, 3.0, 120)  # 4 % apart
LOG_RATIOS = np.linspace(0, 16, 401)


class AdditiveFeatures(BaseFeatureMap):
    """Deterministic features of the additive homogeneous kernels, such as chi-squared and histogram intersection.

    A coordinate x > 0 becomes x^(degree/2) times sqrt(c_0), sqrt(c_j) cos(j step log x), sqrt(c_j) sin(j step log x),
    j = 1, ..., n - 1, with the coefficients of the cosine series of the kernel; 0 becomes 0.

    Parameters
    ----------
    kernel : AdditiveKernel, default=AdditiveChi2()
        What to approximate. Rows must have no negative entries.
    n_components : int, default=100
        Largest number of output columns. Every coordinate takes 2 n - 1, with the largest n that leaves room for all;
        with fewer columns than coordinates, those with the largest mean of x^degree have one column each.
    step : float or None, default=None
        Distance of the sampled frequencies. None takes the step of the least mean squared error for coordinates that
        are uniform on an interval [0, b]. ``sklearn.kernel_approximation.AdditiveChi2Sampler`` has 0.8, 0.5 and 0.4 for
        n = 1, 2 and 3.
    n_jobs : int or None, default=None
        Threads of ``transform``; -1 is all cores, None one unless joblib's ``parallel_config`` says otherwise.
    output : {"real", "complex"}, default="real"
        "complex" multiplies the columns of negative sign by 1j, so that K_hat = Z Z^T without conjugation.

    Attributes
    ----------
    step_ : float
    coefficients_ : ndarray of shape (n,)
        c_0, ..., c_{n-1}.
    coordinates_ : ndarray of int
        The columns of X that have features.
    signature_ : ndarray of shape (n_columns,)
        Signs of the coefficients: all +1 for the kernels of krein.
    n_features_in_ : int

    Notes
    -----
    Biased: the series is cut off, and periodic in log(y/x) with period 2 pi / step. Only Hellinger is exact, with one
    column per coordinate. Columns are ordered as scikit-learn's: the constants of all coordinates, then the cosines of
    all with j = 1, their sines, and so on.

    References
    ----------
    A. Vedaldi and A. Zisserman: Efficient additive kernels via explicit feature maps. PAMI 34 (2012).

    Examples
    --------
    >>> import numpy as np
    >>> from krein import relative_error
    >>> from krein.features.baselines import AdditiveFeatures
    >>> from krein.kernels import AdditiveChi2
    >>> X = np.random.default_rng(0).random((200, 4))
    >>> features = AdditiveFeatures(AdditiveChi2(), n_components=20).fit(X)
    >>> features.transform(X).shape
    (200, 20)
    >>> bool(relative_error(AdditiveChi2(), features, X) < 0.01)
    True
    """

    step_: float
    coefficients_: Array
    coordinates_: NDArray[np.int64]

    def __init__(
        self,
        kernel: Kernel = AdditiveChi2(),  # noqa: B008  (immutable)
        n_components: int = 100,
        *,
        step: float | None = None,
        n_jobs: int | None = None,
        output: str = "real",
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.step = step
        self.n_jobs = n_jobs
        self.output = output

    def _domain(self) -> Any:
        self._additive()
        return "nonnegative"

    def _additive(self) -> AdditiveKernel:
        if not isinstance(self.kernel, AdditiveKernel):
            raise TypeError(
                "AdditiveFeatures needs an additive kernel (AdditiveChi2, Intersection, JensenShannon or Hellinger); "
                f"got {self.kernel!r}."
            )
        return self.kernel

    def _fit(self, X: Rows) -> None:
        kernel, dim = self._additive(), X.shape[1]
        if self.step is not None:
            check_positive(self.step, "step")
        order = (max(1, self.n_components // dim) + 1) // 2
        self.step_ = best_step(kernel, order) if self.step is None else float(self.step)
        coefficients = kernel.harmonics(self.step_, order)
        self.coefficients_ = coefficients[: np.flatnonzero(coefficients)[-1] + 1]
        self.coordinates_ = _heaviest(X, kernel.degree, self.n_components)
        self._set_signature()

    def _set_signature(self) -> None:
        signs = np.where(self.coefficients_ < 0, -1.0, 1.0)
        self.signature_ = np.repeat(np.r_[signs[:1], np.repeat(signs[1:], 2)], len(self.coordinates_))

    def _map_rows(self, X: Rows, out: NDArray[Any]) -> None:
        X = X[:, self.coordinates_]
        x = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
        positive = x > 0
        logs = self.step_ * np.log(x, out=np.zeros_like(x), where=positive)
        size = np.where(positive, x, 0) ** (self._additive().degree / 2)
        width = x.shape[1]
        first, *others = np.sqrt(np.abs(self.coefficients_))
        out[:, :width] = first * size
        for j, amplitude in enumerate(others, start=1):
            at = (2 * j - 1) * width
            out[:, at : at + width] = amplitude * size * np.cos(j * logs)
            out[:, at + width : at + 2 * width] = amplitude * size * np.sin(j * logs)

    def _get_state(self) -> dict[str, NDArray[Any]]:
        return {
            "step": np.array(self.step_),
            "coefficients": self.coefficients_,
            "coordinates": self.coordinates_,
        }

    def _set_state(self, arrays: dict[str, NDArray[Any]]) -> None:
        self.step_ = float(arrays["step"])
        self.coefficients_, self.coordinates_ = arrays["coefficients"], arrays["coordinates"]
        self._set_signature()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags


@lru_cache(maxsize=256)
def best_step(kernel: AdditiveKernel, order: int) -> float:
    """The step of the least mean squared error for entries x, y uniform on [0, 1].

    With w = log(y/x), the integral of (x y)^degree (F_hat - F)^2(w) over the square is proportional to the integral of
    exp(-(degree + 1) w) (F_hat - F)^2(w) over w > 0.
    """
    weight, F = np.exp(-(kernel.degree + 1) * LOG_RATIOS), kernel.ratio_profile(LOG_RATIOS)

    def error(step: float) -> float:
        series = np.cos(np.outer(LOG_RATIOS, step * np.arange(order))) @ kernel.harmonics(step, order)
        return float(weight @ (series - F) ** 2)

    return float(min(STEPS, key=error))


def _heaviest(X: Rows, degree: float, count: int) -> NDArray[np.int64]:
    """The ``count`` columns with the largest mean of x^degree, the share of the trace of K that they make."""
    if count >= X.shape[1]:
        return np.arange(X.shape[1])
    X = X.astype(np.float64, copy=False)
    powers = X.power(degree) if hasattr(X, "power") else X**degree
    shares = np.asarray(powers.sum(axis=0)).ravel()
    return np.sort(np.argsort(-shares, kind="stable")[:count])
