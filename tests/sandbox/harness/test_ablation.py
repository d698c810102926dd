"""Tests attribution without a GPU. In an ablated run, the results of the kernels are missing. The
tests check what a candidate refuses and returns in such a run, and how the judge compares its
outputs with those of the ordinary run."""

from __future__ import annotations

import os
import sys
from typing import Any

import pytest
import torch
from harness.judging.attribution import unattributed

sys.path.insert(0, os.path.dirname(__file__))
from conftest import Supervisor
from sources import VECTOR_ADD

HEAD = "import ctypes, numpy, torch, triton\n"


def vectors() -> dict[str, Any]:
    return {"id": "small", "arguments": {"x": torch.randn(1000), "y": torch.randn(1000)}}


def ablate(supervisor: Supervisor, body: str, **case: Any) -> Any:
    return supervisor.run(body, "vector_add", [{**vectors(), **case}], mode="ablate")


def test_kernels_do_nothing_and_fresh_memory_is_random(supervisor: Supervisor) -> None:
    case = vectors()
    full = supervisor.run(VECTOR_ADD, "vector_add", [case]).outputs["small"]
    rest = supervisor.run(VECTOR_ADD, "vector_add", [case], mode="ablate").outputs["small"]
    assert unattributed(["z"], full, rest, case["arguments"].values()) == ""
    again = supervisor.run(VECTOR_ADD, "vector_add", [case], mode="ablate").outputs["small"]
    assert not torch.equal(rest[0].view(torch.int32), again[0].view(torch.int32))


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("x + y", "aten::add is arithmetic by torch"),
        ("torch.nn.functional.gelu(x)", "aten::gelu is arithmetic by torch"),
        ("x if x[0].item() > 0 else y", "reads the value of a device tensor"),
        ("x if x.sum() > 0 else y", "arithmetic by torch"),
        ("torch.tensor(x.tolist())", ".tolist() reads"),
        ("torch.from_numpy(numpy.asarray(x))", "numpy's conversion reads"),
        ("torch.from_numpy(x.numpy())", ".numpy() reads"),
        ("torch.from_dlpack(x)", ".__dlpack__() reads"),
        ("torch.tensor(list(x.untyped_storage()))", ".untyped_storage() reads"),
    ],
)
def test_torch_may_not_do_the_work(supervisor: Supervisor, expression: str, text: str) -> None:
    error = ablate(supervisor, f"{HEAD}def vector_add(x, y):\n    return {expression}\n").error()
    assert (error["kind"], error["line"]) == ("not_recordable", 3), error
    assert text in error["message"]


@pytest.mark.parametrize(
    "body",
    [
        "z = torch.cat([x, y])[:1000].clone(); z.fill_(2.0); z.zero_(); z.copy_(x); return z",
        "return x.half().float().reshape(10, 100).t().contiguous().view(-1)",
        "return (torch.arange(1000) * 2.0 + torch.ones_like(x)).cumsum(0)",
        "return x.expand(3, 1000).reshape(3000)[1000:2000].unflatten(0, (10, -1)).permute(1, 0).reshape(-1)",
        "a, b = x.chunk(2); return torch.stack([a, b]).flatten().to(x.device, non_blocking=True)",
        "n = x.numel(); return torch.zeros(n, device='cuda') + torch.full((n,), 3.0, device='cuda')",
    ],
)
def test_allocation_fills_copies_views_and_known_values_are_free(
    supervisor: Supervisor, body: str
) -> None:
    assert ablate(supervisor, f"{HEAD}def vector_add(x, y):\n    {body}\n").types() == [
        "imported",
        "case",
        "done",
    ]


def test_a_copy_of_no_elements_changes_nothing(supervisor: Supervisor) -> None:
    case = vectors()
    body = (
        VECTOR_ADD.replace("def vector_add(", "def without_a_copy(")
        + """

def vector_add(x, y):
    z = without_a_copy(x, y)
    z[:0] = x[x.numel():]
    return z
"""
    )
    (z,) = supervisor.run(body, "vector_add", [case]).outputs["small"]
    assert torch.equal(z, case["arguments"]["x"] + case["arguments"]["y"])


def test_values_of_structural_arguments_may_be_read(supervisor: Supervisor) -> None:
    source = VECTOR_ADD.replace("return z", "return z[: int(x.abs().max().item()) + 1].clone()")
    assert source != VECTOR_ADD
    assert ablate(supervisor, source, structural=["x"]).types() == ["imported", "case", "done"]


def test_the_address_of_a_tensor_cannot_be_used(supervisor: Supervisor) -> None:
    source = f"{HEAD}def vector_add(x, y):\n    assert x.data_ptr() % 16 == 0\n    ctypes.c_float.from_address(x.data_ptr()).value\n"
    report = ablate(supervisor, source)
    assert report.exited["how"] in ("killed", "dumped"), report.frames


def test_a_modified_input_is_reported(supervisor: Supervisor) -> None:
    source = "def vector_add(x, y):\n    x.zero_()\n    return y\n"
    error = supervisor.run(source, "vector_add", [vectors()]).error()
    assert error["kind"] == "output_mismatch" and "argument x was modified" in error["message"], (
        error
    )


def test_methods_that_an_instance_overrides_are_not_called(supervisor: Supervisor) -> None:
    source = f"{HEAD}def vector_add(x, y):\n    z = torch.zeros_like(x)\n    z.detach = z.contiguous = lambda: x + y\n    return z\n"
    assert not supervisor.run(source, "vector_add", [vectors()]).outputs["small"][0].any()


def test_most_of_an_output_must_change() -> None:
    x = torch.randn(100)
    right = x * 2
    rest = torch.randn(100)
    assert unattributed(["z"], [right], [rest], [x]) == ""
    assert "bit for bit" in unattributed(["z"], [right], [right.clone()], [x])
    decoy = right.clone()
    decoy[0] = rest[0]
    assert "99 of 100 elements" in unattributed(["z"], [right], [decoy], [x])
    assert "output b" in unattributed(["a", "b"], [right, right], [rest, right], [x])


def test_zeros_and_work_in_place_may_stay() -> None:
    x = torch.randn(100)
    relu = x.clamp_min(0)
    # The output starts as a clone of the argument, and a kernel works on it in place. So without
    # the kernel, the output equals the argument.
    assert unattributed(["z"], [relu], [x], [x]) == ""
    sparse = torch.zeros(100)
    sparse[:3] = 1.5
    assert unattributed(["z"], [sparse], [torch.zeros(100)], [x]) == ""
    mask = torch.arange(100) % 3 == 0
    assert unattributed(["z"], [mask], [torch.randint(0, 2, (100,)).bool()], [x]) == ""
    assert unattributed(["z"], [torch.empty(0)], [torch.empty(0)], [x]) == ""


def test_an_argument_that_an_imported_operator_returns_needs_no_kernel() -> None:
    x, y = torch.randn(10, 10), torch.randn(100)
    right, rest = x * 2, torch.randn(10, 10)
    names = ["z", "x_after"]
    assert unattributed(names, [right, x], [rest, x.clone()], [x, y], imported=True) == ""
    # Only imported operators may return an argument unchanged. For other operators, the lint proves
    # that no argument is a right answer.
    assert "output x_after" in unattributed(names, [right, x], [rest, x.clone()], [x, y])
    assert "output z" in unattributed(
        names, [right, x], [right.clone(), x.clone()], [x, y], imported=True
    )
    # An output that has the values of an argument but another shape does not count as this
    # argument.
    reshaped = y.reshape(10, 10)
    assert "bit for bit" in unattributed(["z"], [reshaped], [reshaped], [x, y], imported=True)
    assert "bit for bit" in unattributed(["z"], [-x], [-x], [x], imported=True)


def test_open_elements_are_left_out_of_attribution() -> None:
    x, right = torch.randn(100), torch.randn(100)
    rest, mask = torch.randn(100), torch.arange(100) >= 40
    rest[40:] = right[40:]
    assert "60 of 100 elements" in unattributed(["z"], [right], [rest], [x])
    assert unattributed(["z"], [right], [rest], [x], [mask]) == ""
    assert "bit for bit" in unattributed(
        ["z"], [right], [torch.where(mask, rest, right)], [x], [mask]
    )
    assert unattributed(["z"], [right], [right], [x], [torch.ones(100, dtype=torch.bool)]) == ""
