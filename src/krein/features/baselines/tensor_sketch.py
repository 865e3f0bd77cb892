"""Tensor Sketch (Pham & Pagh 2013): count sketches of the powers of the rows, through the fast Fourier transform."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.fft
import scipy.sparse as sp
from numpy.typing import NDArray

from krein._random import RandomState, Streams
from krein._validation import Rows, check_choice
from krein.features.base import Array, BaseFeatureMap
from krein.features.baselines._power_series import mean_square, power_series, share_columns
from krein.kernels import Kernel, Polynomial, PolynomialOnSphere

STATE = ("degrees", "widths", "coefficients", "hashes", "bits", "affine")


class TensorSketch(BaseFeatureMap):
    """Tensor sketches of a dot-product kernel f(x.y).

    (g x.y + c)^m with g, c > 0 is the power m of the inner product of the rows [sqrt(g) x, sqrt(c)], and is sketched
    in one piece of all columns. Any other series sum_n a_n t^n is sketched degree by degree, and the columns of degree
    n have the sign of a_n.

    Parameters
    ----------
    kernel : Polynomial, PowerSeries, DotProductKernel, or sums, products, multiples of the latter, default=Polynomial()
        What to approximate; it may be indefinite.
    n_components : int, default=100
        Largest number of output columns. Degree by degree, there must be one for every degree.
    by_degree : bool, default=False
        Sketch every kernel degree by degree, which takes degree 0 exactly: more accurate than the one piece where the
        constant c is large.
    tol : float, default=1e-8
        Where a series on the sphere is cut off: largest error on [-1, 1], relative to the largest |f|.
    random_state : int, Generator, RandomState or None, default=None
    n_jobs : int or None, default=None
        Threads of ``transform``; -1 is all cores, None one unless joblib's ``parallel_config`` says otherwise.
    output : {"real", "complex"}, default="real"
        "complex" multiplies the columns of negative sign by 1j, so that K_hat = Z Z^T without conjugation.

    Attributes
    ----------
    degrees_, widths_, coefficients_ : ndarrays of shape (n_sketches,)
        Degree, number of columns and coefficient a_n of every sketch.
    hashes_, bits_ : ndarrays of shape (sum of degrees_, n_coordinates)
        Column and sign that a coordinate has in every count sketch; ``degrees_[0]`` of them make the first sketch, ...
    affine_ : ndarray of shape (2,)
        sqrt(g) and sqrt(c), the factor of the rows and the coordinate after them; c = 0 where there is none.
    signature_ : ndarray of shape (n_columns,)
    n_features_in_ : int

    Notes
    -----
    Unbiased for a polynomial; for another series up to ``tol``. A transform costs O(m (d + s log s)) per row. With the
    same hashes it equals ``sklearn.kernel_approximation.PolynomialCountSketch``, which has non-negative ``coef0`` and
    no float32.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.features.baselines import TensorSketch
    >>> from krein.kernels import PolynomialOnSphere
    >>> X = np.eye(4)
    >>> TensorSketch(PolynomialOnSphere(3.0, 2), n_components=64, random_state=0).fit_transform(X).shape
    (4, 64)
    >>> TensorSketch(PolynomialOnSphere(1.0, 2), n_components=8, random_state=0).fit(X).signature_  # 1 - 4 t + 4 t^2
    array([ 1., -1., -1.,  1.,  1.,  1.,  1.,  1.])
    """

    degrees_: NDArray[np.int_]
    widths_: NDArray[np.int_]
    coefficients_: Array
    hashes_: NDArray[np.int_]
    bits_: NDArray[np.int8]
    affine_: Array

    def __init__(
        self,
        kernel: Kernel = Polynomial(),  # noqa: B008  (immutable)
        n_components: int = 100,
        *,
        by_degree: bool = False,
        tol: float = 1e-8,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        output: str = "real",
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.by_degree = by_degree
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.output = output

    def _fit(self, X: Rows) -> None:
        check_choice(self.by_degree, "by_degree", (False, True))
        streams = Streams(self.random_state)
        a = power_series(self.kernel, self.tol, self)
        degree, gamma, coef0 = _affine(self.kernel)
        if self.by_degree or not (gamma > 0 and coef0 > 0):
            columns = share_columns(a, mean_square(self.kernel, X), self.n_components)
            degrees = np.flatnonzero(columns)
            self._draw(degrees, columns[degrees], a[degrees], (1.0, 0.0), X.shape[1], streams)
        else:
            one = np.array([degree]), np.array([self.n_components]), np.ones(1)
            self._draw(*one, (gamma, coef0), X.shape[1], streams)

    def _draw(
        self,
        degrees: NDArray[np.int_],
        widths: NDArray[np.int_],
        coefficients: Array,
        affine: tuple[float, float],
        n_features: int,
        streams: Streams,
    ) -> None:
        self.degrees_, self.widths_, self.coefficients_ = degrees, widths, coefficients
        self.affine_ = np.sqrt(affine)
        shape = (int(degrees.sum()), n_features + (affine[1] > 0))
        self.hashes_ = streams("hashes").integers(np.repeat(widths, degrees)[:, None], size=shape)
        self.bits_ = (2 * streams("bits").integers(2, size=shape, dtype=np.int8) - 1).astype(np.int8)
        self._sign_columns()

    def _sign_columns(self) -> None:
        self.signature_ = np.repeat(np.where(self.coefficients_ < 0, -1.0, 1.0), self.widths_)

    def _map_rows(self, X: Rows, out: NDArray[Any]) -> None:
        stops, used = np.cumsum(self.widths_), 0
        weights = np.sqrt(np.abs(self.coefficients_)).astype(X.dtype)
        for degree, width, stop, weight in zip(self.degrees_, self.widths_, stops, weights, strict=True):
            out[:, stop - width : stop] = weight * self._sketch(X, range(used, used + degree), int(width))
            used += degree

    def _sketch(self, X: Rows, sketches: range, width: int) -> Any:
        """Inverse transform of the product of the transforms of count sketches, their circular convolution."""
        if len(sketches) == 0:
            return X.dtype.type(1)
        if len(sketches) == 1:
            return self._count_sketch(X, sketches[0], width)
        product = scipy.fft.rfft(self._count_sketch(X, sketches[0], width), axis=1)
        for j in sketches[1:]:
            product *= scipy.fft.rfft(self._count_sketch(X, j, width), axis=1)
        return scipy.fft.irfft(product, n=width, axis=1, overwrite_x=True)

    def _count_sketch(self, X: Rows, j: int, width: int) -> NDArray[Any]:
        """Column b is the sum of bits_i x_i over the coordinates i of [sqrt(g) x, sqrt(c)] with hash b."""
        scale, constant = self.affine_
        d = X.shape[1]
        hashes, bits = self.hashes_[j], self.bits_[j]
        values, one_per_row = (scale * bits[:d]).astype(X.dtype), np.arange(d + 1)
        sketch: NDArray[Any]
        if hasattr(X, "tocsr"):
            sketch = (X @ sp.csr_array((values, hashes[:d], one_per_row), shape=(d, width))).toarray()
        else:
            columns, places = np.unique(hashes[:d], return_inverse=True)  # the other columns are 0
            sketch = np.zeros((X.shape[0], width), dtype=X.dtype)
            sketch[:, columns] = X @ sp.csr_array((values, places, one_per_row), shape=(d, len(columns)))
        if constant:
            sketch[:, hashes[d]] += bits[d] * constant
        return sketch

    def _get_state(self) -> dict[str, NDArray[Any]]:
        return {name: getattr(self, f"{name}_") for name in STATE}

    def _set_state(self, arrays: dict[str, NDArray[Any]]) -> None:
        for name in STATE:
            setattr(self, f"{name}_", arrays[name])
        self._sign_columns()


def _affine(kernel: Kernel) -> tuple[int, float, float]:
    """(degree, gamma, coef0) of a kernel (gamma t + coef0)^degree; (0, 0, 0) for any other."""
    if isinstance(kernel, Polynomial):
        return kernel.degree, kernel.gamma, kernel.coef0
    if isinstance(kernel, PolynomialOnSphere):
        share = 2 / kernel.a**2  # 1 - z^2/a^2 = 1 - share + share t
        return kernel.degree, share, 1 - share
    return 0, 0.0, 0.0
