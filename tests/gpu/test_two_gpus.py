"""Two GPUs of one server: each measures what it runs itself."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from gpu_server import serve
from stdio_client import StdioClient

ROOT = Path(__file__).resolve().parent.parent.parent
ORACLE = (ROOT / "operators/standard/gelu_tanh/oracle.py").read_text()
CLOSE = 0.15  # of two GPUs of the same kind


def gpus() -> list[str]:
    return subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=True).stdout.splitlines()


pytestmark = [pytest.mark.gpu, pytest.mark.skipif("len(gpus()) < 2", reason="one GPU")]


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StdioClient]:
    yield from serve(tmp_path_factory.mktemp("store") / "assay.db", "--device", "cuda:1")


def profile(client: StdioClient, device: str) -> dict[str, Any]:
    request = {"operator": "gelu_tanh", "code": ORACLE, "case": "large", "device": device}
    verdict: dict[str, Any] = client.call("profile", request)["structuredContent"]
    while verdict.get("status") == "running":
        verdict = client.call("job", {"job": verdict["job"], "wait_s": 20})["structuredContent"]
    assert verdict["outcome"] == "pass", verdict
    case: dict[str, Any] = verdict["cases"][0]
    return case


def test_both_say_the_same_of_kernel_and_pytorch(two: StdioClient) -> None:
    first, second = profile(two, "cuda:0"), profile(two, "cuda:1")
    assert second["latency"]["median_ns"] == pytest.approx(first["latency"]["median_ns"], rel=CLOSE)
    assert second["pytorch_ns"] == pytest.approx(first["pytorch_ns"], rel=CLOSE)
    assert second["pytorch_ns"] > second["floor_ns"]
