"""Every feature map by its name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from inspect import signature
from typing import Any

from krein._random import RandomState
from krein._validation import check_choice
from krein.features.base import BaseFeatureMap
from krein.features.baselines import (
    AdditiveFeatures,
    CroFeatures,
    DoubleGaussianMixtureFeatures,
    IndefiniteNystroem,
    RandomMaclaurin,
    SphericalRandomFeatures,
    TensorSketch,
)
from krein.features.random_features import RandomFeatures
from krein.features.schemes import SCHEMES
from krein.kernels import Kernel

FEATURE_MAPS: dict[str, Callable[..., BaseFeatureMap]] = {
    **{name: partial(RandomFeatures, scheme=name) for name in SCHEMES},
    "additive": AdditiveFeatures,
    "cro": CroFeatures,
    "digmm": DoubleGaussianMixtureFeatures,
    "nystroem": IndefiniteNystroem,
    "rm": RandomMaclaurin,
    "srf": SphericalRandomFeatures,
    "ts": TensorSketch,
}


def make_features(
    name: str, kernel: Kernel, n_components: int = 100, random_state: RandomState = None, **options: Any
) -> BaseFeatureMap:
    """An unfitted feature map by its name.

    Parameters
    ----------
    name : str
        A key of ``krein.features.FEATURE_MAPS``.
    kernel : Kernel
    n_components : int, default=100
        Largest number of real columns.
    random_state : int, Generator, RandomState or None, default=None
        For the maps that draw; "additive" does not.
    **options
        Further parameters of that map.

    Examples
    --------
    >>> from krein import make_features
    >>> from krein.kernels import Gaussian
    >>> make_features("orf", Gaussian(2.0), n_components=64, random_state=0)
    RandomFeatures(kernel=Gaussian(scale=2.0), n_components=64, random_state=0,
                   scheme='orf')
    """
    check_choice(name, "name", FEATURE_MAPS)
    make = FEATURE_MAPS[name]
    if "random_state" in signature(make).parameters:
        options["random_state"] = random_state
    return make(kernel=kernel, n_components=n_components, **options)
