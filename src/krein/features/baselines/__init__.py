"""Feature maps of other authors, behind the same interface."""

from krein.features.baselines.additive import AdditiveFeatures
from krein.features.baselines.cro import CroFeatures
from krein.features.baselines.digmm import DoubleGaussianMixtureFeatures
from krein.features.baselines.maclaurin import RandomMaclaurin
from krein.features.baselines.nystroem import IndefiniteNystroem
from krein.features.baselines.srf import SphericalRandomFeatures
from krein.features.baselines.tensor_sketch import TensorSketch

__all__ = [
    "AdditiveFeatures",
    "CroFeatures",
    "DoubleGaussianMixtureFeatures",
    "IndefiniteNystroem",
    "RandomMaclaurin",
    "SphericalRandomFeatures",
    "TensorSketch",
]
