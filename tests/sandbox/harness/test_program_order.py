"""Tests runs in reverse order: they must find races between the programs of a grid, and find
nothing in a submission without a race."""

from __future__ import annotations

import os
import sys
from typing import Any

import pytest
import torch

sys.path.insert(0, os.path.dirname(__file__))
from conftest import Supervisor

N = 100
HEAD = """
import torch
import triton
import triton.language as tl

@triton.jit
def kernel(x, y, state, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    at = pid * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n, other=0.0)
"""
HOST = """
def entry(x):
    y = torch.zeros(1, device=x.device)
    state = torch.zeros(64, device=x.device)
    kernel[(7,)](x, y, state, x.numel(), BLOCK=16)
    return y
"""

RACES = {
    "read, add and store": "tl.store(y, tl.load(y) + tl.sum(v))",
    "the last store counts": "tl.store(y, tl.sum(v))",
    "a later program reads what an earlier one stored": """
tl.store(state + pid, tl.sum(v))
if pid == 6:
    tl.store(y, tl.sum(tl.load(state + tl.arange(0, 8))))
""",
}
HONEST = {
    "an atomic sum": "tl.atomic_add(y, tl.sum(v))",
    "the last program adds the parts": """
tl.store(state + pid, tl.sum(v))
if tl.atomic_add(state + 32, 1.0) == 6:
    tl.store(y, tl.sum(tl.load(state + tl.arange(0, 8))))
""",
    "a lock": """
while tl.atomic_cas((state + 32).to(tl.pointer_type(tl.int32)), 0, 1) == 1:
    pass
tl.store(y, tl.load(y) + tl.sum(v))
tl.atomic_xchg((state + 32).to(tl.pointer_type(tl.int32)), 0)
""",
    "every program stores the same": "tl.store(y, tl.sum(tl.load(x + tl.arange(0, 128), mask=tl.arange(0, 128) < n, other=0.0)))",
    "one program reads its own stores": """
if pid == 0:
    total = 0.0
    for i in range(7):
        w = tl.load(x + i * BLOCK + tl.arange(0, BLOCK), mask=i * BLOCK + tl.arange(0, BLOCK) < n, other=0.0)
        tl.store(y, tl.load(y) + tl.sum(w))
""",
}


def result(supervisor: Supervisor, body: str, mode: str) -> Any:
    lines = "\n".join("    " + line for line in body.strip("\n").split("\n"))
    x = torch.arange(1.0, N + 1)
    report = supervisor.run(
        HEAD + lines + "\n" + HOST, "entry", [{"id": "a", "arguments": {"x": x}}], mode=mode
    )
    assert "error" not in report.types(), report.error()
    return report.outputs["a"][0]


@pytest.mark.parametrize("body", [*RACES.values(), *HONEST.values()], ids=[*RACES, *HONEST])
def test_a_reverse_order_shows_races_and_only_races(supervisor: Supervisor, body: str) -> None:
    right = torch.tensor([float(N * (N + 1) // 2)])
    if body != RACES["the last store counts"]:
        assert torch.equal(result(supervisor, body, "interpret"), right)
    reversed_result = result(supervisor, body, "reorder")
    assert torch.equal(reversed_result, right) == (body in HONEST.values()), reversed_result


def test_the_last_store_differs_between_the_orders(supervisor: Supervisor) -> None:
    body = RACES["the last store counts"]
    assert not torch.equal(
        result(supervisor, body, "interpret"), result(supervisor, body, "reorder")
    )
