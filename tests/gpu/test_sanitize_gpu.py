"""Tests Compute Sanitizer on a real GPU. It must report kernels that read outside of a buffer, race
in shared memory, read uninitialised memory, or misuse a barrier. The outputs of these kernels are
right, so only the sanitizer can notice the errors. It must report nothing for honest kernels.

    ASSAY_SANITIZER=/path/to/compute-sanitizer python -m pytest -q -s tests/gpu/test_sanitize_gpu.py

Without the variable, the server looks for the sanitizer itself. If there is none, the tests are
skipped. A failed test prints the verdict, and the sanitizer's reports and output in full."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from gpu_server import ROOT, serve
from stdio_client import StdioClient

pytestmark = pytest.mark.gpu

BINARY = os.environ.get("ASSAY_BIN", str(ROOT / "build/release/bin/assay"))
SANITIZER = os.environ.get("ASSAY_SANITIZER", "")
TOOLS = ["memcheck", "racecheck", "initcheck", "synccheck"]

TRITON = """
import torch, triton, triton.language as tl

@triton.jit
def watched(x, y, z, scratch, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    BODY

def vector_add(x, y):
    z = torch.empty_like(x)
    scratch = torch.empty_like(x)
    watched[(triton.cdiv(x.numel(), 512),)](x, y, z, scratch, x.numel(), BLOCK=512)
    return z
"""
SUM = "tl.load(x + i, mask=m) + tl.load(y + i, mask=m)"

CUDA = """/* assay
[[launch]]
kernel = "watched<{x.dtype}>"
grid = "ceil_div(n, 256)"
block = 256
args = ["x", "y", "z", "n"]
*/
#include <cuda_fp16.h>

template <class T>
__global__ void watched(const T* x, const T* y, T* z, long long n) {
  __shared__ float tile[256];
  const int t = threadIdx.x;
  const long long i = blockIdx.x * 256LL + t;
  tile[t] = i < n ? static_cast<float>(x[i]) : 0.0f;
  BARRIER
  const float never = tile[(t + 128) % 256] == 12345.0f ? 1.0f : 0.0f;
  if (i < n) z[i] = static_cast<T>(static_cast<float>(x[i]) + static_cast<float>(y[i]) + never);
}
"""


def triton(body: str) -> str:
    return TRITON.replace("BODY", body)


def line_of(source: str, text: str) -> int:
    return next(n for n, line in enumerate(source.splitlines(), 1) if text in line)


# Sources with one mistake each.
STRAY = triton(
    "s = tl.load(y + i, mask=i < n + 16)\n    tl.store(z + i, tl.load(x + i, mask=m) + s, mask=m)"
)
UNWRITTEN = triton(
    "s = tl.load(scratch + i, mask=m)\n"
    "    never = tl.where(s == 12345.0, 1.0, 0.0)\n"
    f"    tl.store(z + i, {SUM} + never, mask=m)"
)
RACE = CUDA.replace("BARRIER", "")
DIVERGENT = CUDA.replace("BARRIER", "__syncthreads();\n  if (t < 100) __syncthreads();")
# Maps a name to (source, language, kind of the finding, tool, text in the reported line).
MISTAKES: dict[str, tuple[str, str, str, str, str]] = {
    "stray_read": (STRAY, "python", "memory_error", "memcheck", "mask=i < n + 16"),
    "race": (RACE, "cuda", "race", "racecheck", "tile[t] ="),
    "unwritten_scratch": (UNWRITTEN, "python", "memory_error", "initcheck", "tl.load(scratch"),
    "divergent_barrier": (DIVERGENT, "cuda", "race", "synccheck", "if (t < 100)"),
}
HONEST = {
    "triton": (triton(f"tl.store(z + i, {SUM}, mask=m)"), "python"),
    "cuda": (CUDA.replace("BARRIER", "__syncthreads();"), "cuda"),
}


def options() -> list[str]:
    return ["--sanitizer", SANITIZER] if SANITIZER else []


@pytest.fixture(scope="module", autouse=True)
def _needs_a_sanitizer() -> None:
    if SANITIZER:
        version = subprocess.run([SANITIZER, "--version"], capture_output=True, text=True)
        print(version.stdout, version.stderr)
        return
    found = json.loads(
        subprocess.run([BINARY, "doctor", "--json"], capture_output=True, text=True).stdout
    )
    if not found["sanitizer"]:
        pytest.skip("no compute-sanitizer; ASSAY_SANITIZER names one")


@pytest.fixture(scope="module")
def profiler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StdioClient]:
    yield from serve(tmp_path_factory.mktemp("store") / "assay.db", *options())


@pytest.fixture(scope="module")
def grader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StdioClient]:
    yield from serve(tmp_path_factory.mktemp("store") / "assay.db", "--sanitize", *options())


def call(client: StdioClient, tool: str, **arguments: Any) -> dict[str, Any]:
    verdict: dict[str, Any] = client.call(tool, {"operator": "vector_add", **arguments})[
        "structuredContent"
    ]
    while verdict.get("status") == "running" or verdict.get("state") in ("queued", "running"):
        verdict = client.call("job", {"job": verdict["job"], "wait_s": 20})["structuredContent"]
    return verdict


def everything(client: StdioClient, verdict: dict[str, Any]) -> str:
    """Returns the verdict, the sanitizer's reports, and what the sanitizer printed."""
    text = json.dumps(verdict, indent=1)[:6000]
    for one in verdict.get("artifacts", []):
        if "check" not in one["name"]:
            continue
        answer = client.call("read_artifact", {"artifact": one["artifact"], "limit": 14000})
        text += f"\n===== {one['name']}\n" + "\n".join(part["text"] for part in answer["content"])
    return text


def watched_profile(client: StdioClient, source: str, language: str) -> dict[str, Any]:
    return call(client, "profile", code=source, language=language, case="small", detail="sanitize")


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_found_with_its_line(profiler: StdioClient, name: str) -> None:
    source, language, kind, tool, text = MISTAKES[name]
    verdict = watched_profile(profiler, source, language)
    shown = everything(profiler, verdict)
    print(shown)
    assert (verdict["outcome"], verdict.get("error_kind")) == ("fail", kind), shown
    assert verdict["sanitizer"]["total"] >= 1, shown
    found = verdict["sanitizer"]["findings"]
    assert {one["tool"] for one in found} == {tool}, shown
    places = [place for one in found for place in one["places"]]
    assert all(place["kernel"].startswith("watched") for place in places), shown
    assert line_of(source, text) in {place["line"] for place in places}, shown
    if tool in ("memcheck", "initcheck"):
        assert found[0]["address"] and len(found[0]["thread"]) == 3, shown
        assert len(found[0]["block"]) == 3, shown


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_kernel_is_clean_and_timed(profiler: StdioClient, name: str) -> None:
    verdict = watched_profile(profiler, *HONEST[name])
    shown = everything(profiler, verdict)
    print(shown)
    assert verdict["outcome"] == "pass", shown
    assert (verdict["sanitizer"]["tools"], verdict["sanitizer"]["total"]) == (TOOLS, 0), shown
    assert verdict["cases"][0]["latency"]["median_ns"] > 0, shown


def submit(client: StdioClient, source: str) -> dict[str, Any]:
    run = client.call("start_run", {"agent": "test", "model": "none", "track": "practice"})
    return call(client, "submit", code=source, run=run["structuredContent"]["run"])


def test_a_grade_fails_by_a_finding_and_an_honest_grade_passes(grader: StdioClient) -> None:
    failed = submit(grader, STRAY)
    shown = json.dumps(failed, indent=1)[:6000]
    assert (failed["outcome"], failed["error_kind"]) == ("fail", "memory_error"), shown
    assert "perf" not in failed, shown
    passed = submit(grader, HONEST["triton"][0])
    shown = json.dumps(passed, indent=1)[:6000]
    assert passed["outcome"] == "pass" and passed["perf"] > 0, shown


def test_the_oracles_of_four_families_are_clean(profiler: StdioClient) -> None:
    """Checks that the sanitizer reports nothing for tensor cores, reductions and atomics."""
    dirty = {}
    for operator in ("softmax_last_dim", "matmul_fp16", "cumsum_last_dim", "layer_norm_bwd"):
        folder = Path(ROOT) / "operators/standard" / operator
        verdict = call(
            profiler,
            "profile",
            operator=operator,
            code=(folder / "oracle.py").read_text(),
            case="small",
            detail="sanitize",
        )
        if verdict["outcome"] != "pass":
            dirty[operator] = everything(profiler, verdict)
    assert not dirty, "\n".join(dirty.values())
