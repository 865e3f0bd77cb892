"""scikit-learn's own checks of an estimator: all of them pass, none is skipped, none is expected to fail.

The check of array API input is skipped unless SCIPY_ARRAY_API was set before SciPy was imported, hence another process.
Some checks are not among those of ``check_estimator``; the ones about data frames need pandas and polars, which the
extra ``test`` installs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from krein.features import FEATURE_MAPS

# Not on arbitrary rows and widths: the published schemes and "cro" need rows of norm 1, and the checks ask for a single
# column, where a rule of quadrature has at least d + 1 frequencies. What they look at is the same code for all schemes.
LEFT_OUT = {"cro", "published-grff", "published-gorf", "quadrature", "quadrature-5"}
NAMES = [name for name in FEATURE_MAPS if name not in LEFT_OUT]
DATA_FRAMES = (
    "check_dataframe_column_names_consistency",
    "check_transformer_get_feature_names_out",
    "check_transformer_get_feature_names_out_pandas",
    "check_set_output_transform",
    "check_set_output_transform_pandas",
    "check_global_output_transform_pandas",
    "check_set_output_transform_polars",
    "check_global_set_output_transform_polars",
)
SCRIPT = """
import json, sys, warnings
from sklearn.utils import estimator_checks
from krein.features import FEATURE_MAPS
from krein.kernels import Gaussian, Laplacian

warnings.simplefilter("error")
names, more_checks = json.loads(sys.argv[1])
estimators = {name: FEATURE_MAPS[name]() for name in names}
# An indefinite kernel of one Jordan part: the checks ask for a single column, and two parts need two.
estimators["a negative kernel"] = FEATURE_MAPS["grff"](-Gaussian(2.0))
options = {"directions": "shared", "radii": "stratified", "allocation": "mass"}
estimators["options"] = FEATURE_MAPS["gorf-blocks"](Laplacian(), **options)

found = {}
for name, estimator in estimators.items():
    results = estimator_checks.check_estimator(estimator, on_skip=None, on_fail=None)
    found[name] = [(result["check_name"], result["status"], str(result["exception"])) for result in results]
    for check in more_checks:
        try:
            with warnings.catch_warnings(action="ignore"):  # they mix rows with and without names on purpose
                getattr(estimator_checks, check)(type(estimator).__name__, estimator)
            found[name].append((check, "passed", ""))
        except Exception as error:
            found[name].append((check, type(error).__name__, str(error)))
print(json.dumps(found))
"""
Results = dict[str, list[tuple[str, str, str]]]


@pytest.fixture(scope="module")
def results() -> Results:
    command = [sys.executable, "-c", SCRIPT, json.dumps([NAMES, DATA_FRAMES])]
    environment = os.environ | {"SCIPY_ARRAY_API": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    found: Results = json.loads(done.stdout)
    return found


def test_every_check_passes(results: Results) -> None:
    failed = [(name, *check) for name, checks in results.items() for check in checks if check[1] != "passed"]
    assert failed == []


def test_nothing_is_left_out(results: Results) -> None:
    assert set(NAMES) < set(results)
    for checks in results.values():
        assert {"check_array_api_input", "check_estimator_sparse_array", *DATA_FRAMES} <= {check[0] for check in checks}
        assert len(checks) > 50
