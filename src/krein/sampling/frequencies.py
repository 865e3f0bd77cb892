"""The one object that passes from sampling to features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from krein.sampling.structured import StructuredWeights, structured_from_arrays
from krein.spectral import omega

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Frequencies:
    """k_hat(x - y) = constant + sum_i coefficients_i cos(weights_i . (x - y)).

    Parameters
    ----------
    weights : ndarray of shape (n, dim) or StructuredWeights
        A matrix, or an operator that is applied faster than one.
    coefficients : ndarray of shape (n,)
        Any sign.
    constant : float
        One more entry of ``coefficients``, with frequency 0; where it is not 0 it takes one column.
    rotated : bool, default=True
        Whether the law of the frequencies is invariant under rotations, on which ``expectation`` and predicted errors
        rest. Always False for structured weights.
    phases : ndarray of shape (n,), optional
        With phases b_i a frequency has the one column sqrt(2|c_i|) cos(w_i.x + b_i) in place of a (cosine, sine)
        pair. For b_i uniform on [0, 2 pi] its mean is that of the pair, but its variance is larger: k_hat is then no
        function of x - y.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.sampling import Frequencies
    >>> frequencies = Frequencies(np.eye(2), np.array([1.0, -0.5]), 0.25)
    >>> frequencies.signature
    array([ 1., -1.,  1., -1.,  1.])
    """

    weights: Array | StructuredWeights
    coefficients: Array
    constant: float = 0.0
    phases: Array | None = None
    rotated: bool = True

    def __post_init__(self) -> None:
        structured = hasattr(self.weights, "apply")
        weights: Any = self.weights if structured else np.array(self.weights, dtype=np.float64)
        coefficients = np.array(self.coefficients, dtype=np.float64)
        if len(weights.shape) != 2 or coefficients.shape != weights.shape[:1]:
            raise ValueError(
                f"weights must have shape (n, dim) and coefficients (n,); got {weights.shape} and {coefficients.shape}."
            )
        lengths = weights.radii if structured else weights
        if not (np.isfinite(lengths).all() and np.isfinite(coefficients).all() and np.isfinite(self.constant)):
            raise ValueError("weights, coefficients and constant must be finite.")
        arrays = {"coefficients": coefficients} if structured else {"weights": weights, "coefficients": coefficients}
        if self.phases is not None:
            arrays["phases"] = np.array(self.phases, dtype=np.float64)
            if arrays["phases"].shape != coefficients.shape:
                raise ValueError(f"phases must have shape {coefficients.shape}; got {arrays['phases'].shape}.")
        for name, array in arrays.items():
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        object.__setattr__(self, "constant", float(self.constant))
        object.__setattr__(self, "rotated", bool(self.rotated) and not structured)

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
        sign = np.where(self.coefficients < 0, -1.0, 1.0)
        pair = [sign, sign] if self.phases is None else [sign]
        return np.concatenate([*pair, np.sign([self.constant]) if self.constant else []])

    @property
    def amplitudes(self) -> Array:
        """Factor of the columns of every frequency: sqrt|c_i| for a pair, sqrt(2|c_i|) with phases."""
        return np.asarray(np.sqrt((1 if self.phases is None else 2) * np.abs(self.coefficients)))

    @property
    def radii(self) -> Array:
        """Length of every frequency."""
        if isinstance(self.weights, np.ndarray):
            return np.asarray(np.linalg.norm(self.weights, axis=1))
        return self.weights.radii

    def project(self, X: Any) -> NDArray[Any]:
        """X W^T, the angles of every frequency, in the precision of X."""
        if isinstance(self.weights, np.ndarray):
            return np.asarray(X @ self.weights.T.astype(X.dtype, copy=False))
        return self.weights.apply(X)

    def evaluate(self, difference: ArrayLike) -> Array:
        """k_hat at difference vectors x - y, on the last axis."""
        return np.asarray(self.constant + np.cos(self.project(np.asarray(difference, float))) @ self.coefficients)

    def expectation(self, z: ArrayLike) -> Array:
        """E k_hat at distances z under one Haar rotation of all frequencies: c_0 + sum c_i Omega_d(||w_i|| z)."""
        z = np.asarray(z, float)
        return np.asarray(self.constant + omega(self.dim, z[..., None] * self.radii) @ self.coefficients)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """The fields as arrays, for saving."""
        weights = {"weights": self.weights} if isinstance(self.weights, np.ndarray) else self.weights.to_arrays()
        arrays = {**weights, "coefficients": self.coefficients, "constant": np.array(self.constant)}
        arrays["rotated"] = np.array(self.rotated)
        return arrays if self.phases is None else {**arrays, "phases": self.phases}

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]]) -> Frequencies:
        """The inverse of ``to_arrays``."""
        weights = arrays["weights"] if "weights" in arrays else structured_from_arrays(arrays)
        constant, rotated = float(arrays["constant"]), bool(arrays["rotated"])
        return cls(weights, arrays["coefficients"], constant, arrays.get("phases"), rotated)
