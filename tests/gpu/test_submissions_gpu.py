"""Sends misbehaving submissions to a server with a real GPU. Each must get the correct error kind,
and the next correct submission must pass."""

from __future__ import annotations

import json

import pytest
from stdio_client import StdioClient
from test_submissions import CORRECT, run_tests

KERNEL = """
import torch, triton, triton.language as tl

@triton.jit
def kernel(x, y, z, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    BODY

def vector_add(x, y):
    z = torch.empty_like(x)
    kernel[(triton.cdiv(x.numel(), 512),)](x, y, z, x.numel(), BLOCK=512)
    return z
"""


def kernel(body: str) -> str:
    return KERNEL.replace("BODY", body)


ATTEMPTS: dict[str, tuple[str, str, str]] = {
    "zeros": (
        "import torch\ndef vector_add(x, y):\n    return torch.zeros_like(x)\n",
        "fail",
        "wrong_result",
    ),
    "nothing_written": (kernel("pass"), "fail", "wrong_result"),
    "exit_at_import": ("import os\nos._exit(0)\n", "error", "protocol_error"),
    "raises": ("def vector_add(x, y):\n    raise ValueError('no idea')\n", "error", "value_error"),
    "endless_kernel": (
        kernel("while tl.load(x) < 1e30:\n        tl.store(z + i, tl.load(y + i, mask=m), mask=m)"),
        "error",
        "timeout",
    ),
    "illegal_address": (
        kernel("tl.store(z + i.to(tl.int64) * 100000000000, 1.0, mask=i > 0)"),
        "error",
        "gpu_fault",
    ),
    "past_the_end": (
        kernel("tl.store(z + i, tl.load(x + i, mask=m) + tl.load(y + i, mask=m), mask=i < n + 16)"),
        "error",
        "canary_violation",
    ),
}


@pytest.mark.parametrize("name", ATTEMPTS)
def test_attempt_gets_its_kind(gpu_server: StdioClient, name: str) -> None:
    source, outcome, kind = ATTEMPTS[name]
    verdict = run_tests(gpu_server, source)
    assert (verdict["outcome"], verdict["error_kind"]) == (outcome, kind), json.dumps(
        verdict, indent=1
    )[:3000]
    after = run_tests(gpu_server, CORRECT)
    assert (after["outcome"], after["tier"]) == ("pass", "plan"), json.dumps(after, indent=1)[:3000]
