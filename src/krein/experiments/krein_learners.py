"""krein's own learners as the experiments use them: on the flipped spectrum, which is safe for every kernel."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

Maker = Callable[[Any], Any]  # a feature map -> an unfitted learner

KREIN_CLASSIFIERS: dict[str, Maker] = {}
KREIN_REGRESSORS: dict[str, Maker] = {}
FLIP = {"regularization": "flip"}
C = 1000.0  # as in the paper

if find_spec("krein.learn") is not None:
    learn = import_module("krein.learn")
    KREIN_CLASSIFIERS["KreinSVC"] = partial(learn.KreinSVC, C=C, **FLIP)
    KREIN_CLASSIFIERS["KreinRidgeClassifier"] = partial(learn.KreinRidgeClassifier, alpha="auto", **FLIP)
    KREIN_REGRESSORS["KreinSVR"] = partial(learn.KreinSVR, C=C, epsilon=0.1, **FLIP)
    KREIN_REGRESSORS["KreinRidge"] = partial(learn.KreinRidge, alpha="auto", **FLIP)
