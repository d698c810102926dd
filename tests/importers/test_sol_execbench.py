"""Tests `assay import sol-execbench` with small problems: operators judge what the problems say, and
problems that cannot be used are named with a reason (importers/sol_execbench/sol_execbench.py)."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

ROOT = Path(__file__).resolve().parent.parent.parent
for folder in ("sandbox", "importers/common", "importers/flashinfer", "importers/sol_execbench"):
    sys.path.insert(0, str(ROOT / folder))

from harness.imported.input_values import KINDS, PLAIN, SHIFTED, random_values  # noqa: E402
from harness.judging.lint import lint  # noqa: E402
from harness.operator import Operator, Rng  # noqa: E402
from sol_dataset import Tolerance, rule_of  # noqa: E402
from sol_values import values_of  # noqa: E402

SCRIPT = ROOT / "importers/sol_execbench/sol_execbench.py"
DEADLINE_S = 240
RANDOM = {"type": "random"}
NORM = """import torch

def run(x, norm_weight, eps):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)
    return x * scale * norm_weight
"""
ROUTED = """import torch

def choose(axes_and_scalars, device):
    rows = axes_and_scalars["rows"]
    return {"index": torch.randint(0, rows, (axes_and_scalars["picks"],), device=device)}

def run(table, index):
    return table[index].reshape(-1)
"""


def tensor(*shape: str, dtype: str = "float32") -> dict[str, Any]:
    return {"shape": list(shape), "dtype": dtype, "description": None}


def var() -> dict[str, Any]:
    return {"type": "var", "description": None}


NORM_PROBLEM: dict[str, Any] = {
    "name": "Small_Norm",
    "axes": {"B": var(), "H": {"type": "const", "value": 32}},
    "inputs": {
        "x": tensor("B", "H"),
        "norm_weight": tensor("H"),
        "eps": {"shape": None, "dtype": "float32", "description": None},
    },
    "outputs": {"y": tensor("B", "H")},
    "reference": NORM,
}
ROUTED_PROBLEM: dict[str, Any] = {
    "name": "routed",
    "axes": {
        "rows": var(),
        "picks": var(),
        "flat": {"type": "expr", "expression": "picks * 4 / 2 * 2**1"},
    },
    "custom_inputs_entrypoint": "choose",
    "inputs": {"table": tensor("rows", "4"), "index": tensor("picks", dtype="int64")},
    "outputs": {"taken": tensor("flat")},
    "reference": ROUTED,
}


def write(folder: Path, place: str, problem: dict[str, Any], *workloads: Any) -> Path:
    where = folder / place
    where.mkdir(parents=True)
    (where / "definition.json").write_text(json.dumps(problem))
    lines = [one if isinstance(one, str) else json.dumps(one) for one in workloads]
    (where / "workload.jsonl").write_text("\n".join(lines) + "\n")
    return where


def norm_workload(uuid: str, rows: int, **changes: Any) -> dict[str, Any]:
    inputs = {"x": RANDOM, "norm_weight": RANDOM, "eps": {"type": "scalar", "value": 1e-5}}
    return {"uuid": uuid, "axes": {"B": rows}, "inputs": inputs, **changes}


def run(folder: Path, out: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), str(folder), "--out", str(out), "--jobs", "2", *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE_S)


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("sol")
    problems = root / "problems"
    tight = {"max_atol": 0.002, "max_rtol": 0.004, "required_matched_ratio": 0.995}
    where = write(
        problems,
        "L1/norm",
        NORM_PROBLEM,
        norm_workload("a", 7),
        norm_workload("b", 64, tolerance=tight),
        norm_workload("b", 65),
        norm_workload("c", 9, tolerance={"max_atol": "much"}),
        "no JSON",
    )
    solution = {
        "name": "mine",
        "definition": "Small_Norm",
        "spec": {"languages": ["triton"], "entry_point": "kernel.py::go"},
        "sources": [{"path": "kernel.py"}],
    }
    (where / "solution.json").write_text(json.dumps(solution))
    (where / "kernel.py").write_text("def go(x, norm_weight, eps, y): ...\n")
    other = {**solution, "spec": {"languages": ["cuda_cpp"], "entry_point": "k.cu::go"}}
    (where / "solution_cuda.json").write_text(json.dumps(other))
    custom = {"type": "custom"}
    given = {"table": RANDOM, "index": custom}
    workload = {"uuid": "r", "axes": {"rows": 9, "picks": 5}, "inputs": given}
    valued = {**workload, "uuid": "s", "axes": {"rows": 9, "picks": 5, "flat": 20}}
    write(problems, "L2/routed", ROUTED_PROBLEM, workload, valued)
    done = run(problems, root / "suite")
    assert done.returncode == 0, done.stderr
    assert "2 files: 2 operators" in done.stdout, done.stdout
    assert "2 solutions: 1 copied" in done.stdout, done.stdout
    return root / "suite"


def reports(out: Path) -> dict[str, Any]:
    return {one["file"]: one for one in json.loads((out / "import.json").read_text())["files"]}


def test_workloads_that_cannot_be_used_are_named(suite: Path) -> None:
    found = reports(suite)
    [doubled, tolerance, broken] = found["L1/norm"]["left_out"]
    assert doubled == "workload.jsonl:3: another workload has the uuid b"
    assert tolerance.startswith("workload.jsonl:4: `tolerance` has max_atol, max_rtol and")
    assert broken.startswith("workload.jsonl:5: Expecting value")
    [valued] = found["L2/routed"]["left_out"]
    assert valued == "workload.jsonl:2: the axis flat is an expression, so it has no value"


def test_the_smallest_tolerance_of_the_workloads_counts(suite: Path) -> None:
    operator = Operator.load(suite / "standard/small_norm")
    assert operator.spec["outputs"][0]["max_abs_error"] == 0.002
    assert operator.spec["benchmark_tolerance"] == (
        "an element may be off by 0.002 + 0.004 x |right value|, and 99.5 % of the elements must "
        "be so"
    )
    assert operator.spec["benchmark"] == "SOL-ExecBench"


def test_lint_accepts_the_operators(suite: Path) -> None:
    for name in ("small_norm", "routed"):
        operator = Operator.load(suite / "standard" / name)
        wires = [wire for wire in operator.spec["cases"] if wire["interpreter"]]
        checks = list(lint(operator, [operator.case(wire, "cpu") for wire in wires], seed=3))
        assert [(one.name, one.detail) for one in checks if not one.ok] == [], name
        assert any(one.mutant for one in checks)


def test_a_hidden_case_shows_that_a_kernel_ignores_a_weight_of_ones(suite: Path) -> None:
    operator = Operator.load(suite / "standard/small_norm")
    by_id = {one["id"]: one for one in operator.spec["cases"]}
    public = operator.inputs(operator.case(by_id["workload_0"], "cpu"), 1)
    hidden = operator.inputs(operator.case(by_id["workload_0_again"], "cpu"), 1)
    assert public["norm_weight"].eq(1).all()
    assert hidden["norm_weight"].std() > 0.1
    assert by_id["workload_0_again"]["axes"] != by_id["workload_0"]["axes"]


def test_the_definition_makes_custom_inputs_for_each_seed(suite: Path) -> None:
    operator = Operator.load(suite / "standard/routed")
    assert [one.role for one in operator.arguments] == ["input", "structural"]
    case = operator.case(operator.spec["cases"][0], "cpu")
    state = torch.random.get_rng_state()
    one, again, other = (operator.inputs(case, seed)["index"] for seed in (1, 1, 2))
    assert torch.equal(one, again) and not torch.equal(one, other)
    assert torch.equal(torch.random.get_rng_state(), state)
    arguments = operator.inputs(case, 1)
    [taken] = operator.expected(case, arguments)
    assert torch.equal(taken, arguments["table"][arguments["index"]].reshape(-1))


def test_a_submission_may_take_an_output_whose_size_is_an_expression(suite: Path) -> None:
    spec = Operator.load(suite / "standard/routed").spec
    text = "def run(table, index, taken):\n    taken.copy_(table[index].reshape(-1))\n"
    module: dict[str, Any] = {}
    exec(text + spec["adapter"], module)
    table, index = torch.arange(12.0).reshape(3, 4), torch.tensor([2, 0])
    assert module[spec["entry"]](table, index).tolist() == [8, 9, 10, 11, 0, 1, 2, 3]


def test_a_solution_may_lie_beside_its_description(suite: Path) -> None:
    [copied] = (suite / "solutions").rglob("*.py")
    assert copied.relative_to(suite / "solutions").as_posix() == "small_norm/mine.py"
    assert copied.read_text().endswith("\n\nrun = go\n")


@pytest.mark.parametrize(
    ("change", "kind", "reason"),
    [
        ({"op_type": "sampling"}, "own_evaluator", "the outputs are random"),
        ({"custom_inputs_entrypoint": "make"}, "bad_definition", "defines no function `make`"),
        ({"custom_inputs_entrypoint": "a b"}, "bad_definition", "is no name of a function"),
        ({"axes": {"B": {"type": "expr"}}}, "bad_definition", "axis B needs the text `expression`"),
        (
            {"axes": {"B": {"type": "expr", "expression": "1) + (2"}}},
            "bad_constraint",
            "is no expression of Python",
        ),
        ({"outputs": {"y": {"shape": 5, "dtype": "float32"}}}, "bad_definition", "no list of"),
        ({"axes": []}, "bad_definition", "`axes` is an object"),
        (
            {"outputs": {"y": tensor("B", dtype="float4_e2m1fn_x2")}},
            "unsupported_dtype",
            "output y has the dtype float4_e2m1fn_x2, which Assay lacks",
        ),
    ],
)
def test_a_problem_that_cannot_be_used_is_named(
    tmp_path: Path, change: dict[str, Any], kind: str, reason: str
) -> None:
    from sol_dataset import read_problems

    write(tmp_path, "L1/bad", {**NORM_PROBLEM, **change}, norm_workload("a", 2))
    [file] = read_problems(tmp_path, []).files
    assert file.kind == kind and reason in file.problem, file


def test_a_fraction_or_a_huge_power_gives_no_size(tmp_path: Path) -> None:
    from sol_dataset import read_problems

    for number, text in enumerate(("picks / 2", "9**9**9", "picks**-1")):
        axes = {**ROUTED_PROBLEM["axes"], "flat": {"type": "expr", "expression": text}}
        workload = {
            "uuid": "r",
            "axes": {"rows": 9, "picks": 5},
            "inputs": {"table": RANDOM, "index": {"type": "custom"}},
        }
        place = tmp_path / str(number)
        write(place, "routed", {**ROUTED_PROBLEM, "axes": axes}, workload)
        [file] = read_problems(place, []).files
        assert file.kind == "no_workload" and "the axis flat is 0" in file.problem, file


def test_a_second_import_keeps_what_the_first_one_made(tmp_path: Path) -> None:
    write(tmp_path / "problems", "L1/norm", NORM_PROBLEM, norm_workload("a", 2))
    for known in (False, True):
        done = run(tmp_path / "problems", tmp_path / "suite")
        assert done.returncode == 0, done.stderr
        assert ("1 files were imported earlier; 0 are left" in done.stdout) == known, done.stdout


def test_a_link_is_not_read(tmp_path: Path) -> None:
    from sol_dataset import read_problems

    where = write(tmp_path, "L1/norm", NORM_PROBLEM, norm_workload("a", 2))
    (where / "definition.json").unlink()
    (where / "definition.json").symlink_to("/dev/zero")
    [file] = read_problems(tmp_path, []).files
    assert file.kind == "unreadable" and "is not a regular file" in file.problem


def test_hidden_masks_differ_from_the_causal_mask() -> None:
    def mask(variant: str, seed: int) -> torch.Tensor:
        return random_values("causal_mask", [2, 9, 9], torch.float32, variant, Rng(seed, "cpu"))

    assert torch.equal(mask(PLAIN, 1), mask(PLAIN, 2))
    assert not torch.equal(mask(SHIFTED, 1), mask(SHIFTED, 2))
    assert mask(SHIFTED, 1).diagonal(dim1=1, dim2=2).eq(0).all()
    assert torch.equal(mask(SHIFTED, 1).triu(1), mask(PLAIN, 1))


def test_a_folder_without_problems_is_named(tmp_path: Path) -> None:
    done = run(tmp_path, tmp_path / "suite")
    assert done.returncode != 0
    assert "has no definition.json; it is data/benchmark of NVIDIA/SOL-ExecBench" in done.stderr
    write(tmp_path, "L1/norm", NORM_PROBLEM, norm_workload("a", 2))
    done = run(tmp_path, tmp_path / "suite", "--only", "nrom")
    assert "has no problem nrom; it has L1/norm" in done.stderr, done.stderr


@pytest.mark.parametrize(
    ("name", "shape", "description", "values"),
    [
        ("x", ("B", "H"), "", "normal"),
        ("input_layernorm_weight", ("H",), "", "ones"),
        ("norm2_bias", ("H",), "", "zeros"),
        ("weight", ("N", "K"), "", "weight"),
        ("weight", ("N",), "", "normal"),
        ("gate_proj12", ("N", "K"), "", "weight"),
        ("attention_mask", ("B", "S", "S"), "", "causal_mask"),
        ("attention_mask", ("B", "S"), "", "binary"),
        ("pad_mask", ("B", "S"), "Binary: 1 keeps", "binary"),
        ("pad_mask", ("B", "S"), "an addend", "normal"),
        ("cos", ("S", "D"), "", "cosine"),
        ("x_rstd", ("B",), "", "positive"),
        ("A_log", ("H",), "", "log_decay"),
        ("p", ("B", "S"), "The softmax output", "softmax"),
    ],
)
def test_names_decide_how_values_are_drawn(
    name: str, shape: tuple[str, ...], description: str, values: str
) -> None:
    assert values_of(name, description, shape) == values


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_draws_finite_values_on_every_device(kind: str) -> None:
    for variant in (PLAIN, SHIFTED):
        for dtype in (torch.float32, torch.bfloat16, torch.float8_e4m3fn):
            drawn = random_values(kind, [4, 6, 6], dtype, variant, Rng(1, "cpu"))
            assert drawn.dtype is dtype and drawn.shape == (4, 6, 6)
            assert drawn.float().isfinite().all()


def test_a_weight_is_divided_by_the_root_of_its_last_extent() -> None:
    drawn = random_values("weight", [64, 256], torch.float32, PLAIN, Rng(1, "cpu"))
    assert abs(float(drawn.std()) * math.sqrt(256) - 1) < 0.1


def test_a_rule_accepts_nothing_that_the_benchmark_refuses() -> None:
    rule = rule_of([Tolerance(0.1, 0.01, 0.9), Tolerance(0.05, 0.02, 0.99)])
    assert rule.tolerance == 0.01
    assert "0.05 + 0.01 x |right value|, and 99 % of the elements" in rule.benchmarks
