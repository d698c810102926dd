"""Tests the tier `host` on a real GPU. A submission that cannot be recorded uses the GPU inside its
jail. Checks that such a submission cannot make the next job fail."""

from __future__ import annotations

import json

import pytest
from stdio_client import StdioClient
from test_submissions import CORRECT, run_tests

KERNEL = """
import os, torch, triton, triton.language as tl

@triton.jit
def kernel(x, y, z, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    BODY

def vector_add(x, y):
    if x[0].item() > 1e9:  # host code reads a value, so the submission cannot be recorded
        return x
    HOST
    z = torch.empty_like(x)
    kernel[(triton.cdiv(x.numel(), 512),)](x, y, z, x.numel(), BLOCK=512)
    return z
"""
ADD = "tl.store(z + i, tl.load(x + i, mask=m) + tl.load(y + i, mask=m), mask=m)"


def submission(body: str = ADD, host: str = "pass") -> str:
    return KERNEL.replace("BODY", body).replace("HOST", host)


def lines(*statements: str) -> str:
    return "\n    ".join(statements)


PROBE = lines(
    "import glob",
    "seen = sorted(p for p in glob.glob('/dev/*') if 'nvidia' in p or 'dri' in p or 'kfd' in p)",
    "assert len([p for p in seen if p[len('/dev/nvidia'):].isdigit()]) == 1, seen",
    "assert not [p for p in seen if 'modeset' in p or 'caps' in p or 'tools' in p], seen",
    "assert not os.path.exists('/proc/driver/nvidia'), 'the driver tells of the GPUs'",
    "assert open('/proc/self/status').read().split('CapEff:')[1].split()[0].strip('0') == '', 'capabilities'",
)
ATTEMPTS: dict[str, tuple[str, str, str]] = {
    "honest": (submission(), "pass", "none"),
    "in_its_jail": (submission(host=PROBE), "pass", "none"),
    "zeros": (submission("tl.store(z + i, 0.0, mask=m)"), "fail", "wrong_result"),
    "raises": (submission(host="raise KeyError('no')"), "error", "key_error"),
    "leaves": (submission(host="os._exit(0)"), "error", "protocol_error"),
    "illegal_address": (
        submission("tl.store(z + i.to(tl.int64) * 100000000000, 1.0, mask=i > 0)"),
        "error",
        "gpu_fault",
    ),
    "endless_kernel": (
        submission(
            "while tl.load(x) < 1e30:\n        tl.store(z + i, tl.load(y + i, mask=m), mask=m)"
        ),
        "error",
        "timeout",
    ),
    "all_of_the_memory": (
        submission(
            host=lines(
                "kept = []",
                "while True: kept.append(torch.empty(1 << 30, dtype=torch.uint8, device='cuda'))",
            )
        ),
        "error",
        "gpu_memory_limit",
    ),
}


@pytest.mark.parametrize("name", ATTEMPTS)
def test_attempt_gets_its_kind(host_server: StdioClient, name: str) -> None:
    source, outcome, kind = ATTEMPTS[name]
    verdict = run_tests(host_server, source)
    assert (verdict["outcome"], verdict["error_kind"], verdict["tier"]) == (
        outcome,
        kind,
        "host",
    ), json.dumps(verdict, indent=1)[:4000]
    after = run_tests(host_server, CORRECT)
    assert (after["outcome"], after["tier"]) == ("pass", "plan"), json.dumps(after, indent=1)[:3000]
