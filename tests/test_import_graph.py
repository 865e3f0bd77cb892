"""Each stage of the pipeline imports only the stages to its left; optional and private names stay where they belong.

The rules are checked on the syntax tree, so an import inside a function or under TYPE_CHECKING counts as well.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import krein

PACKAGE = Path(krein.__file__).parent
PIPELINE = ("kernels", "spectral", "sampling", "theory", "features", "learn")
SHARED = {
    "exceptions",
    "_random",
    "_validation",
    "_sklearn_compat",
    "_show_versions",
    "_native",
}  # any module may import them
ROOT = ""  # the package krein itself: `import krein`, `from krein import RandomFeatures`
MAY_IMPORT = {
    **{stage: set(PIPELINE[: i + 1]) for i, stage in enumerate(PIPELINE)},
    **{shared: set() for shared in SHARED},
    "testing": {*PIPELINE, "testing"},
    "integrations": {*PIPELINE, "integrations"},
    "datasets": {"datasets"},
    "experiments": {*PIPELINE, "experiments", "datasets", ROOT},
    "cli": {*PIPELINE, "experiments", "integrations", "datasets", "cli", ROOT},
    "__main__": {"cli"},
    ROOT: {*PIPELINE, "testing", "datasets"},
}
REQUIRED = {"numpy", "scipy", "sklearn", "joblib", "threadpoolctl"}  # joblib comes with scikit-learn
MAY_IMPORT_OPTIONAL = {"integrations", "experiments"}  # at module level; inside a function everybody may


class Import(NamedTuple):
    target: str  # dotted: "krein.kernels.base.Kernel"
    line: int
    bound: str  # the name it gets in the importing module
    at_run_time: bool  # executed when the module is imported: not in a function, not under TYPE_CHECKING


def imports(node: ast.AST, package: str, at_run_time: bool = True) -> Iterator[Import]:
    """Every import below node; ``package`` is what a relative import is relative to."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            for alias in child.names:
                bound = alias.asname or alias.name.partition(".")[0]
                yield Import(alias.name, child.lineno, bound, at_run_time)
        elif isinstance(child, ast.ImportFrom):
            parents = package.split(".")[: len(package.split(".")) - child.level + 1] if child.level else []
            origin = ".".join([*parents, *filter(None, [child.module])])
            for alias in child.names:
                yield Import(f"{origin}.{alias.name}", child.lineno, alias.asname or alias.name, at_run_time)
        elif isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING"):
            yield from imports(ast.Module(child.body, []), package, False)
            yield from imports(ast.Module(child.orelse, []), package, at_run_time)
        else:
            in_function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            yield from imports(child, package, at_run_time and not in_function)


def stage_of(dotted: str) -> str:
    """'krein.kernels.base' -> 'kernels'; a name that is no stage belongs to the root package."""
    name = [*dotted.split("."), ROOT][1]
    return name if name in MAY_IMPORT else ROOT


def has_private_part(dotted: str) -> bool:
    return any(part.startswith("_") and not part.endswith("__") for part in dotted.split("."))


def private_uses(tree: ast.AST, found: list[Import]) -> Iterator[tuple[int, str]]:
    """Private names of other packages, imported or reached through an attribute of what was imported."""
    foreign = {item.bound: item.target for item in found if item.target.partition(".")[0] in REQUIRED}
    yield from ((item.line, item.target) for item in found if item.bound in foreign and has_private_part(item.target))
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and has_private_part(node.attr):
            root = ast.unparse(node.value).partition(".")[0]
            if root in foreign:
                yield node.lineno, ast.unparse(node)


def violations(module: str, source: str, *, is_package: bool = False) -> list[str]:
    """What is wrong with the imports of one module; an empty list where nothing is."""
    name = [*module.split("."), ROOT][1]
    if name not in MAY_IMPORT:
        return [f"{module}: {name!r} has no place in the pipeline; give it one in MAY_IMPORT"]
    tree = ast.parse(source)
    found = list(imports(tree, module if is_package else module.rpartition(".")[0]))
    wrong = []
    for item in found:
        top = item.target.partition(".")[0]
        if top == "krein":
            if (target := stage_of(item.target)) not in MAY_IMPORT[name] | SHARED:
                what = f"{target!r}, which is not to its left" if target else "the root package krein"
                wrong.append(f"{module}:{item.line}: {name!r} imports {what} ({item.target})")
        elif (
            item.at_run_time
            and top not in REQUIRED
            and top not in sys.stdlib_module_names
            and name not in MAY_IMPORT_OPTIONAL
        ):
            wrong.append(f"{module}:{item.line}: imports the optional {top} at module level; import it in the function")
    if name != "_sklearn_compat":
        wrong += [
            f"{module}:{line}: private name {use}; only _sklearn_compat may use one"
            for line, use in private_uses(tree, found)
        ]
    return wrong


def modules() -> dict[str, Path]:
    paths = {path: path.relative_to(PACKAGE.parent).with_suffix("").parts for path in PACKAGE.rglob("*.py")}
    return {".".join(parts).removesuffix(".__init__"): path for path, parts in paths.items()}


def test_all_modules_are_seen() -> None:
    found = modules()
    assert {"krein", "krein.exceptions", "krein.kernels", "krein.kernels.base"} <= set(found)


@pytest.mark.parametrize("module", sorted(modules()))
def test_imports_only_what_it_may(module: str) -> None:
    path = modules()[module]
    assert violations(module, path.read_text("utf-8"), is_package=path.name == "__init__.py") == []


@pytest.mark.parametrize(
    ("module", "source", "message"),
    [
        ("krein.kernels.base", "from krein.spectral import jordan", "'kernels' imports 'spectral'"),
        ("krein.kernels.base", "from krein import spectral", "'kernels' imports 'spectral'"),
        ("krein.kernels.base", "def f():\n    import krein.features", "'kernels' imports 'features'"),
        ("krein.kernels.base", "if TYPE_CHECKING:\n    from krein.learn import KreinSVC", "'kernels' imports 'learn'"),
        ("krein.kernels.base", "from ..sampling import radii", "'kernels' imports 'sampling'"),
        ("krein.kernels", "from ..sampling import radii", "'kernels' imports 'sampling'"),
        ("krein.sampling.error", "from krein.theory import variance", "'sampling' imports 'theory'"),
        ("krein.features.random_features", "from krein import RandomFeatures", "root package"),
        ("krein.features.random_features", "import krein", "root package"),
        ("krein.learn.svm", "from krein.datasets import load", "'learn' imports 'datasets'"),
        ("krein.datasets.letter", "from krein.kernels import Gaussian", "'datasets' imports 'kernels'"),
        ("krein._validation", "from krein.kernels import Gaussian", "'_validation' imports 'kernels'"),
        ("krein.experiments.runner", "from krein import cli", "'experiments' imports 'cli'"),
        ("krein.extras", "import numpy", "no place in the pipeline"),
        ("krein.features.io", "import torch", "optional torch"),
        ("krein.features.io", "try:\n    import torch.nn\nexcept ImportError:\n    pass", "optional torch"),
        ("krein.features.io", "class A:\n    import pandas as pd", "optional pandas"),
        ("krein.features.io", "from sklearn.utils._param_validation import Interval", "private name"),
        ("krein.features.io", "def f():\n    from sklearn.base import _fit_context", "private name"),
        ("krein.features.io", "import sklearn.utils\nsklearn.utils._tags.get_tags", "private name"),
        ("krein.features.io", "from sklearn import utils\nutils._tags", "private name"),
    ],
)
def test_mutant_is_rejected(module: str, source: str, message: str) -> None:
    wrong = violations(module, source, is_package=module == "krein.kernels")
    assert len(wrong) == 1
    assert message in wrong[0]


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("krein.spectral.measure", "from __future__ import annotations\nfrom krein.kernels.base import Kernel"),
        ("krein.spectral.measure", "from .bessel import omega\nfrom ..exceptions import DomainError"),
        ("krein.features.io", "def f():\n    import torch\n    from dask import array"),
        ("krein.features.io", "if TYPE_CHECKING:\n    import torch"),
        ("krein.integrations.torch", "import torch"),
        ("krein._sklearn_compat", "from sklearn.utils._param_validation import Interval"),
        (
            "krein.features.io",
            "import numpy as np\nclass A:\n    def f(self):\n        return self._x + np.__version__",
        ),
        ("krein.cli", "from krein import __version__, experiments"),
        ("krein", "from krein.theory import variance"),
    ],
)
def test_legal_module_is_accepted(module: str, source: str) -> None:
    assert violations(module, source, is_package=module == "krein") == []
