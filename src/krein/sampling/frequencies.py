"""The one object that passes from sampling to features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from krein.spectral import omega

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Frequencies:
    """k_hat(x - y) = constant + sum_i coefficients_i cos(weights_i . (x - y)).

    Parameters
    ----------
    weights : ndarray of shape (n, dim)
    coefficients : ndarray of shape (n,)
        Any sign, not zero.
    constant : float
        One more entry of ``coefficients``, with frequency 0; where it is not 0 it takes one column.
    phases : ndarray of shape (n,), optional
        With phases b_i a frequency has the one column sqrt(2|c_i|) cos(w_i.x + b_i) in place of a (cosine, sine)
        pair. For b_i
        uniform on [0, 2 pi] its mean is that of the pair, but its variance is larger: k_hat is then no function of x
        - y.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.sampling import Frequencies
    >>> frequencies = Frequencies(np.eye(2), np.array([1.0, -0.5]), 0.25)
    >>> frequencies.signature
    array([ 1., -1.,  1., -1.,  1.])
    """

    weights: Array
    coefficients: Array
    constant: float = 0.0
    phases: Array | None = None

    def __post_init__(self) -> None:
        weights, coefficients = (np.array(a, dtype=np.float64) for a in (self.weights, self.coefficients))
        if weights.ndim != 2 or coefficients.shape != weights.shape[:1]:
            raise ValueError(
                f"weights must have shape (n, dim) and coefficients (n,); got {weights.shape} and {coefficients.shape}."
            )
        if not (np.isfinite(weights).all() and np.isfinite(coefficients).all() and np.isfinite(self.constant)):
            raise ValueError("weights, coefficients and constant must be finite.")
        arrays = {"weights": weights, "coefficients": coefficients}
        if self.phases is not None:
            arrays["phases"] = np.array(self.phases, dtype=np.float64)
            if arrays["phases"].shape != coefficients.shape:
                raise ValueError(f"phases must have shape {coefficients.shape}; got {arrays['phases'].shape}.")
        for name, array in arrays.items():
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        object.__setattr__(self, "constant", float(self.constant))

    @property
    def dim(self) -> int:
        """Dimension of the rows."""
        return int(self.weights.shape[1])

    @property
    def n_columns(self) -> int:
        """Columns of the real feature map: two per frequency (one with phases), and one for a constant."""
        return (2 if self.phases is None else 1) * len(self.coefficients) + (self.constant != 0)

    @property
    def signature(self) -> Array:
        """Sign of every column: cosines, then sines, then the constant."""
        sign = np.sign(self.coefficients)
        pair = [sign, sign] if self.phases is None else [sign]
        return np.concatenate([*pair, np.sign([self.constant]) if self.constant else []])

    @property
    def amplitudes(self) -> Array:
        """Factor of the columns of every frequency: sqrt|c_i| for a pair, sqrt(2|c_i|) with phases."""
        return np.sqrt((1 if self.phases is None else 2) * np.abs(self.coefficients))

    @property
    def radii(self) -> Array:
        """Length of every frequency."""
        return np.asarray(np.linalg.norm(self.weights, axis=1))

    def evaluate(self, difference: ArrayLike) -> Array:
        """k_hat at difference vectors x - y, on the last axis."""
        return np.asarray(self.constant + np.cos(np.asarray(difference, float) @ self.weights.T) @ self.coefficients)

    def expectation(self, z: ArrayLike) -> Array:
        """E k_hat at distances z under one Haar rotation of all frequencies: c_0 + sum c_i Omega_d(||w_i|| z)."""
        z = np.asarray(z, float)
        return np.asarray(self.constant + omega(self.dim, z[..., None] * self.radii) @ self.coefficients)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """The fields as arrays, for saving."""
        arrays = {"weights": self.weights, "coefficients": self.coefficients, "constant": np.array(self.constant)}
        return arrays if self.phases is None else {**arrays, "phases": self.phases}
