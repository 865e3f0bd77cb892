"""From laws to frequencies: radii, directions, allocation, and the exact error of what was drawn."""

from krein.sampling.allocation import ALLOCATIONS
from krein.sampling.directions import DIRECTIONS
from krein.sampling.error import PredictedError, predicted_error
from krein.sampling.frequencies import Frequencies
from krein.sampling.radii import RADII
from krein.sampling.rules import RULES
from krein.sampling.sample import ALL_DIRECTIONS, sample_frequencies, sample_with_rule
from krein.sampling.structured_directions import STRUCTURED_DIRECTIONS
from krein.sampling.variance import variance

__all__ = [
    "ALLOCATIONS",
    "ALL_DIRECTIONS",
    "DIRECTIONS",
    "RADII",
    "RULES",
    "STRUCTURED_DIRECTIONS",
    "Frequencies",
    "PredictedError",
    "predicted_error",
    "sample_frequencies",
    "sample_with_rule",
    "variance",
]
