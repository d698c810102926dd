"""Tests the imports of GEAK's benchmarks (importers/tritonbench/geak_rocm.py, importers/tritonbench/geak_tritonbench.py) with
files of the same form: tests of pytest with parameters launch a kernel."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "measurements"), str(ROOT / "tests/common")]

from stdio_client import StdioClient, serve_command  # noqa: E402
from tool_calls import grade_of  # noqa: E402

BINARY = os.environ.get("ASSAY_BIN", str(ROOT / "build/release/bin/assay"))
ENVIRONMENT = {**os.environ, "ASSAY_PYTHON": sys.executable}
SEPARATOR = "\n" + "#" * 146 + "  \n"
KERNEL = """
import pytest
import torch
import triton
import triton.language as tl

AUTOTUNE@triton.jit
def scale_kernel(x, y, n, factor, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) * factor, mask=i < n)
"""
AUTOTUNE = "@triton.autotune([triton.Config({'BLOCK': 128})], key=[])\n"
TEST = """
import pytest
import torch
from geak_eval.perf.helpers import Benchmarker, save_all
from torch.testing import assert_close

results = {}

@pytest.mark.parametrize("size, factor", [(100, 2.0), pytest.param(300, 3.0)])
@pytest.mark.parametrize("dtype", [torch.float32])
def test_scale(size, factor, dtype, request):
    x = torch.randn(size, device="cuda", dtype=dtype)
    y = torch.empty_like(x)
    grid = lambda meta: (triton.cdiv(size, meta["BLOCK"]),)
    scale_kernel[grid](x, y, size, factorBLOCK)
    results[request.node.name] = y.cpu()
    assert_close(y, x * factor)
    scale_kernel[grid](y, x, size, factorBLOCK)  # without a GPU, the line above fails

@pytest.mark.parametrize("size", [1024])
def test_performance(size, request):
    Benchmarker(op_callable=lambda: scale_kernel[(8,)](None), name=request.node.name).run(size)
    scale_kernel[(8,)](torch.ones(size, device="cuda"), torch.ones(size, device="cuda"), size, 2.0,
                       BLOCK=128)

@pytest.fixture
def cache(monkeypatch):
    return None

def test_with_a_fixture(cache, request):
    raise RuntimeError("this test needs a fixture that only pytest has")

def test_save():
    save_all(__file__)

if __name__ == "__main__":
    raise SystemExit("a program")
"""


def text(autotuned: bool) -> str:
    kernel = KERNEL.replace("AUTOTUNE", AUTOTUNE if autotuned else "")
    test = TEST.replace("factorBLOCK", "factor" if autotuned else "factor, BLOCK=128")
    if autotuned:
        test = test.replace(", 2.0,\n                       BLOCK=128)", ", 2.0)")
    return kernel + SEPARATOR + test


def imported(kind: str, folder: Path, out: Path) -> dict[str, Any]:
    done = subprocess.run(
        [BINARY, "import", kind, str(folder), "--out", str(out)],
        capture_output=True,
        text=True,
        timeout=600,
        env=ENVIRONMENT,
    )
    assert done.returncode == 0, done.stderr
    return {one["file"]: one for one in json.loads((out / "import.json").read_text())["files"]}


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Imports all files at once, because each import starts processes that import torch. Two of the
    files are not in the index."""
    folder = tmp_path_factory.mktemp("geak") / "ROCm_v1"
    folder.mkdir()
    (folder / "plain.py").write_text(text(False))
    (folder / "tuned.py").write_text(text(True))
    kernel = KERNEL.replace("AUTOTUNE", "")
    (folder / "timed.py").write_text(OLD_IMPORTS + kernel + SEPARATOR + TIMED_TEST)
    (folder / "backward.py").write_text(kernel + SEPARATOR + BACKWARD_TEST)
    index = [{"file": name, "instruction": f"Write {name}."} for name in ("plain.py", "tuned.py")]
    (folder.parent / "ROCm_eval_complex_instruct_v1.json").write_text(json.dumps(index))
    out = tmp_path_factory.mktemp("suites") / "suite"
    files = imported("geak-rocm", folder, out)
    assert {file["tier"] for file in files.values()} == {"plan"}, files
    # One call of each case of test_scale, and that of test_performance.
    calls = {"plain.py": 3, "tuned.py": 3, "timed.py": 2, "backward.py": 2}
    assert {name: file["calls"] for name, file in files.items()} == calls, files
    assert [text for text in files["timed.py"]["left_out"] if "has no triton.tools.gone" in text]
    return out


def test_a_launch_is_the_body_of_the_adapter(suite: Path) -> None:
    plain = (suite / "standard/plain/spec.toml").read_text()
    assert "result = scale_kernel[(a0, )](a1, a2, a3, a4, BLOCK=a5)" in plain
    assert "Write plain.py." in plain and 'benchmark = "ROCm Triton Benchmark (GEAK)"' in plain
    tuned = (suite / "standard/tuned/spec.toml").read_text()
    assert "scale_kernel[(lambda meta, size=a0: (triton.cdiv(size, meta['BLOCK']),))]" in tuned
    assert (suite / "suite.toml").read_text() == 'name = "geak-rocm"\n'


@pytest.fixture(scope="module")
def server(suite: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[StdioClient]:
    """A server for all submissions. It costs as much as one `assay eval`."""
    store = tmp_path_factory.mktemp("server") / "store.db"
    started = StdioClient(serve_command(BINARY, "cpu", store, "--suite", str(suite)), ENVIRONMENT)
    yield started
    started.close()


@pytest.mark.parametrize("name", ["plain", "tuned"])
def test_the_kernel_alone_is_a_submission(server: StdioClient, name: str) -> None:
    verdict = grade_of(server, name, KERNEL.replace("AUTOTUNE", AUTOTUNE * (name == "tuned")))
    assert verdict["outcome"] == "pass", verdict["text"]


def test_calls_have_the_numbers_that_the_importer_saw(suite: Path) -> None:
    """With a GPU, the assertion in a test holds, so the test makes one more call."""
    sys.path.insert(0, str(ROOT / "sandbox"))
    from types import ModuleType

    from harness.imported.test_parts import TestPart

    module = ModuleType("kernel_part")
    source = (
        "class Kernel:\n    fn = run = None\n"
        "    def __getitem__(self, grid):\n        raise AssertionError\n"
        "import torch, triton\nscale_kernel = Kernel()\n"
    )
    exec(source, vars(module))
    test = (suite / "standard/plain/test_part.py").read_text()
    test = test.replace('device="cuda"', 'device="cpu"').replace("assert_close(", "print(")
    seen: list[tuple[int, int]] = []
    part = TestPart(test, str(suite / "standard/plain/test_part.py"), [1, 1, 1, 0])
    part.run(module, lambda number, *call: seen.append((number, call[2][1][0].numel())))
    assert seen == [(0, 100), (1, 300), (2, 1024)]


def test_the_modified_tritonbench_has_the_same_format(tmp_path: Path) -> None:
    folder = tmp_path / "TritonBench_G_v1"
    folder.mkdir()
    kernel = KERNEL.replace("AUTOTUNE", "")
    kernel += (
        "\ndef scale(x):\n    y = torch.empty_like(x)\n"
        "    scale_kernel[(1,)](x, y, x.numel(), 2.0, BLOCK=128)\n    return y\n"
    )
    call = SEPARATOR + "scale(torch.randn(100, device='cuda'))\n"
    (folder / "one.py").write_text(kernel + call)
    load = "tl.load(x + i, mask=i < n)"
    of_amd = kernel.replace(load, f"tl.extra.hip.libdevice.erf({load})")
    (folder / "two.py").write_text(of_amd + call)
    (tmp_path / "TritonBench_G_comp_alpac_v1_fixed_with_difficulty.json").write_text(
        json.dumps([{"file": "one.py", "instruction": "Scale.", "difficulty": "4"}])
    )
    files = imported("geak-tritonbench", folder, tmp_path / "suite")
    assert files["one.py"]["tier"] == "plan", files
    assert files["two.py"]["tier"] == "plan" and files["two.py"]["operators"], files
    assert "extra.cuda.libdevice.erf" in (tmp_path / "suite/standard/two/oracle.py").read_text()
    spec = (tmp_path / "suite/standard/one/spec.toml").read_text()
    assert "difficulty = 4" in spec and "Scale." in spec
    assert 'benchmark = "TritonBench-modified (GEAK)"' in spec


# A kernel part with imports that the installed Triton lacks (importers/tritonbench/golden_imports.py), and a
# test part that launches the kernel only for a benchmarker.
OLD_IMPORTS = "from triton.backends.compiler import AttrsDescriptor\nimport triton.tools.gone\n"
TIMED_TEST = """
import pytest
import torch
from geak_eval.perf.helpers import PytestBenchmarker
from triton.backends.compiler import AttrsDescriptor

def test_compile():
    AttrsDescriptor.from_hints({0: 16})

@pytest.mark.parametrize("size", [100, 300])
def test_performance(size, request):
    x, y = torch.randn(size, device="cuda"), torch.empty(size, device="cuda")
    launch = lambda: scale_kernel[(3,)](x, y, size, 2.0, BLOCK=128)
    PytestBenchmarker(op_callable=launch, op_name="scale").run_benchmark({}, None)
"""
# The kernel part is that of a backward pass. The test part has the forward pass, and compares the
# results of the first call before it makes the second (sandbox/harness/imported/blind_test.py).
BACKWARD_TEST = """
import torch
import triton
import triton.language as tl

@triton.jit
def forward_kernel(x, y, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)

class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = torch.zeros_like(x)
        forward_kernel[(1,)](x, y, x.numel(), BLOCK=128)
        return y

    @staticmethod
    def backward(ctx, gradient):
        result = torch.empty_like(gradient)
        scale_kernel[(1,)](gradient, result, gradient.numel(), 2.0, BLOCK=128)
        return result

def test_double(request=None):
    x = torch.randn(100, device="cuda", requires_grad=True)
    for _ in range(2):
        y = Double.apply(x)
        assert torch.allclose(y, 2 * x)
        y.backward(torch.randn(100, device="cuda"))
"""


@pytest.mark.parametrize("name", ["timed", "backward"])
def test_calls_of_benchmarkers_and_backward_passes_are_cases(
    suite: Path, server: StdioClient, name: str
) -> None:
    verdict = grade_of(server, name, KERNEL.replace("AUTOTUNE", ""))
    assert verdict["outcome"] == "pass", verdict["text"]
    oracle = (suite / "standard" / name / "oracle.py").read_text()
    assert "AttrsDescriptor" not in oracle and "triton.tools" not in oracle


def test_only_missing_and_unused_names_are_left_out() -> None:
    sys.path.insert(0, str(ROOT / "importers/common"))
    sys.path.insert(0, str(ROOT / "importers/tritonbench"))
    from golden_imports import parts_of

    kernel = (
        "import triton, triton.no_such_module\n"
        "from triton.language import (load,\n    no_such_name, neither_this)\n"
        "from triton import never_there; import os\n"
        "from elsewhere import nothing\n"
        "neither_this(triton.no_such_module)\n"
        "BLOCK: tl.constexpr = 1024  # of a kernel\n"
        "OTHER: tl.constexpr = tl.constexpr(4)\n"
    )
    parts = parts_of(kernel + SEPARATOR + "from triton import gone\ngone()\n", "cuda:90")
    assert parts.kernel.splitlines()[:5] == [
        "import triton, triton.no_such_module",
        "from triton.language import load, neither_this",
        "",
        "pass; import os",
        "from elsewhere import nothing",
    ]
    assert parts.test.strip() == "pass\ngone()"
    assert parts.kernel.splitlines()[6:8] == [
        "BLOCK: tl.constexpr = tl.constexpr(1024)  # of a kernel",
        "OTHER: tl.constexpr = tl.constexpr(4)",
    ]
    assert "cannot read BLOCK" in parts.left_out.pop()
    names = [text.split(" has no ")[1] for text in parts.left_out]
    assert names == [
        f"{name}; its import is left out"
        for name in ("triton.language.no_such_name", "triton.never_there", "triton.gone")
    ]


def test_the_libdevice_of_another_vendor_becomes_that_of_the_target() -> None:
    sys.path.insert(0, str(ROOT / "importers/common"))
    sys.path.insert(0, str(ROOT / "importers/tritonbench"))
    from golden_imports import parts_of

    text = (
        "from triton.language.extra.VENDOR.libdevice import isinf\n"
        "from triton.language.extra.VENDOR import libdevice\n"
        "x = tl.extra.VENDOR.libdevice.pow(x, 2)\n"
        "from triton.language.extra.hip import utils\n"
    )
    hip, cuda = text.replace("VENDOR", "hip"), text.replace("VENDOR", "cuda")
    for given, target, wanted, name in (
        (hip, "cuda:90", cuda, "hip"),
        (cuda, "hip:gfx942", hip, "cuda"),
    ):
        parts = parts_of(given + SEPARATOR, target)
        assert parts.kernel.strip() == wanted.strip()
        assert parts.left_out == [
            f"the target is {target}, so functions of triton.language.extra.{name}.libdevice are "
            "those of the target's own libdevice"
        ]
        assert parts_of(wanted + SEPARATOR, target).left_out == []


def test_options_of_amds_compiler_are_left_out_for_other_targets() -> None:
    sys.path.insert(0, str(ROOT / "importers/common"))
    sys.path.insert(0, str(ROOT / "importers/tritonbench"))
    from golden_imports import parts_of
    from golden_options import without_foreign_options

    text = (
        "é = [triton.Config({'waves_per_eu': 2}, num_warps=4), Config({'N': 1, 'kpack': n}),\n"
        "     triton.Config(kwargs={'kpack': 1, 'N': 2,\n  'matrix_instr_nonkdim': 16})]\n"
        "kernel[grid](x, waves_per_eu=2, num_warps=4)\n"
        "kernel[grid](x, kpack=max(1, 2))\nkept(kpack=1)\n"
    )
    parts = parts_of(text + SEPARATOR, "cuda:90")
    lines = [" ".join(line.split()) for line in parts.kernel.strip().splitlines()]
    assert lines == [
        "é = [triton.Config({ }, num_warps=4), Config({'N': 1 }),",
        "triton.Config(kwargs={ 'N': 2",
        "})]",
        "kernel[grid](x, num_warps=4)",
        "kernel[grid](x )",
        "kept(kpack=1)",
    ]
    assert parts.left_out == [
        f"the target is cuda:90, so AMD's compiler option {name} is left out"
        for name in ("waves_per_eu", "matrix_instr_nonkdim", "kpack")
    ]
    assert without_foreign_options(text, "hip:gfx942") == (text, [])
    # Here, the name is a parameter of the kernel and no option.
    own = "def kernel(x, kpack): pass\nkernel[grid](x, kpack=2)\n"
    assert without_foreign_options(own, "cuda:90") == (own, [])


def test_a_test_may_end_after_its_last_call() -> None:
    """Without a GPU, nothing is compared, so a judge need not compute what a test compares with."""
    sys.path.insert(0, str(ROOT / "sandbox"))
    from types import ModuleType

    from harness.imported.test_parts import TestPart

    module, seen = ModuleType("kernel_part"), []
    exec("def scale(x): return x\n__name__ = 'kernel_part'", vars(module))
    module.scale.__module__ = "kernel_part"
    text = "def test(x=1):\n    scale(1)\n    seen.append(scale(2))\n"
    text += "def test_first():\n    test()\ndef test_second():\n    test()\n"
    vars(module)["seen"] = seen
    calls: list[int] = []
    part = TestPart(text, "test_part.py", [2, 2])
    for calls_only, compared in ((True, []), (False, [0, 0])):
        part.run(module, lambda number, *_: calls.append(number) or 0, calls_only)
        assert (calls, seen) == ([0, 1, 2, 3], compared)
        calls.clear()
