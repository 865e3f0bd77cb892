"""What the cosine baselines share: frequencies as the whole fitted state, one column or two per frequency."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from krein._validation import check_choice
from krein.features.cosine_map import CosineMap
from krein.kernels.base import RadialKernel

FORMS = ("pair", "phase")


class CosineFeatures(CosineMap):
    """A feature map given by ``frequencies_``; a subclass draws them in ``_fit``."""

    form: str

    def _check_radial(self) -> RadialKernel:
        if not isinstance(self.kernel, RadialKernel):
            raise TypeError(f"{type(self).__name__} needs a radial kernel; got {self.kernel!r}.")
        return self.kernel

    def _frequencies_per_part(self, n_parts: int, *, constant: bool = False) -> tuple[int, bool]:
        """How many frequencies every part may have within ``n_components`` columns, and whether they have phases.

        A frequency takes one column with a random phase and two as a (cosine, sine) pair; where there is less than one
        pair per part, the form is "phase" whatever was asked for.
        """
        check_choice(self.form, "form", FORMS)
        columns = self.n_components - constant
        if columns < n_parts:
            raise ValueError(
                f"n_components must be at least {n_parts + constant} for {self.kernel!r}, which has {n_parts} "
                f"part{'s' * (n_parts > 1)}{' and a constant' * constant}; got {self.n_components}."
            )
        phased = self.form == "phase" or columns < 2 * n_parts
        return (columns if phased else columns // 2) // n_parts, phased


def draw_phases(count: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Independent phases, uniform on [0, 2 pi)."""
    return rng.uniform(0, 2 * np.pi, count)
