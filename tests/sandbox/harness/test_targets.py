"""Tests that three oracles can be recorded for every target, that plans have launch attributes, and
that backward passes can be recorded."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

sys.path.insert(0, os.path.dirname(__file__))
from conftest import Report, Supervisor
from harness.cuda_cpp import nvrtc
from harness.entry.fake_cuda import targets
from plan_reader import read_plan

STANDARD = Path(__file__).resolve().parents[3] / "operators" / "standard"
TARGETS = targets()
ORACLES: dict[str, dict[str, Any]] = {
    "vector_add": {"x": torch.zeros(4112), "y": torch.zeros(4112)},
    "softmax_last_dim": {"x": torch.zeros(7, 333)},
    "matmul_fp16": {
        "a": torch.zeros(256, 128, dtype=torch.float16),
        "b": torch.zeros(128, 256, dtype=torch.float16),
    },
}
HEAD = "import torch\nimport triton\nimport triton.language as tl\n"


def test_the_harness_knows_the_targets_of_the_server() -> None:
    header = (STANDARD.parents[1] / "sandbox/job/target.h").read_text()
    table = header[header.index("kTargets = {") :]
    assert targets() == re.findall(r'"([^"]+)"', table[: table.index("}")])
    assert list(nvrtc._ARCHITECTURES) == [name for name in targets() if name.startswith("cuda:")]


def plan_of(report: Report) -> dict[str, Any]:
    assert "error" not in report.types(), report.error()
    return read_plan(report.one("case").payload)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("operator", ORACLES)
def test_oracles_record_for_every_target(
    supervisor: Supervisor, operator: str, target: str
) -> None:
    source = (STANDARD / operator / "oracle.py").read_text()
    case = {"id": "a", "arguments": ORACLES[operator]}
    plan = plan_of(supervisor.run(source, operator, [case], mode="record", target=target))
    assert plan["target"] == target and plan["binaries"]
    assert all(binary["image"].startswith(b"\x7fELF\x02\x01") for binary in plan["binaries"])


@pytest.mark.parametrize(
    ("option", "cluster", "flags", "target"),
    [
        ("num_ctas=2", (2, 1, 1), 0, "cuda:90"),
        ("launch_cooperative_grid=True", (1, 1, 1), 1, "cuda:90"),
        ("launch_cooperative_grid=True", (1, 1, 1), 1, "hip:gfx942"),
        ("launch_pdl=True", (1, 1, 1), 2, "cuda:90"),
    ],
)
def test_launch_attributes(
    supervisor: Supervisor, option: str, cluster: tuple[int, int, int], flags: int, target: str
) -> None:
    source = (
        HEAD
        + f"""
@triton.jit
def k(x, y, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i))

def f(x):
    y = torch.empty_like(x)
    k[(4,)](x, y, BLOCK=256, {option})
    return y
"""
    )
    (op,) = plan_of(
        supervisor.run(
            source,
            "f",
            [{"id": "a", "arguments": {"x": torch.zeros(1024)}}],
            mode="record",
            target=target,
        )
    )["ops"]
    assert (op["grid"], op["cluster"], op["flags"]) == ((4 * cluster[0], 1, 1), cluster, flags)


BACKWARD = """
@triton.jit
def twice(x, y, n, FACTOR: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) * FACTOR, mask=i < n)

class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, unused):
        ctx.save_for_backward(x)
        y = torch.empty_like(x)
        twice[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), FACTOR=2, BLOCK=256)
        return y, torch.empty_like(x), None

    @staticmethod
    def backward(ctx, dy, dz, none):
        assert none is None and dz.shape == dy.shape
        (x,) = ctx.saved_tensors
        dx = torch.empty_like(x)
        twice[(triton.cdiv(x.numel(), 256),)](dy, dx, x.numel(), FACTOR=2, BLOCK=256)
        return dx, None
"""


@pytest.mark.parametrize(
    "call",
    [
        "return torch.autograd.grad(y, x, g)[0]",
        "y.backward(g)\nreturn x.grad",
        "torch.autograd.backward([y], [g])\nreturn x.grad",
        "return torch.autograd.grad(y.view(-1), [x], g.view(-1))[0]",
    ],
)
def test_backward_passes_are_recorded(supervisor: Supervisor, call: str) -> None:
    body = "x = x.detach().requires_grad_()\ny, z, _ = Twice.apply(x, 3)\n" + call
    source = (
        HEAD
        + BACKWARD
        + "\ndef f(x, g):\n"
        + "".join(f"    {line}\n" for line in body.splitlines())
    )
    arguments = {"x": torch.zeros(8, 40), "g": torch.zeros(8, 40)}
    ops = plan_of(
        supervisor.run(source, "f", [{"id": "a", "arguments": arguments}], mode="record")
    )["ops"]
    assert [op["op"] for op in ops] == ["kernel", "fill", "kernel"] or [op["op"] for op in ops] == [
        "kernel",
        "kernel",
    ]
    assert ops[0]["params"][0] == ("pointer", 0, 0) and ops[-1]["params"][0] == ("pointer", 1, 0)


def test_gradients_meet(supervisor: Supervisor) -> None:
    body = "x = x.detach().requires_grad_()\ny = Twice.apply(x, 3)[0] + Twice.apply(x, 4)[0]\nreturn torch.autograd.grad(y, x, g)[0]"
    source = (
        HEAD
        + BACKWARD
        + "\ndef f(x, g):\n"
        + "".join(f"    {line}\n" for line in body.splitlines())
    )
    arguments = {"x": torch.zeros(8, 40), "g": torch.zeros(8, 40)}
    plan = plan_of(
        supervisor.run(
            source, "f", [{"id": "a", "arguments": arguments}], mode="record", arithmetic=True
        )
    )
    names = [plan["binaries"][op["binary"]]["kernel"] for op in plan["ops"] if op["op"] == "kernel"]
    assert names == ["twice", "twice", "assay_pointwise", "twice", "twice", "assay_pointwise"]


def test_double_backward_is_refused(supervisor: Supervisor) -> None:
    body = "x = x.detach().requires_grad_()\nreturn torch.autograd.grad(Twice.apply(x, 3)[0], x, g, create_graph=True)[0]"
    source = (
        HEAD
        + BACKWARD
        + "\ndef f(x, g):\n"
        + "".join(f"    {line}\n" for line in body.splitlines())
    )
    arguments = {"x": torch.zeros(8, 40), "g": torch.zeros(8, 40)}
    error = supervisor.run(
        source, "f", [{"id": "a", "arguments": arguments}], mode="record"
    ).error()
    assert error["kind"] == "not_recordable" and "create_graph" in error["message"]
