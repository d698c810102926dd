"""Tests that submissions are recorded for targets other than the default cuda:90, and in the
dialects Gluon and TLX."""

from __future__ import annotations

import importlib.util
import os
import sys

import pytest
import torch
import triton

sys.path.insert(0, os.path.dirname(__file__))
from conftest import Supervisor
from recording_client import MATMUL, matrices, plan_of, record
from sources import VECTOR_ADD


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


def test_a_kernel_that_would_call_the_host_is_refused_for_an_amd_gpu(
    supervisor: Supervisor,
) -> None:
    printing = VECTOR_ADD.replace("    tl.store(", '    tl.device_print("n", n)\n    tl.store(')
    assert printing != VECTOR_ADD
    tensors = {"x": torch.zeros(99), "y": torch.zeros(99)}
    error = record(supervisor, printing, tensors, entry="vector_add", target="hip:gfx942").error()
    assert error["kind"] == "unsupported" and "calls the host" in error["message"]
    plan_of(record(supervisor, VECTOR_ADD, tensors, entry="vector_add", target="hip:gfx942"))


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
