"""Tests which cases of imported operators run without a GPU (importers/tritonbench/golden_interpreter.py), and
that a device `cpu` then gives verdicts about submissions."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
for folder in ("measurements", "tests/common"):
    sys.path.insert(0, str(ROOT / folder))

from stdio_client import StdioClient, serve_command  # noqa: E402
from tool_calls import grade_of  # noqa: E402

BINARY = os.environ.get("ASSAY_BIN", str(ROOT / "build/release/bin/assay"))
ENVIRONMENT = {**os.environ, "ASSAY_PYTHON": sys.executable}
SEPARATOR = "\n" + "#" * 146 + "\n"
KERNEL = """
import torch
import triton
import triton.language as tl

@triton.jit
def scale_kernel(x, y, n, factor, BLOCK: "tl.constexpr"):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) * factor, mask=i < n)

def scale(x, factor):
    y = torch.empty_like(x)
    scale_kernel[(triton.cdiv(x.numel(), 128),)](x, y, x.numel(), factor, BLOCK=128)
    return y
"""
# Reads beyond its argument: the mask lets two rows too many through.
BEYOND = KERNEL.replace("mask=i < n) * factor", "mask=i < n + (1 << 20)) * factor")
FILES = {
    "small": (
        KERNEL,
        "scale(torch.randn(100, device='cuda'), 2.0)\nscale(torch.randn(300, device='cuda'), 3.0)\n",
    ),
    "inexact": (KERNEL, "scale(torch.randn(100, device='cuda').bfloat16(), 2.0)\n"),
    "large": (KERNEL, "scale(torch.randn(1 << 22, device='cuda'), 2.0)\n"),
    "beyond": (BEYOND, "scale(torch.randn(1 << 18, device='cuda'), 2.0)\n"),
}
# The test part draws a position that may be beyond the tensor. It is so with seed 3, not with 1 and 2.
AT = KERNEL.replace("(x, factor)", "(x, at)").replace("x.numel(), factor", "x.numel(), at")
AT = AT.replace("* factor", "* 2.0").replace("y + i, ", "y + tl.load(factor) + i, ")
DRAW = "(torch.randint(0, 10, (1,), dtype=torch.int32, device='cuda') == 7).int() * 10000"
DRAWN = f"scale(torch.zeros(8, device='cuda'), {DRAW})\n"
# Another operator of the file, after the one that is refused.
DRAWN += (
    "scale(torch.ones(2, 8, device='cuda'), torch.zeros(1, dtype=torch.int32, device='cuda'))\n"
)
FILES["drawn"] = (AT, DRAWN)
# Without a GPU, the argument of the second call is zero, and the right answer without kernels, too.
FILES["after"] = (
    KERNEL,
    "first = scale(torch.randn(64, device='cuda'), 2.0)\nscale(first.reshape(8, 8), 3.0)\n",
)
INTERPRETED = {"small": 2, "inexact": 0, "large": 0, "beyond": 0, "drawn": 0, "drawn_2": 1}
INTERPRETED |= {"after": 1, "after_2": 0}


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("golden")
    for name, (kernel, test) in FILES.items():
        (folder / f"{name}.py").write_text(kernel + SEPARATOR + test)
    out = tmp_path_factory.mktemp("suites") / "suite"
    command = [BINARY, "import", "tritonbench-g", str(folder), "--out", str(out), "--jobs", "2"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=ENVIRONMENT)
    assert done.returncode == 0, done.stderr
    return out


def test_small_exact_cases_are_marked(suite: Path) -> None:
    files = json.loads((suite / "import.json").read_text())["files"]
    for operator in (one for file in files for one in file["operators"]):
        assert operator["interpreted"] == INTERPRETED[operator["name"]], operator
        spec = (suite / "standard" / operator["name"] / "spec.toml").read_text()
        # The hidden twin of a public case is marked too, and so is the case of other shapes.
        marked = 2 * INTERPRETED[operator["name"]] + operator["other_shapes"]
        assert spec.count("interpreter = true") == marked


@pytest.fixture(scope="module")
def server(suite: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[StdioClient]:
    """Runs one server for all submissions. Its start costs as much as one `assay eval`."""
    store = tmp_path_factory.mktemp("store") / "assay.db"
    command = serve_command(BINARY, "cpu", store, "--suite", str(suite))
    client = StdioClient(command, env=ENVIRONMENT)
    yield client
    client.close()
    assert client.process.returncode == 0


def test_a_cpu_judges_the_cases(server: StdioClient) -> None:
    text = grade_of(server, "small", KERNEL)["text"]
    assert "pass" in text.splitlines()[0] and "tier interpreter" in text, text
    wrong = grade_of(server, "small", KERNEL.replace("* factor", "* factor * 1.5"))
    assert (wrong["outcome"], wrong["error_kind"]) == ("fail", "wrong_result"), wrong["text"]


def test_other_cases_say_what_they_need(server: StdioClient) -> None:
    text = grade_of(server, "large", KERNEL)["text"]
    assert "its reference, the benchmark's own kernel, needs a GPU" in text, text
    assert "too large" not in text.splitlines()[0]
    broken = grade_of(server, "large", "def scale(x, factor:\n    return x\n")["text"]
    assert "syntax_error" in broken, broken
