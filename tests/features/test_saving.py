"""save, and load gives the same map bit by bit; or a clear error, and no file is lost. Never a pickle."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import krein
from krein import RandomFeatures, kernels
from krein.features import BaseFeatureMap
from krein.features.files import FORMAT
from krein.kernels import (
    Cauchy,
    DeltaGaussian,
    DotProductOnSphere,
    FromProfile,
    Gaussian,
    Kernel,
    Laplacian,
    Matern,
    Tanh,
)
from krein.sampling import Frequencies

WITH_CALLABLE = ["FromProfile", "DotProductOnSphere"]
COMPOSITE = {
    "Sum": [Gaussian() - Laplacian(0.1), (Gaussian() + 2 * Tanh()) - Cauchy(3.0)],
    "Scaled": [-0.1 * Laplacian(1 / 3), -1.0 * (-2.0 * Gaussian())],
    "Product": [Gaussian(2.0) * Laplacian(), Tanh() * (Gaussian() + Matern(0.3, 7.7))],
}
KERNELS: list[Kernel] = [
    kernel
    for name in kernels.__all__
    if not inspect.isabstract(getattr(kernels, name)) and name not in WITH_CALLABLE
    for kernel in COMPOSITE.get(name) or [getattr(kernels, name)()]
]
Same = Callable[[BaseFeatureMap, BaseFeatureMap], bool]
X = np.random.default_rng(12345).normal(size=(30, 3))
X.flags.writeable = False


def fitted(**params: Any) -> RandomFeatures:
    return RandomFeatures(**({"kernel": DeltaGaussian(), "n_components": 12, "random_state": 5} | params)).fit(X)


def by_hand(kernel: Kernel) -> RandomFeatures:
    """A fitted map of any kernel, also one whose measure is infinite: two frequencies and a constant."""
    weights = np.random.default_rng(12345).normal(size=(2, 3))
    arrays = Frequencies(weights, np.array([1 / 3, -0.1]), -1e-300).to_arrays()
    return RandomFeatures(kernel, 5, random_state=3).from_arrays({"n_features_in": np.array(3), **arrays})


class TestRoundTrip:
    def test_every_map(self, case: Any, path: Path, same: Same) -> None:
        rows = case.rows()
        features = case.make().fit(rows)
        krein.save(features, path)
        again = krein.load(path)
        assert same(again, features)
        assert (again.transform(rows) == features.transform(rows)).all()
        assert list(again.get_feature_names_out()) == list(features.get_feature_names_out())

    @pytest.mark.parametrize("kernel", KERNELS, ids=repr)
    def test_every_kernel(self, kernel: Kernel, path: Path, same: Same) -> None:
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

    def test_parameters(self, path: Path, same: Same) -> None:
        features = fitted(
            n_components=np.int64(13), random_state=np.int32(8), scheme="grff", radii="stratified", allocation="mass"
        )
        krein.save(features, str(path))
        assert same(krein.load(str(path)), features)
        assert type(krein.load(path).n_components) is int

    @pytest.mark.parametrize(
        "random_state",
        [np.random.default_rng(0), np.random.RandomState(0), None],
        ids=lambda state: type(state).__name__,
    )
    def test_random_state_that_is_not_a_number(self, random_state: Any, path: Path) -> None:
        features = fitted(random_state=random_state)
        krein.save(features, path)
        again = krein.load(path)
        assert again.random_state is None
        assert (again.transform(X) == features.transform(X)).all()

    def test_loaded_map_can_be_fitted_and_saved_again(self, path: Path, same: Same) -> None:
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
        [
            FromProfile(np.sinc),
            Gaussian() - FromProfile(np.sinc),
            -DotProductOnSphere(np.exp),
            Tanh() * FromProfile(np.cos),
        ],
        ids=["profile", "difference", "multiple", "product"],
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

    def test_not_a_map(self, path: Path) -> None:
        with pytest.raises(TypeError, match=r"features must be one of .* got a int"):
            krein.save(3, path)  # type: ignore[arg-type]

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

    def test_failure_keeps_the_file_that_was_there(
        self, path: Path, monkeypatch: pytest.MonkeyPatch, same: Same
    ) -> None:
        krein.save(fitted(), path)

        def disk_is_full(file: Any, **arrays: Any) -> None:
            if hasattr(file, "write"):
                file.write(b"PK")
            raise OSError(28, "No space left on device")

        with pytest.raises(TypeError):
            krein.save(by_hand(FromProfile(np.sinc)), path)
        assert same(krein.load(path), fitted())
        monkeypatch.setattr(np, "savez", disk_is_full)
        with pytest.raises(OSError, match="No space left"):
            krein.save(by_hand(Gaussian()), path)
        assert same(krein.load(path), fitted())
        assert list(path.parent.iterdir()) == [path]
