"""The files around the package agree with it and with one another."""

from __future__ import annotations

import ast
import doctest
import importlib.metadata
import re
import subprocess
import sys
import tomllib
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any

import pytest

import krein

PACKAGE = Path(krein.__file__).parent


def project(repository: Path) -> dict[str, Any]:
    return tomllib.loads((repository / "pyproject.toml").read_text("utf-8"))


def fenced_blocks(repository: Path, name: str, language: str) -> list[str]:
    """Contents of the fenced code blocks of one language in a Markdown file."""
    return re.findall(rf"^```{language}\n(.*?)^```$", (repository / name).read_text("utf-8"), flags=re.M | re.S)


def installed_version() -> str | None:
    try:
        return importlib.metadata.version("krein")
    except importlib.metadata.PackageNotFoundError:
        return None


def test_version_is_that_of_pyproject(repository: Path) -> None:
    assert krein.__version__ == project(repository)["project"]["version"]


@pytest.mark.skipif(
    installed_version() is None, reason="krein is run from source: there is no metadata to compare with"
)
def test_version_is_that_of_the_installed_metadata() -> None:
    assert krein.__version__ == installed_version()


def test_version_is_written_nowhere_else(repository: Path) -> None:
    modules = set(PACKAGE.rglob("*.py")) - {PACKAGE / "__init__.py"}
    others = [*modules, *(repository / name for name in ("meson.build", "CITATION.cff", "README.md"))]
    assert [path.name for path in others if krein.__version__ in path.read_text("utf-8")] == []


def test_no_module_is_imported_twice() -> None:
    """Collecting doctests by path would import a second copy of each module, with classes that are not the same."""
    loaded = {name: module for name, module in sys.modules.items() if name.split(".")[0] == "krein"}
    files = [module.__file__ for module in loaded.values() if getattr(module, "__file__", None)]
    assert len(files) == len(set(files))
    source = [file for file in files if not file.endswith(tuple(EXTENSION_SUFFIXES))]  # compiled ones may be elsewhere
    assert all(Path(file).is_relative_to(PACKAGE) for file in source)


def test_the_package_is_marked_as_typed() -> None:
    assert (PACKAGE / "py.typed").is_file()


def test_every_public_name_can_be_had() -> None:
    assert len(krein.__all__) == len(set(krein.__all__))
    assert [name for name in krein.__all__ if getattr(krein, name, None) is None] == []


def test_show_versions(capsys: pytest.CaptureFixture[str]) -> None:
    krein.show_versions()
    shown = dict(line.split(": ", 1) for line in capsys.readouterr().out.splitlines())
    names = {"python", "platform", "krein", "numpy", "scipy", "scikit-learn", "threadpoolctl"}
    optional = {"matplotlib", "dask", "torch"}
    assert names | optional <= set(shown)
    assert shown["numpy"] == importlib.metadata.version("numpy")
    assert "blas" in shown
    assert shown["compiled kernels"]


def test_extras(repository: Path) -> None:
    extras = project(repository)["project"]["optional-dependencies"]
    assert set(extras) == {"report", "dask", "torch", "test", "docs", "all"}
    assert not [need for need in extras["test"] if re.match("torch|krein", need)]  # the tests must install quickly


def test_readme_opens_with_two_commands(repository: Path) -> None:
    first, second = fenced_blocks(repository, "README.md", "sh")
    assert first == 'pip install ".[report]" && krein reproduce --quick\n'
    assert second == 'pip install ".[test]" && pytest\n'
    assert (repository / "examples/quickstart.py").is_file()


def test_ci_takes_its_commands_from_the_readme(repository: Path) -> None:
    script = (repository / ".ci/run").read_text("utf-8")
    extract = re.search(r"readme_command\(\) \{.*?^\}", script, flags=re.M | re.S)
    assert extract
    assert {'"$(readme_command 1)"', '"$(readme_command 2)"'} <= set(re.findall(r'"\$\(readme_command \d\)"', script))
    for n, block in enumerate(fenced_blocks(repository, "README.md", "sh"), start=1):
        command = ["bash", "-c", f"{extract[0]}\nreadme_command {n}"]
        assert subprocess.run(command, cwd=repository, capture_output=True, text=True, check=True).stdout == block


@pytest.mark.parametrize("page", ["README.md", "docs/optimal.md", "docs/learners.md"])
def test_examples_of_a_page_run(repository: Path, page: str) -> None:
    """One after the other: a block may use the names of those before it."""
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    names: dict[str, Any] = {}
    for block in fenced_blocks(repository, page, "python"):
        test = doctest.DocTestParser().get_doctest(block, names, page, page, 0)
        runner.run(test, clear_globs=False)
        names = test.globs
    assert runner.summarize(verbose=False).failed == 0
    assert runner.tries > 5


def test_links_between_documents_lead_somewhere(repository: Path) -> None:
    pages = [*repository.glob("*.md"), *(repository / "docs").glob("**/*.md"), *(repository / "changes").glob("*.md")]
    links = [(page, link) for page in pages for link in re.findall(r"\]\(([^)#]+)", page.read_text("utf-8"))]
    local = [(page, link) for page, link in links if "://" not in link]
    assert len(local) > 3
    assert [(page.name, link) for page, link in local if not (page.parent / link).exists()] == []


def test_notation_names_exist(repository: Path) -> None:
    """Every dotted name `krein.a.b` of the notation page is one that can be imported."""
    names = set(re.findall(r"`(krein\.[\w.]+)", (repository / "docs/notation.md").read_text("utf-8")))
    assert len(names) > 5
    for name in names:
        module, _, attribute = name.rpartition(".")
        assert hasattr(importlib.import_module(module), attribute), name


def test_news_fragments_have_legal_names(repository: Path) -> None:
    fragments = {path.name for path in (repository / "changes").iterdir()} - {"README.md", "CHANGELOG.md"}
    pattern = r"[a-z0-9-]+\.(added|changed|fixed|removed)\.md"
    assert [name for name in sorted(fragments) if not re.fullmatch(pattern, name)] == []


def test_quickstart_uses_only_what_krein_installs(repository: Path) -> None:
    tree = ast.parse((repository / "examples/quickstart.py").read_text("utf-8"))
    froms = {node.module.split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module}
    plain = {
        alias.name.split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names
    }
    assert froms | plain <= {"__future__", "numpy", "scipy", "sklearn", "krein"}


def test_quickstart_runs(repository: Path) -> None:
    command = [sys.executable, "examples/quickstart.py"]
    done = subprocess.run(command, cwd=repository, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "accuracy" in done.stdout
