"""From laws to frequencies: radii, directions, allocation, and the exact error of what was drawn."""

from krein.sampling.allocation import ALLOCATIONS
from krein.sampling.directions import DIRECTIONS
from krein.sampling.error import PredictedError, predicted_error
from krein.sampling.frequencies import Frequencies
from krein.sampling.radii import RADII
from krein.sampling.sample import sample_frequencies
from krein.sampling.variance import variance

__all__ = [
    "ALLOCATIONS",
    "DIRECTIONS",
    "RADII",
    "Frequencies",
    "PredictedError",
    "predicted_error",
    "sample_frequencies",
    "variance",
]
