"""Tests submissions that are refused while they are recorded: work that a plan cannot contain,
kernels that do not compile, state that is kept between calls, and outputs on the host."""

from __future__ import annotations

import os
import sys

import pytest

sys.path.insert(0, os.path.dirname(__file__))
from conftest import Supervisor
from plan_reader import read_plan
from recording_client import KERNEL, MATMUL, X, matrices, record
from sources import VECTOR_ADD


@pytest.mark.parametrize(
    ("body", "line", "operation"),
    [
        ("    return x * x.max().item()", 10, "aten::max"),
        ("    return torch.empty(int(x[0, 0]), device='cuda')", 10, "_local_scalar_dense"),
        ("    return x[x > 0]", 10, "aten::gt"),
        ("    return torch.bernoulli(x)", 10, "random numbers from device data"),
        ("    return x.cumsum(0)", 10, "aten::cumsum is arithmetic by torch"),
        ("    if x.sum() > 0: return x", 10, "aten::sum"),
        (
            "    try:\n        x.sum().item()\n    except RuntimeError:\n        pass\n    return x",
            11,
            "aten::sum",
        ),
        (
            "    try:\n        x.sum().item()\n    except RuntimeError:\n        raise MemoryError('out of memory')\n"
            "    return x",
            11,
            "aten::sum",
        ),
        ("    y = x.tolist()", 10, "tolist"),
        ("    y = x.cpu()", 10, "host"),
        ("    return x @ x.t()", 10, "aten::mm"),
        (
            "    return x.to(torch.float8_e4m3fn)",
            10,
            "converts a device tensor from torch.float32 to torch.float8_e4m3fn",
        ),
        ("    touch[(1,)](x, x, x.data_ptr(), BLOCK=16)\n    return x", 10, "address of a tensor"),
        (
            "    touch[(1,)](torch.tensor([x.data_ptr()], device='cuda'), x, 1, BLOCK=16)\n    return x",
            10,
            "address of a tensor",
        ),
        (
            "    table = torch.full((1,), x.data_ptr(), dtype=torch.int64, device='cuda')\n"
            "    touch[(1,)](table, x, 1, BLOCK=16)\n    return x",
            11,
            "address of a tensor",
        ),
        # The numbers in `gap` lie in the gap behind a tensor. They look like addresses but are not
        # addresses. The real address after them must be found.
        (
            "    gap = [x.data_ptr() + 4 * x.numel() + 1 + i for i in range(100)]\n"
            "    table = torch.tensor([*gap, x.data_ptr()], device='cuda')\n"
            "    touch[(1,)](table, x, 1, BLOCK=16)\n    return x",
            12,
            "address of a tensor",
        ),
    ],
)
def test_work_that_a_plan_cannot_hold_is_refused_with_operation_and_line(
    supervisor: Supervisor, body: str, line: int, operation: str
) -> None:
    error = record(supervisor, KERNEL + "def f(x):\n" + body + "\n").error()
    assert error["kind"] == "not_recordable" and error["stage"] == "record", error
    assert error["line"] == line and operation in error["message"], error


@pytest.mark.parametrize(
    ("old", "new", "line", "text"),
    [
        ("mask = offsets < n", "mask = offsets < nonsense", 10, "nonsense"),
        ("mask = offsets < n", "mask = tl.dot(offsets, offsets)", 10, ""),
        ("BLOCK=256)", "BLOCK=100)", 9, "power of 2"),
    ],
)
def test_compiler_errors_name_the_line_of_the_submission(
    supervisor: Supervisor, old: str, new: str, line: int, text: str
) -> None:
    source = VECTOR_ADD.replace(old, new)
    error = record(supervisor, source, {"x": X, "y": X}, entry="vector_add").error()
    assert (error["kind"], error["stage"]) == ("compilation_error", "compile"), error
    assert error["line"] == line and text in error["message"], error
    assert error["code"] == source.split("\n")[line - 1].strip()


def test_ptxas_errors_are_compilation_errors(supervisor: Supervisor) -> None:
    body = 'tl.inline_asm_elementwise("nonsense $0, $1;", "=r,r", [offsets], dtype=tl.int32, is_pure=True, pack=1) < n'
    error = record(
        supervisor, VECTOR_ADD.replace("offsets < n", body), {"x": X, "y": X}, entry="vector_add"
    ).error()
    assert error["kind"] == "compilation_error" and "ptxas" in error["message"].lower(), error


def test_too_much_shared_memory_is_a_compilation_error(supervisor: Supervisor) -> None:
    source = MATMUL[: MATMUL.index("@triton.autotune")] + MATMUL[MATMUL.index("@triton.jit") :]
    source = source.replace(
        "a, b, c, M, N, K)", "a, b, c, M, N, K, BM=256, BN=256, BK=128, num_stages=4, num_warps=8)"
    )
    source = source.replace(
        'lambda m: (triton.cdiv(M, m["BM"]), triton.cdiv(N, m["BN"]))', "(1, 1)"
    )
    error = record(supervisor, source, matrices()).error()
    assert error["kind"] == "compilation_error" and "shared memory" in error["message"], error


def test_state_between_calls_is_refused_and_fresh_constants_are_not(supervisor: Supervisor) -> None:
    source = (
        KERNEL
        + "CACHE = {}\ndef f(x):\n    y = CACHE.setdefault('y', torch.empty_like(x))\n"
        + "    touch[(128,)](x, y, x.numel(), BLOCK=16)\n    return y\n"
    )
    cases = [{"id": str(i), "arguments": {"x": X}} for i in range(2)]
    report = supervisor.run(source, "f", cases, mode="record")
    assert report.types() == ["imported", "case", "error"]
    assert report.error()["case"] == "1" and "earlier call" in report.error()["message"]
    fresh = source.replace("    touch", "    y.zero_()\n    touch")
    report = supervisor.run(fresh, "f", cases, mode="record")
    assert report.types() == ["imported", "case", "case", "done"], report.frames[-1].header
    plans = [read_plan(frame.payload) for frame in report.frames if frame.type == "case"]
    assert [[op["op"] for op in plan["ops"]] for plan in plans] == [["fill", "kernel"]] * 2


def test_outputs_on_the_host_are_refused(supervisor: Supervisor) -> None:
    error = record(supervisor, KERNEL + "def f(x):\n    return torch.zeros(3)\n").error()
    assert error["kind"] == "output_mismatch" and "cpu" in error["message"]
