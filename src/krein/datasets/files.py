"""Finding the public files of a data set: a folder of the user, the cache, or the web."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from http.client import HTTPException
from pathlib import Path

from krein.datasets.dataset import DatasetError
from krein.datasets.registry import RemoteFile

VARIABLE = "KREIN_DATA"


def locate(file: RemoteFile, data_home: str | os.PathLike[str] | None = None) -> Path:
    """Path of a file whose checksum is right: in data_home, in KREIN_DATA, in the cache, or downloaded to the cache.

    A file that is there but damaged is an error: a later place is not tried, which could hide what the user gave.
    """
    for folder in _folders(data_home):
        path = folder / file.name
        if path.is_file():
            _verify(path, file)
            return path
    return _fetch(file)


def _folders(data_home: str | os.PathLike[str] | None) -> Iterator[Path]:
    for name, value in (("data_home", data_home), (VARIABLE, os.environ.get(VARIABLE) or None)):
        if value is not None:
            folder = Path(value).expanduser()
            if not folder.is_dir():
                raise DatasetError(f"{name} must be an existing folder; got {str(folder)!r}.")
            yield folder


def _verify(path: Path, file: RemoteFile) -> None:
    size = path.stat().st_size
    if size < file.size:
        raise DatasetError(f"{path} is truncated: it must have {file.size} bytes, got {size}. {_advice(file)}")
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    if digest != file.sha256:
        raise DatasetError(f"{path} is damaged: its sha256 must be {file.sha256}, got {digest}. {_advice(file)}")


def _fetch(file: RemoteFile) -> Path:
    """Path in the cache, a folder in scikit-learn's data home; downloaded unless it is there and its checksum right."""
    from sklearn.datasets import fetch_file, get_data_home

    try:
        folder = Path(get_data_home()) / "krein"
        folder.mkdir(exist_ok=True)
        return Path(fetch_file(file.url, folder=folder, sha256=file.sha256, n_retries=1))
    except (OSError, HTTPException) as error:  # no network, no such page, a wrong checksum, a folder without permission
        raise DatasetError(f"{file.name} could not be downloaded: {error}. {_advice(file)}") from error


def _advice(file: RemoteFile) -> str:
    return (
        f"Download {file.url} ({file.size} bytes) yourself, put it unchanged into a folder as {file.name}, and give "
        f"that folder as data_home or in the environment variable {VARIABLE}."
    )
