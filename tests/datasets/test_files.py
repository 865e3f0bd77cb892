"""Where the public files come from, and what is said when they do not come."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable
from http.client import IncompleteRead
from pathlib import Path
from urllib.error import URLError

import pytest

from krein.datasets import DATASETS, DatasetError, RemoteFile, load
from krein.datasets.files import locate

CONTENT = b"-1 1:0.5\n1 2:0.5\n" * 50
SUPPLY = r"Download file:\S+/web/toy\.txt \(850 bytes\) yourself, .* as toy\.txt, .* data_home or .* KREIN_DATA\."
Folder = Callable[[str], Path]


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """A new folder that holds the file."""

    def make(name: str, content: bytes = CONTENT) -> Path:
        path = tmp_path / name
        path.mkdir(parents=True, exist_ok=True)
        (path / "toy.txt").write_bytes(content)
        return path

    return make


@pytest.fixture
def remote(tmp_path: Path) -> RemoteFile:
    """A file of the web, which is a folder here."""
    url = (tmp_path / "web" / "toy.txt").as_uri().replace("file:///", "file://localhost/")
    return RemoteFile(url, hashlib.sha256(CONTENT).hexdigest(), len(CONTENT))


def test_places_are_tried_in_order(
    folder: Folder, remote: RemoteFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder("web")
    assert locate(remote) == tmp_path / "cache" / "krein" / "toy.txt"  # downloaded
    (tmp_path / "web" / "toy.txt").unlink()
    assert locate(remote) == tmp_path / "cache" / "krein" / "toy.txt"  # without the web: it is in the cache
    monkeypatch.setenv("KREIN_DATA", str(folder("variable")))
    assert locate(remote) == tmp_path / "variable" / "toy.txt"
    assert locate(remote, folder("argument")) == tmp_path / "argument" / "toy.txt"
    (tmp_path / "argument" / "toy.txt").unlink()
    assert locate(remote, tmp_path / "argument") == tmp_path / "variable" / "toy.txt"


def test_nothing_is_written_beside_the_files_of_the_user(folder: Folder, remote: RemoteFile) -> None:
    home = folder("argument")
    locate(remote, home)
    assert [path.name for path in home.iterdir()] == ["toy.txt"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (CONTENT[:-10], r"argument/toy\.txt is truncated: it must have 850 bytes, got 840\. "),
        (b"", r"argument/toy\.txt is truncated: it must have 850 bytes, got 0\. "),
        (CONTENT[:-2] + b"6\n", r"argument/toy\.txt is damaged: its sha256 must be [0-9a-f]{64}, got [0-9a-f]{64}\. "),
        (CONTENT + b"\n", r"argument/toy\.txt is damaged: .* got [0-9a-f]{64}\. "),
    ],
)
def test_a_bad_file_is_an_error_even_if_another_place_is_good(
    folder: Folder, remote: RemoteFile, content: bytes, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder("web")
    monkeypatch.setenv("KREIN_DATA", str(folder("variable")))
    with pytest.raises(DatasetError, match=message + SUPPLY):
        locate(remote, folder("argument", content))


def test_a_bad_file_on_the_web(folder: Folder, remote: RemoteFile, tmp_path: Path) -> None:
    folder("web", CONTENT[:-10])
    with pytest.raises(DatasetError, match=r"toy\.txt could not be downloaded: The SHA256 checksum .* " + SUPPLY):
        locate(remote)
    assert list((tmp_path / "cache" / "krein").iterdir()) == []


def test_a_bad_file_in_the_cache_is_replaced(folder: Folder, remote: RemoteFile) -> None:
    folder("web")
    cached = locate(remote)
    cached.write_bytes(CONTENT[:-10])
    with pytest.warns(UserWarning, match="differs from expected"):
        assert locate(remote) == cached
    assert cached.read_bytes() == CONTENT


def test_no_such_file_on_the_web(remote: RemoteFile) -> None:
    with (
        pytest.warns(UserWarning, match="Retry downloading"),
        pytest.raises(DatasetError, match=r"toy\.txt could not be downloaded: .*No such file.* " + SUPPLY),
    ):
        locate(remote)


@pytest.mark.parametrize(
    "error", [URLError("Name or service not known"), TimeoutError("timed out"), IncompleteRead(b"", 850)]
)
def test_no_network(remote: RemoteFile, error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def fetch(*args: object, **options: object) -> Path:
        raise error

    monkeypatch.setattr("sklearn.datasets.fetch_file", fetch)
    with pytest.raises(DatasetError, match=r"toy\.txt could not be downloaded: .*" + SUPPLY) as caught:
        locate(remote)
    assert caught.value.__cause__ is error


def test_a_cache_that_cannot_be_made(remote: RemoteFile, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file, not a folder")
    with pytest.raises(DatasetError, match=r"toy\.txt could not be downloaded: .*File exists.*" + SUPPLY):
        locate(remote)


@pytest.mark.parametrize("place", ["data_home", "KREIN_DATA"])
def test_a_folder_that_does_not_exist(
    remote: RemoteFile, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = tmp_path / "missing"
    if place == "KREIN_DATA":
        monkeypatch.setenv("KREIN_DATA", str(missing))
    with pytest.raises(DatasetError, match=rf"{place} must be an existing folder; got '\S+missing'"):
        locate(remote, missing if place == "data_home" else None)


def test_an_empty_variable_names_no_folder(
    folder: Folder, remote: RemoteFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder("web")
    monkeypatch.chdir(folder("here"))
    monkeypatch.setenv("KREIN_DATA", "")
    assert locate(remote).parent == tmp_path / "cache" / "krein"


def test_load_without_network_names_the_file_and_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    def fetch(*args: object, **options: object) -> Path:
        raise URLError("no network")

    monkeypatch.setattr("sklearn.datasets.fetch_file", fetch)
    with pytest.raises(DatasetError, match=r"^ijcnn1\.bz2 could not be downloaded: .*no network.* https://www\.csie"):
        load("ijcnn1")
    load("letter")  # needs neither network nor files


def test_load_does_not_trust_a_file_that_changed_since(
    folder: Folder, remote: RemoteFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    two = dataclasses.replace(DATASETS["ijcnn1"], files=(remote, remote))
    monkeypatch.setitem(DATASETS, "ijcnn1", two)
    home = folder("argument")
    assert load("ijcnn1", data_home=home).X_train.shape == (100, 22)
    folder("argument", CONTENT[:-1] + b" ")
    with pytest.raises(DatasetError, match="is damaged"):
        load("ijcnn1", data_home=home)
