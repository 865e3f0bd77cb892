"""Saving a fitted feature map as plain arrays: no pickle, a checksum, and the parameters as JSON."""

from __future__ import annotations

import hashlib
import json
import zipfile
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

import krein.kernels as kernels
from krein.exceptions import FeatureFileError
from krein.features.base import BaseFeatureMap
from krein.features.registry import FEATURE_MAPS
from krein.kernels import Kernel

FORMAT = 1


def save(features: BaseFeatureMap, path: str | PathLike[str]) -> None:
    """Write a fitted feature map to an ``.npz`` file.

    Parameters
    ----------
    features : feature map
        Fitted. A kernel made from a Python callable cannot be written without pickle: TypeError.
    path : path-like

    Notes
    -----
    A ``random_state`` that is not an int is written as None: the features themselves are in the file.

    Examples
    --------
    >>> import tempfile, numpy as np, krein
    >>> X = np.random.default_rng(0).normal(size=(5, 3))
    >>> features = krein.RandomFeatures(n_components=8, random_state=0).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     krein.save(features, f"{folder}/map.npz")
    ...     again = krein.load(f"{folder}/map.npz")
    >>> bool((again.transform(X) == features.transform(X)).all())
    True
    """
    arrays = features.to_arrays()
    params = {name: _encode(value, name) for name, value in features.get_params(deep=False).items()}
    header = json.dumps({"format": FORMAT, "class": type(features).__name__, "params": params}, sort_keys=True)
    with open(path, "wb") as file:
        np.savez(file, header=np.array(header), digest=np.array(_digest(header, arrays)), **arrays)  # type: ignore[arg-type]


def load(path: str | PathLike[str]) -> BaseFeatureMap:
    """Read a feature map that ``save`` wrote; a truncated or changed file raises FeatureFileError.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    features : fitted feature map
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        header, digest = str(arrays.pop("header")), str(arrays.pop("digest"))
    except (zipfile.BadZipFile, EOFError, KeyError, ValueError, OSError) as error:
        if isinstance(error, OSError) and not isinstance(error, EOFError) and error.errno is not None:
            raise
        raise FeatureFileError(f"{path} is not a complete feature file of krein: {error}") from error
    if _digest(header, arrays) != digest:
        raise FeatureFileError(f"{path} was changed or damaged: its checksum must be {digest[:12]}..., got another.")
    content = json.loads(header)
    if content["format"] != FORMAT:
        raise FeatureFileError(f"{path} has format {content['format']}; this version of krein reads format {FORMAT}.")
    classes = {cls.__name__: cls for cls in map(_class_of, FEATURE_MAPS.values())}
    if content["class"] not in classes:
        raise FeatureFileError(f"{path} holds a {content['class']}; this version of krein knows {sorted(classes)}.")
    params = {name: _decode(value) for name, value in content["params"].items()}
    return classes[content["class"]](**params).from_arrays(arrays)


def _class_of(factory: Any) -> type[BaseFeatureMap]:
    return getattr(factory, "func", factory)  # type: ignore[no-any-return]


def _digest(header: str, arrays: dict[str, NDArray[Any]]) -> str:
    total = hashlib.sha256(header.encode())
    for name, array in sorted(arrays.items()):
        total.update(f"{name} {array.dtype.str} {array.shape}".encode())
        total.update(np.ascontiguousarray(array).tobytes())
    return total.hexdigest()


def _encode(value: Any, name: str) -> Any:
    if isinstance(value, Kernel):
        if type(value).__name__ not in kernels.__all__:
            raise TypeError(f"{name} must be a kernel of krein.kernels to be saved; got {value!r}.")
        inner = {key: _encode(item, key) for key, item in value.get_params(deep=False).items()}
        return {"kernel": type(value).__name__, "params": inner}
    if isinstance(value, tuple | list):
        return {"tuple": [_encode(item, name) for item in value]}
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if name == "random_state":
        return None
    raise TypeError(
        f"Parameter {name} must be a number, a string, a tuple or a kernel of these to be saved; got {value!r}."
    )


def _decode(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if "tuple" in value:
        return tuple(_decode(item) for item in value["tuple"])
    if value.get("kernel") not in kernels.__all__:
        raise FeatureFileError(f"The file names an unknown kernel {value.get('kernel')!r}.")
    return getattr(kernels, value["kernel"])(**{key: _decode(item) for key, item in value["params"].items()})
