"""Tests that the cross-check of tests/gpu finds differences: a graph that is built from the plan
itself agrees, and a graph with any changed part does not."""

from __future__ import annotations

import copy
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

sys.path.insert(0, os.path.dirname(__file__))
sys.path.append(str(Path(__file__).resolve().parents[2] / "gpu"))
from conftest import Supervisor
from graph_agreement import differences
from plan_reader import read_plan

SOURCE = """
import torch
import triton
import triton.language as tl

@triton.jit
def add(x, y, z, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(z + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)

@triton.jit
def twice(z, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(z + i, tl.load(z + i, mask=i < n) * 2, mask=i < n)

def f(x, y):
    z = torch.zeros_like(x)
    n = x.numel() - 100
    add[(triton.cdiv(n, 256),)](x[100:], y[100:], z, n, BLOCK=256)
    twice[(triton.cdiv(n, 256),)](z, n, BLOCK=256)
    return z[:n]
"""
BASES = {0: 0x1000000, 1: 0x2000000, 2: 0x3000000}


def data_of(param: tuple[Any, ...]) -> str:
    value, size = {
        "scalar": lambda: (param[2], param[1]),
        "pointer": lambda: (BASES[param[1]] + param[2], 8),
        "null": lambda: (0, 8),
    }[param[0]]()
    return value.to_bytes(size, "little").hex()


@pytest.fixture(scope="module")
def plan(supervisor: Supervisor) -> dict[str, Any]:
    arguments = {"x": torch.zeros(1000), "y": torch.zeros(1000)}
    report = supervisor.run(SOURCE, "f", [{"id": "a", "arguments": arguments}], mode="record")
    assert "error" not in report.types(), report.error()
    return read_plan(report.one("case").payload)


@pytest.fixture
def captured(plan: dict[str, Any]) -> dict[str, Any]:
    """Returns the graph that a driver would have captured. Among its kernels is a fill by torch."""
    kernels = [
        {
            "name": plan["binaries"][op["binary"]]["kernel"],
            **{key: list(op[key]) for key in ("grid", "block", "cluster")},
            "shared_bytes": plan["binaries"][op["binary"]]["shared"],
            "params": [data_of(param) for param in op["params"]],
        }
        for op in plan["ops"]
        if op["op"] == "kernel"
    ]
    kernels.insert(0, {"name": "vectorized_elementwise_kernel", "grid": [1, 1, 1]})
    return {
        "kernels": kernels,
        "arguments": {"x": [BASES[0], 4000], "y": [BASES[1], 4000]},
        "outputs": [BASES[2]],
    }


def test_the_same_work_agrees(plan: dict[str, Any], captured: dict[str, Any]) -> None:
    assert len(captured["kernels"]) == 3
    assert differences(plan, captured) == []


def pointer(address: int) -> str:
    return address.to_bytes(8, "little").hex()


CHANGES: dict[str, tuple[Callable[[dict[str, Any]], None], str]] = {
    "grid": (
        lambda c: c["kernels"][1].update(grid=[5, 1, 1]),
        "kernel 0, add: grid (4, 1, 1) in the plan, [5, 1, 1] in the graph",
    ),
    "block": (lambda c: c["kernels"][2].update(block=[64, 1, 1]), "kernel 1, twice: block"),
    "cluster": (lambda c: c["kernels"][2].update(cluster=[2, 1, 1]), "kernel 1, twice: cluster"),
    "shared": (
        lambda c: c["kernels"][1].update(shared_bytes=16),
        "kernel 0, add: shared bytes 0 in the plan, 16 in the graph",
    ),
    "order": (
        lambda c: c["kernels"].reverse(),
        "kernels of the plan: add, twice; of the graph: twice, add",
    ),
    "missing": (lambda c: c["kernels"].pop(), "kernels of the plan: add, twice"),
    "scalar": (
        lambda c: c["kernels"][1]["params"].__setitem__(3, "01000000"),
        "argument 3: the plan says 900 (4 bytes), the graph 1",
    ),
    "width": (
        lambda c: c["kernels"][1]["params"].__setitem__(3, "8403000000000000"),
        "the graph 900 (8 bytes)",
    ),
    "offset": (
        lambda c: c["kernels"][1]["params"].__setitem__(0, pointer(BASES[0])),
        "the plan says x + 400, the graph x + 0",
    ),
    "swapped": (
        lambda c: c["kernels"][1]["params"].__setitem__(1, pointer(BASES[0] + 400)),
        "argument 1: the plan says y + 400",
    ),
    "scratch": (
        lambda c: c["kernels"][2]["params"].__setitem__(0, pointer(BASES[2] + 4)),
        "kernel 1, twice, argument 0: the plan says",
    ),
    "aliased": (
        lambda c: [
            c["kernels"][i]["params"].__setitem__(2 if i == 1 else 0, pointer(BASES[0]))
            for i in (1, 2)
        ],
        "the graph x + 0",
    ),
    "null": (lambda c: c["kernels"][2]["params"].__setitem__(-1, pointer(1)), "the plan says null"),
    "parameters": (lambda c: c["kernels"][2]["params"].pop(), "number of parameters"),
    "output": (lambda c: c.update(outputs=[BASES[2] + 8]), "output 0: the plan says"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_any_change_is_found(plan: dict[str, Any], captured: dict[str, Any], name: str) -> None:
    change, words = CHANGES[name]
    changed = copy.deepcopy(captured)
    change(changed)
    found = differences(plan, changed)
    assert any(words in problem for problem in found), found
