"""What all tests share."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

# Tests run in a process per core: threads of BLAS on top of them would only wait for one another.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import krein  # noqa: E402


def pytest_report_header() -> str:
    """Say which krein is under test: the installed package, or the source that PYTHONPATH points to."""
    return f"krein: {Path(krein.__file__).parent}"


@pytest.fixture(scope="session")
def repository() -> Path:
    """Root of the source tree, for tests of files that are not installed (README, pyproject.toml)."""
    return Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def load_benchmark(repository: Path) -> Iterator[Callable[[str], ModuleType]]:
    """Import a module of benchmarks/, which is not installed, by its name."""
    loaded: list[str] = []

    def load(name: str) -> ModuleType:
        spec = importlib.util.spec_from_file_location(
            f"krein_benchmark_{name}", repository / "benchmarks" / f"{name}.py"
        )
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module  # dataclasses look their module up
        loaded.append(spec.name)
        spec.loader.exec_module(module)
        return module

    yield load
    for name in loaded:
        sys.modules.pop(name, None)
