"""Checks on a GPU: the kernels of tests/e2e/check pass, a wrong kernel fails, and the largest case
has the times of the kernel, of PyTorch eager and of torch.compile."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.gpu
ROOT = Path(__file__).resolve().parent.parent.parent
KERNELS = sorted((ROOT / "tests/e2e/check/kernels").glob("*.py"))


def check(path: Path, tmp_path: Path, *options: str) -> dict[str, Any]:
    """Checks the kernel of a file. The first two lines of the file have its inputs and axes."""
    inputs, axes = (line.partition(": ")[2] for line in path.read_text().splitlines()[:2])
    command = [os.environ.get("ASSAY_BIN", str(ROOT / "build/release/bin/assay")), "check"]
    command += [f"{path}:kernel", "--against", f"{path}:reference", "--device", "cuda:0", "--json"]
    for text in json.loads(inputs):
        command += ["--input", text]
    for name, values in json.loads(axes).items():
        command += [f"--{name}", ",".join(str(value) for value in values)]
    environment = {**os.environ, "ASSAY_STATE_DIR": str(tmp_path / "state")}
    done = subprocess.run(
        [*command, *options], env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
def test_a_kernel_equals_its_reference(path: Path, tmp_path: Path) -> None:
    verdict = check(path, tmp_path, "--no-profile")
    assert verdict["outcome"] == "pass", verdict["summary"]
    assert verdict["tier"] == "plan"


def test_the_largest_case_is_timed(tmp_path: Path) -> None:
    verdict = check(ROOT / "tests/e2e/check/kernels/swiglu.py", tmp_path, "--axis", "n=4000000")
    assert verdict["outcome"] == "pass", verdict["summary"]
    last = next(case for case in verdict["cases"] if case["id"] == "n=4000000")
    assert last["latency"]["median_ns"] > 0
    assert 0.02 < last["pytorch_ns"] / last["latency"]["median_ns"] < 50
    assert last.get("torch_compile_ns") or last["torch_compile_unsupported"]
    assert verdict["profile"]["bound"] in ("memory", "latency", "launch")
