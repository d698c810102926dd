"""Tests that torch's libraries are loaded beside the imports, and what the processes import before
they are ready."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

MAIN = Path(__file__).resolve().parents[4] / "sandbox" / "harness"
# These modules are imported by no process before it is ready. Each costs 20 ms to 2 s.
NOT_BEFORE_READY = (
    "IPython",
    "matplotlib",
    "networkx",
    "numpy.testing",
    "pandas",
    "scipy",
    "torch._dynamo.eval_frame",  # torch._dynamo itself is there, with two parts of it
    "torch._export.serde",
    "torch._functorch.aot_autograd",
    "torch._inductor",
    "torch.distributed.tensor",
    "torch.onnx",
    "torch.utils.cpp_extension",
    "torch.utils.tensorboard",
)
NOT_IN_A_JUDGE = ("triton",)
LOADED = """
import json, os, sys
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"  # as in main.py
sys.path.insert(0, {folder!r})
from harness import torch_libraries
{before}
environment = dict(os.environ)
torch_libraries.load()
beside = "sympy" in sys.modules, "torch" in sys.modules
threads = len(os.listdir("/proc/self/task"))
changed = os.environ != environment
{role}
maps = open("/proc/self/maps").read()
print(json.dumps({{
    "beside": beside,
    "modules": list(sys.modules),
    "threads": threads,
    "changed": changed,
    "mapped": "libtorch_cpu.so" in maps,
    "sum": torch.ones(3).sum().item(),
}}))
"""
ZYGOTE = "import torch, harness.candidate.zygote"
JUDGE = "import torch, harness.judging.judge"


def imported(role: str, before: str = "") -> dict[str, Any]:
    code = LOADED.format(folder=str(MAIN.parent), role=role, before=before)
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    told: dict[str, Any] = json.loads(done.stdout)
    return told


@pytest.mark.parametrize(("role", "more"), [(ZYGOTE, ()), (JUDGE, NOT_IN_A_JUDGE)])
def test_a_process_imports_only_what_it_needs_before_it_is_ready(
    role: str, more: tuple[str, ...]
) -> None:
    told = imported(role)
    assert told["beside"] == [True, False], "torch was imported beside its own libraries"
    assert told["threads"] == 1, "the zygote forks, so the thread must have ended"
    assert not told["changed"], "initialisers of the libraries read the environment meanwhile"
    assert told["mapped"] and told["sum"] == 3
    assert not set(NOT_BEFORE_READY + more) & set(told["modules"])


@pytest.mark.parametrize(
    "before",
    [
        "torch_libraries.LIBRARIES = (('libmissing.so', 0),)",
        "torch_libraries._folder = lambda: None",
    ],
)
def test_libraries_that_cannot_be_found_are_left_to_the_import_of_torch(before: str) -> None:
    told = imported("import torch", before)
    assert told["mapped"] and told["sum"] == 3
