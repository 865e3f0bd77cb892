"""The benchmark of sampling runs and prints its ratios."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest


@pytest.mark.parametrize("directions", ["blocks", "joint"])
def test_it_prints_one_ratio_per_kernel(repository, directions):
    script = repository / "benchmarks" / "sampling_time.py"
    sizes = ["--dim", "8", "--frequencies", "32", "--rounds", "2", "--directions", directions]
    done = subprocess.run([sys.executable, str(script), *sizes], capture_output=True, text=True, check=True)
    ratios = re.findall(r"^(.+?) +[\d.]+ ms / +[\d.]+ ms = +([\d.]+)$", done.stdout, flags=re.MULTILINE)
    assert [name for name, _ in ratios] == ["Gaussian", "delta-Gaussian", "Matern 3/2"]
    assert all(float(ratio) > 0 for _, ratio in ratios)


def test_too_few_frequencies_are_refused(repository):
    script = repository / "benchmarks" / "sampling_time.py"
    command = [sys.executable, str(script), "--dim", "8", "--frequencies", "8"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "frequencies must be at least 2 dim" in done.stderr
