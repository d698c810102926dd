"""Tests autotuned kernels: the plan contains every configuration as an alternative, and the
launcher chooses one."""

from __future__ import annotations

import os
import sys
from typing import Any

import torch

sys.path.insert(0, os.path.dirname(__file__))
from conftest import Report, Supervisor
from plan_reader import read_plan

HEAD = """
import torch
import triton
import triton.language as tl

def zero(args):
    args["y"].zero_()

@triton.autotune(
    configs=[triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 128}, pre_hook=zero), triton.Config({"BLOCK": 256}, num_warps=8)],
    key=["n"],
)
@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.jit
def scale(x, y, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if EVEN:
        tl.store(y + i, tl.load(x + i) * 2)
    else:
        tl.store(y + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)

def launch(x, y):
    scale[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, y, x.numel())
"""


def record(supervisor: Supervisor, body: str, **options: Any) -> Report:
    source = HEAD + "\ndef f(x):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    case = {"id": "a", "arguments": {"x": torch.zeros(1000)}}
    return supervisor.run(source, "f", [case], mode="record", **options)


def ops_of(report: Report) -> list[dict[str, Any]]:
    assert "error" not in report.types(), report.error()
    return list(read_plan(report.one("case").payload)["ops"])


def test_every_configuration_is_an_alternative_with_its_hook_and_heuristics(
    supervisor: Supervisor,
) -> None:
    report = record(supervisor, "y = torch.empty_like(x)\nlaunch(x, y)\nreturn y")
    (choice,) = ops_of(report)
    assert choice["op"] == "choice"
    assert [label.split(",")[0] for label, _ in choice["alternatives"]] == [
        "BLOCK: 64",
        "BLOCK: 128",
        "BLOCK: 256",
    ]
    assert [[op["op"] for op in ops] for _, ops in choice["alternatives"]] == [
        ["kernel"],
        ["fill", "kernel"],
        ["kernel"],
    ]
    assert [ops[-1]["grid"][0] for _, ops in choice["alternatives"]] == [16, 8, 4]
    assert report.one("case").header["notes"] == [
        "autotuner of scale: the launcher takes the fastest of 3 of 3 configurations"
    ]
    assert len(report.one("case").header["kernels"]) == 1


def test_initial_contents_of_a_buffer_are_written_for_every_choice(supervisor: Supervisor) -> None:
    ops = ops_of(record(supervisor, "y = torch.zeros_like(x)\nlaunch(x, y)\nreturn y"))
    assert [op["op"] for op in ops] == ["fill", "choice"]
    assert [[op["op"] for op in inner] for _, inner in ops[1]["alternatives"]] == [
        ["kernel"],
        ["fill", "kernel"],
        ["kernel"],
    ]


def test_launches_with_one_key_share_a_choice(supervisor: Supervisor) -> None:
    body = "y, z = torch.empty_like(x), torch.empty_like(x)\nlaunch(x, y)\nlaunch(y, z)\nlaunch(x[:500], y)\nreturn z"
    ops = ops_of(record(supervisor, body))
    assert [op["tunable"] for op in ops] == [0, 0, 1]


def test_host_code_that_reads_the_choice_fixes_it(supervisor: Supervisor) -> None:
    body = "y = torch.empty_like(x)\nlaunch(x, y)\nassert scale.best_config.kwargs['BLOCK'] == 64\nlaunch(y, x)\nreturn x"
    first, second = ops_of(record(supervisor, body))
    assert [label.split(",")[0] for label, _ in first["alternatives"]] == ["BLOCK: 64"]
    assert second["op"] == "kernel" and second["grid"] == (16, 1, 1)


def test_without_alternatives_the_first_configuration_that_compiles_is_used(
    supervisor: Supervisor,
) -> None:
    report = record(
        supervisor, "y = torch.empty_like(x)\nlaunch(x, y)\nreturn y", alternatives=False
    )
    (op,) = ops_of(report)
    assert op["op"] == "kernel" and op["grid"] == (16, 1, 1)
    assert (
        report.one("case")
        .header["notes"][0]
        .startswith("autotuner of scale: took the first of 3 configurations that compiles")
    )
