"""Learners with indefinite kernels, linear in the number of rows: ridge, support vector machines, components.

Each takes a feature map or a kernel as ``feature_map``, because a Pipeline cannot carry a signature.
"""

from krein.learn.pca import KreinPCA
from krein.learn.ridge import KreinRidge
from krein.learn.ridge_classifier import KreinRidgeClassifier
from krein.learn.svm import KreinSVC, KreinSVR

__all__ = ["KreinPCA", "KreinRidge", "KreinRidgeClassifier", "KreinSVC", "KreinSVR"]
