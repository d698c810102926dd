"""Tests that a plan passes to each kernel the parameters that the kernel's binary declares. The
number and the sizes of the declared parameters are read from the cubin itself.

The launcher compares declared and passed parameters on a device. This test finds a mistake without
a device, for the installed version of Triton."""

from __future__ import annotations

import os
import struct
import sys
from typing import Any

import pytest
import torch

sys.path.insert(0, os.path.dirname(__file__))
from conftest import Supervisor
from harness.recording.resources import _attributes, _sections
from plan_reader import read_plan

# An attribute EIATTR_KPARAM_INFO contains index, ordinal and offset of a parameter. Its size in
# bytes is in the upper 14 bits of the last word.
KPARAM_INFO = 0x17
HEAD = """
import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

@triton.jit
def plain(x, y, n, one, nothing, pair, f, flag, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i) + n + one + pair[1] + f + flag)

@triton.jit
def host_descriptor(d, y, n):
    tl.store(y + tl.arange(0, 16)[:, None] * 32 + tl.arange(0, 32)[None, :], d.load([n, 0]))

@triton.jit
def device_descriptor(x, y, M, N):
    d = tl.make_tensor_descriptor(x, [M, N], [N, 1], [16, 32])
    tl.store(y + tl.arange(0, 16)[:, None] * 32 + tl.arange(0, 32)[None, :], d.load([0, 0]))

def f(x):
    y = torch.empty((16, 32), device="cuda")
"""


def declared(image: bytes, kernel: str) -> list[int]:
    """Returns the size of each parameter in bytes, in order."""
    found = {}
    for kind, value in _attributes(_sections(image)[f".nv.info.{kernel}"]):
        if kind == KPARAM_INFO:
            _, ordinal, _, word = struct.unpack("<IHHI", value)
            found[ordinal] = word >> 18
    return [found[i] for i in sorted(found)]


def passed(param: tuple[Any, ...]) -> int:
    return {"scalar": lambda: int(param[1]), "map": lambda: 128}.get(param[0], lambda: 8)()


@pytest.mark.parametrize("target", ["cuda:80", "cuda:90", "cuda:100"])
@pytest.mark.parametrize(
    "launch",
    [
        "plain[(1,)](x, y, 7, 1, None, (y, 2**40), -1.5, True, BLOCK=32)",
        "host_descriptor[(1,)](TensorDescriptor.from_tensor(x, [16, 32]), y, 3)",
        "host_descriptor[(1,)](TensorDescriptor.from_tensor(x.half(), [16, 32]), y, 3)",
        "device_descriptor[(3,)](x, y, 64, 32)",
    ],
)
def test_the_binary_declares_the_parameters_that_the_plan_passes(
    supervisor: Supervisor, launch: str, target: str
) -> None:
    source = HEAD + f"    {launch}\n    return y\n"
    report = supervisor.run(
        source,
        "f",
        [{"id": "a", "arguments": {"x": torch.zeros(64, 32)}}],
        mode="record",
        target=target,
    )
    assert "error" not in report.types(), report.error()
    plan = read_plan(report.one("case").payload)
    for op in plan["ops"]:
        binary = plan["binaries"][op["binary"]]
        assert [passed(param) for param in op["params"]] == declared(
            binary["image"], binary["kernel"]
        )
