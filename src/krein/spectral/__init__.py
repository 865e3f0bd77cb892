"""From a kernel to the laws of its frequencies: radial signed measures and their Jordan parts."""

from krein.spectral.bessel import omega
from krein.spectral.jordan import Jordan, RadialLaw, jordan
from krein.spectral.measure import RadialMeasure
from krein.spectral.polynomial import published_polynomial, zero_extended_polynomial
from krein.spectral.radial_measure import (
    has_positive_decomposition,
    jordan_parts,
    numerical_measure,
    radial_measure,
    total_mass,
)

__all__ = [
    "Jordan",
    "RadialLaw",
    "RadialMeasure",
    "has_positive_decomposition",
    "jordan",
    "jordan_parts",
    "numerical_measure",
    "omega",
    "published_polynomial",
    "radial_measure",
    "total_mass",
    "zero_extended_polynomial",
]
