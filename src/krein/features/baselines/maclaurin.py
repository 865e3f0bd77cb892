"""Random Maclaurin features (Kar & Karnick 2012): products of random signs estimate the powers of x.y."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from krein._random import RandomState, Streams
from krein._validation import Rows, check_choice, check_finite
from krein.features.base import Array, BaseFeatureMap
from krein.features.baselines._power_series import mean_square, power_series, share_columns
from krein.kernels import Kernel, Polynomial

LAWS = ("geometric", "proportional", "stratified", "support")


class RandomMaclaurin(BaseFeatureMap):
    """Random Maclaurin features of a dot-product kernel f(x.y), f(t) = sum_n a_n t^n.

    A column of degree n is sqrt(|a_n| / (s pi_n)) (w_1.x) ... (w_n.x), with vectors w of random signs, and has the sign
    of a_n; s columns draw their degrees from pi.

    Parameters
    ----------
    kernel : Polynomial, PowerSeries, DotProductKernel, or sums, products, multiples of the latter, default=Polynomial()
        What to approximate; it may be indefinite.
    n_components : int, default=100
        Largest number of output columns.
    law : {"support", "geometric", "proportional", "stratified"}, default="support"
        The law pi of the degrees. "geometric" (the authors'): proportional to ratio^-n for all n >= 0, and a column
        whose coefficient is 0 is 0. "support": the same for those n only whose coefficient is not 0. "proportional":
        to |a_n| r^(2n), r^2 the mean of ||x||^2 over the rows that ``fit`` gets (1 on the sphere). "stratified": no
        law but fixed numbers of columns per degree, with the least bound on the variance; degree 0 is then exact.
    h01 : bool, default=False
        Take degrees 0 and 1 exactly: a constant column and one per input feature, as far as their coefficients are not
        0. The other columns are drawn for degrees 2 and above.
    ratio : float, default=2.0
        Of the laws "geometric" and "support"; greater than 1.
    tol : float, default=1e-8
        Where a series on the sphere is cut off: largest error on [-1, 1], relative to the largest |f|.
    random_state : int, Generator, RandomState or None, default=None
    n_jobs : int or None, default=None
        Threads of ``transform``; -1 is all cores, None one unless joblib's ``parallel_config`` says otherwise.
    output : {"real", "complex"}, default="real"
        "complex" multiplies the columns of negative sign by 1j, so that K_hat = Z Z^T without conjugation.

    Attributes
    ----------
    degrees_ : ndarray of shape (n_drawn,)
        Degrees of the drawn columns, falling; 0 for a column whose coefficient is 0.
    weights_ : ndarray of shape (n_drawn,)
        Their factors sqrt(|a_n| / (s pi_n)).
    signs_ : ndarray of int8 of shape (sum of degrees_, n_features)
        The vectors w: the first ones of all columns, then the second ones, ...
    exact_ : ndarray of shape (2,)
        The factors sqrt(|a_0|), sqrt(|a_1|) of the columns that ``h01`` puts before the drawn ones; 0 without them.
    signature_ : ndarray of shape (n_columns,)
    n_features_in_ : int

    Notes
    -----
    Unbiased for a polynomial; for another series up to ``tol``. Products of n projections have heavy tails: their
    fourth moments grow like 3^n.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.features.baselines import RandomMaclaurin
    >>> from krein.kernels import PolynomialOnSphere
    >>> X = np.eye(4)
    >>> features = RandomMaclaurin(PolynomialOnSphere(1.0, 1), n_components=5, h01=True).fit(X)  # -1 + 2 t
    >>> features.signature_
    array([-1.,  1.,  1.,  1.,  1.])
    >>> features.approximate_kernel(X)[0].round(12)
    array([ 1., -1., -1., -1.])
    """

    degrees_: NDArray[np.int_]
    weights_: Array
    signs_: NDArray[np.int8]
    exact_: Array

    def __init__(
        self,
        kernel: Kernel = Polynomial(),  # noqa: B008  (immutable)
        n_components: int = 100,
        *,
        law: str = "support",
        h01: bool = False,
        ratio: float = 2.0,
        tol: float = 1e-8,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        output: str = "real",
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.law = law
        self.h01 = h01
        self.ratio = ratio
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.output = output

    def _fit(self, X: Rows) -> None:
        check_choice(self.law, "law", LAWS)
        check_choice(self.h01, "h01", (False, True))
        check_finite(self.ratio, "ratio")
        if self.ratio <= 1:
            raise ValueError(f"ratio must be greater than 1; got {self.ratio!r}.")
        streams = Streams(self.random_state)
        a = power_series(self.kernel, self.tol, self)
        exact = np.append(a, 0.0)[:2] * self.h01
        n_drawn = self._n_drawn(exact, a, X.shape[1])
        a[:2] -= exact[: len(a)]
        degrees, pi = self._draw_degrees(a, n_drawn, mean_square(self.kernel, X), streams("degrees"))
        coefficients = _at(a, degrees)
        useful = np.where(coefficients == 0, 0, degrees)
        order = np.argsort(-useful, kind="stable")  # _map_rows takes the columns of the highest degrees first
        self.degrees_, pi, coefficients = useful[order], pi[order], coefficients[order]
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(np.abs(coefficients)) - np.log(pi * n_drawn)
        self.weights_ = np.where(coefficients == 0, 0.0, np.exp(logs / 2))
        self.exact_ = np.sqrt(np.abs(exact))
        shape = (int(self.degrees_.sum()), X.shape[1])
        self.signs_ = (2 * streams("signs").integers(2, size=shape, dtype=np.int8) - 1).astype(np.int8)
        self.signature_ = np.concatenate([_signs(np.repeat(exact, _widths(exact, X.shape[1]))), _signs(coefficients)])

    def _n_drawn(self, exact: Array, a: Array, n_features: int) -> int:
        """Columns that are left for the draws, where there is something left to draw."""
        needed = int(_widths(exact, n_features).sum())
        rest = len(a) > 2 or not self.h01
        if self.n_components < needed + rest:
            raise ValueError(
                f"n_components must be at least {needed + rest} with h01=True: {needed} columns are exact"
                f"{', and degrees >= 2 need one' if rest else ''}; got {self.n_components}."
            )
        return (self.n_components - needed) * rest

    def _draw_degrees(
        self, a: Array, n_columns: int, size: float, rng: np.random.Generator
    ) -> tuple[NDArray[np.int_], Array]:
        """Degrees of the columns, and the probability pi_n of each."""
        if n_columns == 0:
            return np.empty(0, dtype=int), np.empty(0)
        if self.law == "stratified":
            counts = share_columns(a, size, n_columns)
            degrees = np.repeat(np.arange(len(a)), counts)
            return degrees, counts[degrees] / n_columns
        first = 2 * self.h01  # the lowest degree that is drawn
        if self.law == "geometric":
            degrees = first + rng.geometric(1 - 1 / self.ratio, n_columns) - 1
            return degrees, (1 - 1 / self.ratio) * self.ratio ** (first - degrees.astype(float))
        n = np.arange(len(a), dtype=float)
        with np.errstate(divide="ignore"):
            logs = -n * np.log(self.ratio) if self.law == "support" else np.log(np.abs(a)) + n * np.log(size or 1.0)
        logs[a == 0] = -np.inf
        pi = np.exp(logs - logs.max())
        pi /= pi.sum()
        degrees = rng.choice(len(a), n_columns, p=pi)
        return degrees, pi[degrees]

    def _map_rows(self, X: Rows, out: NDArray[Any]) -> None:
        start = out.shape[1] - len(self.degrees_)
        if start:
            self._map_exact(X, out)
        drawn, used = out[:, start:], 0
        drawn[:] = self.weights_
        for level in range(1, int(self.degrees_.max(initial=0)) + 1):
            count = int(np.count_nonzero(self.degrees_ >= level))  # these columns come first
            drawn[:, :count] *= X @ self.signs_[used : used + count].T.astype(X.dtype)
            used += count

    def _map_exact(self, X: Rows, out: NDArray[Any]) -> None:
        constant, linear = self.exact_
        first = int(constant > 0)
        out[:, :first] = constant
        if linear:
            dense = X.toarray() if hasattr(X, "toarray") else X
            np.multiply(dense, X.dtype.type(linear), out=out[:, first : first + X.shape[1]])

    def _get_state(self) -> dict[str, NDArray[Any]]:
        names = ("degrees", "weights", "signs", "exact", "signature")
        return {name: getattr(self, f"{name}_") for name in names}

    def _set_state(self, arrays: dict[str, NDArray[Any]]) -> None:
        for name in ("degrees", "weights", "signs", "exact", "signature"):
            setattr(self, f"{name}_", arrays[name])


def _at(a: Array, degrees: NDArray[np.int_]) -> Array:
    """Coefficients of the degrees, 0 beyond the last."""
    return np.where(degrees < len(a), a[np.minimum(degrees, len(a) - 1)], 0.0)


def _signs(coefficients: Array) -> Array:
    return np.where(coefficients < 0, -1.0, 1.0)


def _widths(exact: Array, n_features: int) -> NDArray[np.int_]:
    """Columns of the exact degrees 0 and 1."""
    return np.where(exact == 0, 0, [1, n_features])
