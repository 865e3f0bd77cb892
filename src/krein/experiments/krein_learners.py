"""krein's own learners as the experiments use them: on the flipped spectrum, which is safe for every kernel."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

Maker = Callable[[Any], Any]  # a feature map -> an unfitted learner

KREIN_CLASSIFIERS: dict[str, Maker] = {}
KREIN_REGRESSORS: dict[str, Maker] = {}
FLIP = {"regularization": "flip"}
C = 1000.0  # as in the paper

if find_spec("krein.learn") is not None:
    from krein.learn import KreinRidge, KreinRidgeClassifier, KreinSVC, KreinSVR

    KREIN_CLASSIFIERS["KreinSVC"] = lambda features: KreinSVC(features, C=C, **FLIP)
    KREIN_CLASSIFIERS["KreinRidgeClassifier"] = lambda features: KreinRidgeClassifier(features, alpha="auto", **FLIP)
    KREIN_REGRESSORS["KreinSVR"] = lambda features: KreinSVR(features, C=C, epsilon=0.1, **FLIP)
    KREIN_REGRESSORS["KreinRidge"] = lambda features: KreinRidge(features, alpha="auto", **FLIP)
