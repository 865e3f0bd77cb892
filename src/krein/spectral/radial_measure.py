"""kernel, dimension -> radial signed measure: closed form where one is known, the numerical transform elsewhere."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.base import clone

from krein._validation import check_integer
from krein.exceptions import InfiniteMassError, NoFrequenciesError, SpectralAccuracyError, SpectralAccuracyWarning
from krein.kernels import (
    Cauchy,
    Epanechnikov,
    InverseMultiquadric,
    Laplacian,
    Log,
    Matern,
    PolynomialOnSphere,
    RationalQuadratic,
    Scaled,
    Sum,
    ThinPlate,
)
from krein.kernels.base import Array, RadialKernel, check_radial
from krein.spectral.closed_forms import gamma_mixture, gaussian_mixture, gaussian_terms, student
from krein.spectral.fourier import hankel_density
from krein.spectral.jordan import Jordan, jordan
from krein.spectral.measure import RadialMeasure, tabulated
from krein.spectral.polynomial import ADVICE, zero_extended_polynomial

WARN_ABOVE = 1e-4  # relative numerical error that is worth a warning
FAIL_ABOVE = 1e-2

CLOSED_FORMS: dict[type[RadialKernel], Callable[[Any, int], RadialMeasure]] = {
    Laplacian: lambda kernel, dim: student(kernel.scale, 0.5, dim),
    Matern: lambda kernel, dim: student(kernel.scale, kernel.nu, dim),
    RationalQuadratic: lambda kernel, dim: gamma_mixture(kernel.scale, kernel.alpha, dim),
    Cauchy: lambda kernel, dim: gamma_mixture(kernel.scale / np.sqrt(2), 1.0, dim),
    InverseMultiquadric: lambda kernel, dim: gamma_mixture(kernel.scale, 0.5, dim),
    PolynomialOnSphere: lambda kernel, dim: zero_extended_polynomial(kernel.a, kernel.degree, dim),
    Epanechnikov: lambda kernel, dim: zero_extended_polynomial(2.0, 1, dim).rescaled(2 / kernel.scale),
    Log: lambda kernel, dim: _unbounded(kernel, dim),
    ThinPlate: lambda kernel, dim: _unbounded(kernel, dim),
}


def radial_measure(kernel: RadialKernel, dim: int) -> RadialMeasure:
    """Radial signed measure mu of a kernel in dimension ``dim``: k(z) = int Omega_dim(r z) mu(dr).

    A kernel that is only defined on the unit sphere (distances up to 2) is extended by zero, as in the paper.

    Raises
    ------
    InfiniteMassError
        Where no measure of finite total mass exists.
    SpectralAccuracyError
        Where the numerical transform cannot tell the measure from the profile in double precision.

    Examples
    --------
    >>> from krein.kernels import Laplacian
    >>> from krein.spectral import radial_measure
    >>> radial_measure(Laplacian(scale=1.0), dim=3).cumulative(1.0).round(6)
    np.float64(0.181690)
    """
    check_radial(kernel)
    check_integer(dim, "dim", 1)
    terms = gaussian_terms(kernel)
    if terms is not None:
        return gaussian_mixture(terms, dim)
    if isinstance(kernel, Scaled):
        return radial_measure(kernel.kernel, dim) * kernel.factor
    if isinstance(kernel, Sum):
        return radial_measure(kernel.left, dim) + radial_measure(kernel.right, dim)
    closed_form = CLOSED_FORMS.get(type(kernel))
    return closed_form(kernel, dim) if closed_form else numerical_measure(kernel, dim)


def numerical_measure(kernel: RadialKernel, dim: int) -> RadialMeasure:
    """Radial signed measure by a numerical Hankel transform of the profile, whatever the kernel is."""
    some = kernel.profile(np.append(0.0, np.geomspace(1e-4, 2.0, 256)))
    if np.ptp(some) == 0 and kernel.domain == "euclidean":  # a constant: an atom at radius 0 and no density
        return tabulated(dim, np.linspace(1, 2, 8), np.zeros(8), log=False, atoms=((0.0, float(some[0])),))
    found = hankel_density(_extended_by_zero(kernel), dim)
    if not found.finite:
        raise InfiniteMassError(
            f"The radial measure of {kernel!r} has infinite mass in dimension {dim} ({found.reason}). {ADVICE}"
        )
    if found.reconstruction_error > FAIL_ABOVE:
        raise SpectralAccuracyError(
            f"The radial measure of {kernel!r} in dimension {dim} could not be computed: the relative error must be "
            f"at most {FAIL_ABOVE:g}, it is {found.reconstruction_error:.1g}. Give the kernel as a sum of simpler "
            "ones, or its profile as a function that also takes complex arguments."
        )
    if found.error > WARN_ABOVE:
        warnings.warn(
            f"The radial measure of {kernel!r} in dimension {dim} is only known roughly: the kernel is reproduced "
            f"to {found.reconstruction_error:.1g}, the density to {found.density_error:.1g} (both relative). A "
            "profile that also takes complex arguments is transformed accurately.",
            SpectralAccuracyWarning,
            stacklevel=2,
        )
    atoms = ((0.0, found.atom_at_zero),) if found.atom_at_zero else ()
    error = found.reconstruction_error * float(np.abs(some).max())
    return tabulated(dim, found.log_radii, found.density_per_log_radius, log=True, atoms=atoms, error=error)


def _extended_by_zero(kernel: RadialKernel) -> Callable[[Array], Array]:
    if kernel.domain == "euclidean":
        return kernel.profile
    return lambda z: np.where(z <= 2, kernel.profile(np.minimum(z, 2.0)), 0.0)


def _unbounded(kernel: RadialKernel, dim: int) -> RadialMeasure:
    raise InfiniteMassError(
        f"The radial measure of {kernel!r} has infinite mass in every dimension (got {dim}). {ADVICE}"
    )


def jordan_parts(kernel: RadialKernel, dim: int) -> Jordan:
    """Jordan decomposition of the radial measure of a kernel; results are kept for later calls with equal kernels."""
    check_radial(kernel)
    try:
        return _cached_parts(clone(kernel), dim)
    except TypeError:  # unhashable parameters, such as lists
        return jordan(radial_measure(kernel, dim))


@lru_cache(maxsize=128)
def _cached_parts(kernel: RadialKernel, dim: int) -> Jordan:
    return jordan(radial_measure(kernel, dim))


def total_mass(kernel: RadialKernel, dim: int) -> float:
    """||mu||, the total mass of the measure away from the origin; ``inf`` where it is infinite, 0 for a constant."""
    try:
        return jordan_parts(kernel, dim).total_mass
    except InfiniteMassError:
        return float("inf")
    except NoFrequenciesError:
        return 0.0


def has_positive_decomposition(kernel: RadialKernel, dim: int) -> bool:
    """Whether the kernel is a difference of two stationary positive definite kernels in dimension ``dim``.

    True if and only if the total mass of its measure away from the origin is finite.

    Examples
    --------
    >>> from krein.kernels import DeltaGaussian, PolynomialOnSphere
    >>> from krein.spectral import has_positive_decomposition
    >>> [has_positive_decomposition(kernel, dim=16) for kernel in (DeltaGaussian(), PolynomialOnSphere(a=3.0))]
    [True, False]
    """
    return bool(np.isfinite(total_mass(kernel, dim)))
