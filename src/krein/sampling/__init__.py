"""From laws to frequencies: radii, directions, allocation, and the exact error of what was drawn."""

from krein.sampling.allocation import ALLOCATIONS
from krein.sampling.design import Design
from krein.sampling.design_cache import find_design
from krein.sampling.directions import DIRECTIONS
from krein.sampling.distance_weight import DistanceWeight, sampled_weight, uniform_weight, weight_of_rows
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
    "Design",
    "DistanceWeight",
    "Frequencies",
    "PredictedError",
    "find_design",
    "predicted_error",
    "sample_frequencies",
    "sample_with_rule",
    "sampled_weight",
    "uniform_weight",
    "variance",
    "weight_of_rows",
]
