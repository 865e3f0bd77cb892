"""What to paste into a bug report: versions of krein and of everything that it may use."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import PackageNotFoundError, version

REQUIRED = ("krein", "numpy", "scipy", "scikit-learn", "threadpoolctl")
OPTIONAL = ("matplotlib", "dask", "torch", "pandas")


def show_versions() -> None:
    """Print the versions of Python, krein, its dependencies and the linear algebra libraries that are loaded.

    Nothing optional is imported: the versions are those of the installed packages.

    Examples
    --------
    >>> import krein
    >>> krein.show_versions()
    python: 3...
    """
    for name, value in [*_system(), *_packages(), _compiled(), *_thread_pools()]:
        print(f"{name}: {value}")


def _system() -> list[tuple[str, str]]:
    return [("python", sys.version.replace("\n", " ")), ("platform", platform.platform())]


def _packages() -> list[tuple[str, str]]:
    return [(name, _version(name)) for name in (*REQUIRED, *OPTIONAL)]


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _compiled() -> tuple[str, str]:
    """The instruction sets of krein._native that this processor has."""
    try:
        from krein._native import INSTRUCTIONS
    except ImportError as error:
        return "compiled kernels", f"not available, features are computed by numpy ({error})"
    return "compiled kernels", ", ".join(INSTRUCTIONS)


def _thread_pools() -> list[tuple[str, str]]:
    """BLAS and OpenMP libraries that numpy and scipy bring, with their numbers of threads."""
    import scipy.linalg  # noqa: F401  (loads the BLAS libraries that threadpoolctl then finds)
    from threadpoolctl import threadpool_info

    return [
        (
            pool["user_api"],
            f"{pool['internal_api']} {pool['version'] or ''}".strip() + f", threads: {pool['num_threads']}",
        )
        for pool in threadpool_info()
    ]
