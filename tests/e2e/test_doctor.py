"""Checks that `assay doctor` reports what this machine can do. Also checks that the exit status of
`assay eval` depends on the verdict."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
Run = Callable[..., subprocess.CompletedProcess[str]]


def test_doctor_lists_layers_and_devices(assay: Run, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    done = assay("doctor", "--json", "--report", str(report))
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["operators"] >= 16
    assert found["sandbox"]["works"] and found["devices"]["cpu"]
    layers = {layer["name"]: layer for layer in found["sandbox"]["layers"]}
    assert {"seccomp", "mount_namespace", "network_namespace", "no_new_privileges"} <= set(layers)
    for layer in layers.values():
        assert layer["active"] or layer["detail"], f"{layer['name']} is missing without a reason"
    assert found["devices"]["cuda"] or found["devices"]["cuda_reason"]
    reported = json.loads(report.read_text())
    assert reported["doctor"]["sandbox"] == found["sandbox"]
    assert reported["amd"]["problem"] or reported["amd"]["gpus"]


@pytest.mark.parametrize(
    "options",
    [["--url", "http://127.0.0.1:1"], ["--workers", "none.toml"], ["--worker-command", "cat"]],
)
def test_a_report_is_about_this_machine_only(
    assay: Run, tmp_path: Path, options: list[str]
) -> None:
    report = tmp_path / "report.json"
    done = assay("doctor", "--report", str(report), *options)
    assert done.returncode == 64, done.stderr
    for word in ("--report", options[0], "excludes"):
        assert word in done.stderr, done.stderr
    assert not report.exists()


def test_eval_ends_with_the_status_of_its_verdict(assay: Run, tmp_path: Path) -> None:
    oracle = ROOT / "operators/standard/vector_add/oracle.py"
    done = assay("eval", "vector_add", str(oracle), "--json")
    assert done.returncode == 0, done.stderr
    verdict = json.loads(done.stdout)
    assert (verdict["outcome"], verdict["tier"]) == ("pass", "interpreter")
    wrong = tmp_path / "wrong.py"
    wrong.write_text("def vector_add(x, y):\n    return x\n")
    assert assay("eval", "vector_add", str(wrong)).returncode == 1
    broken = tmp_path / "broken.py"
    broken.write_text("def vector_add(x, y)\n    return x\n")
    done = assay("eval", "vector_add", str(broken))
    assert done.returncode == 2
    assert "line 1" in done.stdout and "SyntaxError" in done.stdout


def test_compile_for_a_gpu_that_is_not_here(assay: Run) -> None:
    oracle = ROOT / "operators/standard/softmax_last_dim/oracle.py"
    done = assay(
        "eval",
        "softmax_last_dim",
        str(oracle),
        "--mode",
        "compile",
        "--target",
        "cuda:90",
        "--target",
        "hip:gfx942",
        "--json",
    )
    assert done.returncode == 0, done.stdout + done.stderr
    kernels = json.loads(done.stdout)["kernels"]
    assert {kernel["target"] for kernel in kernels} == {"cuda:90", "hip:gfx942"}
    assert all(kernel["registers"] > 0 for kernel in kernels if kernel["target"] == "cuda:90")
