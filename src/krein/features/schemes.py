"""Registry of the cosine schemes: a name and a recipe (measure x directions x radii x allocation)."""

from __future__ import annotations

from dataclasses import dataclass

from krein.exceptions import NotPositiveDefiniteError
from krein.kernels import PolynomialOnSphere
from krein.kernels.base import Kernel, RadialKernel
from krein.spectral import Jordan, jordan, jordan_parts, published_polynomial


@dataclass(frozen=True)
class Scheme:
    """How frequencies are drawn; ``summary`` is what the documentation and error messages print."""

    name: str
    summary: str
    directions: str
    radii: str = "iid"
    allocation: str = "equal"
    positive_definite: bool = False
    published: bool = False

    def parts(self, kernel: Kernel, dim: int) -> Jordan:
        """Jordan parts that this scheme samples for a kernel, or an error that says what to use instead."""
        if not isinstance(kernel, RadialKernel):
            raise TypeError(f"Scheme {self.name!r} needs a radial kernel; got {kernel!r}.")
        if self.published:
            if not isinstance(kernel, PolynomialOnSphere):
                raise ValueError(
                    f"Scheme {self.name!r} reproduces the published recipe, which exists for PolynomialOnSphere only; "
                    f"got {kernel!r}. Use 'grff', 'gorf' or 'gorf-blocks'."
                )
            return jordan(published_polynomial(kernel.a, kernel.degree, dim))
        parts = jordan_parts(kernel, dim)
        if self.positive_definite and (parts.negative.mass or parts.constant < 0):
            raise NotPositiveDefiniteError(
                f"Scheme {self.name!r} needs a kernel that is positive definite in dimension {dim}; {kernel!r} has a "
                f"negative part of mass {parts.negative.mass - min(parts.constant, 0):.4g}. Use 'gorf-blocks'."
            )
        return parts


SCHEMES: dict[str, Scheme] = {
    scheme.name: scheme
    for scheme in (
        Scheme("rff", "random Fourier features: independent frequencies", "iid", positive_definite=True),
        Scheme("orf", "orthogonal random features: orthonormal blocks", "blocks", positive_definite=True),
        Scheme("grff", "generalised random Fourier features: independent, both signs", "iid"),
        Scheme("gorf", "Algorithm 1 of the paper as printed: columns of one cut orthogonal matrix", "joint"),
        Scheme("gorf-blocks", "orthonormal blocks within each sign", "blocks"),
        Scheme("published-grff", "the published polynomial rows: no Jacobian, biased", "iid", published=True),
        Scheme("published-gorf", "the published polynomial rows: no Jacobian, biased", "joint", published=True),
    )
}
