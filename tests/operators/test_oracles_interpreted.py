"""Every oracle without a GPU: its numbers in Triton's interpreter, and its kernels through the compiler for an NVIDIA target.

One subprocess for each, because a process that interprets cannot compile.
"""

from __future__ import annotations

import json
import subprocess
import sys

try:
    import tomllib
except ModuleNotFoundError:
    import tomli as tomllib  # type: ignore[no-redef]
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent
SPECS = [tomllib.loads(path.read_text()) for path in sorted((HERE.parents[1] / "operators").glob("*/*/spec.toml"))]
INTERPRETED = [(spec["name"], row["id"]) for spec in SPECS for row in spec["cases"] if row["interpreter"]]
COMPILED = [(spec["name"], row["id"]) for spec in SPECS for row in spec["cases"]]

SECONDS_PER_CASE = 2.0
SHARE_OF_TOLERANCE = 0.5  # a right answer keeps at least half of the tolerance in hand


def records(action: str) -> dict[tuple[str, str], dict[str, Any]]:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(HERE / "oracle_checks.py"), action],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    if done.returncode != 0:
        pytest.fail(f"oracle_checks.py {action} stopped after {len(lines)} cases:\n{done.stderr[-3000:]}")
    return {(line["operator"], line["case"]): line for line in lines}


@pytest.fixture(scope="module")
def interpreted() -> dict[tuple[str, str], dict[str, Any]]:
    return records("interpret")


@pytest.fixture(scope="module")
def compiled() -> dict[tuple[str, str], dict[str, Any]]:
    return records("compile")


def test_there_are_operators() -> None:
    assert len(SPECS) >= 16
    assert len(INTERPRETED) >= 30


@pytest.mark.parametrize("key", INTERPRETED, ids="-".join)
def test_oracle_is_right_in_the_interpreter(interpreted: dict[tuple[str, str], dict[str, Any]], key: tuple[str, str]) -> None:
    record = interpreted[key]
    assert record["error"] <= SHARE_OF_TOLERANCE, record
    assert record["float64_error"] <= SHARE_OF_TOLERANCE, record
    assert record["modified_inputs"] == []
    assert record["reference_pure"]
    assert record["bytes_agree"]
    assert record["seconds"] <= SECONDS_PER_CASE, record


@pytest.mark.parametrize("key", COMPILED, ids="-".join)
def test_oracle_compiles_for_hopper(compiled: dict[tuple[str, str], dict[str, Any]], key: tuple[str, str]) -> None:
    launches = compiled[key]["launches"]
    assert launches, "the oracle launched nothing"
    for launch in launches:
        assert launch["cubin"] > 0
        assert launch["shared"] <= 227 * 1024, "more shared memory than a block of an H100 or H200 may have"
        assert 0 < launch["grid"][0] < 2**31


def test_tensor_cores_are_used_where_they_may_be(compiled: dict[tuple[str, str], dict[str, Any]]) -> None:
    assert all(launch["mma"] for launch in compiled["matmul_fp16", "large"]["launches"])
    assert all(launch["mma"] for launch in compiled["flash_attn_causal", "large"]["launches"])
    assert not any(launch["tf32"] for launch in compiled["matmul_fp32_ieee", "large"]["launches"])
