"""The compared methods: which feature map, how many columns, and which row of the paper they stand for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from krein.features import make_features
from krein.features.base import BaseFeatureMap
from krein.kernels import RadialKernel


@dataclass(frozen=True)
class Method:
    """A feature map as an experiment uses it.

    Parameters
    ----------
    title : str
        How the report calls it.
    scheme : str
        Key of ``krein.features.FEATURE_MAPS``.
    per_frequency : int
        Real columns for each of the s frequencies per sign: 4 for cosines and sines of both signs, 1 for the maps that
        the paper compares with.
    extra : int, default=0
        Columns beyond that: 1 for the constant column of the optimal design.
    published : str or None, default=None
        Name of the row of the paper that this method reproduces.
    options : dict
        Further parameters of the feature map.
    """

    title: str
    scheme: str
    per_frequency: int
    extra: int = 0
    published: str | None = None
    options: dict[str, Any] = field(default_factory=dict)

    def columns(self, s: int) -> int:
        """Real columns asked for at s frequencies per sign."""
        return self.per_frequency * s + self.extra

    def make(self, kernel: RadialKernel, s: int, seed: int) -> BaseFeatureMap:
        """The unfitted map."""
        return make_features(self.scheme, kernel, self.columns(s), random_state=seed, **self.options)


PHASE = {"form": "phase"}  # one cosine with a random phase per frequency, as in the paper
SRF = Method("SRF", "srf", 1, published="SRF", options=PHASE)
DIGMM = Method("DIGMM", "digmm", 1, published="DIGMM", options=PHASE)
OPTIMAL = Method("krein, optimal design", "optimal", 4, extra=1)
METHODS: dict[str, dict[str, Method]] = {
    "polynomial": {
        "rm": Method("Random Maclaurin", "rm", 1, published="RM"),
        "ts": Method("Tensor Sketch", "ts", 1, published="TS"),
        "srf": SRF,
        "digmm": DIGMM,
        "published-grff": Method("GRFF, the published recipe", "published-grff", 4, published="GRFF"),
        "published-gorf": Method("GORF, the published recipe", "published-gorf", 4, published="GORF"),
        "optimal": OPTIMAL,
    },
    "delta-gaussian": {
        "srf": SRF,
        "digmm": DIGMM,
        "grff": Method("GRFF", "grff", 4, published="GRFF"),
        "gorf": Method("GORF, Algorithm 1 as printed", "gorf", 4),
        "gorf-blocks": Method("GORF, orthonormal blocks per sign", "gorf-blocks", 4, published="GORF"),
        "optimal": OPTIMAL,
    },
}
BASELINES = ("rm", "ts", "srf", "digmm")
GORF = {kernel: name for kernel in METHODS for name, method in METHODS[kernel].items() if method.published == "GORF"}
