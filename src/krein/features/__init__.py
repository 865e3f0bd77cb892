"""Feature maps X -> Z with a signature, all behind one interface."""

from krein.features.base import BaseFeatureMap, FeatureMap
from krein.features.files import load, save
from krein.features.metrics import relative_error
from krein.features.plan import Plan, PlanRow, plan
from krein.features.random_features import RandomFeatures
from krein.features.registry import FEATURE_MAPS, make_features
from krein.features.schemes import SCHEMES, Scheme

__all__ = [
    "FEATURE_MAPS",
    "SCHEMES",
    "BaseFeatureMap",
    "FeatureMap",
    "Plan",
    "PlanRow",
    "RandomFeatures",
    "Scheme",
    "load",
    "make_features",
    "plan",
    "relative_error",
    "save",
]
