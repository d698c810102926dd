"""Launch plans of real submissions. Real candidates record them without a GPU, and a second reader
reads them back."""

from __future__ import annotations

import importlib.util
import itertools
import os
import re
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import torch
import triton

sys.path.insert(0, os.path.dirname(__file__))
from conftest import Report, Supervisor
from plan_reader import read_plan
from sources import VECTOR_ADD

HEAD = "import torch\nimport triton\nimport triton.language as tl\n"
KERNEL = (
    HEAD
    + """
@triton.jit
def touch(p, q, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(q + offsets, tl.load(p + offsets, mask=offsets < n), mask=offsets < n)
"""
)
X = torch.zeros(64, 32)


def record(
    supervisor: Supervisor, source: str, arguments: dict[str, Any] | None = None, **options: Any
) -> Report:
    case = {"id": "a", "arguments": arguments or {"x": X}}
    for key in ("structural", "inout", "outputs", "output_from"):
        if key in options:
            case[key] = options.pop(key)
    return supervisor.run(source, options.pop("entry", "f"), [case], mode="record", **options)


def plan_of(report: Report) -> dict[str, Any]:
    if "error" in report.types():
        raise AssertionError(report.error())
    return read_plan(report.one("case").payload)


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
    """Returns the figures of NVIDIA's own tool."""
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


MATMUL = (
    HEAD
    + """
@triton.autotune(
    configs=[
        triton.Config({"BM": 256, "BN": 256, "BK": 256}, num_warps=8, num_stages=4),
        triton.Config({"BM": 64, "BN": 64, "BK": 32}, num_warps=4),
        triton.Config({"BM": 128, "BN": 64, "BK": 32}, num_warps=8),
    ],
    key=["M", "N", "K"], reset_to_zero=["c"],
)
@triton.jit
def mm(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    om, on, ok = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(tl.load(a + om[:, None] * K + (ok + k)[None, :]), tl.load(b + (ok + k)[:, None] * N + on[None, :]), acc)
    tl.store(c + om[:, None] * N + on[None, :], acc.to(tl.float16))

@triton.jit
def row_sum(c, s, N, scale, B: tl.constexpr):
    r = tl.program_id(0)
    acc = tl.zeros((B,), tl.float32)
    for i in range(0, N, B):
        acc += tl.load(c + r * N + i + tl.arange(0, B)).to(tl.float32)
    tl.atomic_add(s + r, tl.sum(acc) * scale)

def f(a, b):
    assert a.is_cuda and torch.cuda.is_available() and torch.cuda.get_device_capability()[0] >= 8
    M, K = a.shape
    N = b.shape[1]
    c = torch.empty((M, N), device="cuda", dtype=a.dtype)
    s = torch.zeros((M,), device=a.device)
    with torch.cuda.device(a.device):
        mm[lambda m: (triton.cdiv(M, m["BM"]), triton.cdiv(N, m["BN"]))](a, b, c, M, N, K)
        row_sum[(M,)](c, s, N, 0.5, 128)
    return s
"""
)


def matrices() -> dict[str, Any]:
    return {
        "a": torch.zeros(256, 512, dtype=torch.float16),
        "b": torch.zeros(512, 256, dtype=torch.float16),
    }


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


def test_amd_binaries(supervisor: Supervisor) -> None:
    report = record(
        supervisor,
        MATMUL.replace("num_stages=4", "num_stages=2"),
        matrices(),
        target="hip:gfx942",
        artifacts=True,
    )
    plan = plan_of(report)
    assert plan["target"] == "hip:gfx942" and all(
        binary["image"][:4] == b"\x7fELF" for binary in plan["binaries"]
    )
    assert plan["ops"][0]["alternatives"][0][1][0]["block"] == (256, 1, 1)
    kernel = report.one("case").header["kernels"][0]
    assert kernel["registers"] > 0
    assert {frame.header["kind"] for frame in report.frames if frame.type == "artifact"} == {
        "amdgcn"
    }


@pytest.mark.parametrize("target", ["cuda:80", "cuda:100"])
def test_other_nvidia_targets(supervisor: Supervisor, target: str) -> None:
    report = record(
        supervisor,
        VECTOR_ADD,
        {"x": torch.zeros(99), "y": torch.zeros(99)},
        entry="vector_add",
        target=target,
    )
    assert plan_of(report)["target"] == target
    assert report.one("case").header["kernels"][0]["registers"] > 0


def test_unknown_target_names_the_valid_ones(supervisor: Supervisor) -> None:
    error = record(supervisor, VECTOR_ADD, target="cuda:42").error()
    assert error["kind"] == "unsupported" and "hip:gfx942" in error["message"]


def test_gluon(supervisor: Supervisor) -> None:
    source = """
import torch
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

@gluon.jit
def add(x, y, z, n, BLOCK: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    offsets = gl.program_id(0) * BLOCK + gl.arange(0, BLOCK, layout=layout)
    mask = offsets < n
    gl.store(z + offsets, gl.load(x + offsets, mask=mask) + gl.load(y + offsets, mask=mask), mask=mask)

def f(x, y):
    z = torch.empty_like(x)
    add[((x.numel() + 511) // 512,)](x, y, z, x.numel(), BLOCK=512, num_warps=4)
    return z
"""
    report = record(
        supervisor, source, {"x": torch.zeros(1000), "y": torch.zeros(1000)}, dialect="gluon"
    )
    assert plan_of(report)["ops"][0]["grid"] == (2, 1, 1)
    assert report.one("case").header["kernels"][0]["name"] == "add"


TLX = """
import torch, triton
import triton.language as tl
import triton.language.extra.tlx as tlx

@triton.jit
def copy(x, y, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ring = tlx.local_alloc((BLOCK,), tl.float32, 1)
    token = tlx.async_load(x + offsets, ring[0], mask=offsets < n)
    tlx.async_load_commit_group([token])
    tlx.async_load_wait_group(0)
    tl.store(y + offsets, tlx.local_load(ring[0]), mask=offsets < n)

def f(x):
    y = torch.empty_like(x)
    copy[(4,)](x, y, x.numel(), BLOCK=256, **OPTIONS)
    return y
"""
HAS_TLX = importlib.util.find_spec("triton.language.extra.tlx") is not None


@pytest.mark.skipif(HAS_TLX, reason="this Triton has TLX")
def test_tlx_without_support_in_triton_says_what_to_install(supervisor: Supervisor) -> None:
    error = record(
        supervisor, TLX.replace("OPTIONS", "{}"), {"x": torch.zeros(1000)}, dialect="tlx"
    ).error()
    assert error["kind"] == "unsupported" and error["stage"] == "import"
    assert (
        "fbtriton" in error["message"]
        and "ASSAY_PYTHON" in error["message"]
        and triton.__version__ in error["message"]
    )


@pytest.mark.skipif(
    not HAS_TLX, reason="needs a Triton with TLX (docs/reference/operator-format.md)"
)
def test_tlx(supervisor: Supervisor) -> None:
    report = record(
        supervisor, TLX.replace("OPTIONS", "{}"), {"x": torch.zeros(1000)}, dialect="tlx"
    )
    (kernel,) = plan_of(report)["ops"]
    assert kernel["grid"] == (4, 1, 1) and kernel["cluster"] == (1, 1, 1)


@pytest.mark.skipif(
    not HAS_TLX, reason="needs a Triton with TLX (docs/reference/operator-format.md)"
)
def test_a_cluster_of_tlx_groups_the_ctas_of_the_grid(supervisor: Supervisor) -> None:
    report = record(
        supervisor,
        TLX.replace("OPTIONS", "{'ctas_per_cga': (2, 1, 1)}"),
        {"x": torch.zeros(1000)},
        dialect="tlx",
    )
    (kernel,) = plan_of(report)["ops"]
    assert kernel["grid"] == (4, 1, 1) and kernel["cluster"] == (2, 1, 1)


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
    ],
)
def test_work_that_a_plan_cannot_hold_is_refused_with_operation_and_line(
    supervisor: Supervisor, body: str, line: int, operation: str
) -> None:
    error = record(supervisor, KERNEL + "def f(x):\n" + body + "\n").error()
    assert error["kind"] == "not_recordable" and error["stage"] == "record", error
    assert error["line"] == line and operation in error["message"], error


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


def test_recording_again_takes_milliseconds(supervisor: Supervisor) -> None:
    channel, out, err, _, slot = supervisor.fork()
    assert channel.receive() is not None
    from conftest import encode_case

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
    channel.send(
        {**job, "cases": list(wires)}, VECTOR_ADD.encode(), [fd for pair in fds for fd in pair]
    )
    times = []
    for frame in channel:
        times.append(time.perf_counter())
        if frame.type == "done":
            break
    between = sorted(b - a for a, b in itertools.pairwise(times[3:-1]))
    assert between[len(between) // 2] < 0.020
    channel.close()
    os.close(out)
    os.close(err)
    for pair in fds:
        os.close(pair[0])
        os.close(pair[1])
    exited = supervisor.control.receive()
    assert exited is not None and exited.header["slot"] == slot
