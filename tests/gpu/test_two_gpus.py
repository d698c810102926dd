"""Tests one server with two GPUs: a job is judged and timed on the GPU that it names."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from gpu_server import serve
from stdio_client import StdioClient
from tool_calls import verdict_of

ROOT = Path(__file__).resolve().parent.parent.parent
ORACLE = (ROOT / "operators/standard/gelu_tanh/oracle.py").read_text()
CLOSE = 0.15  # the allowed relative difference between the times of two GPUs of the same model
NAMED = """import torch
from harness.operator import Cost

def inputs(case, rng):
    return {"x": rng.normal((case.axes["n"],), case.dtype)}

def reference(x):
    y = torch.zeros(x.shape, dtype=x.dtype, device="cuda:0")
    with torch.cuda.device(0):
        y.copy_(x)
    return y + x

def cost(case):
    return Cost(bytes=2 * case.axes["n"] * case.dtype.itemsize, flops=0)
"""
SPEC = """name = "named"
split = "standard"
family = "elementwise"
dialect = "triton"
difficulty = 1
summary = "Double"
description = "y = 2 x"
entry = "named"
signature = "named(x: Tensor) -> Tensor"

[[arguments]]
name = "x"
type = "tensor"
dtype = "case"
shape = ["n"]
role = "input"
description = "contiguous"

[[outputs]]
name = "y"
dtype = "case"
shape = ["n"]
max_abs_error = 0.0
"""
CASE = '[[cases]]\nid = "ID"\nvisibility = "KIND"\ninterpreter = true\ndtype = "float32"\naxes = { n = 4096 }\ndistribution = "normal"\n'
DOUBLE = """import torch, triton, triton.language as tl

@triton.jit
def double(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, 2 * tl.load(x + i, mask=i < n), mask=i < n)

def named(x):
    y = torch.empty_like(x)
    double[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), B=256)
    return y
"""


def gpus() -> list[str]:
    return subprocess.run(
        ["nvidia-smi", "-L"], capture_output=True, text=True, check=True
    ).stdout.splitlines()


pytestmark = [pytest.mark.gpu, pytest.mark.skipif("len(gpus()) < 2", reason="one GPU")]


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StdioClient]:
    yield from serve(tmp_path_factory.mktemp("store") / "assay.db", "--device", "cuda:1")


def profile(client: StdioClient, device: str) -> dict[str, Any]:
    verdict = verdict_of(
        client,
        "profile",
        {"operator": "gelu_tanh", "code": ORACLE, "case": "large", "device": device},
    )
    assert verdict["outcome"] == "pass", verdict
    case: dict[str, Any] = verdict["cases"][0]
    return case


def test_both_gpus_measure_the_same_for_kernel_and_pytorch(two: StdioClient) -> None:
    first, second = profile(two, "cuda:0"), profile(two, "cuda:1")
    assert second["latency"]["median_ns"] == pytest.approx(first["latency"]["median_ns"], rel=CLOSE)
    assert second["pytorch_ns"] == pytest.approx(first["pytorch_ns"], rel=CLOSE)
    assert second["pytorch_ns"] > second["floor_ns"]


def test_an_operator_that_names_the_first_gpu_is_judged_on_the_second(tmp_path: Path) -> None:
    folder = tmp_path / "suite/standard/named"
    folder.mkdir(parents=True)
    cases = "".join(
        CASE.replace("ID", f"{kind}_{i}").replace("KIND", kind)
        for kind in ("public", "hidden")
        for i in range(3)
    )
    (folder / "spec.toml").write_text(SPEC + "\n" + cases)
    (folder / "reference.py").write_text(NAMED)
    (folder / "oracle.py").write_text(DOUBLE)
    for client in serve(
        tmp_path / "assay.db", "--device", "cuda:1", "--suite", str(tmp_path / "suite")
    ):
        for device in ("cuda:0", "cuda:1"):
            verdict = verdict_of(
                client, "run_tests", {"operator": "named", "code": DOUBLE, "device": device}
            )
            assert (verdict["outcome"], verdict["tier"]) == ("pass", "plan"), verdict
