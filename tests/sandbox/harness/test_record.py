"""Tests the launch plans of real submissions: kernels with their resources, buffers, fills and
copies. Also tests that recording takes only milliseconds."""

from __future__ import annotations

import itertools
import os
import re
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
import triton

sys.path.insert(0, os.path.dirname(__file__))
from conftest import Supervisor, encode_case
from recording_client import HEAD, KERNEL, MATMUL, matrices, plan_of, record
from sources import VECTOR_ADD


def test_vector_add(supervisor: Supervisor, tmp_path: Path) -> None:
    arguments = {"x": torch.zeros(1000), "y": torch.zeros(1000)}
    report = record(supervisor, VECTOR_ADD, arguments, entry="vector_add", artifacts=True)
    plan = plan_of(report)
    assert plan["target"] == "cuda:90"
    assert [(b["kind"], b["bytes"], b["name"]) for b in plan["buffers"]] == [
        ("input", 4000, "x"),
        ("input", 4000, "y"),
        ("scratch", 4000, ""),
    ]
    (op,) = plan["ops"]
    assert (op["grid"], op["block"], op["cluster"], op["flags"]) == (
        (4, 1, 1),
        (128, 1, 1),
        (1, 1, 1),
        0,
    )
    pointers = [("pointer", i, 0) for i in range(3)]
    assert op["params"] == [*pointers, ("scalar", 4, 1000), ("null",), ("null",)]
    assert plan["outputs"] == [
        {"buffer": 2, "offset": 0, "dtype": "float32", "shape": (1000,), "strides": (1,)}
    ]
    (kernel,) = report.one("case").header["kernels"]
    assert kernel["name"] == "add_kernel" and kernel["launches"] == 1 and kernel["spill_bytes"] == 0
    assert (
        report.one("artifact").header["kind"] == "ptx"
        and b".entry add_kernel" in report.one("artifact").payload
    )
    assert kernel["registers"] == cuobjdump(plan["binaries"][0]["image"], tmp_path)["REG"]


def cuobjdump(image: bytes, folder: Path) -> dict[str, int]:
    """Returns the resources of a kernel as NVIDIA's own tool reports them."""
    path = folder / "kernel.cubin"
    path.write_bytes(image)
    tool = Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / "cuobjdump"
    text = subprocess.run(
        [str(tool), "--dump-resource-usage", str(path)], check=True, capture_output=True, text=True
    ).stdout
    return {key: int(value) for key, value in re.findall(r"\b(REG|STACK|LOCAL|SHARED):(\d+)", text)}


def test_spills_are_those_of_ptxas(supervisor: Supervisor, tmp_path: Path) -> None:
    source = (
        HEAD
        + """
@triton.jit
def big(x, y, N: tl.constexpr):
    i = tl.arange(0, N)
    a = tl.load(x + i[:, None] * N + i[None, :])
    b = tl.load(x + i[None, :] * N + i[:, None])
    for _ in range(4):
        a, b = tl.exp(a) * b + tl.trans(b), tl.sqrt(b) + tl.trans(a)
    tl.store(y + i[:, None] * N + i[None, :], a * tl.sum(b, axis=0)[None, :] + b)

def f(x):
    y = torch.empty_like(x)
    big[(1,)](x, y, N=128, num_warps=2)
    return y
"""
    )
    report = record(supervisor, source, {"x": torch.zeros(128, 128)})
    figures = cuobjdump(plan_of(report)["binaries"][0]["image"], tmp_path)
    kernel = report.one("case").header["kernels"][0]
    assert kernel["spill_bytes"] == figures["STACK"] > 100
    assert kernel["registers"] == figures["REG"] > 0


def test_autotuned_matmul_with_scratch_and_a_second_kernel(supervisor: Supervisor) -> None:
    report = record(supervisor, MATMUL, matrices())
    plan = plan_of(report)
    choice, fill, second = plan["ops"]
    (small, (first,)), (large, (other,)) = choice["alternatives"]
    assert small.startswith("BM: 64, BN: 64, BK: 32") and large.startswith("BM: 128"), (
        "the first configuration does not fit"
    )
    assert first["grid"] == (4, 4, 1) and first["block"] == (128, 1, 1)
    assert other["grid"] == (2, 4, 1) and other["block"] == (256, 1, 1)
    assert (
        fill == {"op": "fill", "buffer": 3, "offset": 0, "count": 1024, "width": 1, "pattern": 0}
        or fill["pattern"] == 0
    )
    assert fill["count"] * fill["width"] == 1024
    assert second["params"][:4] == [
        ("pointer", 2, 0),
        ("pointer", 3, 0),
        ("scalar", 4, 256),
        ("scalar", 4, struct.unpack("<I", struct.pack("<f", 0.5))[0]),
    ]
    assert [b["kind"] for b in plan["buffers"]] == ["input", "input", "scratch", "scratch"]
    case = report.one("case").header
    assert case["notes"] == [
        "autotuner of mm: the launcher takes the fastest of 2 of 3 configurations"
    ]
    assert [(kernel["name"], kernel["launches"]) for kernel in case["kernels"]] == [
        ("mm", 1),
        ("row_sum", 1),
    ]
    assert plan["binaries"][0]["shared"] > 0


def test_constants_views_fills_and_copies_become_operations(supervisor: Supervisor) -> None:
    source = (
        KERNEL
        + """
TABLE = torch.tensor([5, 6, 7], dtype=torch.int32, device="cuda")

def f(x):
    out = torch.empty((3, 64, 32), device="cuda")
    out[0].copy_(x)
    out[1].fill_(2.5)
    out[2, 8:12, 16:] = 1.0
    ramp = torch.arange(8, device=x.device, dtype=torch.int32) * 2
    lo = torch.full((4,), -1, dtype=torch.int16, device="cuda")
    touch[(1,)](ramp, TABLE, 3, BLOCK=8)
    touch[(1,)](lo, x.view(-1)[40:], 0, BLOCK=8)
    both = torch.cat([x, x], dim=1)
    return out, ramp, both, lo.clone(), x.t()
"""
    )
    plan = plan_of(record(supervisor, source, outputs=5))
    ops = plan["ops"]
    assert [op["op"] for op in ops[:2]] == ["copy", "fill"]
    assert ops[0]["bytes"] == ops[1]["count"] * 4 == 64 * 32 * 4
    assert ops[1]["pattern"] == struct.unpack("<I", struct.pack("<f", 2.5))[0]
    pieces = ops[2:6]
    assert (
        all(op["op"] == "fill" and op["count"] == 16 for op in pieces)
        and pieces[1]["offset"] - pieces[0]["offset"] == 128
    )
    rest = ops[6:]
    assert [op["op"] for op in rest[:6]] == ["copy", "copy", "kernel", "fill", "kernel", "kernel"]
    assert struct.unpack("<8i", plan["buffers"][rest[0]["src"]]["data"]) == tuple(range(0, 16, 2))
    assert struct.unpack("<3i", plan["buffers"][rest[1]["src"]]["data"]) == (5, 6, 7)
    assert rest[4]["params"][1] == ("pointer", 0, 160)
    assert rest[4]["params"][2] == ("scalar", 4, 0)
    assert plan["outputs"][4] == {
        "buffer": 0,
        "offset": 0,
        "dtype": "float32",
        "shape": (32, 64),
        "strides": (1, 32),
    }
    assert plan["outputs"][2]["shape"] == (64, 64)


SHARE_OF_COMPILING = 5  # a case that compiles takes at least this many times as long as another


def test_recording_again_compiles_nothing(supervisor: Supervisor) -> None:
    channel, out, err, _, slot = supervisor.fork()
    assert channel.receive() is not None
    case = {"arguments": {"x": torch.zeros(1000), "y": torch.zeros(1000)}}
    wires, fds = zip(
        *[encode_case({**case, "id": str(i)}, "record", 2 * i) for i in range(20)], strict=True
    )
    job = {
        "type": "job",
        "mode": "record",
        "entry": "vector_add",
        "dialect": "triton",
        "target": "cuda:90",
        "artifacts": False,
    }
    channel.send(job, VECTOR_ADD.encode())
    times = []
    for frame in channel:
        if frame.type == "imported":
            channel.send(
                {"type": "cases", "cases": list(wires), "last": True},
                fds=[fd for pair in fds for fd in pair],
            )
        times.append(time.perf_counter())
        if frame.type == "done":
            break
    first, *later = (b - a for a, b in itertools.pairwise(times[1:-1]))
    usual = sorted(later)[len(later) // 2]
    channel.close()
    os.close(out)
    os.close(err)
    for pair in fds:
        os.close(pair[0])
        os.close(pair[1])
    exited = supervisor.control.receive()
    assert exited is not None and exited.header["slot"] == slot
    # Only the first case compiles the kernel, which takes a hundred times as long as the rest. The
    # load of the machine changes both times, and a pause of the process does not change the median.
    assert usual < first / SHARE_OF_COMPILING, (first, later)


MODULE = """
class Scaled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(4))
        self.inner = torch.nn.Linear(4, 4)
        self.register_buffer("seen", torch.zeros(3))


def moved(x, y):
    module = Scaled(){move}
    tensors = [module.weight, module.inner.weight, module.seen]
    assert all(tensor.is_cuda for tensor in tensors), tensors
    assert module.weight.requires_grad and isinstance(module.weight, torch.nn.Parameter)
    assert set(module.state_dict()) == {{"weight", "inner.weight", "inner.bias", "seen"}}
    return vector_add(x, y)
"""


@pytest.mark.parametrize("move", [".cuda()", ".to(x.device)", ".to(x.device, torch.float16)"])
def test_a_module_moves_to_the_device(supervisor: Supervisor, move: str) -> None:
    source = VECTOR_ADD + MODULE.format(move=move)
    report = record(supervisor, source, {"x": torch.zeros(8), "y": torch.zeros(8)}, entry="moved")
    launches = [op for op in plan_of(report)["ops"] if op.get("grid") == (1, 1, 1)]
    assert launches
