"""Radial signed measures: k(z) = int Omega_d(r z) mu(dr), mu = atoms + a density on r >= 0.

The density always *includes* the Jacobian S_(d-1) r^(d-1) of polar coordinates: it is the signed law of the radius, not
the Fourier density on R^d at a point of that radius.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Function = Callable[[Array], Array]

NEGLIGIBLE = 1e-17  # share of the mass that a support may leave out on either side


@dataclass(frozen=True)
class RadialMeasure:
    """A signed measure on the radii r >= 0 of frequencies in R^dim.

    Parameters
    ----------
    dim : int
    density : callable
        Signed density at radii r > 0, Jacobian included.
    cumulative : callable
        Its integral from 0 to r.
    grid : ndarray
        Increasing radii that span the support of the density and separate its sign changes.
    atoms : tuple of (radius, mass)
        An atom at radius 0 is a constant.
    error : float
        Estimate of sup_z |int Omega_d(r z) mu(dr) - k(z)|: 0 for closed forms, inf where a cut-off was forced.
    """

    dim: int
    density: Function
    cumulative: Function
    grid: Array
    atoms: tuple[tuple[float, float], ...] = ()
    error: float = 0.0

    @property
    def support(self) -> tuple[float, float]:
        """Radii between which the density lives (it is nothing outside, to rounding)."""
        return float(self.grid[0]), float(self.grid[-1])

    def __mul__(self, factor: float) -> RadialMeasure:
        return replace(
            self,
            density=lambda r: factor * self.density(r),
            cumulative=lambda r: factor * self.cumulative(r),
            atoms=tuple((radius, factor * mass) for radius, mass in self.atoms),
            error=abs(factor) * self.error,
        )

    __rmul__ = __mul__

    def __add__(self, other: RadialMeasure) -> RadialMeasure:
        if self.dim != other.dim:
            raise ValueError(f"Measures must have the same dimension; got {self.dim} and {other.dim}.")
        return replace(
            self,
            density=lambda r: self.density(r) + other.density(r),
            cumulative=lambda r: self.cumulative(r) + other.cumulative(r),
            grid=np.union1d(self.grid, other.grid),
            atoms=self.atoms + other.atoms,
            error=self.error + other.error,
        )

    def rescaled(self, factor: float) -> RadialMeasure:
        """The measure of k(z factor): every radius is multiplied by ``factor``."""
        return replace(
            self,
            density=lambda r: self.density(r / factor) / factor,
            cumulative=lambda r: self.cumulative(r / factor),
            grid=self.grid * factor,
            atoms=tuple((radius * factor, mass) for radius, mass in self.atoms),
        )


def tabulated(
    dim: int,
    x: ArrayLike,
    values: ArrayLike,
    *,
    log: bool,
    atoms: tuple[tuple[float, float], ...] = (),
    error: float = 0.0,
) -> RadialMeasure:
    """A measure from its density on an even grid: of r (``log=False``) or of ln r (``values`` is then r m(r)).

    A quintic spline carries the density, and its antiderivative the cumulative, so that both agree to rounding.
    """
    from scipy.interpolate import make_interp_spline

    x, values = np.asarray(x, float), np.asarray(values, float)
    spline = make_interp_spline(x, values, k=5)
    integral = spline.antiderivative()
    start = integral(x[0])
    grid = np.exp(x) if log else x

    def inside(r: Array) -> Array:
        return np.clip(np.log(np.maximum(r, np.finfo(float).tiny)) if log else r, x[0], x[-1])

    def density(r: Array) -> Array:
        r = np.asarray(r, float)
        return np.where((r >= grid[0]) & (r <= grid[-1]), spline(inside(r)) / (r if log else 1.0), 0.0)

    def cumulative(r: Array) -> Array:
        return np.asarray(integral(inside(r)) - start)

    return RadialMeasure(dim, density, cumulative, grid, atoms, error)
