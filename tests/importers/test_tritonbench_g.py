"""Tests `assay import tritonbench-g` with small golden files: the operators can be loaded and
recorded, and each file has the expected tier: `plan`, `host` or `neither`
(importers/tritonbench/tritonbench_g.py)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

ROOT = Path(__file__).resolve().parent.parent.parent
SEPARATOR = "\n" + "#" * 146 + "\n"
KERNEL = """
import torch
import triton
import triton.language as tl

@triton.jit
def scale_kernel(x, y, n, factor, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) * factor, mask=i < n)

def scale(x, factor, out=None, mode="plain"):
    y = torch.empty_like(x) if out is None else out
    scale_kernel[(triton.cdiv(x.numel(), 128),)](x, y, x.numel(), factor, BLOCK=128)
    if out is None:
        return y
"""
FILES = {
    "several_calls.py": (
        KERNEL,
        """
def test_scale():
    x = torch.randn(100, device="cuda")
    first = scale(x, 2.0)
    scale(torch.randn(7, 30, device="cuda"), factor=0.5, mode="plain")
    scale(first, 3.0)
    out = torch.zeros(64, device="cuda")
    scale(torch.rand(64, device="cuda"), 4.0, out)
    return first

test_scale()
""",
    ),
    "torch_arithmetic.py": (
        KERNEL.replace("    y = torch.empty_like(x)", "    x = x + 1\n    y = torch.empty_like(x)"),
        "scale(torch.randn(8, device='cuda'), 2.0)\n",
    ),
    "reads_values.py": (
        KERNEL.replace(
            "    y = torch.empty_like(x)",
            "    factor = float(x.max())\n    y = torch.empty_like(x)",
        ),
        "scale(torch.randn(8, device='cuda'), 2.0)\n",
    ),
    "does_not_compile.py": (
        KERNEL.replace("tl.load(x + i, mask=i < n)", "tl.no_such_thing(x)"),
        "scale(torch.randn(8, device='cuda'), 2.0)\n",
    ),
    "with_helper.py": (
        KERNEL + "\ndef prepare(x):\n    return x.t().contiguous() / x.abs().amax()\n",
        "scale(prepare(torch.randn(8, 4, device='cuda')), 2.0)\n",
    ),
    "uncalled.py": (
        KERNEL,
        "def test_scale():\n    return scale(torch.randn(8, device='cuda'), 2.0)\n",
    ),
    "no_blocks.py": (
        KERNEL.replace("triton.cdiv(x.numel(), 128)", "x.numel() // 128"),
        "scale(torch.randn(8, device='cuda'), 2.0)\nscale(torch.randn(256, device='cuda'), 2.0)\n",
    ),
    "shared_memory.py": (KERNEL, "x = torch.randn(8, device='cuda')\nscale(x, 2.0, x)\n"),
}


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    golden = tmp_path_factory.mktemp("data") / "TritonBench_G_v1"
    golden.mkdir()
    for name, (kernel, test) in FILES.items():
        (golden / name).write_text(kernel + SEPARATOR + test)
    index = [{"file": "several_calls.py", "comp_instru": "Scales a tensor.", "difficulty": "2"}]
    (golden.parent / "TritonBench_G_v1.json").write_text(json.dumps(index))
    out = tmp_path_factory.mktemp("suites") / "suite"  # a jailed judge must be able to read it
    script = ROOT / "importers/tritonbench/tritonbench_g.py"
    scratch = tmp_path_factory.mktemp("scratch")
    command, environment = (
        [sys.executable, str(script), str(golden), "--out", str(out)],
        {**os.environ, "TMPDIR": str(scratch)},
    )
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, env=environment)
    assert done.returncode == 0, done.stderr
    assert list(scratch.iterdir()) == []
    assert "8 files: 5 plan, 2 host, 1 neither; operators of 6 files" in done.stdout, done.stdout
    return out


@pytest.fixture(scope="module")
def reports(suite: Path) -> dict[str, Any]:
    return {
        report["file"]: report
        for report in json.loads((suite / "import.json").read_text())["files"]
    }


def test_tiers_have_reasons(reports: dict[str, Any]) -> None:
    assert {name: report["tier"] for name, report in reports.items()} == {
        "several_calls.py": "plan",
        "torch_arithmetic.py": "host",
        "reads_values.py": "host",
        "does_not_compile.py": "neither",
        "no_blocks.py": "plan",
        "shared_memory.py": "plan",
        "uncalled.py": "plan",
        "with_helper.py": "plan",
    }
    assert reports["with_helper.py"]["left_out"] == ["prepare launches no kernel"]
    assert "aten::add is arithmetic by torch" in reports["torch_arithmetic.py"]["reason"]
    assert reports["torch_arithmetic.py"]["arithmetic"] == ["aten::add"]
    assert "not_recordable" in reports["reads_values.py"]["reason"]
    assert "no_such_thing" in reports["does_not_compile.py"]["reason"]
    # The call with eight elements is left out, because its grid has no blocks.
    assert reports["no_blocks.py"]["left_out"] == ["scale launches no kernel"]
    assert [(one["name"], one["cases"]) for one in reports["no_blocks.py"]["operators"]] == [
        ("no_blocks", 1)
    ]
    # Tensors that share memory become arguments of their own.
    assert [one["tier"] for one in reports["shared_memory.py"]["operators"]] == ["plan"]


def test_calls_of_one_form_are_cases_of_one_operator(reports: dict[str, Any], suite: Path) -> None:
    operators = reports["several_calls.py"]["operators"]
    assert [(one["name"], one["cases"], one["tier"]) for one in operators] == [
        ("several_calls", 2, "plan"),
        ("several_calls_2", 1, "plan"),
        ("several_calls_3", 1, "plan"),
    ]
    spec = (suite / "standard/several_calls/spec.toml").read_text()
    for words in (
        "call_several_calls(a0: Tensor, a1: float) -> Tensor",
        "Scales a tensor.",
        "difficulty = 2",
        "imported = true",
    ):
        assert words in spec
    assert 'role = "inout"' in (suite / "standard/several_calls_3/spec.toml").read_text()
    assert (suite / "standard/several_calls/oracle.py").read_text().strip() == KERNEL.strip()
    assert "randn" not in (suite / "standard/several_calls/reference.py").read_text()


def test_inputs_come_from_the_test_part_and_the_seed(suite: Path) -> None:
    from harness.operator import Operator, OperatorError

    operator = Operator.load(suite / "standard/several_calls")
    wires = {wire["id"]: wire for wire in operator.spec["cases"]}
    case = operator.case(wires["call_0"], "cpu")
    one, again, other = operator.inputs(case, 1), operator.inputs(case, 1), operator.inputs(case, 2)
    assert one["a1"] == 2.0 and one["a0"].shape == (100,)
    assert torch.equal(one["a0"], again["a0"]) and not torch.equal(one["a0"], other["a0"])
    later = operator.inputs(operator.case(wires["call_2"], "cpu"), 1)
    # In the test part, the argument a0 is the result of the first call. The importer knows only the
    # dtype and the shape of this result.
    assert later["a1"] == 3.0 and later["a0"].shape == (100,)
    state = torch.random.get_rng_state()
    operator.inputs(case, 3)
    assert torch.equal(state, torch.random.get_rng_state())
    assert operator.cost(case).bytes == 400
    # The test part of this file defines a test but does not call it. The importer must call it.
    uncalled = Operator.load(suite / "standard/uncalled")
    assert uncalled.inputs(uncalled.case(uncalled.spec["cases"][0], "cpu"), 1)["a0"].shape == (8,)
    helped = Operator.load(suite / "standard/with_helper")
    assert helped.inputs(helped.case(helped.spec["cases"][0], "cpu"), 1)["a0"].shape == (4, 8)
    # The case is small, so its reference runs in the interpreter. A larger one needs a GPU.
    assert torch.equal(operator.reference(one)[0], one["a0"] * 2.0)
    assert not any(mask.any() for mask in operator.open_elements(operator.reference(one), one))
    large = {**one, "a0": torch.ones(1 << 20)}
    with pytest.raises(OperatorError, match="needs a GPU"):
        operator.reference(large)
    with pytest.raises(OperatorError, match="needs a GPU"):  # the operator has this hook
        operator.open_elements([large["a0"]], large)


def without_times(files: Any) -> list[dict[str, Any]]:
    return [{key: value for key, value in one.items() if key != "seconds"} for one in files]


def test_one_file_can_be_imported_again(suite: Path, reports: dict[str, Any]) -> None:
    """This test must run before the tests that change the suite."""
    golden = next(suite.parents[1].glob("data*/TritonBench_G_v1"))
    stale = suite / "standard/no_blocks_2"
    stale.mkdir()
    known = json.loads((suite / "import.json").read_text())
    next(one for one in known["files"] if one["file"] == "no_blocks.py")["operators"].append(
        {"name": stale.name}
    )
    (suite / "import.json").write_text(json.dumps(known))
    command = [
        sys.executable,
        str(ROOT / "importers/tritonbench/tritonbench_g.py"),
        str(golden),
        "--out",
        str(suite),
        "--only",
        "no_blocks.py",
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and "1 files: 1 plan" in done.stdout, done.stdout + done.stderr
    again = json.loads((suite / "import.json").read_text())["files"]
    assert without_times(again) == without_times(reports.values())
    assert not stale.exists() and (suite / "standard/no_blocks/spec.toml").exists()


def test_a_test_part_that_was_changed_is_refused(suite: Path) -> None:
    from harness.operator import Operator, OperatorError

    path = suite / "standard/several_calls_2/test_part.py"
    path.write_text(path.read_text() + "# changed\n")
    with pytest.raises(OperatorError, match="import it again"):
        Operator.load(path.parent)


def test_the_server_loads_the_suite(suite: Path) -> None:
    binary = os.environ.get("ASSAY_BIN", str(ROOT / "build/release/bin/assay"))
    done = subprocess.run(
        [binary, "operators", "--suite", str(suite), "list"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    listed = [line.split()[0] for line in done.stdout.splitlines()]
    made = [
        "no_blocks",
        "several_calls",
        "several_calls_2",
        "several_calls_3",
        "shared_memory",
        "torch_arithmetic",
        "uncalled",
        "with_helper",
    ]
    assert listed == made, done.stdout
    compiled = subprocess.run(
        [
            binary,
            "eval",
            "several_calls",
            str(suite / "standard/several_calls/oracle.py"),
            "--suite",
            str(suite),
            "--mode",
            "compile",
        ],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert compiled.returncode == 0 and "scale_kernel" in compiled.stdout, (
        compiled.stdout + compiled.stderr
    )


def test_folders_without_golden_files_are_refused(tmp_path: Path) -> None:
    binary = os.environ.get("ASSAY_BIN", str(ROOT / "build/release/bin/assay"))
    for folder, words in (
        (tmp_path / "none", "is not a folder"),
        (tmp_path, "has no golden file"),
    ):
        command = [binary, "import", "tritonbench-g", str(folder), "--out", str(tmp_path / "suite")]
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=60,
            env={**os.environ, "ASSAY_PYTHON": sys.executable},
        )
        assert done.returncode == 66 and words in done.stderr and str(folder) in done.stderr, (
            done.stderr
        )
    assert not (tmp_path / "suite").exists()
