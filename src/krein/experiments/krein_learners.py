"""krein's own learners as the experiments use them."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

Maker = Callable[[Any], Any]  # a feature map -> an unfitted learner

KREIN_CLASSIFIERS: dict[str, Maker] = {}
KREIN_REGRESSORS: dict[str, Maker] = {}

if find_spec("krein.learn") is not None:
    from krein.learn import KreinRidge, KreinRidgeClassifier, KreinSVC

    KREIN_CLASSIFIERS["KreinSVC"] = lambda features: KreinSVC(feature_map=features, C=1000.0)
    KREIN_CLASSIFIERS["KreinRidgeClassifier"] = lambda features: KreinRidgeClassifier(feature_map=features)
    KREIN_REGRESSORS["KreinRidge"] = lambda features: KreinRidge(feature_map=features, alpha="auto")
