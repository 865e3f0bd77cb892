"""`import krein` costs next to nothing beyond the parts of numpy, scipy and scikit-learn that it uses."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest

LIMIT = 0.060  # seconds
ROUNDS = 5
BASE = ("numpy", "scipy", "sklearn", "joblib", "threadpoolctl")
OPTIONAL = ("pandas", "polars", "matplotlib", "torch", "dask", "distributed", "mpmath")
STATEMENTS = ("import krein", "from krein import *")  # the second also loads what the first may defer


def python(code: str, path: str | None = None) -> str:
    """Standard output of a fresh interpreter that runs ``code``, with ``path`` searched first."""
    paths = [*([path] if path else []), *filter(None, [os.environ.get("PYTHONPATH")])]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONDONTWRITEBYTECODE": ""}  # compile only once
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def loaded_modules(statement: str, path: str | None = None) -> list[str]:
    """Names in sys.modules after ``statement``, in the order in which their import began."""
    return list(json.loads(python(f"import json, sys\n{statement}\nprint(json.dumps(list(sys.modules)))", path)))


def import_base(statement: str, path: str | None = None) -> str:
    """Code that imports every module of the base packages that ``statement`` would load, and nothing else."""
    base = [name for name in loaded_modules(statement, path) if name.partition(".")[0] in BASE]
    return f"""
import contextlib, importlib, json, sys, time
for name in {base!r}:
    with contextlib.suppress(ImportError):  # some names in sys.modules are no files
        importlib.import_module(name)
"""


def added_seconds(statement: str, path: str | None = None) -> float:
    """Time of ``statement`` in an interpreter that has just imported the base modules that it would import.

    Both parts run in the same process: the difference of two separately timed processes has the noise of a whole
    import of scipy, which is larger than the limit. What krein loads of the standard library counts as its own. It is
    the shortest of several runs, because a busy machine can only add time.
    """
    timed = f"start = time.perf_counter()\n{statement}\nprint(time.perf_counter() - start)"
    code = import_base(statement, path) + timed
    return min(float(python(code, path)) for _ in range(ROUNDS))


def added_modules(statement: str, path: str | None = None) -> set[str]:
    """Top-level names of what ``statement`` loads and the base modules do not (scikit-learn may load pandas itself)."""
    difference = f"before = set(sys.modules)\n{statement}\nprint(json.dumps(sorted(set(sys.modules) - before)))"
    added = json.loads(python(import_base(statement, path) + difference, path))
    return {name.partition(".")[0] for name in added}


def is_editable() -> bool:
    try:
        origin = distribution("krein").read_text("direct_url.json")
    except PackageNotFoundError:
        return False
    return bool(json.loads(origin or "{}").get("dir_info", {}).get("editable"))


@pytest.mark.skipif(is_editable(), reason="an editable install runs ninja at every import")
@pytest.mark.parametrize("statement", STATEMENTS)
def test_import_adds_less_than_60_ms(statement: str) -> None:
    assert added_seconds(statement) < LIMIT


@pytest.mark.parametrize("statement", STATEMENTS)
def test_import_loads_nothing_optional(statement: str) -> None:
    added = added_modules(statement)
    assert "krein" in added
    assert not added & set(OPTIONAL)


def test_import_works_where_nothing_optional_is_installed() -> None:
    refuse = f"""
import sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {OPTIONAL!r}:
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Refuse())
"""
    python(refuse + STATEMENTS[1])


def test_the_measurement_sees_what_a_package_adds(tmp_path: Path) -> None:
    Path(tmp_path, "plain.py").write_text("import numpy\n")
    Path(tmp_path, "slow.py").write_text("import numpy, time\ntime.sleep(0.065)\n")
    Path(tmp_path, "greedy.py").write_text("import numpy, mpmath\n")
    path = str(tmp_path)
    assert added_seconds("import plain", path) < 0.010  # numpy itself is not counted
    assert added_seconds("import slow", path) > LIMIT
    assert added_modules("import plain", path) == {"plain"}
    assert "mpmath" in added_modules("import greedy", path)
