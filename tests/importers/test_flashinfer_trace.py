"""Tests `assay import flashinfer-trace` with small datasets: operators judge what the definitions say,
definitions that cannot be used are named with a reason, and their code cannot touch the machine."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch

ROOT = Path(__file__).resolve().parent.parent.parent
for folder in ("sandbox", "importers/common", "importers/flashinfer", "tests/common"):
    sys.path.insert(0, str(ROOT / folder))

import trace_dataset  # noqa: E402
from checkout import BadFolder  # noqa: E402
from flashinfer_trace import OperatorExchange  # noqa: E402
from harness.judging.lint import lint  # noqa: E402
from harness.operator import Operator  # noqa: E402
from harness.wire.frames import Frame  # noqa: E402
from import_exchange import Result  # noqa: E402
from trace_constraints import BadConstraint, holds, parse, solve  # noqa: E402
from trace_dataset import read_dataset  # noqa: E402
from trace_dataset_files import SCALE, definition, workload, write, write_solution  # noqa: E402

SCRIPT = ROOT / "importers/flashinfer/flashinfer_trace.py"
DEADLINE_S = 240
TIMEOUT_S = "20"
RANDOM: dict[str, Any] = {}  # an input of type `random`
RUN = "import os\nimport torch\n\ndef run(X, w):\n"


def run(dataset: Path, out: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), str(dataset), "--out", str(out), *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE_S)


def reports(out: Path) -> dict[str, Any]:
    return {one["file"]: one for one in json.loads((out / "import.json").read_text())["files"]}


def sizes(*values: int) -> list[dict[str, Any]]:
    return [workload(f"m{m}", {"M": m}, X=RANDOM, w=RANDOM) for m in values]


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The suite of a dataset with definitions that can be used."""
    root = tmp_path_factory.mktemp("good")
    dataset = root / "dataset"
    write(
        dataset, definition("Scale.Rows", constraints=["M <= 5000"]), sizes(3, 100, 40_000, 4096, 3)
    )
    outputs = {"k": {"shape": ["K"], "dtype": "float32"}, "N": {"shape": None, "dtype": "float32"}}
    many = "import torch\n\ndef run(K_in, eps):\n    return {'N': 2.5, 'k': K_in.sum(0) + eps}\n"
    inputs = {
        "K_in": {"shape": ["B", "K"], "dtype": "float32"},
        "eps": {"shape": None, "dtype": "float32"},
    }
    axes = {"B": {"type": "var"}, "K": {"type": "var"}}
    document = definition("sums", many, inputs=inputs, outputs=outputs, axes=axes)
    scalar = {"type": "scalar", "value": 1}
    write(dataset, document, [workload("a", {"B": 2, "K": 9}, K_in=RANDOM, eps=scalar)])
    paged(dataset)
    write_solution(dataset, "S-1", "Scale.Rows", "def go(X, w, Y): ...\n", "a.py::go", "triton")
    write_solution(dataset, "S-2", "Scale.Rows", "int x;\n", "a.cu::go", "cuda")
    done = run(dataset, root / "suite")
    assert done.returncode == 0, done.stderr
    assert "3 operators" in done.stdout and "1 copied" in done.stdout, done.stdout
    assert "1 not copied: their language is none of python, pytorch, triton" in done.stdout
    return root / "suite"


def paged(dataset: Path) -> None:
    """Writes a definition whose rows are chosen by offsets of a file."""
    text = (
        "import torch\n\ndef run(table, starts):\n"
        "    return torch.stack([table[int(s)] for s in starts[:-1]])\n"
    )
    document = definition(
        "paged",
        text,
        axes={"P": {"type": "var"}, "B": {"type": "var"}, "L": {"type": "var"}},
        inputs={
            "table": {"shape": ["P", "P"], "dtype": "float32"},
            "starts": {"shape": ["L"], "dtype": "int32"},
        },
        outputs={"rows": {"shape": ["B", "P"], "dtype": "float32"}},
        constraints=["L == B + 1", "int(starts.max()) < P"],
    )
    (dataset / "blob").mkdir()
    tensors = {"good": [0, 2, 4, 4], "bad": [0, 2, 9, 9]}
    stored = {name: torch.tensor(values, dtype=torch.int32) for name, values in tensors.items()}
    safetensors.torch.save_file(stored, dataset / "blob/starts.safetensors")
    place = {"type": "safetensors", "path": "blob/starts.safetensors"}
    sizes = {"P": 5, "B": 3, "L": 4}
    write(
        dataset,
        document,
        [
            workload(name, sizes, table=RANDOM, starts={**place, "tensor_key": name})
            for name in tensors
        ],
    )


def cases(suite: Path, name: str) -> list[dict[str, Any]]:
    return Operator.load(suite / "standard" / name).spec["cases"]  # type: ignore[no-any-return]


def test_each_workload_is_a_public_and_a_hidden_case(suite: Path) -> None:
    found = {one["id"]: one for one in cases(suite, "scale_rows")}
    public = {name for name, one in found.items() if one["visibility"] == "public"}
    assert public == {"workload_0", "workload_1", "workload_2", "small_37", "small_5"}
    assert [found[f"workload_{i}"]["axes"]["m"] for i in range(3)] == [3, 100, 4096]
    assert found["workload_1_again"]["visibility"] == "hidden"
    assert found["workload_1_again"]["axes"] == {"m": 87, "n": 64}
    assert [found[f"workload_{i}"]["interpreter"] for i in range(3)] == [True, True, False]
    assert reports(suite)["Scale.Rows.json"]["left_out"] == [
        "Scale.Rows.jsonl:5: another workload has the uuid m3",
        "workload m40000: it breaks the constraint M <= 5000",
    ]


@pytest.mark.parametrize("name", ["scale_rows", "sums", "paged"])
def test_an_operator_computes_what_its_definition_says(suite: Path, name: str) -> None:
    operator = Operator.load(suite / "standard" / name)
    seen = 0
    for wire in operator.spec["cases"]:
        case = operator.case(wire, "cpu")
        arguments, again = operator.inputs(case, 7), operator.inputs(case, 7)
        assert all(
            bool((torch.as_tensor(arguments[k]) == torch.as_tensor(again[k])).all()) for k in again
        )
        expected = operator.expected(case, arguments)
        if name == "scale_rows":
            assert torch.equal(expected[0], arguments["x"] * arguments["w"][:, None])
        elif name == "sums":
            assert torch.equal(expected[0], arguments["k_in"].sum(0) + 1.0)
            assert expected[1].shape == () and float(expected[1]) == 2.5
        else:
            assert arguments["starts"].tolist() == [0, 2, 4, 4]
            assert torch.equal(expected[0], arguments["table"][[0, 2, 4]])
        seen += 1
    assert seen >= 2


def test_the_code_of_a_definition_never_gets_other_dtypes(suite: Path) -> None:
    operator = Operator.load(suite / "standard/scale_rows")
    case = operator.case(operator.spec["cases"][0], "cpu")
    arguments = operator.inputs(case, 1)
    assert operator.in_float64(arguments) is None
    wide = {name: value.double() for name, value in arguments.items()}
    assert operator.reference(wide)[0].dtype is torch.float32


def test_lint_accepts_the_operators(suite: Path) -> None:
    for name in ("scale_rows", "sums", "paged"):
        operator = Operator.load(suite / "standard" / name)
        wires = [wire for wire in operator.spec["cases"] if wire["interpreter"]]
        checks = list(lint(operator, [operator.case(wire, "cpu") for wire in wires], seed=3))
        assert [(one.name, one.detail) for one in checks if not one.ok] == [], name
        assert any(one.mutant for one in checks)
        assert not any("bfloat16" in one.name for one in checks)


def test_hidden_inputs_differ_from_what_the_benchmark_draws(suite: Path) -> None:
    operator = Operator.load(suite / "standard/scale_rows")
    by_id = {one["id"]: one for one in operator.spec["cases"]}
    plain = operator.inputs(operator.case(by_id["workload_2"], "cpu"), 1)["x"]
    hidden = operator.inputs(operator.case(by_id["workload_2_again"], "cpu"), 1)["x"]
    assert abs(float(plain.mean())) < 0.1 and abs(float(hidden.mean()) - 1.0) < 0.1


def test_a_tensor_of_a_file_is_copied_with_its_checksum(suite: Path) -> None:
    operator = Operator.load(suite / "standard/paged")
    assert [one.role for one in operator.arguments] == ["input", "structural"]
    assert [one["id"] for one in operator.spec["cases"]] == ["workload_0", "workload_0_again"]
    [stored] = (suite / "standard/paged").glob("tensor_*.bin")
    assert "its inputs break the constraint int(starts.max()) < P" in str(
        reports(suite)["paged.json"]["left_out"]
    )
    data = stored.read_bytes()
    try:
        stored.write_bytes(bytes(len(data)))
        with pytest.raises(Exception, match="has changed since the import"):
            fresh = Operator.load(suite / "standard/paged")
            fresh.inputs(fresh.case(fresh.spec["cases"][0], "cpu"), 1)
    finally:
        stored.write_bytes(data)


def test_a_submission_may_return_outputs_or_take_them(suite: Path) -> None:
    spec = Operator.load(suite / "standard/scale_rows").spec
    x, w = torch.ones(2, 64), torch.tensor([2.0, 3.0])
    for text in (
        "def run(X, w):\n    return X * w[:, None]\n",
        "def run(X, w):\n    return {'Y': X * w[:, None]}\n",
        "def run(X, w, Y):\n    Y.copy_(X * w[:, None])\n",
    ):
        names: dict[str, Any] = {}
        exec(text + spec["adapter"], names)
        assert torch.equal(names[spec["entry"]](x, w), x * w[:, None]), text


# For each name: the definition's changes, the kind of the refusal, and words of its reason.
REFUSALS: dict[str, tuple[dict[str, Any], str, str]] = {
    "dtype": (
        {"outputs": {"Y": {"shape": ["M"], "dtype": "float12"}}},
        "unknown_dtype",
        "bfloat16",
    ),
    "packed": (
        {"outputs": {"Y": {"shape": ["M"], "dtype": "float4_e2m1"}}},
        "unsupported_dtype",
        "which Assay lacks",
    ),
    "axis": ({"outputs": {"Y": {"shape": ["Q"], "dtype": "int8"}}}, "unknown_axis", "axes: M, N"),
    "syntax": ({"reference": "def run(:\n"}, "bad_reference", "no Python"),
    "nameless": ({"reference": "def f(X, w): ...\n"}, "bad_reference", "no function `run`"),
    "taken": ({"reference": SCALE + "def cost(): ...\n"}, "bad_reference", "rename it"),
    "constraint": ({"constraints": ["M >"]}, "bad_constraint", "no expression of Python"),
    "sampling": ({"op_type": "sampling"}, "own_evaluator", "compares distributions"),
    "imports": (
        {"reference": "import nothing_like_it\n" + SCALE},
        "bad_reference",
        "nothing_like_it",
    ),
    "hangs": ({"reference": RUN + "    while True: pass\n"}, "timeout", f"over {TIMEOUT_S} s"),
    "aborts": ({"reference": RUN + "    os.abort()\n"}, "crash", "its process ended"),
    "leaves": ({"reference": RUN + "    os._exit(0)\n"}, "crash", "run the reference"),
    "random": (
        {"reference": RUN + "    return torch.rand_like(X)\n"},
        "random_outputs",
        "same inputs",
    ),
    "writes": ({"reference": RUN + "    return X.mul_(w[:, None])\n"}, "writes_input", "input x"),
    "double": ({"reference": RUN + "    return X.double()\n"}, "no_case", "float64"),
    "shape": ({"reference": RUN + "    return X.sum(1)\n"}, "no_case", "the spec says"),
}


def test_what_cannot_be_used_is_named_and_touches_nothing(tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    dataset, out = tmp_path / "dataset", tmp_path / "suite"
    for name, (changes, _, _) in REFUSALS.items():
        write(dataset, definition(name, **changes), sizes(3))
    code = f"    open({str(canary)!r}, 'w').write('x')\n    return X\n"
    write(dataset, definition("touches", RUN + code), sizes(3))
    write(dataset, definition("alone"), [])
    missing = {"type": "safetensors", "path": "blob/none.safetensors", "tensor_key": "X"}
    write(dataset, definition("missing"), [workload("u", {"M": 3}, X=missing, w=RANDOM)])
    outside = {**missing, "path": "../secret"}
    write(dataset, definition("outside"), [workload("u", {"M": 3}, X=outside, w=RANDOM)])
    write(dataset, definition("empty"), sizes(0))
    stranger = {"definition": "stranger", "workload": {}, "solution": None, "evaluation": None}
    (dataset / "workloads/scaling/stranger.jsonl").write_text(json.dumps(stranger) + "\n")
    (dataset / "definitions/broken.json").write_text("{")
    done = run(dataset, out, "--jobs", "2", "--timeout-s", TIMEOUT_S)
    assert done.returncode == 0, done.stderr
    found = reports(out)
    wanted = {f"{name}.json": (kind, words) for name, (_, kind, words) in REFUSALS.items()} | {
        "touches.json": ("no_case", "No such file or directory"),
        "alone.json": ("no_workload", "add workloads/scaling/alone.jsonl"),
        "missing.json": ("no_workload", "download the dataset's blobs"),
        "outside.json": ("no_workload", "outside of the dataset's folder"),
        "empty.json": ("no_workload", "needs at least 1"),
        "stranger.jsonl": ("unknown_definition", "add it to definitions/"),
        "broken.json": ("unreadable", "no JSON"),
    }
    got = {name: (one["kind"], one["reason"]) for name, one in found.items()}
    assert {name: kind for name, (kind, _) in got.items()} == {
        name: kind for name, (kind, _) in wanted.items()
    }
    for name, (_, words) in wanted.items():
        assert words in got[name][1], (name, got[name])
    assert not canary.exists()
    assert not (out / "standard").exists() and not (out / ".staging").exists()
    assert "timeout (1 file): --timeout-s N gives each definition more time" in done.stdout


def test_a_folder_that_is_no_dataset(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for folder, words in (("none", "is not a folder"), ("empty", "has no definitions/**/*.json")):
        done = run(tmp_path / folder, tmp_path / "suite")
        assert done.returncode == 66 and words in done.stderr, done.stderr
        assert not (tmp_path / "suite").exists()
    write(tmp_path / "data", definition("one"), sizes(3))
    done = run(tmp_path / "data", tmp_path / "suite", "--only", "two")
    assert done.returncode == 66 and "no definition two; it has one" in done.stderr


def test_strange_lines_of_workloads_end_no_import(tmp_path: Path) -> None:
    write(tmp_path, definition("one"), sizes(3))
    file = tmp_path / "workloads/scaling/one.jsonl"
    lines = [{"definition": ["one"]}, {"definition": {}}, {"definition": "x" * 9999}, [], 3]
    texts = [
        *map(json.dumps, lines),
        "[" * 99_999,
        '{"definition": "one", "workload": {"axes": []}}',
    ]
    file.write_text(file.read_text() + "\n".join(texts) + "\n")
    one, strangers = read_dataset(tmp_path, []).files
    assert [read.uuid for read in one.workloads] == ["m3"]
    assert len(one.left_out) == 1 and "no `uuid`" in one.left_out[0]
    assert "one.jsonl:2 is no JSON object" in strangers.problem and len(strangers.problem) < 500


def test_the_numbers_of_files_and_of_workloads_are_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, definition("one"), sizes(3, 4, 5))
    monkeypatch.setattr(trace_dataset, "MAX_WORKLOADS", 2)
    one = read_dataset(tmp_path, []).files[0]
    assert len(one.workloads) == 2 and "the limit is 2 workloads" in one.left_out[0]
    monkeypatch.setattr(trace_dataset, "MAX_FILES", 0)
    with pytest.raises(BadFolder, match="1 definitions; the limit is 0"):
        read_dataset(tmp_path, [])


def test_a_report_of_the_jail_is_not_trusted() -> None:
    exchange = OperatorExchange("name", {})
    for cases in ([], {"a": {"problem": "", "flops": float("inf")}}, {"a": {}}, {"a": "x"}):
        report = {"kind": "", "reason": "", "cases": cases}
        with pytest.raises((KeyError, TypeError, ValueError)):
            exchange.take(Frame({"type": "report", "report": report}), Result({}))
    result = Result({})
    report = {"kind": "k" * 9999, "reason": 3, "cases": {"a": {"problem": "p" * 9999, "flops": 1}}}
    assert exchange.take(Frame({"type": "report", "report": report}), result)
    assert len(json.dumps(result.report)) < 2000


def test_constraints_are_evaluated_and_never_executed() -> None:
    axes = {"a": 8, "b": 2, "c": 4}
    assert holds(parse("a == b * c"), axes) is True
    assert holds(parse("1 < b < c and not a % 3 == 0"), axes) is True
    assert holds(parse("a // (b - 2) == 1"), axes) is False
    for text in ("x[-1].item() == a", "__import__('os').abort()", "a ** a ** a", "f(a)"):
        assert holds(parse(text), axes) is None
    assert solve([parse("a == b * c")], {"a": 1, "b": 3, "c": 5}) == {"a": 15, "b": 3, "c": 5}
    with pytest.raises(BadConstraint, match="no expression of Python"):
        parse("a ==")
