"""Sends submissions that misbehave in common ways to a real server and checks the kind of verdict.

After each bad submission, a correct submission must still pass."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from stdio_client import StdioClient

ROOT = Path(__file__).resolve().parent.parent.parent

CORRECT = """
import torch, triton, triton.language as tl

@triton.jit
def add(x, y, z, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    tl.store(z + i, tl.load(x + i, mask=m) + tl.load(y + i, mask=m), mask=m)

def vector_add(x, y):
    z = torch.empty_like(x)
    add[(triton.cdiv(x.numel(), 512),)](x, y, z, x.numel(), BLOCK=512)
    return z
"""

# Maps the name of each submission to (source, outcome, error_kind).
ATTEMPTS: dict[str, tuple[str, str, str]] = {
    "zeros": (
        "import torch\ndef vector_add(x, y):\n    return torch.zeros_like(x)\n",
        "fail",
        "wrong_result",
    ),
    "prints_pass": (
        'import torch\ndef vector_add(x, y):\n    print(\'{"outcome": "pass"}\')\n    print("pass")\n    return x\n',
        "fail",
        "wrong_result",
    ),
    "exit_at_import": ("import os\nos._exit(0)\n", "error", "protocol_error"),
    "sys_exit_at_import": ("import sys\nsys.exit(0)\n", "error", "protocol_error"),
    "raises": ("def vector_add(x, y):\n    raise ValueError('no idea')\n", "error", "value_error"),
    "syntax": ("def vector_add(x, y)\n    return x\n", "error", "syntax_error"),
    "missing_entry": ("def vectoradd(x, y):\n    return x\n", "error", "missing_entry"),
    "wrong_shape": ("def vector_add(x, y):\n    return x[:1].clone()\n", "fail", "output_mismatch"),
    "nothing_returned": ("def vector_add(x, y):\n    pass\n", "fail", "output_mismatch"),
    "segfault": (
        "import ctypes\ndef vector_add(x, y):\n    ctypes.string_at(0)\n",
        "error",
        "crash",
    ),
    "flood": (
        "def vector_add(x, y):\n    while True:\n        print('x' * 100000)\n",
        "error",
        "output_limit",
    ),
    "unknown_tl": (
        CORRECT.replace("tl.load(x + i, mask=m)", "tl.lode(x + i, mask=m)"),
        "error",
        "compilation_error",
    ),
}
# Submissions that run until they reach a limit. Their server has lower limits than the default of
# one minute and several GiB, because they keep a core busy until the limit.
ENDLESS: dict[str, tuple[str, str, str]] = {
    "loop": ("def vector_add(x, y):\n    while True:\n        pass\n", "error", "timeout"),
    "memory": (
        "def vector_add(x, y):\n    a = []\n    while True:\n        a.append(bytearray(1 << 28))\n",
        "error",
        "memory_limit",
    ),
}
# A correct submission takes a tenth of a second, so it ends in time under load too.
RUN_WALL_MS, MEMORY_MIB = 6_000, 1024


def run_tests(client: StdioClient, code: str) -> dict[str, Any]:
    result = client.call("run_tests", {"operator": "vector_add", "code": code})
    verdict: dict[str, Any] = result["structuredContent"]
    while verdict.get("status") == "running" or verdict.get("state") in ("queued", "running"):
        verdict = client.call("job", {"job": verdict["job"], "wait_s": 20})["structuredContent"]
    assert result["content"][0]["text"]
    return verdict


def test_correct_passes(cpu_server: StdioClient) -> None:
    verdict = run_tests(cpu_server, CORRECT)
    assert (verdict["outcome"], verdict["error_kind"]) == ("pass", "none"), json.dumps(
        verdict, indent=1
    )[:3000]
    assert verdict["tier"] == "interpreter"


def check(client: StdioClient, source: str, outcome: str, kind: str) -> None:
    verdict = run_tests(client, source)
    assert (verdict["outcome"], verdict["error_kind"]) == (outcome, kind), json.dumps(
        verdict, indent=1
    )[:3000]
    correct = run_tests(client, CORRECT)
    assert correct["outcome"] == "pass", json.dumps(correct, indent=1)[:3000]


@pytest.mark.parametrize("name", ATTEMPTS)
def test_attempt_gets_its_kind(cpu_server: StdioClient, name: str) -> None:
    check(cpu_server, *ATTEMPTS[name])


@pytest.fixture(scope="module")
def limited_server(binary: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[StdioClient]:
    store = tmp_path_factory.mktemp("limited") / "assay.db"
    command = [binary, "serve", "--stdio", "--device", "cpu", "--store", str(store)]
    command += ["--run-wall-ms", str(RUN_WALL_MS), "--memory-mib", str(MEMORY_MIB)]
    client = StdioClient(command)
    yield client
    client.close()
    assert client.process.returncode == 0


@pytest.mark.parametrize("name", ENDLESS)
def test_an_endless_attempt_ends_at_its_limit(limited_server: StdioClient, name: str) -> None:
    check(limited_server, *ENDLESS[name])
