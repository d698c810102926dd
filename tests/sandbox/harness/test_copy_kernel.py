"""Tests copies and conversions for which torch would use its own kernels: the results of Assay's
copy kernel in the interpreter, and how it is recorded."""

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
LAYOUTS = """
import itertools, sys
import torch
from harness.recording import copy_kernel as ck

def filled(dtype, shape):
    n = torch.Size(shape).numel()
    x = (torch.arange(n, dtype=torch.float64) * 0.37 - n / 5).reshape(shape)
    return (x > 0) if dtype == torch.bool else x.abs().to(dtype) if not dtype.is_signed else x.to(dtype)

def check(target, source):
    want = torch.empty_strided(target.shape, target.stride(), dtype=target.dtype).copy_(source)
    target.zero_()
    ck.launch_copy(target, source)
    assert torch.equal(target, want), (source.dtype, target.dtype, source.shape, source.stride(), target.stride())

views = [
    lambda x: x, lambda x: x.t(), lambda x: x[:, 1:], lambda x: x[::2, ::3], lambda x: x.view(3, 4, 10).permute(2, 0, 1),
    lambda x: x.view(2, 6, 2, 5).permute(3, 1, 2, 0), lambda x: x[:1, :1], lambda x: x[0], lambda x: x[:, :1].expand(12, 10),
    lambda x: x.view(2, 2, 3, 2, 5).permute(4, 3, 2, 1, 0)[:, :, 1:], lambda x: x[3, 3],
]
for view in views:
    source = view(filled(torch.float32, (12, 10)))
    check(torch.empty(source.shape), source)
    check(torch.empty(source.shape[::-1]).permute(list(range(source.dim()))[::-1]), source)
dtypes = [torch.float64, torch.float32, torch.float16, torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool]
for a, b in itertools.product(dtypes, dtypes):
    assert ck.can_convert(a, b)
    check(torch.empty(7, 9, dtype=b), filled(a, (9, 7)).t())
check(torch.empty(3000, dtype=torch.complex64), torch.view_as_complex(filled(torch.float32, (3000, 2))))
assert not ck.can_convert(torch.float32, torch.float8_e4m3fn) and ck.can_convert(torch.float8_e5m2, torch.float8_e5m2)
assert ck.collapsed((4, 1, 5, 6), (60, 9, 6, 1), (30, 9, 6, 1)) == ([4, 30], [[60, 1], [30, 1]])
try:
    ck.launch_copy(torch.empty([2] * 7), torch.empty([2] * 7).permute(6, 5, 4, 3, 2, 1, 0))
    sys.exit("seven dimensions were copied")
except ValueError as error:
    assert "the limit is 6" in str(error)
print("checked")
"""
HEAD = "import torch\nimport triton\nimport triton.language as tl\n"


def test_layouts_and_types_are_copied_as_torch_does(tmp_path: Path) -> None:
    script = tmp_path / "layouts.py"
    script.write_text(LAYOUTS)
    environment = {**os.environ, "TRITON_INTERPRET": "1", "PYTHONPATH": str(ROOT / "sandbox")}
    done = subprocess.run(
        [sys.executable, str(script)], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0 and done.stdout.strip() == "checked", done.stdout + done.stderr


def record(
    supervisor: Supervisor, body: str, arguments: dict[str, Any] | None = None, **options: Any
) -> Report:
    source = (
        HEAD + "\ndef f(x, **other):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    )
    case = {
        "id": "a",
        "arguments": arguments or {"x": torch.zeros(64, 32)},
        "outputs": options.pop("outputs", 1),
    }
    return supervisor.run(source, "f", [case], mode="record", **options)


def plan_of(report: Report) -> dict[str, Any]:
    assert "error" not in report.types(), report.error()
    return read_plan(report.one("case").payload)


@pytest.mark.parametrize("target", ["cuda:80", "cuda:90", "hip:gfx942"])
def test_a_conversion_is_a_launch_of_assays_kernel(supervisor: Supervisor, target: str) -> None:
    report = record(supervisor, "return x.half()", target=target)
    plan = plan_of(report)
    (op,) = plan["ops"]
    assert op["op"] == "kernel" and op["grid"] == (2, 1, 1)
    assert op["params"][:3] == [("pointer", 1, 0), ("pointer", 0, 0), ("scalar", 4, 2048)]
    assert plan["outputs"][0]["dtype"] == "float16" and plan["outputs"][0]["buffer"] == 1
    case = report.one("case").header
    assert [kernel["name"] for kernel in case["kernels"]] == ["assay_copy_in_order"]
    assert case["notes"] == ["aten::_to_copy is performed by Assay's kernel assay_copy_in_order"]


@pytest.mark.parametrize(
    ("body", "kernel"),
    [
        ("return x.t().contiguous()", "assay_copy"),
        ("return x.repeat(1, 40)", "assay_copy"),  # each element is copied to several places
        ("return x[:, 3:29].contiguous()", "assay_copy_in_order"),
        ("return torch.nn.functional.pad(x, (1, 2, 3, 4))", "assay_copy_in_order"),
        ("y = torch.empty(32, 64, device='cuda').t()\ny.copy_(x)\nreturn y", "assay_copy"),
    ],
)
def test_the_kernels_name_tells_if_the_order_changes(
    supervisor: Supervisor, body: str, kernel: str
) -> None:
    case = record(supervisor, body).one("case").header
    assert [one["name"] for one in case["kernels"]] == [kernel]


@pytest.mark.parametrize(
    ("body", "operations"),
    [
        ("return x.t().contiguous()", ["kernel"]),
        ("return x.clone()", ["copy"]),
        ("return torch.cat([x, x.t().reshape(64, 32)])", ["kernel", "copy", "copy"]),
        ("return torch.stack([x, x])", ["copy", "copy"]),
        ("return x.repeat(2, 1)", ["copy", "copy"]),
        ("return x.repeat(1, 40)", ["kernel"]),
        ("return torch.nn.functional.pad(x, (0, 0, 1, 1))", ["fill", "copy"]),
        ("y = torch.zeros(64, 64, device='cuda')\ny[:, ::2] = x\nreturn y", ["fill", "kernel"]),
        ("y = torch.empty_like(x)\ny[:, ::2] = 3\nreturn y", ["fill", "kernel"]),
        ("return torch.zeros(1 << 20, device='cuda').half()", ["fill"]),
        ("return torch.cat([x, x.int()], 1)", ["kernel", "kernel", "kernel"]),
        ("return x.bool()", ["kernel"]),
        ("return x.to('cuda', non_blocking=True).clone().contiguous().view(-1)", ["copy"]),
    ],
)
def test_copies_by_torch_become_operations(
    supervisor: Supervisor, body: str, operations: list[str]
) -> None:
    assert [op["op"] for op in plan_of(record(supervisor, body))["ops"]] == operations


def test_more_dimensions_than_the_kernel_has_are_refused(supervisor: Supervisor) -> None:
    body = "return x.view(2, 2, 2, 2, 2, 2, 32).permute(6, 5, 4, 3, 2, 1, 0).contiguous()"
    error = record(supervisor, body).error()
    assert (
        error["kind"] == "not_recordable"
        and "7 dimensions" in error["message"]
        and error["line"] == 6
    ), error
