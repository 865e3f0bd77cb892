"""krein: kernel machines with indefinite kernels at linear cost.

``K ~ Z diag(signature) Z^T`` with explicit random features Z, for kernels that need not be positive definite.
"""

from krein import kernels, theory
from krein._show_versions import show_versions
from krein.features import FeatureMap, RandomFeatures, load, make_features, plan, relative_error, save

__all__ = [
    "FeatureMap",
    "RandomFeatures",
    "__version__",
    "kernels",
    "load",
    "make_features",
    "plan",
    "relative_error",
    "save",
    "show_versions",
    "theory",
]

__version__ = "0.1.0.dev0"
