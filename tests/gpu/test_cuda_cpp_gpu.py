"""Tests CUDA C++ submissions on a real GPU: correct submissions pass and are timed. A wrong
submission gets the correct error kind, and the next correct submission passes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from stdio_client import StdioClient

pytestmark = pytest.mark.gpu

SOURCES = Path(__file__).resolve().parent.parent / "cuda_cpp"
OPERATORS = sorted(path.stem for path in SOURCES.glob("*.cu"))
ADD = (SOURCES / "vector_add.cu").read_text()
VALUE = "static_cast<T>(static_cast<float>(x[i]) + static_cast<float>(y[i]))"

WRONG: dict[str, tuple[str, str, str]] = {
    "x_alone": (ADD.replace(VALUE, "x[i]"), "fail", "wrong_result"),
    "tail_not_written": (ADD.replace("if (i < n)", "if (i < n - 1)"), "fail", "wrong_result"),
    "past_the_end": (ADD.replace("if (i < n)", "if (i < n + 8)"), "error", "canary_violation"),
    "illegal_address": (ADD.replace("z[i] =", "z[i * 100000000000LL] ="), "error", "gpu_fault"),
    "endless": (
        ADD.replace(
            "if (i < n) z[i]", "while (static_cast<volatile T*>(z) != nullptr && i < n) z[i]"
        ),
        "error",
        "timeout",
    ),
    "does_not_compile": (ADD.replace("blockIdx.x", "blockIdx.w"), "error", "compilation_error"),
    "no_manifest": (ADD.replace("/* assay", "/*"), "error", "missing_entry"),
}


def call(client: StdioClient, tool: str, operator: str, code: str, **more: Any) -> dict[str, Any]:
    result = client.call(tool, {"operator": operator, "code": code, "language": "cuda", **more})
    verdict: dict[str, Any] = result["structuredContent"]
    while verdict.get("status") == "running" or verdict.get("state") in ("queued", "running"):
        verdict = client.call("job", {"job": verdict["job"], "wait_s": 20})["structuredContent"]
    return verdict


@pytest.mark.parametrize("operator", OPERATORS)
def test_correct_submissions_pass_and_are_timed(gpu_server: StdioClient, operator: str) -> None:
    run = gpu_server.call("start_run", {"agent": "test", "model": "none", "track": "practice"})[
        "structuredContent"
    ]["run"]
    verdict = call(
        gpu_server, "submit", operator, (SOURCES / f"{operator}.cu").read_text(), run=run
    )
    assert (verdict["outcome"], verdict["tier"]) == ("pass", "plan"), json.dumps(verdict, indent=1)[
        :3000
    ]
    assert verdict["language"] == "cuda"
    assert "perf" in verdict, verdict.get("hints")  # the hints say why there is no Perf
    assert verdict["perf"] > 0.01


@pytest.mark.parametrize("name", WRONG)
def test_wrong_submissions_get_their_error_kind(gpu_server: StdioClient, name: str) -> None:
    source, outcome, kind = WRONG[name]
    assert source != ADD
    verdict = call(gpu_server, "run_tests", "vector_add", source)
    assert (verdict["outcome"], verdict["error_kind"]) == (outcome, kind), json.dumps(
        verdict, indent=1
    )[:3000]
    after = call(gpu_server, "run_tests", "vector_add", ADD)
    assert (after["outcome"], after["tier"]) == ("pass", "plan"), json.dumps(after, indent=1)[:3000]


def test_shared_memory_is_that_of_the_kernel(gpu_server: StdioClient) -> None:
    """Checks that the reported shared memory is what the kernel declares. Assay reads the amount of
    static shared memory from the cubin. On newer targets this number includes memory that the
    system reserves, which Assay must subtract."""
    verdict = call(gpu_server, "run_tests", "matmul_fp16", (SOURCES / "matmul_fp16.cu").read_text())
    (kernel,) = verdict["kernels"]
    assert kernel["shared_bytes"] == 64 * 24 * 2 + 16 * 72 * 2 + 64 * 64 * 4
