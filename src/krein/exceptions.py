"""Errors and warnings of krein. Every message says what is wrong, what it must be, and what it got."""

__all__ = [
    "DomainError",
    "FeatureFileError",
    "InfiniteMassError",
    "KreinError",
    "NearEigenvalueWarning",
    "NoFrequenciesError",
    "NotPositiveDefiniteError",
    "SpectralAccuracyError",
    "SpectralAccuracyWarning",
]


class KreinError(Exception):
    """Base class of all errors that krein defines."""


class DomainError(KreinError, ValueError):
    """Rows lie outside the domain of the kernel (for example not on the unit sphere)."""


class InfiniteMassError(KreinError, ValueError):
    """The radial measure of a kernel has infinite total mass: no unbiased Fourier features of finite variance exist."""


class NoFrequenciesError(KreinError, ValueError):
    """The radial measure of a kernel is nothing but a constant, or zero: there is no frequency to draw."""


class NotPositiveDefiniteError(KreinError, ValueError):
    """A scheme for positive definite kernels was asked for a kernel whose measure has a negative part."""


class FeatureFileError(KreinError, ValueError):
    """A saved feature map is truncated, tampered with, or of an unknown format."""


class SpectralAccuracyError(KreinError, ArithmeticError):
    """A numerical Fourier transform is too inaccurate to be of use."""


class SpectralAccuracyWarning(UserWarning):
    """A numerical Fourier transform did not reach the accuracy that was asked for."""


class NearEigenvalueWarning(UserWarning):
    """A regularisation is near the negative of an eigenvalue, where the solution of an indefinite problem blows up."""
