"""Tests arguments in a launch plan: numbers, tuples, structural values, tensors that are written in
place, and tensor descriptors."""

from __future__ import annotations

import math
import os
import struct
import sys

import torch

sys.path.insert(0, os.path.dirname(__file__))
from conftest import Supervisor
from recording_client import HEAD, KERNEL, X, plan_of, record


def test_none_one_and_tuple_arguments(supervisor: Supervisor) -> None:
    source = (
        HEAD
        + """
@triton.jit
def k(x, bias, one, pair, big, flag, f, h: tl.float64, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i) + pair[1] + f + h + big
    if bias is not None:
        v += tl.load(bias + i)
    if flag:
        v += one
    tl.store(pair[0] + i, v.to(tl.float32))

def f(x):
    y = torch.empty_like(x)
    k[(1, 2)](x, None, 1, (y, 7), 2**40, True, -1.5, 0.25, BLOCK=32)
    return y
"""
    )
    (op,) = plan_of(record(supervisor, source))["ops"]
    f32, f64 = (
        struct.unpack("<I", struct.pack("<f", -1.5))[0],
        struct.unpack("<Q", struct.pack("<d", 0.25))[0],
    )
    assert op["grid"] == (1, 2, 1)
    assert op["params"] == [
        ("pointer", 0, 0),
        ("pointer", 1, 0),
        ("scalar", 4, 7),
        ("scalar", 8, 2**40),
        ("scalar", 1, 1),
        ("scalar", 4, f32),
        ("scalar", 8, f64),
        ("null",),
        ("null",),
    ]


def test_numbers_that_json_does_not_have_arrive_as_floats(supervisor: Supervisor) -> None:
    source = (
        HEAD
        + """
@triton.jit
def k(y, low, high, none):
    tl.store(y, low + high + none)

def f(x, low, high, none):
    assert low < 0 < high and none != none
    y = torch.empty_like(x)
    k[(1,)](y, low, high, none)
    return y
"""
    )
    arguments = {"x": X, "low": -math.inf, "high": math.inf, "none": math.nan}
    (op,) = plan_of(record(supervisor, source, arguments))["ops"]
    (low, high, none) = (
        struct.unpack("<f", struct.pack("<I", param[2]))[0] for param in op["params"][1:4]
    )
    assert (low, high) == (-math.inf, math.inf) and math.isnan(none)


def test_structural_values_control_host_code(supervisor: Supervisor) -> None:
    source = (
        KERNEL
        + """
def f(x, offsets):
    lengths = (offsets[1:] - offsets[:-1])
    longest = lengths.max().item()
    out = torch.empty(longest, device=x.device)
    for start, stop in zip(offsets.tolist(), offsets.cpu().numpy()[1:]):
        if stop > start:
            touch[(triton.cdiv(int(stop) - start, 16),)](x.view(-1)[start:], out, int(stop) - start, BLOCK=16)
    touch[(1,)](offsets, lengths, 2, BLOCK=16)
    assert int(offsets[-1]) == 9
    return out
"""
    )
    arguments = {"x": X, "offsets": torch.tensor([0, 7, 7, 9], dtype=torch.int32)}
    plan = plan_of(record(supervisor, source, arguments, structural=["offsets"]))
    assert [op["op"] for op in plan["ops"]] == ["kernel", "kernel", "copy", "kernel"]
    assert plan["ops"][1]["params"][0] == ("pointer", 0, 28)
    assert plan["outputs"][0]["shape"] == (7,)
    lengths = plan["buffers"][plan["ops"][2]["src"]]["data"]
    assert struct.unpack("<3i", lengths) == (7, 0, 2)


def test_inout(supervisor: Supervisor) -> None:
    source = KERNEL + "\ndef f(x, y):\n    touch[(128,)](y, x, x.numel(), BLOCK=16)\n"
    report = record(supervisor, source, {"x": X, "y": X.clone()}, inout=["x"], output_from=["x"])
    assert plan_of(report)["outputs"][0]["buffer"] == 0


def test_host_descriptors_become_tensor_maps(supervisor: Supervisor) -> None:
    source = (
        HEAD
        + """
from triton.tools.tensor_descriptor import TensorDescriptor

@triton.jit
def k(d, y):
    tl.store(y + tl.arange(0, 16)[:, None] * 32 + tl.arange(0, 32)[None, :], d.load([0, 0]))

def f(x):
    y = torch.empty((16, 32), device="cuda")
    k[(1,)](TensorDescriptor.from_tensor(x[16:], [16, 32], padding="nan"), y)
    return y
"""
    )
    (op,) = plan_of(record(supervisor, source))["ops"]
    kind, described = op["params"][0]
    assert kind == "map" and described["swizzle"] in range(4)
    assert (described["buffer"], described["offset"], described["type"], described["nan"]) == (
        0,
        16 * 128,
        7,
        1,
    )
    assert (described["shape"], described["strides"], described["box"]) == (
        (32, 48),
        (128,),
        (32, 16),
    )
    assert op["params"][1:5] == [
        ("scalar", 4, 48),
        ("scalar", 4, 32),
        ("scalar", 8, 32),
        ("scalar", 8, 1),
    ]
    plan = plan_of(record(supervisor, source, target="cuda:80"))
    parts = plan["ops"][0]["params"]
    assert parts[:6] == [
        ("pointer", 0, 2048),
        ("scalar", 8, 48),
        ("scalar", 8, 32),
        ("scalar", 8, 32),
        ("scalar", 8, 1),
        ("scalar", 1, 1),
    ]


def test_device_descriptors_ask_for_global_scratch(supervisor: Supervisor) -> None:
    source = (
        HEAD
        + """
@triton.jit
def k(x, y, M, N):
    d = tl.make_tensor_descriptor(x, [M, N], [N, 1], [16, 32])
    tl.store(y + tl.arange(0, 16)[:, None] * 32 + tl.arange(0, 32)[None, :], d.load([0, 0]))

def f(x):
    y = torch.empty((16, 32), device="cuda")
    k[(3,)](x, y, 64, 32)
    return y
"""
    )
    (op,) = plan_of(record(supervisor, source))["ops"]
    assert (
        op["params"][-2][0] == "scratch"
        and op["params"][-2][1] >= 128
        and op["params"][-2][2] == 128
    )
    assert op["params"][-1] == ("null",)


def test_no_memory_is_mapped_near_the_address_of_a_tensor(supervisor: Supervisor) -> None:
    """Host code that uses such an address must crash, and never read or change its own process."""
    source = (
        KERNEL
        + """
def f(x):
    near = 1 << 40
    for line in open("/proc/self/maps"):
        first, last = (int(part, 16) for part in line.split()[0].split("-"))
        if first - near <= x.data_ptr() <= last + near and "vsyscall" not in line:
            raise RuntimeError(line)
    y = torch.empty_like(x)
    touch[(1,)](x, y, x.numel(), BLOCK=32)
    return y
"""
    )
    assert plan_of(record(supervisor, source))["ops"]
