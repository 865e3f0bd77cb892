"""Registry of the cosine schemes: a name and a recipe (measure x directions x radii x allocation, or a rule)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from krein._random import Streams
from krein._validation import check_choice
from krein.exceptions import NotPositiveDefiniteError
from krein.kernels import PolynomialOnSphere
from krein.kernels.base import RadialKernel
from krein.sampling import ALL_DIRECTIONS, ALLOCATIONS, RADII, RULES, Frequencies, sample_frequencies, sample_with_rule
from krein.spectral import Jordan, jordan, jordan_parts, published_polynomial


@dataclass(frozen=True)
class Scheme:
    """How frequencies are drawn; a ``rule`` replaces directions and radii. ``summary`` is for the documentation.

    A ``designed`` scheme samples no law: its frequencies are searched for, and rotated
    (``krein.sampling.design_cache``).
    """

    name: str
    summary: str
    directions: str = "iid"
    radii: str = "iid"
    allocation: str = "equal"
    rule: str | None = None
    positive_definite: bool = False
    published: bool = False
    designed: bool = False

    def overridden(self, directions: str | None, radii: str | None, allocation: str | None) -> Scheme:
        """The scheme with the given ingredients in place of its own."""
        ingredients = {"directions": directions, "radii": radii, "allocation": allocation}
        given: dict[str, Any] = {name: value for name, value in ingredients.items() if value is not None}
        for name, value in given.items():
            check_choice(value, name, {"directions": ALL_DIRECTIONS, "radii": RADII, "allocation": ALLOCATIONS}[name])
            if self.designed or (self.rule and name != "allocation"):
                raise ValueError(
                    f"{name} must be None for scheme {self.name!r}, which chooses it itself; got {value!r}."
                )
        return replace(self, **given)

    def check_kernel(self, kernel: Any) -> RadialKernel:
        """The kernel, or an error where it is not radial."""
        if not isinstance(kernel, RadialKernel):
            raise TypeError(f"Scheme {self.name!r} needs a radial kernel; got {kernel!r}.")
        return kernel

    def parts(self, kernel: Any, dim: int) -> Jordan:
        """Jordan parts that this scheme samples for a kernel, or an error that says what to use instead."""
        kernel = self.check_kernel(kernel)
        if self.published:
            if not isinstance(kernel, PolynomialOnSphere):
                raise ValueError(
                    f"Scheme {self.name!r} reproduces the published recipe, which exists for PolynomialOnSphere only; "
                    f"got {kernel!r}. Use 'optimal' or 'gorf-blocks'."
                )
            return jordan(published_polynomial(kernel.a, kernel.degree, dim))
        parts = jordan_parts(kernel, dim)
        if self.positive_definite and (parts.negative.mass or parts.constant < 0):
            mass = parts.negative.mass - min(parts.constant, 0)
            raise NotPositiveDefiniteError(
                f"Scheme {self.name!r} needs a kernel that is positive definite in dimension {dim}; {kernel!r} has a "
                f"negative part of mass {mass:.4g}. Use 'optimal' or 'gorf-blocks'."
            )
        return parts

    def draw(self, parts: Jordan, n_columns: int, distances: NDArray[np.float64], rng: Any) -> Frequencies:
        """At most ``n_columns`` columns; with less than a pair per sign, one column with a phase for each."""
        streams = Streams(rng)
        constant = bool(parts.constant) or (self.rule is not None and RULES[self.rule].constant)
        columns, n_parts = n_columns - constant, len(parts.parts)
        phased = columns < 2 * n_parts
        n = columns if phased else columns // 2
        if n < n_parts:
            why = "one column for every sign" + (" and one for the constant" if constant else "")
            raise ValueError(f"n_components must be at least {n_parts + constant} here, {why}; got {n_columns}.")
        counts = ALLOCATIONS[self.allocation](parts, n, distances)
        if self.rule is not None:
            group = RULES[self.rule].group(parts.parts[0].dim)
            if min(counts) < group:
                needed = 2 * group * n_parts + constant
                raise ValueError(
                    f"Scheme {self.name!r} needs at least {group} frequencies per sign in this dimension, which take "
                    f"n_components = {needed} columns with equal shares; got {n_columns}."
                )
            frequencies = sample_with_rule(parts, counts, self.rule, streams("frequencies"))
        else:
            frequencies = sample_frequencies(
                parts, counts, directions=self.directions, radii=self.radii, random_state=streams("frequencies")
            )
        if not phased:
            return frequencies
        return replace(frequencies, phases=streams("phases").uniform(0, 2 * np.pi, len(frequencies.coefficients)))


SCHEMES: dict[str, Scheme] = {
    scheme.name: scheme
    for scheme in (
        Scheme("optimal", "frequencies and coefficients of least exact error, rotated at random", designed=True),
        Scheme("rff", "random Fourier features: independent frequencies", "iid", positive_definite=True),
        Scheme("orf", "orthogonal random features: orthonormal blocks", "blocks", positive_definite=True),
        Scheme("grff", "generalised random Fourier features: independent, both signs", "iid"),
        Scheme("gorf", "Algorithm 1 of the paper as printed: columns of one cut orthogonal matrix", "joint"),
        Scheme("gorf-blocks", "orthonormal blocks within each sign", "blocks"),
        Scheme("simplex", "blocks of d + 1 simplex vertices within each sign", "simplex"),
        Scheme("sorf", "structured orthogonal blocks (Hadamard transforms and signs)", "sorf"),
        Scheme("fastfood", "Hadamard transforms with a Gaussian diagonal, exact for every law", "fastfood"),
        Scheme("circulant", "circulant blocks with column signs", "circulant"),
        Scheme("qmc", "scrambled Sobol' points for radius and direction", rule="sobol"),
        Scheme("qmc-halton", "scrambled Halton points for radius and direction", rule="halton"),
        Scheme("quadrature", "spherical-radial rule of degree 3, random rotations", rule="spherical-radial-3"),
        Scheme("quadrature-5", "spherical-radial rule of degree 5, random rotations", rule="spherical-radial-5"),
        Scheme("published-grff", "the published polynomial rows: no Jacobian, biased", "iid", published=True),
        Scheme("published-gorf", "the published polynomial rows: no Jacobian, biased", "joint", published=True),
    )
}
