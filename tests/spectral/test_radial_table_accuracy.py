"""Tables of Omega_d lose no digits: predicted errors of 1e-5 with coefficients of sum 40 need all of them."""

from __future__ import annotations

import numpy as np
import pytest

from krein.spectral.bessel import omega
from krein.spectral.radial_table import PARTS, RadialTable


@pytest.mark.parametrize("dim", [2, 5, 16, 256])
def test_error_is_that_of_the_cubics(dim: int) -> None:
    z = np.array([0.3, 1.1, 2.0])
    weights = np.array([0.5, -0.2, 0.3])
    u = np.linspace(0, 900, 20001)
    value, _ = RadialTable(dim, z, weights, 900.0)(u)
    exact = omega(dim, np.sqrt(u)[:, None] * z) @ weights
    # Cells have length 1/2, and |d^4 Omega_d(2 t)/dt^4| <= 16 E (u.e)^4 = 48/(d (d + 2)) is 3/(d (d + 2)) in units of
    # a cell; half a part is 1/(2 PARTS) of it. The rest is rounding, of which omega has 5e-15 near its edge.
    remainder = 3 / (dim * (dim + 2)) * (1 / (2 * PARTS)) ** 4 / 24
    assert np.abs(value - exact).max() < 1.5 * remainder + 1e-14
