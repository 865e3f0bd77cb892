"""Saving a fitted feature map as plain arrays: no pickle, a checksum, and the parameters as JSON."""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from inspect import isabstract
from os import PathLike
from typing import Any, BinaryIO

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
    if _classes().get(type(features).__name__) is not type(features):
        raise TypeError(f"features must be one of {sorted(_classes())} to be saved; got a {type(features).__name__}.")
    arrays = features.to_arrays()
    params = {name: _encode(value, name) for name, value in features.get_params(deep=False).items()}
    header = json.dumps({"format": FORMAT, "class": type(features).__name__, "params": params}, sort_keys=True)
    arrays = {"header": np.array(header), "digest": np.array(_digest(header, arrays)), **arrays}
    folder, name = os.path.split(os.fspath(path))
    unfinished = os.path.join(folder, f".{name}.{os.getpid()}")
    try:  # the file that was there stays until the new one is complete
        with open(unfinished, "wb") as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]
        os.replace(unfinished, path)
    except BaseException:
        with suppress(OSError):
            os.remove(unfinished)
        raise


def load(path: str | PathLike[str]) -> BaseFeatureMap:
    """Read a feature map that ``save`` wrote; a truncated or changed file raises FeatureFileError.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    features : fitted feature map
    """
    with open(path, "rb") as file:  # a missing or unreadable file raises OSError
        try:
            return _read(file)
        except FeatureFileError as error:
            raise FeatureFileError(f"{path} {error}") from error
        except Exception as error:  # numpy, zipfile and json raise a dozen kinds on damaged content
            reason = f"{type(error).__name__}: {error}"
            raise FeatureFileError(f"{path} is not a complete feature file of krein ({reason})") from error


def _read(file: BinaryIO) -> BaseFeatureMap:
    content = np.load(file, allow_pickle=False)
    if not isinstance(content, np.lib.npyio.NpzFile):
        raise FeatureFileError("is not a complete feature file of krein: it holds a single array.")
    with content:
        arrays = {name: content[name] for name in content.files}
    header, digest = str(arrays.pop("header")), str(arrays.pop("digest"))
    if _digest(header, arrays) != digest:
        raise FeatureFileError(f"was changed or damaged: its checksum must be {digest[:12]}..., got another.")
    fields = json.loads(header)
    if fields["format"] != FORMAT:
        raise FeatureFileError(f"has format {fields['format']}; this version of krein reads format {FORMAT}.")
    if fields["class"] not in _classes():
        raise FeatureFileError(f"holds a {fields['class']}; this version of krein knows {sorted(_classes())}.")
    params = {name: _decode(value) for name, value in fields["params"].items()}
    return _classes()[fields["class"]](**params).from_arrays(arrays)


def _classes() -> dict[str, type[BaseFeatureMap]]:
    found: list[Any] = [getattr(factory, "func", factory) for factory in FEATURE_MAPS.values()]
    return {cls.__name__: cls for cls in found}


def _digest(header: str, arrays: dict[str, NDArray[Any]]) -> str:
    total = hashlib.sha256(header.encode())
    for name, array in sorted(arrays.items()):
        total.update(f"{name} {array.dtype.str} {array.shape}".encode())
        total.update(np.ascontiguousarray(array).tobytes())
    return total.hexdigest()


def _encode(value: Any, name: str) -> Any:
    if isinstance(value, Kernel):
        if getattr(kernels, type(value).__name__, None) is not type(value):
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
    known = value.get("kernel") in kernels.__all__
    cls = getattr(kernels, value["kernel"]) if known else None
    if cls is None or isabstract(cls):
        raise FeatureFileError(f"names an unknown kernel {value.get('kernel')!r}.")
    return cls(**{key: _decode(item) for key, item in value["params"].items()})
