"""What all tests share."""

from __future__ import annotations

from pathlib import Path

import pytest

import krein


def pytest_report_header() -> str:
    """Say which krein is under test: the installed package, or the source that PYTHONPATH points to."""
    return f"krein: {Path(krein.__file__).parent}"


@pytest.fixture(scope="session")
def repository() -> Path:
    """Root of the source tree, for tests of files that are not installed (README, pyproject.toml)."""
    return Path(__file__).resolve().parent.parent
