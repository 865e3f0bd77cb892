"""The registry can be read by people, and the package by a machine without optional libraries."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import krein.datasets
from krein.datasets import DATASETS, describe
from krein.datasets.readers import LETTER_FEATURES

FILES = [file for source in DATASETS.values() for file in source.files]


def test_the_public_files() -> None:
    assert [file.name for file in FILES] == [
        "letter-recognition.data",
        "ijcnn1.bz2",
        "ijcnn1.t.bz2",
        "zip.train.gz",
        "zip.test.gz",
        "housing.data",
    ]
    for file in FILES:
        assert file.url.startswith("https://")
        assert re.fullmatch("[0-9a-f]{64}", file.sha256)


@pytest.mark.parametrize("name", DATASETS)
def test_describe_says_what_is_needed_to_use_and_cite(name: str) -> None:
    source = DATASETS[name]
    (entry,) = re.findall(rf"^{name}: .*(?:\n  .*)*", describe(), flags=re.M)
    assert f"{source.n_train} + {source.n_test} rows, {source.n_features} columns" in entry
    assert source.citation in entry
    assert source.licence in entry
    assert all(file.url in entry for file in source.files)


def test_only_what_may_be_shipped_is_shipped() -> None:
    package = Path(krein.datasets.__file__).parent
    assert sorted(path.name for path in (package / "data").iterdir()) == ["README.md", "letter.npz"]
    assert (package / "data" / "letter.npz").stat().st_size < 200_000
    assert DATASETS["letter"].shipped
    assert not any(DATASETS[name].shipped for name in ("ijcnn1", "usps", "housing"))
    assert LETTER_FEATURES.startswith("692f7bb7abde")


def test_the_attribution_of_letter() -> None:
    notice = (Path(krein.datasets.__file__).parent / "data" / "README.md").read_text("utf-8")
    for needed in (
        "Letter Recognition",
        "David J. Slate",
        "UCI Machine Learning Repository",
        "1991",
        "10.24432/C5ZP40",
    ):
        assert needed in notice
    assert "https://creativecommons.org/licenses/by/4.0/" in notice
    assert "What was changed" in notice


def test_importing_loads_neither_optional_libraries_nor_data() -> None:
    """Compared with what scikit-learn itself loads, which may be pandas."""
    code = """
import json, sys
import sklearn.utils
before = set(sys.modules)
import krein.datasets
print(json.dumps(sorted(set(sys.modules) - before)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {*json.loads(done.stdout)}
    assert "krein.datasets.loading" in loaded
    assert "sklearn.datasets" not in loaded
    assert not {name.partition(".")[0] for name in loaded} & {"pandas", "polars", "pyarrow"}
