"""What is known exactly about the estimators: variances, the paper's G and H, predicted errors.

``variance`` here takes a kernel; ``krein.sampling.variance`` does the work on Jordan parts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from krein._validation import check_integer
from krein.kernels.base import RadialKernel
from krein.sampling.error import PredictedError, predicted_error
from krein.sampling.variance import pair_covariance
from krein.sampling.variance import variance as _variance_of_parts
from krein.spectral import Jordan, RadialLaw, has_positive_decomposition, jordan_parts, total_mass

__all__ = ["G", "H", "PredictedError", "has_positive_decomposition", "predicted_error", "total_mass", "variance"]

Array = NDArray[np.float64]

# feature schemes -> direction schemes, so that both vocabularies are understood
DIRECTIONS_OF = {"rff": "iid", "grff": "iid", "orf": "blocks", "gorf-blocks": "blocks", "gorf": "joint"}


def variance(kernel: RadialKernel, dim: int, scheme: str, n: int | Sequence[int], z: ArrayLike) -> Array:
    """Exact variance of k_hat(z) with n frequencies per sign.

    Parameters
    ----------
    kernel : RadialKernel
    dim : int
    scheme : {"iid", "blocks", "joint", "shared"} or {"rff", "grff", "orf", "gorf-blocks", "gorf"}
    n : int or one int per sign
        Frequencies per sign (the paper's s), the positive part first.
    z : array-like
        Distances.

    Returns
    -------
    ndarray of the shape of z

    Notes
    -----
    For independent radii. ``joint`` is Algorithm 1 as printed, with the true law of the correlation of its columns,
    which the paper's G and H do not cover.

    Examples
    --------
    >>> from krein.kernels import DeltaGaussian
    >>> from krein.theory import variance
    >>> iid, blocks = (variance(DeltaGaussian(), 16, scheme, 16, [0.5, 1.0]) for scheme in ("iid", "blocks"))
    >>> (blocks < iid / 5).all()
    np.True_
    """
    return _variance_of_parts(jordan_parts(kernel, dim), DIRECTIONS_OF.get(scheme, scheme), n, z)


def G(law: RadialLaw, s: int, z: ArrayLike) -> Array:
    """The paper's G: Var(orthogonal) - Var(iid) of one normalised part with s <= d directions; negative for small z.

    (s-1)/s ( E Omega_d(sqrt(R1^2 + R2^2) z) - E[Omega_d(R z)]^2 ); the paper prints the two terms exchanged.

    Examples
    --------
    >>> from krein.kernels import Gaussian
    >>> from krein.spectral import jordan_parts
    >>> from krein.theory import G
    >>> bool(G(jordan_parts(Gaussian(), 16).positive, 16, 1.0) < 0)
    True
    """
    check_integer(s, "s", 1)
    if s > law.dim:
        raise ValueError(f"s must be at most the dimension {law.dim}; got {s}.")
    return (s - 1) / s * pair_covariance(law, law, np.asarray(z, float))


def H(parts: Jordan, z: ArrayLike) -> Array:
    """The paper's H = 2 ||mu_+|| ||mu_-|| (E a E b - E ab) for orthogonal directions across the signs: it is positive.

    Cross-orthogonality raises the variance of the difference; shared directions lower it.

    Examples
    --------
    >>> from krein.kernels import DeltaGaussian
    >>> from krein.spectral import jordan_parts
    >>> from krein.theory import H
    >>> bool(H(jordan_parts(DeltaGaussian(), 16), 1.0) > 0)
    True
    """
    if not parts.negative.mass or not parts.positive.mass:
        return np.zeros(np.shape(z))
    covariance = pair_covariance(parts.positive, parts.negative, np.asarray(z, float))
    return -2 * parts.positive.mass * parts.negative.mass * covariance
