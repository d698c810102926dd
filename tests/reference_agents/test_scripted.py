"""Checks that the scripted answers are the mix that the demo promises: right, slow and wrong
answers, and answers that do not compile, each for its own reason."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]

RIGHT = (
    "vector_add",
    "gelu_tanh",
    "layer_norm_fwd",
    "layer_norm_bwd",
    "matmul_fp32_ieee",
    "embedding_bwd",
    "flash_attn_causal",
    "rope_neox",
)
SLOW = ("cumsum_last_dim", "clamped_affine_scan")
WRONG = {
    "softmax_last_dim": "got nan",
    "quant_int8_rowwise": "short_ties: output values",
    "adamw_step": "first at [2816]",
}
NO_COMPILE = {"matmul_fp16": "has no attribute 'matmul'", "jagged_softmax": "line 18: expected ':'"}
NEEDS_GPU = ("gluon_blocked_add",)


@pytest.fixture(scope="module")
def ends() -> dict[str, dict[str, Any]]:
    program = [sys.executable, "-W", "ignore", str(Path(__file__).with_name("scripted_check.py"))]
    done = subprocess.run(
        program,
        env={**os.environ, "TRITON_INTERPRET": "1"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return {end["operator"]: end for end in map(json.loads, done.stdout.splitlines())}


def test_there_is_one_answer_for_each_of_the_16(ends: dict[str, dict[str, Any]]) -> None:
    assert sorted(ends) == sorted((*RIGHT, *SLOW, *WRONG, *NO_COMPILE, *NEEDS_GPU))
    assert len(ends) == 16


@pytest.mark.parametrize("name", (*RIGHT, *SLOW))
def test_right(ends: dict[str, dict[str, Any]], name: str) -> None:
    assert ends[name]["outcome"] == "pass", ends[name]


@pytest.mark.parametrize("name", SLOW)
def test_slow_ones_launch_one_program(name: str) -> None:
    assert "[(1,)](" in (ROOT / f"reference_agents/llm/scripted/{name}.md").read_text()


@pytest.mark.parametrize("name", WRONG)
def test_wrong(ends: dict[str, dict[str, Any]], name: str) -> None:
    assert ends[name]["outcome"] == "wrong", ends[name]
    assert WRONG[name] in ends[name]["detail"]


@pytest.mark.parametrize("name", NO_COMPILE)
def test_not_compiling(ends: dict[str, dict[str, Any]], name: str) -> None:
    assert ends[name]["outcome"] == "no_compile", ends[name]
    assert NO_COMPILE[name] in ends[name]["detail"]


@pytest.mark.parametrize("name", NEEDS_GPU)
def test_without_an_interpreter(ends: dict[str, dict[str, Any]], name: str) -> None:
    assert ends[name]["outcome"] == "unsupported"
