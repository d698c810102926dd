"""Checks which workers a server uses: by the class of their devices, by the isolation layers of
their sandboxes, and by what their devices did."""

from __future__ import annotations

import json
import shlex
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from http_serving import Server, serving, wait_until
from test_workers import PASS, changed, metric, pool, problems, run_tests, slow, workers

CLASS = {
    "name": "NVIDIA H200",
    "memory_bytes": 150_754_820_096,
    "driver": "580.159.04 (CUDA 13.0)",
    "clock_khz": 1_980_000,
    "bandwidth_bytes_per_s": 4_916_000_000_000,
}
DEVICE = {
    "name": "cuda:0",
    "description": "a GPU",
    "can_time": False,
    "best_tier": "plan",
    "default_target": "cuda:90",
    "concurrency": 2,
    "class": CLASS,
}
WEAK = [
    {"name": "seccomp", "active": True, "detail": ""},
    {"name": "landlock", "active": False, "detail": "the kernel has no Landlock"},
]


def first_other(folder: Path, first: str, other: str, gate: str = "true") -> str:
    """Returns a command that starts `first` once, and then always `other`, as soon as the command
    `gate` succeeds."""
    wait = f"until {gate}; do sleep 0.05; done"
    script = f"if mkdir {folder / 'started'}; then exec {first}; else {wait}; exec {other}; fi"
    return f"sh -c {shlex.quote(script)}"


def page(server: Server) -> str:
    return server.request("GET", "/metrics")[2]


def hello(**more: Any) -> dict[str, Any]:
    return {"hello": {"device": DEVICE, "layers": WEAK[:1], **more}}


def test_a_server_with_strict_isolation_refuses_a_weaker_sandbox(
    binary: str, tmp_path: Path
) -> None:
    file = pool(tmp_path, changed(binary, hello(layers=WEAK)))
    strict = ("--isolation", "strict", "--workers", str(file))
    with serving(binary, tmp_path, *strict, device="") as server:
        assert run_tests(server, PASS)["error_kind"] == "device_unhealthy"
        assert "lacks the layer landlock (the kernel has no Landlock)" in problems(server)


def test_a_server_with_strict_isolation_uses_only_workers_that_have_it(
    binary: str, tmp_path: Path
) -> None:
    strict = ("--isolation", "strict")
    file = pool(tmp_path, changed(binary, hello(strict_isolation=False)))
    with serving(binary, tmp_path, *strict, "--workers", str(file), device="") as server:
        assert run_tests(server, PASS)["error_kind"] == "device_unhealthy"
        assert "runs without --isolation strict" in problems(server)
    file = pool(tmp_path, changed(binary, hello(strict_isolation=True)))
    with serving(binary, tmp_path, *strict, "--workers", str(file), device="") as server:
        assert run_tests(server, PASS)["outcome"] == "pass"


def test_a_weaker_sandbox_is_shown(binary: str, tmp_path: Path) -> None:
    file = pool(tmp_path, changed(binary, hello(layers=WEAK)))
    with serving(binary, tmp_path, "--workers", str(file), device="") as server:
        assert run_tests(server, PASS)["outcome"] == "pass"
        assert metric(server, 'assay_worker_missing_layers{pool="pool",layers="landlock"}') == 1


def test_the_class_of_a_pool_is_shown(binary: str, tmp_path: Path) -> None:
    file = pool(tmp_path, changed(binary, hello()))
    with serving(binary, tmp_path, "--workers", str(file), device="") as server:
        wait_until(lambda: workers(server, "idle") == 1)
        [line] = [one for one in page(server).splitlines() if "assay_worker_class{" in one]
        for name, value in CLASS.items():
            label = "gpu" if name == "name" else name
            assert f'{label}="{value}"' in line
        assert "assay_worker_missing_layers{" not in page(server)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"clock_khz": 1_755_000}, "1755 MHz"),
        ({"driver": "570.1"}, "570.1"),
        ({"memory_bytes": 80 << 30}, "80 GiB"),
        ({"name": "NVIDIA H100"}, "NVIDIA H100"),
    ],
)
def test_a_device_of_another_class_is_refused(
    binary: str, tmp_path: Path, change: dict[str, Any], words: str
) -> None:
    other = hello(device={**DEVICE, "class": {**CLASS, **change}})
    gate = f"test -e {tmp_path / 'admitted'}"
    command = first_other(tmp_path, changed(binary, hello()), changed(binary, other), gate)
    file = pool(tmp_path, command, least=2, most=2)
    with serving(binary, tmp_path, "--workers", str(file), device="") as server:
        wait_until(lambda: workers(server, "idle") == 1)
        (tmp_path / "admitted").touch()
        wait_until(lambda: f"'{words}'" in problems(server))
        assert "so give them two pools" in problems(server)


def test_a_worker_whose_gpu_fails_is_avoided_without_health_checks(
    binary: str, tmp_path: Path
) -> None:
    """It answers at once, so it would get most of the next jobs. The server runs the job of a failed
    device once more, then on the other worker."""
    broken = {"outcome": "error", "error_kind": "device_unhealthy", "cases": []}
    good = f"{binary} worker --device fake"
    command = first_other(tmp_path, changed(binary, {"verdict": broken}), good)
    file = pool(tmp_path, command, least=2, most=2, health_check_s=0)
    with (
        serving(binary, tmp_path, "--workers", str(file), device="") as server,
        ThreadPoolExecutor() as threads,
    ):
        wait_until(lambda: workers(server, "idle") == 2)
        answers = list(threads.map(lambda one: run_tests(server, slow(1_000, one)), range(2)))
        answers += [run_tests(server, slow(0, number)) for number in range(2, 10)]
        assert {answer["outcome"] for answer in answers} == {"pass"}, json.dumps(answers)
        assert len({answer["provenance"]["worker"] for answer in answers}) == 1
