"""save and load: the same map bit by bit, or a clear error; never a pickle, never a lost file."""

from __future__ import annotations

import inspect
import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import krein
from krein import RandomFeatures, kernels
from krein.exceptions import FeatureFileError
from krein.features import BaseFeatureMap
from krein.features.files import FORMAT, _digest
from krein.kernels import Cauchy, DeltaGaussian, DotProductOnSphere, FromProfile, Gaussian, Kernel, Laplacian, Matern, Tanh

WITH_CALLABLE = ["FromProfile", "DotProductOnSphere"]
COMPOSITE = {
    "Sum": [Gaussian() - Laplacian(0.1), (Gaussian() + 2 * Tanh()) - Cauchy(3.0)],
    "Scaled": [-0.1 * Laplacian(1 / 3), -(-Gaussian())],
    "Product": [Gaussian(2.0) * Laplacian(), Tanh() * (Gaussian() + Matern(0.3, 7.7))],
}
KERNELS: list[Kernel] = [
    kernel
    for name in kernels.__all__
    if not inspect.isabstract(getattr(kernels, name)) and name not in WITH_CALLABLE
    for kernel in COMPOSITE.get(name) or [getattr(kernels, name)()]
]
X = np.random.default_rng(12345).normal(size=(30, 3))
X.flags.writeable = False


def fitted(**params: Any) -> RandomFeatures:
    return RandomFeatures(**({"kernel": DeltaGaussian(), "n_components": 12, "random_state": 5} | params)).fit(X)


def by_hand(kernel: Kernel) -> RandomFeatures:
    """A fitted map of any kernel, also one whose measure is infinite: two frequencies and a constant."""
    rng = np.random.default_rng(12345)
    arrays = {
        "n_features_in": np.array(3),
        "weights": rng.normal(size=(2, 3)),
        "coefficients": np.array([1 / 3, -0.1]),
        "constant": np.array(-1e-300),
    }
    return RandomFeatures(kernel, 5, random_state=3).from_arrays(arrays)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "map.npz"


def same(first: BaseFeatureMap, second: BaseFeatureMap) -> bool:
    ours, theirs = first.to_arrays(), second.to_arrays()
    return (
        type(first) is type(second)
        and first.get_params() == second.get_params()
        and ours.keys() == theirs.keys()
        and all(a.dtype == theirs[n].dtype and a.tobytes() == theirs[n].tobytes() for n, a in ours.items())
        and (first.signature_ == second.signature_).all()
    )


class TestRoundTrip:
    def test_every_map(self, case: Any, path: Path) -> None:
        rows = case.rows()
        features = case.make().fit(rows)
        krein.save(features, path)
        again = krein.load(path)
        assert same(again, features)
        assert (again.transform(rows) == features.transform(rows)).all()
        assert list(again.get_feature_names_out()) == list(features.get_feature_names_out())

    @pytest.mark.parametrize("kernel", KERNELS, ids=repr)
    def test_every_kernel(self, kernel: Kernel, path: Path) -> None:
        features = by_hand(kernel)
        krein.save(features, path)
        again = krein.load(path)
        assert same(again, features)
        assert again.kernel == kernel
        assert type(again.kernel) is type(kernel)

    @pytest.mark.parametrize("n_components", [2, 3, 12])
    @pytest.mark.parametrize("output", ["real", "complex"])
    def test_phases_and_output(self, n_components: int, output: str, path: Path) -> None:
        features = fitted(n_components=n_components, output=output)
        krein.save(features, path)
        assert (krein.load(path).transform(X) == features.transform(X)).all()

    def test_parameters(self, path: Path) -> None:
        features = fitted(
            n_components=np.int64(13), random_state=np.int32(8), scheme="grff", radii="stratified", allocation="mass"
        )
        krein.save(features, str(path))
        assert same(krein.load(str(path)), features)
        assert type(krein.load(path).n_components) is int

    @pytest.mark.parametrize("random_state", [np.random.default_rng(0), np.random.RandomState(0), None], ids=repr)
    def test_random_state_that_is_not_a_number(self, random_state: Any, path: Path) -> None:
        features = fitted(random_state=random_state)
        krein.save(features, path)
        again = krein.load(path)
        assert again.random_state is None
        assert (again.transform(X) == features.transform(X)).all()

    def test_loaded_map_can_be_fitted_and_saved_again(self, path: Path) -> None:
        krein.save(fitted(), path)
        again = krein.load(path).fit(X)
        assert same(again, fitted())
        krein.save(again, path)
        assert same(krein.load(path), fitted())

    def test_names_of_columns(self, path: Path) -> None:
        import pandas as pd

        frame = pd.DataFrame(X, columns=["a", "b", "c"])
        features = RandomFeatures(n_components=12, random_state=0).fit(frame)
        krein.save(features, path)
        again = krein.load(path)
        assert (again.transform(frame) == features.transform(frame)).all()  # a warning would be an error
        assert list(again.feature_names_in_) == ["a", "b", "c"]
        with pytest.raises(ValueError, match="feature names"):
            again.transform(frame[["c", "a", "b"]])

    def test_no_pickle_inside(self, path: Path) -> None:
        krein.save(fitted(), path)
        with np.load(path, allow_pickle=False) as file:
            assert all(not file[name].dtype.hasobject for name in file.files)
            assert json.loads(str(file["header"]))["format"] == FORMAT


class TestSave:
    @pytest.mark.parametrize(
        "kernel",
        [FromProfile(np.sinc), Gaussian() - FromProfile(np.sinc), -DotProductOnSphere(np.exp), Gaussian() * FromProfile(np.cos)],
        ids=repr,
    )
    def test_callable(self, kernel: Kernel, path: Path) -> None:
        with pytest.raises(TypeError, match=r"function must be .*to be saved; got <"):
            krein.save(by_hand(kernel), path)
        assert list(path.parent.iterdir()) == []

    def test_kernel_of_somebody_else(self, path: Path) -> None:
        class Mine(Gaussian):
            pass

        Mine.__name__ = "Gaussian"
        for name in ("Gaussian", "Mine"):
            Mine.__name__ = name
            with pytest.raises(TypeError, match=r"kernel must be a kernel of krein\.kernels to be saved"):
                krein.save(by_hand(Mine()), path)
        assert list(path.parent.iterdir()) == []

    def test_map_of_somebody_else(self, path: Path) -> None:
        """``load`` could not read it."""

        class Mine(RandomFeatures):
            pass

        with pytest.raises(TypeError, match="Mine"):
            krein.save(Mine(n_components=12).fit(X), path)
        assert list(path.parent.iterdir()) == []

    def test_not_fitted(self, path: Path) -> None:
        with pytest.raises(NotFittedError):
            krein.save(RandomFeatures(), path)
        assert list(path.parent.iterdir()) == []

    def test_path_that_cannot_be_written(self, tmp_path: Path) -> None:
        features = fitted()
        with pytest.raises(FileNotFoundError, match="nowhere"):
            krein.save(features, tmp_path / "nowhere" / "map.npz")
        with pytest.raises(IsADirectoryError):
            krein.save(features, tmp_path)
        assert list(tmp_path.iterdir()) == []

    def test_failure_keeps_the_file_that_was_there(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        krein.save(fitted(), path)

        def disk_is_full(file: Any, **arrays: Any) -> None:
            if hasattr(file, "write"):
                file.write(b"PK")
            raise OSError(28, "No space left on device")

        for kernel, failing, error in ((FromProfile(np.sinc), np.savez, TypeError), (Gaussian(), disk_is_full, OSError)):
            monkeypatch.setattr(np, "savez", failing)
            with pytest.raises(error):
                krein.save(by_hand(kernel), path)
            assert same(krein.load(path), fitted())
            assert list(path.parent.iterdir()) == [path]


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


class TestLoad:
    def test_the_rewriting_of_these_tests_is_faithful(self, path: Path) -> None:
        assert same(krein.load(rewritten(path, lambda header, arrays: None)), fitted())

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (lambda header, arrays: header.update(format=FORMAT + 1), f"format {FORMAT + 1}.* reads format {FORMAT}"),
            (lambda header, arrays: header.update({"class": "Nonsense"}), r"a Nonsense.*RandomFeatures"),
            (lambda header, arrays: header["params"]["kernel"].update(kernel="Nonsense"), "unknown kernel 'Nonsense'"),
            (lambda header, arrays: header["params"]["kernel"].update(kernel="Kernel"), "Kernel"),
            (lambda header, arrays: header["params"]["kernel"]["params"].update(shape=1.0), "shape"),
            (lambda header, arrays: header["params"]["kernel"]["params"].update(scales={"tuple": [-1.0, 1.0]}), "scales"),
            (lambda header, arrays: header["params"].update(no_such_parameter=1), "no_such_parameter"),
            (lambda header, arrays: header.pop("format"), "format"),
            (lambda header, arrays: header.pop("class"), "class"),
            (lambda header, arrays: header.pop("params"), "params"),
            (lambda header, arrays: arrays.pop("weights"), "weights"),
            (lambda header, arrays: arrays.pop("n_features_in"), "n_features_in"),
            (lambda header, arrays: arrays.update(weights=arrays["weights"][:-1]), "weights"),
        ],
    )
    def test_content_of_another_version(self, change: Any, message: str, path: Path) -> None:
        with pytest.raises(FeatureFileError, match=message):
            krein.load(rewritten(path, change))

    @pytest.mark.parametrize("name", ["header", "digest", "weights", "coefficients", "constant", "n_features_in"])
    def test_missing_array(self, name: str, path: Path) -> None:
        krein.save(fitted(), path)
        with np.load(path) as file:
            arrays = {other: file[other] for other in file.files if other != name}
        np.savez(path, **arrays)
        with pytest.raises(FeatureFileError, match=r"map\.npz"):
            krein.load(path)

    def test_changed_array(self, path: Path) -> None:
        krein.save(fitted(), path)
        with np.load(path) as file:
            arrays = {name: file[name] for name in file.files}
        arrays["weights"][0, 0] = np.nextafter(arrays["weights"][0, 0], np.inf)
        np.savez(path, **arrays)
        with pytest.raises(FeatureFileError, match="changed or damaged"):
            krein.load(path)

    def test_truncated(self, path: Path) -> None:
        krein.save(fitted(), path)
        content = path.read_bytes()
        for length in [*range(0, len(content), 37), len(content) - 1]:
            path.write_bytes(content[:length])
            with pytest.raises(FeatureFileError, match=r"map\.npz"):
                krein.load(path)

    @pytest.mark.parametrize("bits", [0xFF, 0x01])
    def test_flipped_byte(self, bits: int, path: Path) -> None:
        """Either an error, or (in a time stamp, say) a map that is the same."""
        features = fitted(n_components=4)
        krein.save(features, path)
        content = path.read_bytes()
        caught = 0
        for i in range(len(content)):
            path.write_bytes(content[:i] + bytes([content[i] ^ bits]) + content[i + 1 :])
            try:
                assert same(krein.load(path), features), f"byte {i} of {len(content)}"
            except FeatureFileError:
                caught += 1
        assert caught > 0.8 * len(content)

    @pytest.mark.parametrize("kind", ["empty", "text", "npy", "pickle", "zip", "objects"])
    def test_another_file(self, kind: str, path: Path) -> None:
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

    def test_no_file(self, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError, match="nowhere"):
            krein.load(tmp_path / "nowhere.npz")
        with pytest.raises(IsADirectoryError):
            krein.load(tmp_path)
