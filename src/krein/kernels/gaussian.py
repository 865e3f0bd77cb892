"""Gaussian kernels and their signed mixtures."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from krein._validation import check_finite, check_positive
from krein.kernels.base import Array, RadialKernel, as_distances


@dataclass(frozen=True)
class Gaussian(RadialKernel):
    """Gaussian kernel k(z) = exp(-z^2 / (2 scale^2)), positive definite in every dimension.

    Parameters
    ----------
    scale : float, default=1.0
        Standard deviation; scikit-learn's ``gamma`` is 1 / (2 scale^2).

    Examples
    --------
    >>> from krein.kernels import Gaussian
    >>> Gaussian(scale=2.0)([[0.0], [2.0]]).round(4)
    array([[1.    , 0.6065],
           [0.6065, 1.    ]])
    """

    scale: float = 1.0

    def _check_parameters(self) -> None:
        check_positive(self.scale, "scale")

    def profile(self, z: ArrayLike) -> Array:
        return np.exp(-((as_distances(z) / self.scale) ** 2) / 2)


@dataclass(frozen=True)
class DeltaGaussian(RadialKernel):
    """Signed mixture of Gaussians k(z) = sum_i weights_i exp(-z^2 / (2 scales_i^2)); indefinite where a weight is < 0.

    Parameters
    ----------
    weights : tuple of float, default=(1.0, -1.0)
    scales : tuple of float, default=(1.0, 10.0)
        Standard deviations, one per weight. The defaults are the paper's kernel.

    Examples
    --------
    >>> from krein.kernels import DeltaGaussian
    >>> float(DeltaGaussian(weights=(1.0, -1.0), scales=(1.0, 10.0)).profile(1.0).round(4))
    -0.3885
    """

    weights: tuple[float, ...] = (1.0, -1.0)
    scales: tuple[float, ...] = (1.0, 10.0)

    def _check_parameters(self) -> None:
        for name, value in (("weights", self.weights), ("scales", self.scales)):
            if not isinstance(value, tuple | list):
                raise ValueError(f"{name} must be a tuple of numbers; got {value!r}.")
        if len(self.weights) != len(self.scales) or not len(self.weights):
            raise ValueError(
                f"weights and scales must have the same length >= 1; got {len(self.weights)} and {len(self.scales)}."
            )
        for i, (weight, scale) in enumerate(zip(self.weights, self.scales, strict=True)):
            check_finite(weight, f"weights[{i}]")
            check_positive(scale, f"scales[{i}]")

    def profile(self, z: ArrayLike) -> Array:
        half_square = as_distances(z) ** 2 / 2
        terms = [a * np.exp(-half_square / s**2) for a, s in zip(self.weights, self.scales, strict=True)]
        return np.asarray(np.sum(terms, axis=0))
