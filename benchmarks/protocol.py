"""What the benchmarks share: which rows are drawn, the widths, and the published numbers of Table II."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from krein.kernels import DeltaGaussian, PolynomialOnSphere, RadialKernel

Array = NDArray[np.float64]

N_ROWS = 1000
WIDTHS = {"d/2": 0.5, "d": 1.0, "2d": 2.0, "8d": 8.0}  # frequencies per sign s, over d
KERNELS: dict[str, RadialKernel] = {
    "delta-gaussian": DeltaGaussian(weights=(1.0, -1.0), scales=(1.0, 10.0)),
    "polynomial": PolynomialOnSphere(a=3.0, degree=1),
}
# Table II: mean and standard deviation at s = d/2, d, 2d, 8d.
PUBLISHED = {
    ("letter", "polynomial", "GRFF"): ((0.0859, 0.0309), (0.0547, 0.0078), (0.0469, 0.0109), (0.0261, 0.0059)),
    ("letter", "polynomial", "GORF"): ((0.0716, 0.0175), (0.0495, 0.0139), (0.0360, 0.0110), (0.0231, 0.0078)),
    ("letter", "delta-gaussian", "GRFF"): ((0.3918, 0.0428), (0.2736, 0.0345), (0.1887, 0.0201), (0.1017, 0.0088)),
    ("letter", "delta-gaussian", "GORF"): ((0.3154, 0.0424), (0.1133, 0.0181), (0.0760, 0.0090), (0.0376, 0.0039)),
    ("ijcnn1", "polynomial", "GRFF"): ((0.1159, 0.0158), (0.0907, 0.0194), (0.0794, 0.0142), (0.0433, 0.0059)),
    ("ijcnn1", "polynomial", "GORF"): ((0.1072, 0.0228), (0.0775, 0.0204), (0.0487, 0.0155), (0.0397, 0.0135)),
    ("ijcnn1", "delta-gaussian", "GRFF"): ((0.2924, 0.0188), (0.2171, 0.0222), (0.1504, 0.0134), (0.0757, 0.0081)),
    ("ijcnn1", "delta-gaussian", "GORF"): ((0.2415, 0.0190), (0.1026, 0.0129), (0.0739, 0.0065), (0.0383, 0.0022)),
    ("usps", "polynomial", "GRFF"): ((0.0270, 0.0056), (0.0213, 0.0063), (0.0160, 0.0029), (0.0137, 0.0020)),
    ("usps", "polynomial", "GORF"): ((0.0251, 0.0078), (0.0194, 0.0087), (0.0143, 0.0030), (0.0137, 0.0016)),
    ("usps", "delta-gaussian", "GRFF"): ((0.1005, 0.0061), (0.0690, 0.0050), (0.0500, 0.0024), (0.0253, 0.0023)),
    ("usps", "delta-gaussian", "GORF"): ((0.0724, 0.0049), (0.0235, 0.0009), (0.0166, 0.0008), (0.0083, 0.0003)),
}


def some_rows(X: Array, seed: int | Sequence[int], n_rows: int = N_ROWS) -> Array:
    """Different rows of X, always the same for a seed; all of them, in another order, where there are no more."""
    return X[np.random.default_rng(seed).choice(len(X), min(n_rows, len(X)), replace=False)]


def frequencies_per_sign(dim: int) -> list[int]:
    return [int(factor * dim) for factor in WIDTHS.values()]
