"""Feature maps of other authors, behind the same interface."""

from krein.features.baselines.digmm import DoubleGaussianMixtureFeatures
from krein.features.baselines.srf import SphericalRandomFeatures

__all__ = ["DoubleGaussianMixtureFeatures", "SphericalRandomFeatures"]
