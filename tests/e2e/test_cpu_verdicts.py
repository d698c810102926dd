"""Checks verdicts without a GPU. Kernels must compile and fit the target, races between programs
must be found, and a feature that only the interpreter lacks must not count as the submission's
error."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from stdio_client import StdioClient

HEAD = "import torch, triton, triton.language as tl\n"
KERNEL = """
@triton.jit
def kernel(x, y, z, n, BLOCK: tl.constexpr):
    p = tl.program_id(0)
    i = PLACE * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    BODY

def vector_add(x, y):
    z = torch.zeros_like(x)
    kernel[(GRID,)](x, y, z, x.numel(), BLOCK=512OPTIONS)
    return z
"""
ADD = "tl.store(z + i, tl.load(x + i, mask=m) + tl.load(y + i, mask=m), mask=m)"
HALF = "v = tl.load((x if p % 2 == 0 else y) + i, mask=m)\n    "
MANY_STAGES = """k = tl.arange(0, 64)
    s = tl.zeros((64, 64), tl.float32)
    for t in range(0, n, 4096):
        place = t + k[:, None] * 64 + k[None, :]
        a = tl.load(x + place, mask=place < n, other=0.0)
        b = tl.load(y + place, mask=place < n, other=0.0)
        s = tl.dot(a, b, s)
    tl.store(z + i, tl.load(x + i, mask=m) + tl.load(y + i, mask=m) + tl.sum(s) * 0, mask=m)"""
COMPILED = "compiled for cuda:90"


WAITING = (
    HEAD
    + """
@triton.jit
def kernel(x, y, z, ended, n, BLOCK: tl.constexpr):
    p = tl.program_id(0)
    while tl.atomic_add(ended, 0) < p:
        pass
    i = p * BLOCK + tl.arange(0, BLOCK)
    tl.store(z + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)
    tl.atomic_add(ended, 1)

def vector_add(x, y):
    z = torch.empty_like(x)
    ended = torch.zeros(1, dtype=torch.int32, device=x.device)
    kernel[(triton.cdiv(x.numel(), 512),)](x, y, z, ended, x.numel(), BLOCK=512)
    return z
"""
)


def source(body: str, options: str = "", halves: bool = False) -> str:
    """Returns a submission. If `halves` is true, two programs work on each block."""
    blocks = "triton.cdiv(x.numel(), 512)"
    return HEAD + KERNEL.replace("BODY", body).replace("OPTIONS", options).replace(
        "PLACE", "(p // 2)" if halves else "p"
    ).replace("GRID", f"2 * {blocks}" if halves else blocks)


def verdict(server: StdioClient, code: str, tool: str = "run_tests") -> dict[str, Any]:
    answer = server.call(tool, {"operator": "vector_add", "code": code})["structuredContent"]
    while answer["status"] == "running":
        answer = server.call("job", {"job": answer["job"], "wait_s": 20})["structuredContent"]
    return dict(answer)


def test_a_pass_names_the_target_that_it_compiled_for(cpu_server: StdioClient) -> None:
    answer = verdict(cpu_server, source(ADD))
    assert answer["outcome"] == "pass", answer["summary"]
    assert answer["tier_reason"].endswith(COMPILED)
    assert {kernel["target"] for kernel in answer["kernels"]} == {"cuda:90"}


@pytest.mark.parametrize(
    ("body", "options", "exception"),
    [
        ("import numpy; numpy.exp(0.0); " + ADD, "", "UnsupportedLanguageConstruct"),
        (ADD, ", num_warps=64", "OutOfResources"),
        (
            MANY_STAGES,
            ", num_stages=24",
            "OutOfResources",
        ),
    ],
    ids=["Python in a kernel", "too many threads", "too much shared memory"],
)
def test_what_the_compiler_refuses_is_the_error_of_compile(
    cpu_server: StdioClient, body: str, options: str, exception: str
) -> None:
    code = source(body, options)
    compiled, tested = verdict(cpu_server, code, "compile"), verdict(cpu_server, code)
    assert tested["outcome"] == "error"
    for key in ("error_kind", "stage", "diagnostic", "next"):
        assert tested[key] == compiled[key]
    assert tested["error_kind"] == "compilation_error"
    assert tested["diagnostic"]["exception"] == exception
    assert tested["tier"] == "none"
    assert tested["cases"] == []


def test_a_race_is_no_pass_and_an_atomic_sum_is_one(cpu_server: StdioClient) -> None:
    add = HALF + "tl.store(z + i, tl.load(z + i, mask=m) + v, mask=m)"
    race = verdict(cpu_server, source(add, halves=True))
    assert (race["outcome"], race["error_kind"]) == ("fail", "wrong_result"), race["summary"]
    assert "not_deterministic" in [hint["kind"] for hint in race["hints"]]
    wrong = [case for case in race["cases"] if case["outcome"] != "pass"]
    assert len(wrong) == 1
    assert "a race" in wrong[0]["reason"]
    atomic = verdict(cpu_server, source(HALF + "tl.atomic_add(z + i, v, mask=m)", halves=True))
    assert atomic["outcome"] == "pass", atomic["summary"]


def test_a_program_that_waits_for_an_earlier_one_is_not_called_a_race(
    cpu_server: StdioClient,
) -> None:
    """Checks programs that wait for an earlier program. In reverse order they would wait for ever,
    so the verdict says that the reverse order was not checked."""
    answer = verdict(cpu_server, WAITING)
    assert answer["outcome"] == "pass", answer["summary"]
    assert "no other order of programs was checked" in answer["tier_reason"]


def test_an_exception_of_the_interpreter_alone_is_unsupported(cpu_server: StdioClient) -> None:
    answer = verdict(cpu_server, source("t = tl.extra.cuda.smid(); " + ADD))
    assert answer["error_kind"] == "unsupported", answer["summary"]
    assert "compiles for cuda:90" in answer["detail"]
    assert answer["kernels"]


@pytest.mark.parametrize(
    ("refusal", "kind"),
    [
        ('raise MemoryError("the machine is overloaded")', "memory_limit"),
        ('raise UnsupportedHere("the target needs a newer ptxas")', "unsupported"),
        ("import os; os._exit(3)", "protocol_error"),
    ],
)
def test_a_submission_that_ends_its_own_compilation_does_not_pass(
    cpu_server: StdioClient, refusal: str, kind: str
) -> None:
    """Checks submissions that the interpreter could run, and that end their recording themselves.
    What they report is no reason to do without a compilation."""
    code = source(ADD).replace(
        "def vector_add(x, y):\n",
        "def vector_add(x, y):\n    if isinstance(x, FakeTensor):\n        REFUSAL\n",
    )
    imports = (
        "from torch._subclasses.fake_tensor import FakeTensor\n"
        "from harness.entry.errors import UnsupportedHere\n"
    )
    code = imports + code.replace("REFUSAL", refusal)
    tested = verdict(cpu_server, code)
    assert (tested["outcome"], tested["error_kind"]) == ("error", kind), tested["summary"]
    run = cpu_server.call("start_run", {"agent": "a", "model": "m"})["structuredContent"]["run"]
    answer = cpu_server.call("submit", {"operator": "vector_add", "code": code, "run": run})
    graded = answer["structuredContent"]
    while graded["status"] == "running":
        arguments = {"job": graded["job"], "wait_s": 20}
        graded = cpu_server.call("job", arguments)["structuredContent"]
    assert (graded["outcome"], graded["error_kind"]) == ("error", kind), graded["summary"]


def test_another_target_can_be_named(
    assay: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(source(ADD))
    done = assay(
        "eval", "vector_add", str(path), "--mode", "test", "--compile-target", "hip:gfx942"
    )
    assert "compiled for hip:gfx942" in done.stdout, done.stdout + done.stderr
