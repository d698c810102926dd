"""Tests which calls of a golden file become operators: calls of functions, launches of kernels,
`apply` and `forward` of an autograd.Function, and calls of modules. Also tests that the operators
lint, and that verdicts speak about the submission and not about Assay's adapter."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

ROOT = Path(__file__).resolve().parent.parent.parent
for folder in ("measurements", "tests/common"):
    sys.path.insert(0, str(ROOT / folder))

from stdio_client import StdioClient  # noqa: E402
from tool_calls import verdict_of  # noqa: E402

BINARY = os.environ.get("ASSAY_BIN", str(ROOT / "build/release/bin/assay"))
ENVIRONMENT = {**os.environ, "ASSAY_PYTHON": sys.executable}
SEPARATOR = "\n" + "#" * 146 + "\n"
KERNEL = """
import torch
import triton
import triton.language as tl

@triton.jit
def scale_kernel(x, y, n, factor, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) * factor, mask=i < n)

def scale(x, factor):
    y = torch.empty_like(x)
    scale_kernel[(triton.cdiv(x.numel(), 128),)](x, y, x.numel(), factor, BLOCK=128)
    return y
"""
X = "torch.randn(100, device='cuda')"
# Maps each file to its kernel part, its test part, and the calls of its operators.
FILES: dict[str, tuple[str, str, list[str]]] = {
    "launches": (
        KERNEL,
        f"x = {X}\ny = torch.empty_like(x)\n"
        "scale_kernel[lambda meta: (1,)](x, y, 100, 2.0, BLOCK=128)\n",
        ["scale_kernel[(a0, )](a1, a2, a3, a4, BLOCK=a5)"],
    ),
    "autograd": (
        KERNEL + "\nclass Scale(torch.autograd.Function):\n    @staticmethod\n"
        "    def forward(ctx, x, factor):\n        return scale(x, factor)\n",
        f"Scale.apply({X}, 2.0)\nScale.forward(None, {X}, 3.0)\n",
        ["Scale.apply(a0, a1)", "Scale.forward(None, a1, a2)"],
    ),
    "modules": (
        KERNEL + "\nclass Scale(torch.nn.Module):\n    def __init__(self, weight, factor=2.0):\n"
        "        super().__init__()\n        self.weight = torch.nn.Parameter(weight)\n"
        "        self.factor = factor\n"
        "    def forward(self, x):\n        return scale(self.weight, self.factor)\n",
        f"Scale({X}, factor=3.0)(torch.ones(2, device='cuda'))\n",
        ["Scale(a0, factor=a1)(a2)"],
    ),
    "objects": (
        KERNEL + "\nclass Config:\n    def __init__(self, factor):\n        self.factor = factor\n"
        "\ndef with_config(x, config):\n    return scale(x, config.factor)\n"
        "\ndef with_norm(x, norm):\n    return scale(norm.weight, norm.eps)\n",
        f"with_config({X}, Config(2.0))\nwith_norm({X}, torch.nn.LayerNorm(8, eps=1e-3).cuda())\n",
        [
            "with_config(a0, Config(a1))",
            "with_norm(a0, _module(torch.nn.LayerNorm, {'normalized_shape': (8,), 'eps': 0.001, "
            "'elementwise_affine': True, 'training': True}, {'weight': a1, 'bias': a2}))",
        ],
    ),
    "draws": (
        KERNEL + "\ndef drawn(n, m):\n    x = torch.randn(n, m, device='cuda')\n"
        "    y = torch.rand((m, n), device='cuda', dtype=torch.float16)\n"
        "    return scale(x, 2.0), scale(y, 3.0)\n"
        "\ndef seeded(x):\n    seed = torch.cuda.default_generators[0].get_state()[0]\n"
        "    return scale(x, float(seed))\n",
        f"drawn(8, 16)\nseeded({X})\n",
        ["drawn(a0, a1)"],
    ),
    # As in a dropout: the kernel stores other numbers for other seeds, which are also returned.
    "draws_seeds": (
        KERNEL + "\ndef dropped(x):\n"
        "    seeds = torch.randint(2**32, (len(x),), device=x.device, dtype=torch.int64)\n"
        "    low = torch.randint(low=3, high=5, size=(8,), device='cuda')\n"
        "    return scale(seeds, 2.0), scale(low, 2.0), seeds\n",
        f"dropped({X})\n",
        ["dropped(a0)"],
    ),
    "sums": (
        KERNEL + "\ndef summed(x):\n    return torch.mm(scale(x, 2.0), x)\n",
        "summed(torch.randn(8, 8, device='cuda'))\n",
        ["summed(a0)"],
    ),
    "constants": (
        KERNEL + "\ndef cast(x, kind, dtype):\n"
        "    return scale(x, 2.0) if kind == tl.float32 else None\n",
        f"cast({X}, tl.float32, torch.float16)\n",
        ["cast(a0, triton.language.dtype('fp32'), torch.float16)"],
    ),
    # The test part needs the form of the first result, numpy's random numbers, gradients, and
    # functions of torch.cuda.
    "test_parts": (
        KERNEL + "\nDEVICE = torch.cuda.get_device_name(0)\n"
        "\ndef several(x):\n    return [scale(x, 2.0), 5, None]\n"
        "\nclass Scale(torch.autograd.Function):\n    @staticmethod\n"
        "    def forward(ctx, x):\n        return scale(x, 2.0)\n    @staticmethod\n"
        "    def backward(ctx, g):\n        return scale(g, 2.0)\n",
        "import numpy\nfirst, factor, none = several(torch.tensor(numpy.random.rand(8), "
        "dtype=torch.float32, device='cuda'))\nassert none is None\n"
        "torch.cuda.synchronize()\n"
        f"x = {X}.requires_grad_()\nScale.apply(x).sum().backward()\nassert x.grad.shape == (100,)\n"
        "scale(first, float(factor))\n",
        ["several(a0)", "Scale.apply(a0)", "scale(a0, a1)"],
    ),
}


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("golden")
    for name, (kernel, test, _) in FILES.items():
        (folder / f"{name}.py").write_text(kernel + SEPARATOR + test)
    out = tmp_path_factory.mktemp("suites") / "suite"
    command = [BINARY, "import", "tritonbench-g", str(folder), "--out", str(out), "--jobs", "2"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=ENVIRONMENT)
    assert done.returncode == 0, done.stderr
    assert f"operators of {len(FILES)} files" in done.stdout, done.stdout
    return out


@pytest.fixture(scope="module")
def server(suite: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[StdioClient]:
    store = tmp_path_factory.mktemp("store") / "assay.db"
    command = [BINARY, "serve", "--stdio", "--device", "cpu", "--suite", str(suite)]
    client = StdioClient([*command, "--store", str(store)], env=ENVIRONMENT)
    yield client
    client.close()
    assert client.process.returncode == 0


def assay(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [BINARY, *words], capture_output=True, text=True, timeout=600, env=ENVIRONMENT
    )


@pytest.mark.parametrize("name", FILES)
def test_each_call_is_an_operator(suite: Path, name: str) -> None:
    files = json.loads((suite / "import.json").read_text())["files"]
    report = next(one for one in files if one["file"] == f"{name}.py")
    calls = FILES[name][2]
    assert len(report["operators"]) == len(calls), report
    assert {one["tier"] for one in report["operators"]} == (
        {"host"} if name == "sums" else {"plan"}
    ), report
    for operator, call in zip(report["operators"], calls, strict=True):
        spec = (suite / "standard" / operator["name"] / "spec.toml").read_text()
        assert f"result = {call}\\n" in spec, spec
        assert f"tests do: {call}" in spec


def test_the_operators_lint(suite: Path) -> None:
    done = assay("operators", "--suite", str(suite), "lint", "--jobs", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "not judged: it needs the host tier" in done.stdout


def test_drawn_tensors_are_arguments(suite: Path) -> None:
    from harness.operator import Operator

    operator = Operator.load(suite / "standard/draws")
    case = operator.case(operator.spec["cases"][0], "cpu")
    one, again, other = (operator.inputs(case, seed) for seed in (1, 1, 2))
    assert one["d0"].shape == (8, 16) and one["d1"].dtype == torch.float16
    assert torch.equal(one["d0"], again["d0"]) and not torch.equal(one["d0"], other["d0"])
    assert one["d1"].min() >= 0 and one["d1"].max() <= 1


def test_drawn_integers_are_arguments(suite: Path) -> None:
    """The recording of a submission has the drawn numbers in it, so the reference must get them."""
    from harness.operator import Operator

    operator = Operator.load(suite / "standard/draws_seeds")
    case = operator.case(operator.spec["cases"][0], "cpu")
    one, other = (operator.inputs(case, seed) for seed in (1, 2))
    assert (one["d0"].dtype, one["d0"].shape) == (torch.int64, (100,))
    assert one["d0"].max() > 2**31 and not torch.equal(one["d0"], other["d0"])
    assert set(one["d1"].tolist()) == {3, 4}
    assert not any(wire["id"].endswith("_other") for wire in operator.spec["cases"])


def test_a_function_that_reads_the_random_generator_is_left_out(suite: Path) -> None:
    files = json.loads((suite / "import.json").read_text())["files"]
    report = next(one for one in files if one["file"] == "draws.py")
    assert report["left_out"] == ["seeded reads the state of CUDA's random number generator"]


def test_suites_shows_digests_and_provenance(suite: Path) -> None:
    done = assay("suites", str(suite), "--json")
    assert done.returncode == 0, done.stderr
    own, imported = json.loads(done.stdout)
    assert own["suite"] == "assay" and own["operators"] == 164 and own["benchmarks"] == []
    assert imported["suite"] == str(suite) and imported["benchmarks"] == ["TritonBench-G"]
    assert imported["files"] == len(FILES) and len(imported["digest"]) == 64
    assert own["digest"] != imported["digest"]
    text = assay("suites", str(suite)).stdout
    assert f"from TritonBench-G, {len(FILES)} files, revision unknown, licence: unknown" in text, (
        text
    )
    spec = (suite / "standard/draws/spec.toml").read_text()
    assert 'benchmark_file = "draws.py"' in spec and "benchmark_file_sha256 = " in spec
    missing = assay("suites", str(suite / "none"))
    assert missing.returncode != 0 and "not a folder" in missing.stderr


def git(folder: Path, *words: str) -> str:
    """Runs git without the user's settings."""
    command = ["git", "-C", str(folder), "-c", "user.name=A", "-c", "user.email=a@b.c", *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_a_checkout_has_a_revision_and_a_licence(tmp_path: Path) -> None:
    sys.path.insert(0, str(ROOT / "importers/common"))
    sys.path.insert(0, str(ROOT / "importers/tritonbench"))
    from golden_folder import golden_files
    from import_run import revision_note

    checkout = tmp_path / "checkout"
    folder = checkout / "data"
    folder.mkdir(parents=True)
    (folder / "one.py").write_text(KERNEL + SEPARATOR)
    (checkout / "LICENSE").write_text("\n  Apache License\nmore\n")
    git(checkout, "init", "-q")
    git(checkout, "add", ".")
    git(checkout, "commit", "-q", "-m", "one")
    commit = git(checkout, "rev-parse", "HEAD")
    (one,) = golden_files(folder, [])
    assert (one.provenance.revision, one.provenance.licence) == (commit, "Apache License")
    git(checkout, "pack-refs", "--all")
    assert golden_files(folder, [])[0].provenance.revision == commit
    git(checkout, "checkout", "-q", "--detach")
    assert golden_files(folder, [])[0].provenance.revision == commit
    note = revision_note(one.provenance, "0123456789abcdef")
    assert commit[:12] in note and "(git checkout 0123456789ab)" in note
    assert revision_note(one.provenance, commit) == ""


def test_a_suite_has_files_of_one_revision(tmp_path: Path) -> None:
    sys.path.insert(0, str(ROOT / "importers/common"))
    from import_exchange import Result
    from suite_folder import SuiteFolder, SuiteName, UnusableSuite

    def suite(version: str, names: set[str] | None) -> Any:
        name = SuiteName("benchmark", version)
        return SuiteFolder(
            tmp_path / "suite", {}, name, None, lambda file: names is None or file in names
        )

    with suite("aaa", {"one.py"}) as first:
        first.keep(SimpleNamespace(name="one.py", sha256="1"), Result({"operators": []}))
    for version, names in (("aaa", {"two.py"}), ("", {"two.py"}), ("bbb", {"one.py"})):
        with suite(version, names):
            pass
    with suite("bbb", {"one.py"}) as again:
        again.keep(SimpleNamespace(name="one.py", sha256="2"), Result({"operators": []}))
    with pytest.raises(UnusableSuite, match=r"1 files of revision bbb.*check bbb out"):
        suite("ccc", {"two.py"}).__enter__()
    assert 'version = "bbb"' in (tmp_path / "suite/suite.toml").read_text()
    assert "one.py" in (tmp_path / "suite/import.json").read_text()
    with suite("ccc", None):  # the whole benchmark, which is interrupted before its first file
        pass
    assert 'version = "ccc"' in (tmp_path / "suite/suite.toml").read_text()
    assert "one.py" not in (tmp_path / "suite/import.json").read_text()


def test_a_folder_inside_another_checkout_has_no_revision(tmp_path: Path) -> None:
    """The files were copied into a checkout of something else."""
    sys.path.insert(0, str(ROOT / "importers/common"))
    sys.path.insert(0, str(ROOT / "importers/tritonbench"))
    from golden_folder import golden_files

    folder = tmp_path / "other" / "golden"
    folder.mkdir(parents=True)
    (folder / "one.py").write_text(KERNEL + SEPARATOR)
    (tmp_path / "other" / "README").write_text("something else\n")
    git(tmp_path / "other", "init", "-q")
    git(tmp_path / "other", "add", "README")
    git(tmp_path / "other", "commit", "-q", "-m", "one")
    (one,) = golden_files(folder, [])
    assert (one.provenance.revision, one.provenance.licence) == ("", "")


def verdict(server: StdioClient, operator: str, source: str) -> str:
    """Compiles a submission. Returns the answer's text."""
    return str(verdict_of(server, "compile", {"operator": operator, "code": source})["text"])


def test_a_missing_function_is_named(server: StdioClient) -> None:
    text = verdict(server, "constants", "import torch\n\ndef casts(x):\n    return x\n")
    assert "missing_entry" in text and "`cast`; it defines casts" in text, text


def test_an_error_of_the_call_is_in_no_line_of_the_submission(server: StdioClient) -> None:
    text = verdict(server, "constants", "def cast(x):\n    return x\n")
    assert "type_error" in text and "takes 1 positional argument" in text, text
    assert "line" not in text.splitlines()[0], text


def test_the_oracle_compiles(suite: Path, server: StdioClient) -> None:
    for operator in ("launches", "modules", "objects", "objects_2", "draws", "autograd_2"):
        source = (suite / "standard" / operator / "oracle.py").read_text()
        text = verdict(server, operator, source)
        assert text.startswith("pass") and "scale_kernel" in text, text


def test_other_draws_than_those_of_the_benchmark_are_an_error(server: StdioClient) -> None:
    source = "import torch\n\ndef drawn(n, m):\n    return torch.randn(n + 1, device='cuda')\n"
    text = verdict(server, "draws", source)
    assert "which the benchmark's function does not draw" in text, text


def test_a_suite_of_an_older_importer_is_refused(tmp_path: Path) -> None:
    from harness.imported.golden import Golden
    from harness.operator import OperatorError

    (tmp_path / "test_part.py").write_text("")
    with pytest.raises(OperatorError, match="import it again"):
        Golden(tmp_path, "", {}, [])


def test_forms_of_results() -> None:
    from harness.imported.returned import blank, form_of, tensors_of

    value: Any = (torch.ones(2), [1, None, float("inf")], {"a": torch.ones(3, dtype=torch.int32)})
    form = form_of(value)
    assert form is not None and tensors_of(form) == [("float32", [2]), ("int32", [3])]
    source = torch.ones(1, requires_grad=True)
    first, numbers, entries = blank(form, [source])
    assert first.tolist() == [0, 0] and numbers == [1, None, 0.0]
    assert entries["a"].dtype == torch.int32
    first.sum().backward()
    assert source.grad is not None and source.grad.tolist() == [0]
    assert form_of(torch.ones(1, dtype=torch.complex64)) is None
