"""Errata 3, 4 and 5: what Algorithm 1 draws, the sign of H, and the signs in the proof."""

from __future__ import annotations

import numpy as np

from krein.experiments.errata.record import Row, Table
from krein.experiments.errata.setting import (
    DELTA_GAUSSIAN,
    DIM,
    POLYNOMIAL,
    SIZES,
    errors,
    letter_rows,
    mean_and_error,
    published_cell,
)
from krein.experiments.setting import Array
from krein.sampling import DIRECTIONS
from krein.sampling.variance import joint_correlations, single_variance
from krein.spectral import Jordan, RadialLaw, jordan, jordan_parts, published_polynomial
from krein.theory import G, H, variance

DISTANCES = (0.5, 1.0, 1.5)


def mean_square_cosine(scheme: str, s: int, draws: int) -> tuple[float, float]:
    """Mean of (u.v)^2 over pairs of one positive and one negative direction, or of two positive ones for blocks."""
    rng = np.random.default_rng(12345)
    found = []
    for _ in range(draws):
        positive, negative = DIRECTIONS[scheme](DIM, [s, s], rng)
        if scheme == "blocks":
            found.append(np.mean((positive @ positive.T)[np.triu_indices(s, 1)] ** 2))
        else:
            found.append(np.mean((positive @ negative.T) ** 2))
    return mean_and_error(np.array(found))


def exact_mean_square_cosine(s: int) -> float:
    """The same for Algorithm 1, from the law of the cosine."""
    nodes, weights = joint_correlations(DIM, [s, s])
    return float(weights @ nodes**2)


def show_joint_directions(fast: bool) -> Table:
    """Cosines between directions, and the errors on letter of three ways to draw them."""
    draws = 200 if fast else 2000
    rows = []
    for size in ("d", "8d"):
        found, exact = mean_square_cosine("joint", SIZES[size], draws // 10), exact_mean_square_cosine(SIZES[size])
        rows.append(Row(f"mean square cosine, Algorithm 1, s = {size}", *found, exact, source="its law; 0 is meant"))
    rows += [
        Row("mean square cosine, independent", *mean_square_cosine("iid", DIM, draws), 1 / DIM, source="1/d"),
        Row(
            "mean square cosine, d x d block",
            mean_square_cosine("blocks", DIM, draws)[0],
            reference=0.0,
            source="orthogonal",
        ),
    ]
    X = letter_rows()
    for scheme, name in (("gorf", "Algorithm 1"), ("gorf-blocks", "d x d blocks")):
        for size, s in SIZES.items():
            found = mean_and_error(errors(DELTA_GAUSSIAN, X, scheme, s, 4 if fast else 10))
            cell = published_cell("delta-gaussian", "GORF", size)
            rows.append(Row(f"error on letter, {name}, s = {size}", *found, *cell, "Table II, delta-Gaussian"))
    return tuple(rows)


def simulated_variance(parts: Jordan, s: int, z: float, draws: int) -> tuple[float, float]:
    """Variance of k_hat(z) and its standard error, the 2 s directions of both signs from one orthonormal block."""
    rng = np.random.default_rng(12345)
    heights = first_coordinates("blocks", draws, rng)
    values = np.zeros(draws)
    for law, columns in ((parts.positive, slice(0, s)), (parts.negative, slice(s, 2 * s))):
        radii = sample_radii(law, (draws, s), rng)
        values += law.sign * law.mass * np.cos(radii * heights[:, columns] * z).mean(axis=1)
    return variance_and_error(values)


def first_coordinates(scheme: str, draws: int, rng: np.random.Generator) -> Array:
    """u_i.e for the d directions of each of ``draws`` independent sets, e any fixed unit vector: shape (draws, d)."""
    return DIRECTIONS[scheme](DIM, [draws * DIM], rng)[0][:, 0].reshape(draws, DIM)


def sample_radii(law: RadialLaw, shape: int | tuple[int, int], rng: np.random.Generator) -> Array:
    """Independent radii from 20000 evenly spaced quantiles: much faster than exact ones, with a bias of order 1e-8."""
    return rng.choice(law.quantile((np.arange(20_000) + 0.5) / 20_000), shape)


def variance_and_error(sample: Array) -> tuple[float, float]:
    """Sample variance and its standard error, sqrt((m_4 - var^2)/n)."""
    squares = (sample - sample.mean()) ** 2
    return float(squares.mean()), float(squares.std() / np.sqrt(len(sample)))


def show_sign_of_h(fast: bool) -> Table:
    """H of the delta-Gaussian, and the variance with no, some, full orthogonality and with shared directions."""
    parts, s = jordan_parts(DELTA_GAUSSIAN, DIM), DIM // 2
    grid = np.linspace(0.05, 2, 40)
    h = H(parts, grid)
    rows = [Row("smallest H(z) for z in [0.05, 2]", float(h.min())), Row("largest", float(h.max()))]
    leading = parts.positive.moment(2) * parts.negative.moment(2) / (DIM**2 * (DIM + 2)) * grid[0] ** 4
    rows.append(Row("H(0.05)", float(h[0]), reference=leading, source="E R+^2 E R-^2 z^4 / (d^2 (d + 2))"))
    small = H(jordan(published_polynomial(POLYNOMIAL.a, POLYNOMIAL.degree, DIM)), grid)
    rows.append(Row("largest |H(z)|, polynomial, law p(r) dr", float(np.abs(small).max())))
    for scheme, name in (("iid", "independent"), ("blocks", "orthogonal within each sign")):
        rows.append(Row(f"variance at z = 1, s = d/2, {name}", float(variance(DELTA_GAUSSIAN, DIM, scheme, s, 1.0))))
    across = rows[-1].value + float(H(parts, 1.0))
    simulated = simulated_variance(parts, s, 1.0, 20_000 if fast else 100_000)
    rows += [
        Row("variance at z = 1, s = d/2, and across the signs", across, reference=rows[-1].value, source="without H"),
        Row("the same, simulated", *simulated, reference=across, source="with H"),
        Row("variance at z = 1, s = d/2, Algorithm 1", float(variance(DELTA_GAUSSIAN, DIM, "joint", s, 1.0))),
        Row("variance at z = 1, s = d/2, same block for both", float(variance(DELTA_GAUSSIAN, DIM, "shared", s, 1.0))),
    ]
    return tuple(rows)


def simulated_gain(law: RadialLaw, z: float, draws: int) -> tuple[float, float]:
    """Var(orthogonal) - Var(iid) of (1/d) sum cos(w_i.z) over d frequencies, and its standard error."""
    rng = np.random.default_rng(12345)
    found = []
    for scheme in ("blocks", "iid"):
        heights = first_coordinates(scheme, draws, rng)
        radii = sample_radii(law, (draws, DIM), rng)
        found.append(variance_and_error(np.cos(radii * heights * z).mean(axis=1)))
    (orthogonal, error), (independent, other) = found
    return orthogonal - independent, float(np.hypot(error, other))


def show_signs(fast: bool) -> Table:
    """G and the variance of one cosine, as printed and with the signs corrected, against simulation."""
    law = jordan_parts(DELTA_GAUSSIAN, DIM).positive
    draws = 16_000 if fast else 96_000
    rows = []
    for z in DISTANCES:
        gain = simulated_gain(law, z, draws)
        right = float(G(law, DIM, z))
        rows += [
            Row(f"Var(orthogonal) - Var(iid), z = {z:g}", *gain, reference=right, source="G, terms exchanged"),
            Row(f"the same as printed, z = {z:g}", -right, reference=gain[0], spread=gain[1], source="simulated"),
        ]
    rng = np.random.default_rng(12345)
    cosines = np.cos(sample_radii(law, draws, rng) * first_coordinates("iid", draws // DIM, rng).ravel())
    right = float(single_variance(law, np.array(1.0)))
    simulated = variance_and_error(cosines)
    rows += [
        Row("Var a, a = cos(w.z), z = 1", *simulated, reference=right, source="E(a^2) - E^2(a)"),
        Row("the same as printed", -right, reference=simulated[0], spread=simulated[1], source="simulated"),
    ]
    return tuple(rows)
