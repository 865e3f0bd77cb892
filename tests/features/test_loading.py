"""load gives the map that was saved, or a FeatureFileError: a damaged file, one of another version, another file."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import krein
from krein import RandomFeatures
from krein.exceptions import FeatureFileError
from krein.features import BaseFeatureMap
from krein.features.files import FORMAT, _digest
from krein.kernels import DeltaGaussian

Same = Callable[[BaseFeatureMap, BaseFeatureMap], bool]
X = np.random.default_rng(12345).normal(size=(30, 3))
X.flags.writeable = False


def fitted(**params: Any) -> RandomFeatures:
    return RandomFeatures(**({"kernel": DeltaGaussian(), "n_components": 12, "random_state": 5} | params)).fit(X)


def rewritten(path: Path, change: Callable[[dict[str, Any], dict[str, Any]], None]) -> Path:
    """A file whose header or arrays are changed, with the checksum that fits them."""
    krein.save(fitted(), path)
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files if name not in ("header", "digest")}
        header = json.loads(str(file["header"]))
    change(header, arrays)
    text = json.dumps(header, sort_keys=True)
    np.savez(path, header=np.array(text), digest=np.array(_digest(text, arrays)), **arrays)
    return path


def test_the_rewriting_of_these_tests_is_faithful(path: Path, same: Same) -> None:
    assert same(krein.load(rewritten(path, lambda header, arrays: None)), fitted())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda header, arrays: header.update(format=FORMAT + 1), f"format {FORMAT + 1}.* reads format {FORMAT}"),
        (lambda header, arrays: header.update({"class": "Nonsense"}), r"a Nonsense.*RandomFeatures"),
        (lambda header, arrays: header["params"]["kernel"].update(kernel="Nonsense"), "unknown kernel 'Nonsense'"),
        (lambda header, arrays: header["params"]["kernel"].update(kernel="Kernel"), "Kernel"),
        (lambda header, arrays: header["params"]["kernel"]["params"].update(shape=1.0), "shape"),
        (lambda header, arrays: header["params"]["kernel"]["params"].update(scales={"tuple": [-1.0, 1]}), "scales"),
        (lambda header, arrays: header["params"].update(no_such_parameter=1), "no_such_parameter"),
        (lambda header, arrays: header.pop("format"), "format"),
        (lambda header, arrays: header.pop("class"), "class"),
        (lambda header, arrays: header.pop("params"), "params"),
        (lambda header, arrays: arrays.pop("weights"), r"map\.npz"),
        (lambda header, arrays: arrays.pop("n_features_in"), "n_features_in"),
        (lambda header, arrays: arrays.update(weights=arrays["weights"][:-1]), "weights"),
    ],
)
def test_content_of_another_version(change: Any, message: str, path: Path) -> None:
    with pytest.raises(FeatureFileError, match=message):
        krein.load(rewritten(path, change))


@pytest.mark.parametrize("name", ["header", "digest", "weights", "coefficients", "constant", "n_features_in"])
def test_missing_array(name: str, path: Path) -> None:
    krein.save(fitted(), path)
    with np.load(path) as file:
        arrays = {other: file[other] for other in file.files if other != name}
    np.savez(path, **arrays)
    with pytest.raises(FeatureFileError, match=r"map\.npz"):
        krein.load(path)


def test_changed_array(path: Path) -> None:
    krein.save(fitted(), path)
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    arrays["weights"][0, 0] = np.nextafter(arrays["weights"][0, 0], np.inf)
    np.savez(path, **arrays)
    with pytest.raises(FeatureFileError, match="changed or damaged"):
        krein.load(path)


def test_truncated(path: Path) -> None:
    krein.save(fitted(), path)
    content = path.read_bytes()
    for length in [*range(0, len(content), 37), len(content) - 1]:
        path.write_bytes(content[:length])
        with pytest.raises(FeatureFileError, match=r"map\.npz"):
            krein.load(path)


@pytest.mark.parametrize(("bits", "step"), [(0xFF, 1), (0x01, 5)])
def test_flipped_byte(bits: int, step: int, path: Path, same: Same) -> None:
    """Either an error, or (in a time stamp, say) a map that is the same."""
    features = fitted(n_components=4)
    krein.save(features, path)
    content = path.read_bytes()
    caught = 0
    for i in range(0, len(content), step):
        path.write_bytes(content[:i] + bytes([content[i] ^ bits]) + content[i + 1 :])
        try:
            assert same(krein.load(path), features), f"byte {i} of {len(content)}"
        except FeatureFileError:
            caught += 1
    assert caught > 0.8 * len(content) / step


@pytest.mark.parametrize("kind", ["empty", "text", "npy", "pickle", "zip", "objects"])
def test_another_file(kind: str, path: Path) -> None:
    if kind == "npy":
        with path.open("wb") as file:
            np.save(file, np.ones(3))
    elif kind == "zip":
        np.savez(path, a=np.ones(3))
    elif kind == "objects":
        np.savez(path, header=np.array([fitted], dtype=object), digest=np.array("0"), allow_pickle=True)
    else:
        content = {"empty": b"", "text": b"weights, coefficients\n1, 2\n", "pickle": pickle.dumps({"a": 1})}
        path.write_bytes(content[kind])
    with pytest.raises(FeatureFileError, match=r"map\.npz is not a complete feature file of krein"):
        krein.load(path)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"):
        krein.load(tmp_path / "nowhere.npz")
    with pytest.raises(IsADirectoryError):
        krein.load(tmp_path)
