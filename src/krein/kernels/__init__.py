"""Kernels: immutable values with an exact Gram matrix, ``kernel(X, Y)``, and a profile k(z), z = ||x - y||.

On all of R^d: `Gaussian`, `DeltaGaussian`, `Laplacian`, `Matern`, `RationalQuadratic`, `Cauchy`, `InverseMultiquadric`,
`Log`, `ThinPlate`, `Epanechnikov`; and `Polynomial` and `PowerSeries`, functions of x.y, which are not radial.

For rows without negative entries: `AdditiveChi2`, `Intersection`, `JensenShannon`, `Hellinger`.

On the unit sphere, as functions f(t) of the inner product t: `PolynomialOnSphere`, `Tanh`, `ArcCosine`, `NTK`.

From a function of your own: `FromProfile` (of z) and `DotProductOnSphere` (of t).

From other kernels: `Sum`, `Scaled` and `Product`, written ``k1 + k2``, ``k1 - k2``, ``2 * k`` and ``k1 * k2``.

To write a new kernel, subclass `RadialKernel` and define ``profile``, or `DotProductKernel`.
"""

from krein.kernels.additive import AdditiveChi2, AdditiveKernel, Hellinger, Intersection, JensenShannon
from krein.kernels.algebra import Product, Scaled, Sum
from krein.kernels.angular import NTK, ArcCosine
from krein.kernels.base import Kernel, RadialKernel
from krein.kernels.dot_product import Polynomial, PowerSeries
from krein.kernels.gaussian import DeltaGaussian, Gaussian
from krein.kernels.matern import Laplacian, Matern
from krein.kernels.sphere import DotProductKernel, DotProductOnSphere, PolynomialOnSphere, Tanh
from krein.kernels.stationary import (
    Cauchy,
    Epanechnikov,
    FromProfile,
    InverseMultiquadric,
    Log,
    RationalQuadratic,
    ThinPlate,
)

__all__ = [
    "NTK",
    "AdditiveChi2",
    "AdditiveKernel",
    "ArcCosine",
    "Cauchy",
    "DeltaGaussian",
    "DotProductKernel",
    "DotProductOnSphere",
    "Epanechnikov",
    "FromProfile",
    "Gaussian",
    "Hellinger",
    "Intersection",
    "InverseMultiquadric",
    "JensenShannon",
    "Kernel",
    "Laplacian",
    "Log",
    "Matern",
    "Polynomial",
    "PolynomialOnSphere",
    "PowerSeries",
    "Product",
    "RadialKernel",
    "RationalQuadratic",
    "Scaled",
    "Sum",
    "Tanh",
    "ThinPlate",
]
