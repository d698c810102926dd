"""Tests sandbox/harness/triton_adapter/reductions.py: reductions and scans in the interpreter have
the same bits as with the interpreter's own implementation, with fewer calls."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[4]
KERNELS = Path(__file__).with_name("combine_kernels.py")
ROWS, COLUMNS = 8, 16
# Combine functions that work for single elements only.
ONLY_ELEMENTS = ("branches", "of_a_block", "sums-within")


@pytest.fixture(scope="module")
def results() -> dict[str, dict[str, Any]]:
    command = [sys.executable, str(KERNELS), str(ROOT / "sandbox")]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    loaded: dict[str, dict[str, Any]] = json.loads(ran.stdout)
    return loaded


def test_all_bits_are_the_same(results: dict[str, dict[str, Any]]) -> None:
    assert len(results) > 30
    for name, result in results.items():
        if name == "no-such-axis":
            continue
        assert "error" not in result["slices"], (name, result)
        if name != "last-axis":
            assert result["slices"]["bits"] == result["elements"]["bits"], name


def test_a_negative_axis_counts_from_the_end(results: dict[str, dict[str, Any]]) -> None:
    """The interpreter's own implementation computes something else."""
    last, second = results["last-axis"], results["scan-1-torch.float32"]
    assert last["slices"]["bits"] == second["slices"]["bits"]
    assert last["elements"]["bits"] != second["elements"]["bits"]


def test_an_axis_out_of_range_is_refused(results: dict[str, dict[str, Any]]) -> None:
    assert "axis -3 is out of range" in results["no-such-axis"]["slices"]["error"]


def test_a_combine_function_gets_whole_slices(results: dict[str, dict[str, Any]]) -> None:
    by_axis = {"0": ROWS - 1, "1": COLUMNS - 1}
    checked = 0
    for name, result in results.items():
        axis = name.removeprefix("sums-within-").split("-")[1:2]
        if name.startswith(ONLY_ELEMENTS) or not axis or axis[0] not in by_axis:
            continue
        assert result["slices"]["calls"] == by_axis[axis[0]], name
        assert result["elements"]["calls"] > result["slices"]["calls"], name
        checked += 1
    assert checked > 20


def test_other_combine_functions_get_elements(results: dict[str, dict[str, Any]]) -> None:
    names = [name for name in results if name.startswith(ONLY_ELEMENTS)]
    assert len(names) == 10
    for name in names:
        tried = results[name]["slices"]["calls"] - results[name]["elements"]["calls"]
        assert tried == 1, name  # the first slices showed that the function needs elements
