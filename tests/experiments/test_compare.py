"""The comparison command: its numbers, its table, its pictures, and kernel expressions that run no code."""

from __future__ import annotations

import json
import re
import sys

import numpy as np
import pytest

from krein import make_features, relative_error
from krein.experiments._plots import need_matplotlib
from krein.experiments.compare import compare, main, parse_kernel, table
from krein.features import FEATURE_MAPS
from krein.kernels import ArcCosine, DeltaGaussian, Gaussian, Laplacian, Matern, PolynomialOnSphere

KERNEL = DeltaGaussian((1.0, -0.5), (1.0, 3.0))


@pytest.fixture(scope="module")
def rows_of_data():
    rng = np.random.default_rng(12345)
    return rng.normal(size=(40, 4)), rng.normal(size=(30, 4))


# ---- kernel expressions ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "kernel"),
    [
        ("Gaussian()", Gaussian()),
        ("Gaussian(scale=2.5)", Gaussian(2.5)),
        ("DeltaGaussian((1, -1), (1, 10))", DeltaGaussian((1, -1), (1, 10))),
        ("DeltaGaussian([1, -0.5], scales=[1, 3])", DeltaGaussian((1, -0.5), (1, 3))),
        ("Matern(1, nu=2.5) - 0.5 * Gaussian(2)", Matern(1, 2.5) - 0.5 * Gaussian(2)),
        ("-(Gaussian(1e-1 * 2) + Laplacian()) * Gaussian()", -(Gaussian(0.2) + Laplacian()) * Gaussian()),
        (" PolynomialOnSphere(3, 1) ", PolynomialOnSphere(3, 1)),
        ("ArcCosine(1)", ArcCosine(1)),
    ],
)
def test_expressions_are_kernels(text, kernel):
    assert repr(parse_kernel(text)) == repr(kernel)


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')",
        "open('file')",
        "Gaussian.__init__.__globals__",
        "Gaussian().set_params(scale=2)",
        "(lambda: Gaussian())()",
        "[Gaussian() for _ in (1,)][0]",
        "Gaussian('1')",
        "Gaussian(True)",
        "Gaussian(**{'scale': 1})",
        "Gaussian(*(1,))",
        "Gaussian if 1 else 2",
        "Gaussian",
        "Kernels()",
        "FromProfile(print)",
        "Gaussian() ** 2",
        "Gaussian() / 2",
        "DeltaGaussian((1,) * 1000000000, (1, 2))",
        "(x := Gaussian())",
        "3",
        "(Gaussian(), Gaussian())",
        "Gaussian(",
        "",
        "Gaussian()\nGaussian()",
        "Gaussian(\0)",
        "-" * 2000 + "Gaussian()",
    ],
)
def test_anything_else_is_refused(text):
    with pytest.raises(ValueError, match="A kernel expression m"):
        parse_kernel(text)


def test_parameters_are_checked_by_the_kernel():
    with pytest.raises(ValueError, match="scale must be a finite number > 0; got -1"):
        parse_kernel("Gaussian(-1)")


# ---- the numbers ----------------------------------------------------------------------------------------------------


def test_rows_of_the_table(rows_of_data):
    X_train, X_test = rows_of_data
    rows = compare(KERNEL, X_train, X_test, ["gorf-blocks", "qmc", "quadrature"], [30, 60], 4, random_state=0)
    assert [(row["method"], row["columns_asked"]) for row in rows] == [
        (method, width) for method in ("gorf-blocks", "qmc", "quadrature") for width in (30, 60)
    ]
    for row in rows:
        assert row["reason"] is None
        assert row["kernel"] == repr(KERNEL)
        assert row["reps"] == 4
        assert 0 < row["columns"] <= row["columns_asked"]
        assert 0 < row["error_std"] < 1.5 * row["error"]
        assert row["fit_seconds"] > 0
        assert row["transform_seconds_per_row"] > 0
    assert [row["columns"] for row in rows] == [28, 60, 28, 60, 21, 41]  # 4 s; quadrature 4 s + 1, s a multiple of 5
    again = compare(KERNEL, X_train, X_test, ["quadrature"], [60], 4, random_state=0)
    assert again[0]["error"] == rows[-1]["error"]  # streams have names: other methods do not shift the draws


def test_the_error_is_the_relative_error(rows_of_data):
    """Draws of a method that are known: the mean over them of krein.relative_error."""
    X_train, X_test = rows_of_data
    features = [make_features("grff", KERNEL, 40, random_state=seed).fit(X_train) for seed in range(100)]
    errors = [relative_error(KERNEL, one, X_test) for one in features]
    row = compare(KERNEL, X_train, X_test, ["grff"], [40], 60, random_state=1)[0]
    spread = np.std(errors) * np.sqrt(1 / 100 + 1 / 60)
    assert abs(row["error"] - np.mean(errors)) < 5 * spread


def test_bias_is_noise_for_unbiased_maps_and_more_for_others(rows_of_data):
    X = rows_of_data[1] / np.linalg.norm(rows_of_data[1], axis=1, keepdims=True)
    kernel = PolynomialOnSphere(3.0, 1)
    biased = compare(kernel, X, X, ["published-grff"], [400], 50, random_state=0)[0]
    assert biased["bias"] > 5 * biased["bias_noise"]  # measured 9 to 10
    unbiased = compare(KERNEL, X, X, ["grff"], [400], 50, random_state=0)[0]
    assert unbiased["bias"] < 5 * unbiased["bias_noise"]  # even if all entries of K_hat were one random number
    assert unbiased["bias_noise"] == pytest.approx(unbiased["error"] / np.sqrt(50), rel=0.25)


def test_methods_that_cannot_are_listed_with_their_reason(rows_of_data):
    rows = compare(KERNEL, *rows_of_data, ["rff", "quadrature", "grff"], [16, 64], 2, random_state=0)
    reasons = {(row["method"], row["columns_asked"]): row["reason"] for row in rows}
    assert "positive definite" in reasons["rff", 16]
    assert "needs at least 5 frequencies per sign" in reasons["quadrature", 16]
    assert reasons["quadrature", 64] is reasons["grff", 16] is None
    text = table(rows)
    assert "rff cannot at 16, 64 columns: This scheme needs a kernel that is positive definite" in text
    assert "quadrature cannot at 16 columns" in text
    assert "grff" in text


def test_methods_with_the_same_reason_are_listed_together(rows_of_data):
    text = table(compare(KERNEL, *rows_of_data, ["rff", "grff", "orf"], [16, 64], 2, random_state=0))
    assert "rff, orf cannot at 16, 64 columns: This scheme needs a kernel that is positive definite" in text
    assert text.count("cannot") == 1


def test_the_columns_that_quadrature_asks_for_are_enough(rows_of_data):
    X = rows_of_data[0]
    for kernel in (KERNEL, Gaussian()):
        for method in ("quadrature", "quadrature-5"):
            with pytest.raises(ValueError, match=r"take n_components = \d+ columns") as caught:
                make_features(method, kernel, 6, random_state=0).fit(X)
            needed = int(re.search(r"n_components = (\d+)", str(caught.value))[1])
            assert make_features(method, kernel, needed, random_state=0).fit_transform(X).shape[1] == needed
            with pytest.raises(ValueError, match=f"n_components = {needed} columns .*; got {needed - 1}"):
                make_features(method, kernel, needed - 1, random_state=0).fit(X)


def test_a_kernel_that_is_not_radial(rows_of_data):
    X = rows_of_data[1] / np.linalg.norm(rows_of_data[1], axis=1, keepdims=True)
    (row,) = compare(ArcCosine(1), X, X, ["gorf-blocks"], [16], 2, random_state=0)
    assert row["reason"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"methods": ["nothing"]}, "method must be one of"),
        ({"reps": 1}, "reps must be an integer >= 2"),
        ({"columns": [0]}, "columns must be an integer >= 1"),
    ],
)
def test_wrong_arguments(options, message, rows_of_data):
    with pytest.raises(ValueError, match=message):
        compare(KERNEL, *rows_of_data, **({"methods": ["grff"], "columns": [16]} | options))


# ---- the command ----------------------------------------------------------------------------------------------------

COMMAND = ["--kernel", "DeltaGaussian((1, -0.5), (1, 3))", "--data", "iris", "--columns", "16", "32", "--reps", "2"]


def test_the_command_prints_the_table(capsys):
    assert main([*COMMAND, "--methods", "grff", "gorf-blocks", "rff"]) == 0
    printed = capsys.readouterr().out
    assert "DeltaGaussian(weights=(1, -0.5), scales=(1, 3)) on iris, d = 4: 37 test rows, 2 draws" in printed
    assert len([line for line in printed.splitlines() if line.startswith(("grff", "gorf-blocks"))]) == 4
    assert "rff cannot" in printed


def test_the_command_writes_rows_and_pictures(tmp_path, capsys):
    pytest.importorskip("matplotlib", reason="pictures need the extra 'report'")
    assert main([*COMMAND, "--methods", "grff", "rff", "--out", str(tmp_path / "new" / "folder")]) == 0
    folder = tmp_path / "new" / "folder"
    rows = [json.loads(line) for line in (folder / "compare.jsonl").read_text("utf-8").splitlines()]
    assert [(row["method"], row["columns_asked"], row["data"]) for row in rows] == [
        (method, width, "iris") for method in ("grff", "rff") for width in (16, 32)
    ]
    for picture in ("error_against_columns", "error_against_time"):
        assert (folder / f"{picture}.png").read_bytes().startswith(b"\x89PNG")
        assert "<svg" in (folder / f"{picture}.svg").read_text("utf-8")
    assert capsys.readouterr().out.count("wrote ") == 4


@pytest.mark.parametrize(
    "wrong",
    [
        ["--kernel", "open('file')"],
        ["--data", "no such data"],
        ["--reps", "1"],
        ["--methods", "no-such-method"],
        ["--rows", "0"],
    ],
)
def test_the_command_refuses(wrong, capsys):
    with pytest.raises(SystemExit) as stopped:
        main([*COMMAND, "--methods", "grff", *wrong])
    assert stopped.value.code == 2
    assert "error:" in capsys.readouterr().err


def test_a_missing_matplotlib_names_the_extra(monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install 'krein\[report\]'"):
        need_matplotlib()
    with pytest.raises(SystemExit):
        main([*COMMAND, "--methods", "grff", "--out", str(tmp_path / "folder")])
    assert "krein[report]" in capsys.readouterr().err
    assert not (tmp_path / "folder").exists()


def test_every_default_method_is_registered():
    from krein.experiments.compare import DEFAULT_METHODS

    assert set(DEFAULT_METHODS) < set(FEATURE_MAPS)
    assert not [name for name in DEFAULT_METHODS if name.startswith("published")]
