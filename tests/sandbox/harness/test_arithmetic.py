"""Tests the arithmetic that wrappers do in torch around their kernels. The tests compare Assay's
kernels, in Triton's interpreter, with torch, and check how the kernels are recorded."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

sys.path.insert(0, os.path.dirname(__file__))
from conftest import Report, Supervisor
from plan_reader import read_plan

ROOT = Path(__file__).resolve().parents[3]
AGAINST_TORCH = """
import sys
import torch
from harness.recording import arithmetic_kernels as ak

torch.manual_seed(0)
x, y = torch.randn(3000), torch.randn(3000)
x[7] = float("nan")
for name in sorted(ak.UNARY):
    source = x.abs() + 0.5 if name in ("log", "sqrt", "rsqrt", "reciprocal") else x
    want = getattr(torch, name)(source)
    out = torch.empty_like(want)
    ak.launch_pointwise(name, out, [source], 0, torch.float32)
    torch.testing.assert_close(out, want, rtol=1e-5, atol=1e-6, equal_nan=True, msg=lambda said: f"{name}: {said}")
for name in sorted(ak.BINARY):
    for a, b, dtype in ((x, y, torch.float32), (x.double(), y.double(), torch.float64), (x.half(), y.half(), torch.float16)):
        want = getattr(torch, name)(a, b)
        out = torch.empty_like(want)
        ak.launch_pointwise(name, out, [a, b], 0, dtype)
        torch.testing.assert_close(out, want, rtol=1e-6 if dtype != torch.float16 else 1e-3, atol=1e-6, equal_nan=True, msg=name)
        if name not in ("maximum", "minimum"):
            want = getattr(torch, name)(a, 0.25)
            ak.launch_pointwise(name, out, [a], 0.25, dtype)
            torch.testing.assert_close(out, want, rtol=1e-6 if dtype != torch.float16 else 1e-3, atol=1e-6, equal_nan=True, msg=name)
i = torch.randint(-100, 100, (3000,))
for name in ("add", "sub", "mul", "maximum", "le"):
    want = getattr(torch, name)(i, i.flip(0))
    out = torch.empty_like(want)
    ak.launch_pointwise(name, out, [i, i.flip(0)], 0, torch.int64)
    assert torch.equal(out, want), name
ak.launch_pointwise("rsub", out.float(), [x], 1.0, torch.float32)
for name, want in (("rsub", 1.0 - x), ("rdiv", 1.0 / x)):
    out = torch.empty_like(x)
    ak.launch_pointwise(name, out, [x], 1.0, torch.float32)
    torch.testing.assert_close(out, want, equal_nan=True)

def dense(tensor):
    copies.append(tensor)
    return tensor.contiguous()

big, copies = torch.randn(6, 11, 14), []
for dims in ([0], [1], [2], [0, 1], [1, 2], [0, 2], [0, 1, 2]):
    for name in sorted(ak.REDUCTIONS):
        want = getattr(torch, name)(big, dims)
        out = torch.empty_like(want)
        ak.launch_reduce(name, out, big, dims, dense)
        torch.testing.assert_close(out, want, rtol=1e-5, atol=1e-4, msg=f"{name} {dims}")
assert len(copies) == 4 * 2, "only dimensions 0 and 2 together, kept or reduced, need a dense copy"
long = torch.randn(2, 20_000)
for name in sorted(ak.REDUCTIONS):
    want = getattr(torch, name)(long.double(), [1]).float()
    out = torch.empty_like(want)
    ak.launch_reduce(name, out, long, [1], dense)
    torch.testing.assert_close(out, want, rtol=1e-5, atol=1e-4, msg=f"{name}, several programs")
numbers = torch.randint(-(2**40), 2**40, (30, 40))
for name in ("sum", "amax", "amin"):
    want = getattr(torch, name)(numbers, [1])
    out = torch.empty_like(want)
    ak.launch_reduce(name, out, numbers, [1], dense)
    assert torch.equal(out, want), name
counted = torch.empty((), dtype=torch.int64)
ak.launch_reduce("sum", counted, numbers > 0, [0, 1], dense)
assert counted.item() == (numbers > 0).sum().item()
with_nan = torch.tensor([[1.0, float("nan"), 2.0], [3.0, 1.0, 2.0]])
out = torch.empty(2)
ak.launch_reduce("amax", out, with_nan, [1], dense)
assert out[0].isnan() and out[1] == 3
print("checked")
"""
HEAD = "import torch\nimport triton\nimport triton.language as tl\n"


def test_the_kernels_compute_the_same_as_torch(tmp_path: Path) -> None:
    script = tmp_path / "against_torch.py"
    script.write_text(AGAINST_TORCH)
    environment = {**os.environ, "TRITON_INTERPRET": "1", "PYTHONPATH": str(ROOT / "sandbox")}
    done = subprocess.run(
        [sys.executable, str(script)], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0 and done.stdout.strip() == "checked", done.stdout + done.stderr


def record(supervisor: Supervisor, body: str, **options: Any) -> Report:
    source = HEAD + "\ndef f(x, n):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    arguments = {"x": torch.zeros(64, 32), "n": torch.zeros(64, dtype=torch.int32)}
    case = {"id": "a", "arguments": arguments}
    return supervisor.run(source, "f", [case], mode="record", arithmetic=True, **options)


def names_of(report: Report) -> list[str]:
    assert "error" not in report.types(), report.error()
    plan = read_plan(report.one("case").payload)
    return [
        plan["binaries"][op["binary"]]["kernel"].removeprefix("assay_")
        if op["op"] == "kernel"
        else op["op"]
        for op in plan["ops"]
    ]


@pytest.mark.parametrize(
    ("body", "operations"),
    [
        ("return x + 1", ["pointwise"]),
        (
            "return 1.0 / x.abs().max().unsqueeze(0)",
            ["pointwise", "reduce", "pointwise", "pointwise"],
        ),
        ("return x.sum(0)", ["reduce"]),
        ("return (x * 2).mean()", ["pointwise", "reduce"]),
        ("return x + x.t().reshape(64, 32)", ["copy", "pointwise"]),
        ("return x * x.sum(1, keepdim=True)", ["reduce", "copy", "pointwise"]),
        (
            "y = torch.zeros_like(x)\ny += x\ny.mul_(0.5)\nreturn y",
            ["fill", "pointwise", "pointwise"],
        ),
        ("return (x > 0).sum()", ["pointwise", "reduce"]),
        ("return n + n", ["pointwise"]),
        ("return n / 3", ["pointwise"]),
        ("return x.t() - 1", ["copy", "pointwise", "copy"]),
        ("return torch.maximum(x, torch.tensor(0.0, device='cuda'))", ["pointwise"]),
        ("return x + torch.rand_like(x)", ["copy", "pointwise"]),
        ("return torch.view_as_real(torch.view_as_complex(x.view(64, 16, 2)).sum(0))", ["reduce"]),
        ("return torch.count_nonzero(n != -100)", ["pointwise", "pointwise", "reduce"]),
        ("return (x.cuda(0) * 2).to(0)", ["pointwise"]),
        (
            "return torch.ops.inductor._reinterpret_tensor(x, (32, 8), (8, 1), 16) * 2",
            ["pointwise"],
        ),
        ("return x + torch.zeros(32, device=0)", ["fill", "pointwise"]),
        ("return x.new_empty(0).sum() if x.is_cpu else x.sum((0, 1))", ["reduce"]),
    ],
)
def test_arithmetic_becomes_launches_of_assays_kernels(
    supervisor: Supervisor, body: str, operations: list[str]
) -> None:
    assert names_of(record(supervisor, body)) == operations


@pytest.mark.parametrize("target", ["cuda:80", "cuda:100", "hip:gfx942", "hip:gfx950"])
def test_other_targets(supervisor: Supervisor, target: str) -> None:
    assert names_of(record(supervisor, "return (x * 2).sum(0).half()", target=target)) == [
        "pointwise",
        "reduce",
        "copy_in_order",
    ]


def test_notes_name_the_kernels_that_computed(supervisor: Supervisor) -> None:
    report = record(supervisor, "return x.sum(0) * torch.rand(32, device='cuda')")
    assert "error" not in report.types()
    assert report.one("case").header["notes"] == [
        "aten::sum is performed by Assay's kernel assay_reduce",
        "aten::rand: its random numbers were drawn when the plan was recorded, and are constants of it",
        "aten::mul is performed by Assay's kernel assay_pointwise",
    ]


@pytest.mark.parametrize(
    ("body", "operation"),
    [
        ("return x.to(torch.float8_e5m2) * 1", "aten::_to_copy"),
        ("return torch.add(x, x, alpha=2)", "aten::add"),
        ("return torch.div(x, 3, rounding_mode='floor')", "aten::div"),
        ("return n + 2**60", "aten::add"),
        ("return x.max(dim=1).values", "aten::max"),
        ("return x.softmax(1)", "aten::_softmax"),
    ],
)
def test_other_operations_are_refused_by_name(
    supervisor: Supervisor, body: str, operation: str
) -> None:
    error = record(supervisor, body).error()
    assert (
        error["kind"] == "not_recordable" and operation in error["message"] and error["line"] == 6
    ), error
