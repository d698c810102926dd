"""Tests `assay import tritonbench-t` with small files of its own in the format of TritonBench-T: a
function of PyTorch, a line of '#', and tests that call the function."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "measurements"), str(ROOT / "tests/common")]

from stdio_client import StdioClient, serve_command  # noqa: E402
from tool_calls import verdict_of  # noqa: E402

SCRIPT = ROOT / "importers/tritonbench/tritonbench_t.py"
BINARY = os.environ.get("ASSAY_BIN", str(ROOT / "build/release/bin/assay"))
SEPARATOR = "\n" + "#" * 146 + "\n\n"
SECONDS = 400

Files = dict[str, tuple[str, str]]  # the reference part and the test part, by the file's name


def calls_in(*lines: str) -> str:
    body = "\n".join(f"    {line}" for line in lines)
    return f"import torch\n\ndef test_it():\n    results = {{}}\n{body}\n    return results\n\ntest_results = test_it()\n"


# Files that give operators.
GOOD: Files = {
    "shifted": (
        "import torch\n\ndef shifted(input, other=1.0, out=None):\n"
        '    """Adds `other` to the exponential of `input`."""\n'
        "    return torch.add(torch.exp(input), other, out=out)\n",
        calls_in(
            "x = torch.tensor([0.5, -1.0, 2.0], device='cuda')",
            "results['a'] = shifted(x)",
            "results['b'] = shifted(torch.tensor([1.0, 0.0], device='cuda'))",
            "results['c'] = shifted(x, other=0.5)",
            "y = torch.empty(3, device='cuda')",
            "results['d'] = shifted(x, 2.0, out=y)",
            "results['e'] = shifted(torch.tensor([], device='cuda'))",
        ),
    ),
    "counted": (
        "import torch\n\ndef counted(x, running, momentum=0.1):\n"
        "    running.mul_(1 - momentum).add_(momentum * x.mean(0))\n"
        "    return x - running\n",
        calls_in(
            "x = torch.randn(4, 3, device='cuda')",
            "results['a'] = counted(x, torch.zeros(3, device='cuda'), momentum=0.5)",
        ),
    ),
    "as_type": (
        "import torch\n\ndef as_type(a, dtype=None):\n"
        "    return torch.relu(a).to(dtype or a.dtype), a.argmax(-1)\n",
        calls_in(
            "a = torch.tensor([[1.0, -2.0], [3.0, 0.5]]).cuda()",
            "results['a'] = as_type(a, dtype=torch.float64)",
            "results['b'] = as_type(a)[0]",
        ),
    ),
    "norm": (
        "import torch\nimport torch.nn.functional as F\n\n"
        "def norm(x, normalized_shape, eps=1e-5):\n"
        "    return F.layer_norm(x, normalized_shape, eps=eps)\n",
        calls_in("results['a'] = norm(torch.randn(2, 6, device='cuda'), (6,))"),
    ),
    "spaced": (
        "import torch\n\ndef spaced(start, end, steps, device=None):\n"
        "    y = torch.logspace(start, end, steps, dtype=torch.float64, device=device)\n"
        "    return y, start + end\n",
        calls_in(
            "start, end = torch.tensor(0.0, device='cuda'), torch.tensor(1.0, device='cuda')",
            "results['a'] = spaced(start, end, 4)",
            "results['b'] = spaced(start, end, 4, device='cuda')",
        ),
    ),
    "lower": (
        "import torch\n\ndef lower(A):\n    return torch.linalg.cholesky(A)\n",
        "from lower import lower\n"
        + calls_in("results['a'] = lower(torch.tensor([[4.0, 1.0], [1.0, 3.0]], device='cuda'))"),
    ),
}
# Files that give no operator, with the kind of the reason and words of it.
REFUSED: dict[str, tuple[str, str, str, str]] = {
    "noisy": (
        "import torch\n\ndef noisy(x):\n    return torch.nn.functional.dropout(x, 0.5)\n",
        calls_in("results['a'] = noisy(torch.ones(8, device='cuda'))"),
        "random",
        "draws random numbers",
    ),
    "factors": (
        "import torch\n\ndef factors(x):\n    return torch.linalg.qr(x)\n",
        calls_in("results['a'] = factors(torch.randn(3, 3).cuda())"),
        "not_unique",
        "result[0] has vectors whose signs",
    ),
    "turned": (
        "import torch\n\ndef turned(x):\n    return torch.fft.fft(x)\n",
        calls_in("results['a'] = turned(torch.ones(8, device='cuda'))"),
        "complex_dtype",
        "is complex",
    ),
    "trained": (
        "import torch\n\ndef trained(model, x):\n    return model(x)\n",
        calls_in("results['a'] = trained(torch.nn.Linear(2, 2).cuda(), torch.ones(1, 2).cuda())"),
        "object",
        "model is a Linear",
    ),
    "made": (
        "import torch\n\ndef made(n):\n    return torch.ones(n)\n",
        calls_in("results['a'] = made(3)"),
        "no_tensor_argument",
        "no argument is a tensor",
    ),
    "printed": (
        "import torch\n\ndef printed(x):\n    return float(x.sum())\n",
        calls_in("results['a'] = printed(torch.ones(3).cuda())"),
        "no_tensor",
        "returns no tensor",
    ),
    "chosen": (
        "import torch\n\ndef chosen(x):\n    return x[x > 0]\n",
        calls_in("results['a'] = chosen(torch.tensor([1.0, -1.0, 2.0, 3.0]).cuda())"),
        "value_dependent_shape",
        "depend on values",
    ),
    "same": (
        "import torch\n\ndef same(x):\n    return x + 0\n",
        calls_in("results['a'] = same(torch.ones(3).cuda())"),
        "mutant_passes",
        "rejects input x",
    ),
    "quiet": ("x = 1\n", "y = x\n", "no_call", "calls no function"),
    "lost": ("import no_such_module\n", "x = 1\n", "module_not_found", "no_such_module"),
    "broken": ("def f(:\n", "x = 1\n", "syntax_error", "SyntaxError"),
    "crashing": ("import os\n", "os.abort()\n", "crash", "SIGABRT"),
    "leaving": ("import os\n", "os._exit(3)\n", "crash", "exit status 3"),
    "taken": (
        "import torch\n\ndef inputs(x):\n    return x * 2\n",
        calls_in("inputs(torch.ones(2).cuda())"),
        "reserved_name",
        "defines inputs",
    ),
}


def written(folder: Path, files: Files) -> Path:
    folder.mkdir(parents=True)
    for name, (reference, tests) in files.items():
        (folder / f"{name}.py").write_text(reference + SEPARATOR + tests)
    return folder


def run(folder: Path, out: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), str(folder), "--out", str(out), *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)


def reports(out: Path) -> dict[str, Any]:
    return {one["file"]: one for one in json.loads((out / "import.json").read_text())["files"]}


def assay(*words: str, state: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "ASSAY_PYTHON": sys.executable, "ASSAY_STATE_DIR": str(state)}
    return subprocess.run(
        [BINARY, *words], capture_output=True, text=True, timeout=SECONDS, env=environment
    )


def spec_of(suite: Path, operator: str) -> str:
    return (suite / "standard" / operator / "spec.toml").read_text()


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = tmp_path_factory.mktemp("checkout") / "data"
    folder = written(data / "TritonBench_T_v1", GOOD)
    index = [
        {"file": f"{name}.py", "func_inputs": f"{name}(...) -> Tensor", "difficulty": 2}
        for name in GOOD
    ]
    (data / "TritonBench_T_v1.jsonl").write_text(json.dumps(index))
    out = tmp_path_factory.mktemp("suites") / "suite"
    done = run(folder, out, "--jobs", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"operators of {len(GOOD)} files" in done.stdout, done.stdout
    return out


def test_calls_of_one_form_are_cases_of_one_operator(suite: Path) -> None:
    report = reports(suite)["shifted.py"]
    assert [one["name"] for one in report["operators"]] == ["shifted", "shifted_2", "shifted_3"]
    assert report["left_out"] == ["empty_tensor: a given tensor has no elements"]
    first = spec_of(suite, "shifted")
    assert "shifted(...) -> Tensor" in first and "difficulty = 2" in first
    assert 'baseline = "torch_eager"' in first and "imported = true" in first
    ids = [line for line in first.splitlines() if line.startswith("id = ")]
    assert ids[:4] == ['id = "call_1"', 'id = "hidden_1"', 'id = "call_2"', 'id = "hidden_2"']
    assert {'id = "hidden_other"', 'id = "large"', 'id = "hidden_large"'} <= set(ids)


def test_what_a_function_writes_to_is_an_output(suite: Path) -> None:
    given = spec_of(suite, "shifted_3")
    assert 'role = "inout"' in given and 'from = "out"' in given
    assert "-> None" in given  # the function returns `out`, which is no second output
    counted = spec_of(suite, "counted")
    assert 'from = "running"' in counted and "-> Tensor" in counted


def test_dtypes_are_constants_and_a_result_may_have_several_tensors(suite: Path) -> None:
    spec = spec_of(suite, "as_type")
    assert "as_type(a, dtype=torch.float64)" in spec
    assert "-> tuple[Tensor, Tensor]" in spec
    assert 'dtype = "int64"' in spec and "max_abs_error = 0.0" in spec


def test_a_result_that_the_reference_leaves_on_the_cpu_may_be_there(suite: Path) -> None:
    """torch.logspace() makes its result on the CPU if it gets no device (eager_devices.py)."""
    no_device = spec_of(suite, "spaced")
    assert "return (result[0].to(start.device), result[1])" in no_device
    assert "A result on the CPU or on the device of the inputs is right" in no_device
    with_device = spec_of(suite, "spaced_2")
    assert "device=start.device" in with_device and ".to(" not in with_device


def test_sizes_change_together_with_the_numbers_that_name_them(suite: Path) -> None:
    from harness.operator import Operator

    operator = Operator.load(suite / "standard/norm")
    large = next(one for one in operator.spec["cases"] if one["id"] == "large")
    case = operator.case(large, "meta")
    shapes = operator.shapes(case)
    assert shapes is not None
    assert shapes["x"].shape[-1] == shapes["normalized_shape"] and shapes["x"].numel() > 1 << 20


def test_public_cases_have_the_values_of_the_tests(suite: Path) -> None:
    from harness.operator import Operator

    operator = Operator.load(suite / "standard/shifted")
    cases = {one["id"]: operator.case(one, "cpu") for one in operator.spec["cases"]}
    assert operator.inputs(cases["call_1"], 1)["input"].tolist() == [0.5, -1.0, 2.0]
    drawn = [operator.inputs(cases["hidden_1"], seed)["input"] for seed in (1, 1, 2)]
    assert torch.equal(drawn[0], drawn[1]) and not torch.equal(drawn[0], drawn[2])
    definite = Operator.load(suite / "standard/lower")
    other = next(one for one in definite.spec["cases"] if one["id"] == "hidden_other")
    matrix = definite.inputs(definite.case(other, "cpu"), 1)["a"]
    assert bool((torch.linalg.eigvalsh(matrix) > 0).all())


def test_the_operators_lint(suite: Path, tmp_path: Path) -> None:
    done = assay("operators", "--suite", str(suite), "lint", "--jobs", "2", state=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "oracle none: Perf compares with PyTorch eager" in done.stdout


@contextmanager
def served(suite: Path, device: str, folder: Path) -> Iterator[StdioClient]:
    environment = {**os.environ, "ASSAY_PYTHON": sys.executable, "ASSAY_STATE_DIR": str(folder)}
    command = serve_command(BINARY, device, folder / "store.db", "--suite", str(suite))
    client = StdioClient(command, environment)
    try:
        yield client
    finally:
        client.close()


def test_the_whole_reference_is_shown_and_no_inputs(suite: Path, tmp_path: Path) -> None:
    with served(suite, "fake", tmp_path) as client:
        answer = client.call("fetch_spec", {"operator": "shifted"})
    text, structured = answer["content"][0]["text"], answer["structuredContent"]
    for shown in (text, structured["reference"]):
        assert GOOD["shifted"][0].strip() in shown
        assert "result = shifted(input)" in shown
        assert "_DRAWN" not in shown and "hidden" not in shown.partition("reference:")[2]
    assert "with other shapes, dtypes and values" in text


KERNEL = """
import torch, triton, triton.language as tl

@triton.jit
def kernel(x, y, n, other, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(y + i, tl.exp(v) + other, mask=i < n)

def shifted(input, other=1.0, out=None):
    y = torch.empty_like(input)
    n = input.numel()
    kernel[(triton.cdiv(n, 128),)](input, y, n, other, BLOCK=128)
    return y
"""


def test_a_submission_passes_and_a_wrong_one_fails(suite: Path, tmp_path: Path) -> None:
    with served(suite, "cpu", tmp_path) as client:
        run = {"agent": "test", "model": "none", "track": "practice", "suite": "shifted"}
        name = client.call("start_run", run)["structuredContent"]["run"]
        right, wrong = (
            verdict_of(client, "submit", {"operator": "shifted", "code": code, "run": name})
            for code in (KERNEL, KERNEL.replace("+ other", "+ 2 * other"))
        )
    assert right["outcome"] == "pass", right["text"]
    assert (wrong["outcome"], wrong["error_kind"]) == ("fail", "wrong_result"), wrong["text"]


def test_each_refusal_has_a_typed_reason(tmp_path: Path) -> None:
    files = {name: (reference, tests) for name, (reference, tests, *_) in REFUSED.items()}
    done = run(written(tmp_path / "files", files), tmp_path / "suite", "--jobs", "2")
    assert done.returncode == 0, done.stderr
    found = reports(tmp_path / "suite")
    for name, (_, _, kind, words) in REFUSED.items():
        report = found[f"{name}.py"]
        assert (report["tier"], report["kind"], report["operators"]) == ("neither", kind, [])
        assert words in report["reason"] and report["reason"] in done.stdout, report
    assert "random (1 file): a right answer cannot be compared" in done.stdout
    assert not (tmp_path / "suite/standard").exists()


def test_a_file_that_hangs_is_ended_and_others_are_kept(tmp_path: Path) -> None:
    files = {"norm": GOOD["norm"], "waits": ("import time\n", "time.sleep(600)\n")}
    folder = written(tmp_path / "files", files)
    done = run(folder, tmp_path / "suite", "--jobs", "2", "--timeout-s", "60", "--only", "waits.py")
    assert done.returncode == 0, done.stderr
    late = reports(tmp_path / "suite")["waits.py"]
    assert late["reason"] == "timeout: it took over 60 s, in the step `trace`"
    assert run(folder, tmp_path / "suite", "--only", "norm.py").returncode == 0
    assert len(reports(tmp_path / "suite")["norm.py"]["operators"]) == 1


def test_a_file_cannot_touch_the_machine(tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    files = {
        "writes": ("import os\n", f"open({str(canary)!r}, 'w').write('x')\n"),
        "reads": (f"open({str(tmp_path)!r} + '/secret').read()\n", "x = 1\n"),
        "signals": ("import os\n", f"os.kill({os.getpid()}, 9)\n"),
    }
    (tmp_path / "secret").write_text("s")
    done = run(written(tmp_path / "files", files), tmp_path / "suite")
    assert done.returncode == 0, done.stderr
    assert not canary.exists()
    assert {report["tier"] for report in reports(tmp_path / "suite").values()} == {"neither"}


def test_folders_that_cannot_be_imported(tmp_path: Path) -> None:
    data = tmp_path / "checkout/data"
    folder = written(data / "TritonBench_T_v1", {"norm": GOOD["norm"]})
    index = data / "TritonBench_T_v1.jsonl"
    index.write_text(json.dumps([{"file": "norm.py"}, {"file": "gone.py"}]))
    out = tmp_path / "suite"
    for source, options, status, words in (
        (tmp_path / "none", [], 66, "is not a folder; it is data/TritonBench_T_v1"),
        (tmp_path / "checkout", [], 66, f"they are in {folder}"),
        (folder, [], 66, "1 of the 2 files that TritonBench_T_v1.jsonl lists: gone.py missing"),
        (folder, ["--only", "nom.py"], 66, "has no nom.py"),
    ):
        done = run(source, out, *options)
        assert done.returncode == status and words in done.stderr, done.stderr
        assert not out.exists()
    index.write_text("[{")
    damaged = run(folder, out)
    assert damaged.returncode == 65 and "`func_inputs`" in damaged.stderr
