"""Tests of data sets never touch the web, the cache of the user or, unless they ask for it, the files of the user."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

GIVEN = os.environ.get("KREIN_DATA")


@pytest.fixture(autouse=True)
def _own_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KREIN_DATA", raising=False)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "cache"))


@pytest.fixture
def original() -> Callable[[str], Path]:
    """The path of a public data file in KREIN_DATA, the only source of files that krein may not ship."""

    def find(name: str) -> Path:
        if not GIVEN or not Path(GIVEN, name).is_file():
            pytest.skip(f"needs {name} in the folder that KREIN_DATA names")
        return Path(GIVEN, name)

    return find
