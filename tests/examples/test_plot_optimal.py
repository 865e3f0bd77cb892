"""The example that draws the pictures of docs/optimal.md runs, and what is stored is small."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

PICTURES = ("optimal_errors.svg", "optimal_profile.svg")


def test_pictures_are_drawn(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib", reason="needs the extra krein[report]")
    example = runpy.run_path(str(repository / "examples/plot_optimal.py"))
    main = example["main"]
    main.__globals__.update(WIDTHS=(33, 65), DRAWS=1, PROFILE_WIDTH=33)
    monkeypatch.setattr("sys.argv", ["plot_optimal.py", str(tmp_path)])
    main()
    errors, profile = ((tmp_path / name).read_text("utf-8") for name in PICTURES)
    assert all(f">{scheme}<" in errors for scheme in ("optimal", "gorf-blocks", "qmc"))  # in the legend
    assert ">rff<" not in errors  # refuses an indefinite kernel
    assert "33 columns" in profile


@pytest.mark.parametrize("name", PICTURES)
def test_stored_pictures_are_small(name: str, repository: Path) -> None:
    stored = (repository / "docs/images" / name).read_text("utf-8")
    assert len(stored.encode()) < 100_000
    assert "Date" not in stored  # the same picture gives the same file
