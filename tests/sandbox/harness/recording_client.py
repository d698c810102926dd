"""Records submissions without a GPU, and reads their launch plans back.

    report = record(supervisor, KERNEL + "def f(x): return torch.empty_like(x)")
    plan = plan_of(report)

Plans are read by plan_reader.py, which is independent of the code that writes them."""

from __future__ import annotations

import os
import sys
from typing import Any

import torch

sys.path.insert(0, os.path.dirname(__file__))
from conftest import Report, Supervisor
from plan_reader import read_plan

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


def matrices() -> dict[str, Any]:
    return {
        "a": torch.zeros(256, 512, dtype=torch.float16),
        "b": torch.zeros(512, 256, dtype=torch.float16),
    }
