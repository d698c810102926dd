"""Checks outputs that are -1 where there is nothing to say. Memory before a run does not contain -1,
so a kernel that does not store it is wrong, and one that does store it is seen to have done so, also
if its outputs are copied afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest
from cheat_server import CheatServer

ROOT = Path(__file__).resolve().parent.parent.parent
OPERATOR = "moe_permute_align"
ORACLE = (ROOT / f"operators/standard/{OPERATOR}/oracle.py").read_text(encoding="utf-8")
STORE = "tl.store(owner_ptr + number, tl.where(inside, owner, -1), mask=number < max_blocks)"
RETURNED = "return slots, owner, used"


def changed(old: str, new: str) -> str:
    assert ORACLE.count(old) == 1
    return ORACLE.replace(old, new)


def check(server: CheatServer) -> None:
    without = server.send_source(
        OPERATOR, changed(STORE, "tl.store(owner_ptr + number, owner, mask=inside)")
    )
    assert (without["outcome"], without["error_kind"]) == ("fail", "wrong_result"), without
    cloned = server.send_source(
        OPERATOR, changed(RETURNED, "return slots.clone(), owner.clone(), used.clone()")
    )
    assert cloned["outcome"] == "pass", cloned["summary"]


def test_marks_on_the_cpu(cpu_server: CheatServer) -> None:
    check(cpu_server)


@pytest.mark.gpu
def test_marks_on_the_gpu(gpu_server: CheatServer) -> None:
    check(gpu_server)
