"""Tests kernels that access memory outside of their tensors, in Triton's interpreter. Each test
checks the error and its line. Correct kernels that look similar must pass."""

from __future__ import annotations

import os
import re
import sys
from typing import Any

import pytest
import torch

sys.path.insert(0, os.path.dirname(__file__))
from conftest import Supervisor
from sources import VECTOR_ADD

N = 4099
HEAD = """
import numpy as np
import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

"""


def submission(
    body: str,
    host: str = "kernel[(5,)](x, y, n, BLOCK=1024)",
    before: str = "y = torch.empty_like(x)",
) -> str:
    """Returns a source with one kernel and a host function that returns y. In the kernel, `at`
    contains the index that each lane accesses."""
    lines = "\n".join("    " + line for line in body.split("\n"))
    return f"""{HEAD}
@triton.jit
def kernel(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
{lines}

def entry(x):
    n = x.numel()
    {before}
    {host}
    return y
"""


def run(supervisor: Supervisor, source: str, x: torch.Tensor | None = None) -> Any:
    x = torch.randn(N) if x is None else x
    return supervisor.run(
        source, "entry", [{"id": "a", "arguments": {"x": x}, "output_bytes": 1 << 20}]
    )


BLOCK_POINTER = """
source = tl.make_block_ptr(x, (n,), (1,), (tl.program_id(0) * BLOCK,), (BLOCK,), (0,))
target = tl.make_block_ptr(y, (n,), (1,), (tl.program_id(0) * BLOCK,), (BLOCK,), (0,))
tl.store(target, tl.load(source, boundary_check=(0,)), boundary_check=(0,))
""".strip()
DESCRIPTOR = """
source = tl.make_tensor_descriptor(x, [n], [1], [BLOCK])
target = tl.make_tensor_descriptor(y, [n], [1], [BLOCK])
target.store([tl.program_id(0) * BLOCK], source.load([tl.program_id(0) * BLOCK]))
""".strip()


@pytest.mark.parametrize(
    ("body", "code", "message"),
    [
        (
            "value = tl.load(x + at)\ntl.store(y + at, value, mask=at < n)",
            "value = tl.load(x + at)",
            r"the load reads 1,021 elements outside of x \(4,099 elements\), the first at element 4,099: mask it",
        ),
        (
            "value = tl.load(x + at, mask=at < n)\ntl.store(y + at, value)",
            "tl.store(y + at, value)",
            r"the store writes 1,021 elements outside of y \(4,099 elements\), the first at element 4,099: mask it",
        ),
        (
            "tl.store(y + at, 1.0, mask=at <= n)",
            "tl.store(y + at, 1.0, mask=at <= n)",
            r"writes 1 element outside of y \(4,099 elements\), the first at element 4,099: its mask, .* lets them through",
        ),
        (
            "tl.store(y + at, tl.load(x + at, mask=at <= n), mask=at < n)",
            "tl.store(y + at, tl.load(x + at, mask=at <= n), mask=at < n)",
            r"the load reads 1 element outside of x \(4,099 elements\), the first at element 4,099",
        ),
        (
            "tl.store(y + at - 3, 1.0, mask=at < n)",
            "tl.store(y + at - 3, 1.0, mask=at < n)",
            r"writes 3 elements outside of y \(4,099 elements\), the first at element -3: is an index negative\?",
        ),
        (
            "tl.store(y + n, 1.0)",
            "tl.store(y + n, 1.0)",
            r"writes 1 element outside of y .* element 4,099",
        ),
        (
            "tl.store(y - 1, 1.0)",
            "tl.store(y - 1, 1.0)",
            r"writes 1 element outside of y .* element -1",
        ),
        (
            "tl.atomic_add(y + at, 1.0)",
            "tl.atomic_add(y + at, 1.0)",
            r"the atomic_add updates 1,021 elements outside of y .*: mask it",
        ),
        (
            "tl.atomic_max(y + at, 1.0, mask=at <= n)",
            "tl.atomic_max(y + at, 1.0, mask=at <= n)",
            r"atomic_max updates 1 element outside of y",
        ),
        (
            "tl.atomic_cas(y.to(tl.pointer_type(tl.int32)) + n, 0, 1)",
            "tl.atomic_cas",
            r"atomic_cas updates 1 element outside of y .*too large",
        ),
        (
            BLOCK_POINTER.replace("source, boundary_check=(0,)", "source"),
            "tl.store(target",
            r"the load reads 1,021 .*of x .*boundary_check",
        ),
        (BLOCK_POINTER.replace("), boundary_check=(0,))", "))"), "tl.store(target", r"of y"),
        (
            DESCRIPTOR.replace("(y, [n]", "(y, [n + 8]"),
            "target.store(",
            r"the store writes 8 elements outside of y",
        ),
        (
            DESCRIPTOR.replace("(x, [n]", "(x, [n + 8]"),
            "target.store(",
            r"the load reads 8 elements outside of x",
        ),
        (
            "tl.store(y + at.to(tl.int64) * (1 << 50), 1.0, mask=at > 0)",
            "tl.store(",
            r"1,023 elements at addresses of no tensor, the first at 0x",
        ),
    ],
)
def test_an_access_outside_of_all_tensors_is_reported_with_its_line(
    supervisor: Supervisor, body: str, code: str, message: str
) -> None:
    source = submission(body)
    error = run(supervisor, source).error()
    assert (error["kind"], error["exception"], error["stage"]) == (
        "canary_violation",
        "OutOfBounds",
        "run",
    ), error
    assert re.search(message, error["message"]), error["message"]
    assert (
        error["code"].startswith(code)
        and source.split("\n")[error["line"] - 1].strip() == error["code"]
    )
    assert f"line {error['line']}, in kernel" in error["traceback"]


def test_the_overrun_tensor_is_named_even_if_another_lies_behind_it(supervisor: Supervisor) -> None:
    """Both tensors are pieces of one array, with eight bytes between them. Most lanes beyond the
    end of y hit the second tensor, but the error must name y."""
    before = "array = np.zeros(5000, np.float32); y = torch.from_numpy(array[:1001]); behind = torch.from_numpy(array[1003:])"
    body = "tl.store(y + at, 1.0)"
    error = run(
        supervisor, submission(body, "kernel[(1,)](behind, y, n, BLOCK=4096)", before)
    ).error()
    assert (
        "the store writes 3,095 elements outside of y (1,001 elements), the first at element 1,001: mask it"
        in error["message"]
    )


def test_the_line_in_a_function_that_the_kernel_calls_is_named(supervisor: Supervisor) -> None:
    helper = "@triton.jit\ndef put(pointer, at):\n    tl.store(pointer + at, 1.0)\n\n"
    source = submission("put(y, at)").replace(HEAD, HEAD + helper)
    error = run(supervisor, source).error()
    assert (error["kind"], error["code"]) == ("canary_violation", "tl.store(pointer + at, 1.0)"), (
        error
    )


def test_a_tensor_of_an_earlier_case_no_longer_counts(supervisor: Supervisor) -> None:
    source = submission(
        "tl.store(y + at, 1.0, mask=at <= n)",
        "kernel[(triton.cdiv(n, 1024),)](x, y, n, BLOCK=1024)",
    ).replace("mask=at <= n", "mask=at < ((n + 1) if n < 4000 else n)")
    cases = [
        {"id": str(n), "arguments": {"x": torch.randn(n)}, "output_bytes": 1 << 20}
        for n in (4099, 4000, 3001)
    ]
    report = supervisor.run(source, "entry", cases)
    assert report.types() == ["imported", "case", "case", "error"], report.stderr
    assert "outside of y (3,001 elements)" in report.error()["message"]


def test_a_view_may_reach_exactly_its_whole_storage(supervisor: Supervisor) -> None:
    before = "whole = torch.zeros(n + 10, device='cuda'); y = whole[5 : n + 5]"
    assert (
        run(
            supervisor, submission("tl.store(y + at - 5, 1.0, mask=at < n + 10)", before=before)
        ).types()[-1]
        == "done"
    )
    error = run(
        supervisor, submission("tl.store(y + at, 1.0, mask=at < n + 6)", before=before)
    ).error()
    assert (
        "1 element outside of the memory that y is a view of (its elements -5 to 4,103), the first at element 4,104"
        in error["message"]
    )


GROUPED = submission(
    "part = tl.program_id(0)\nsource = tl.load(x + part).to(tl.pointer_type(tl.float32))\n"
    "tl.store(y + part * n + tl.arange(0, BLOCK), tl.load(source + tl.arange(0, BLOCK), mask=tl.arange(0, BLOCK) < n), "
    "mask=tl.arange(0, BLOCK) < n)",
    "kernel[(3,)](pointers, y, 7, BLOCK=8)",
    "parts = PARTS; pointers = torch.tensor([p.data_ptr() for p in parts], dtype=torch.int64); y = torch.zeros(21, device='cuda')",
)


@pytest.mark.parametrize(
    "source",
    [
        submission("tl.store(y + at, tl.load(x + at, mask=at < n), mask=at < n)"),
        submission(BLOCK_POINTER),
        submission(DESCRIPTOR),
        GROUPED.replace("PARTS", "[x[7 * i : 7 * i + 7].clone() for i in range(3)]"),
        GROUPED.replace(
            "PARTS", "[torch.from_numpy(np.ones(7, dtype=np.float32)) for i in range(3)]"
        ),
        GROUPED.replace(
            "PARTS",
            "[torch.nn.Parameter(x[:7]), torch.nn.Linear(7, 1).weight, torch.nonzero(torch.ones(7)).float()]",
        ),
        # Each lane reads a pointer from a tensor, and then an element at this address.
        submission(
            "lane = tl.arange(0, BLOCK)\nsource = tl.load(x + lane // 2, mask=lane < 6).to(tl.pointer_type(tl.float32))\n"
            "tl.store(y + lane, tl.load(source + lane % 2, mask=lane < 6), mask=lane < 6)",
            "kernel[(1,)](pointers, y, 0, BLOCK=8)",
            "parts = [x[i : i + 2].clone() for i in range(3)]; y = torch.zeros(6, device='cuda')\n"
            "    pointers = torch.tensor([p.data_ptr() for p in parts], dtype=torch.int64, device='cuda')",
        ),
        # The next five submissions use an empty tensor, arbitrary addresses in lanes that are
        # masked off, a negative step, a negative stride, and an intermediate address outside of all
        # tensors.
        submission(
            "tl.store(y + at, tl.load(x + at, mask=at < n, other=1.0), mask=at < n)",
            "kernel[(1,)](e, e, 0, BLOCK=8)",
            "e = torch.empty(0, device='cuda'); y = torch.zeros(3, device='cuda')",
        ),
        submission("tl.store(y + at.to(tl.int64) * (1 << 58), 1.0, mask=at < 1)"),
        submission("tl.store(y + at, tl.load(x + (n - 1) - at, mask=at < n), mask=at < n)"),
        submission(
            "back = tl.make_block_ptr(x + n - 1, (n,), (-1,), (0,), (BLOCK,), (0,))\ntl.store(y + at, tl.load(back), mask=at < BLOCK)"
        ),
        submission(
            "far = y + (at.to(tl.int64) + (1 << 40))\ntl.store(far - (1 << 40), 1.0, mask=at < n)"
        ),
        # The next five submissions pass an expanded view, a tensor with another dtype, memory of
        # numpy, a resized tensor, and a tensor descriptor.
        submission(
            "tl.store(y + at, tl.load(x + at * 0), mask=at < n)",
            "kernel[(5,)](x[3:4].expand(n), y, n, BLOCK=1024)",
        ),
        submission(
            "tl.store(y + at, 1, mask=at < 4 * n)",
            "kernel[(17,)](x, triton.reinterpret(y, tl.int8), n, BLOCK=1024)",
        ),
        submission(
            "tl.store(y + at, 1.0, mask=at < n)",
            "y = torch.from_numpy(np.zeros(n, np.float32)); kernel[(5,)](x, y, n, BLOCK=1024)",
        ),
        submission(
            "tl.store(y + at, 1.0, mask=at < n)",
            "y = torch.zeros(n, device='cuda').resize_(2 * n); kernel[(9,)](x, y, 2 * n, BLOCK=1024)",
        ),
        submission(
            "value = x.load([tl.program_id(0) * BLOCK])\ntl.store(y + at, value, mask=at < n)"
        ).replace("kernel[(5,)](x, y", "kernel[(5,)](TensorDescriptor.from_tensor(x, [1024]), y"),
        # The kernel reaches temporary memory only through a pointer in another tensor.
        submission(
            "space = n.to(tl.pointer_type(tl.float32), bitcast=True)\n"
            "tl.store(space + at, 1.0, mask=at < 10)\ntl.store(y + at, tl.load(space + at, mask=at < 10), mask=at < 10)",
            "kernel[(1,)](x, y, scratch.data_ptr(), BLOCK=16)",
            "scratch = torch.empty(10, device='cuda'); y = torch.zeros_like(x)",
        ),
    ],
)
def test_correct_accesses_pass(supervisor: Supervisor, source: str) -> None:
    report = run(supervisor, source)
    assert report.types() == ["imported", "case", "done"], report.frames[-1].header.get(
        "message", report.stderr
    )


def test_tensors_made_at_import_are_known(supervisor: Supervisor) -> None:
    source = GROUPED.replace("PARTS", "CONSTANTS").replace(
        HEAD, HEAD + "CONSTANTS = [torch.ones(7, device='cuda') for _ in range(3)]\n"
    )
    assert run(supervisor, source).types()[-1] == "done"


def test_a_pointer_to_a_freed_tensor_is_refused(supervisor: Supervisor) -> None:
    source = GROUPED.replace(
        "PARTS", "[torch.ones(1 << 20, device='cuda') for _ in range(3)]"
    ).replace("; y = torch.zeros(21", "; parts = 0; y = torch.zeros(21")
    error = run(supervisor, source).error()
    assert error["kind"] == "canary_violation" and "the load reads" in error["message"], error


def test_a_usual_kernel_passes(supervisor: Supervisor) -> None:
    x, y = torch.randn(1000), torch.randn(1000)
    report = supervisor.run(VECTOR_ADD, "vector_add", [{"id": "a", "arguments": {"x": x, "y": y}}])
    torch.testing.assert_close(report.outputs["a"][0], x + y)
