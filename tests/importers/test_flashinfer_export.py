"""Tests `assay export flashinfer-trace`: what is written follows the format's rules, statuses depend on
the types of verdicts, and nothing of hidden cases is written."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

ROOT = Path(__file__).resolve().parent.parent.parent
for folder in ("sandbox", "importers/common", "importers/flashinfer", "tests/common"):
    sys.path.insert(0, str(ROOT / folder))

from export_definition import Exported, definitions_of  # noqa: E402
from export_reference import NoReference, reference_code  # noqa: E402
from export_trace import STATUS, solution_of, status_of, traces_of  # noqa: E402
from trace_dataset_files import checked  # noqa: E402

SCRIPT = ROOT / "importers/flashinfer/export_flashinfer.py"
OPERATORS = ROOT / "operators/standard"
DEADLINE_S = 120
TENSOR_BYTES = 1 << 20
# Operators with a scalar, a product of axes, an inout argument, indices, and several outputs.
SOME = ("vector_add", "swiglu", "adamw_step", "paged_attn_decode", "leaky_relu", "batch_norm_infer")


def request(tmp_path: Path, names: tuple[str, ...], jobs: list[dict[str, Any]]) -> Path:
    operators = [{"name": name, "directory": str(OPERATORS / name)} for name in names]
    path = tmp_path / "request.json"
    path.write_text(json.dumps({"operators": operators, "jobs": jobs}))
    return path


def export(
    tmp_path: Path, names: tuple[str, ...], jobs: list[dict[str, Any]], out: Path
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), "--input", str(request(tmp_path, names, jobs))]
    command += ["--out", str(out), "--tensor-mib", "1"]
    return subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE_S)


def verdict(outcome: str, kind: str = "none", **changes: Any) -> dict[str, Any]:
    return {
        "outcome": outcome,
        "error_kind": kind,
        "stage": "done",
        "summary": "a summary",
        "language": "python",
        "cases": [],
        "skipped_cases": [],
        "provenance": {"device": "cuda:0", "device_name": "GPU", "torch": "2", "triton": ""},
        **changes,
    }


def record(case: str, outcome: str, **changes: Any) -> dict[str, Any]:
    return {
        "id": case,
        "hidden": False,
        "outcome": outcome,
        "max_abs_error": 0.004,
        "mismatches": 0,
        **changes,
    }


def job(document: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {
        "job": "job_1",
        "operator": "vector_add",
        "entry": "vector_add",
        "author": "an agent/model",
        "source": "def vector_add(x, y): ...\n",
        "finished": "2026-01-01T00:00:00Z",
        "verdict": document,
        **changes,
    }


@pytest.fixture(scope="module")
def vector_add() -> Exported:
    return next(
        one
        for one in definitions_of(OPERATORS / "vector_add", TENSOR_BYTES)
        if one.document["name"] == "vector_add_float32"
    )


def statuses(made: Exported, document: dict[str, Any]) -> dict[str, str]:
    uuids = {uuid: case for case, uuid in made.cases.items()}
    return {
        uuids[one["workload"]["uuid"]]: one["evaluation"]["status"]
        for one in traces_of(job(document), made, "s")
    }


def test_what_is_written_follows_the_format(tmp_path: Path) -> None:
    wrong = verdict("fail", "wrong_result", cases=[record("small", "fail")])
    done = export(tmp_path, SOME, [job(wrong)], tmp_path / "out")
    assert done.returncode == 0, done.stderr
    found = checked(tmp_path / "out")
    names = [one["name"] for one in found["definitions"]]
    assert {"vector_add_float32", "vector_add_float16", "swiglu_float16"} <= set(names)
    assert len(found["solutions"]) == 2 and len(found["traces"]) == 1
    [trace] = found["traces"]
    assert trace["evaluation"]["status"] == "INCORRECT_NUMERICAL"
    assert trace["evaluation"]["correctness"]["max_absolute_error"] == pytest.approx(0.00004)
    assert found["solutions"][0]["author"] == "an_agent_model"
    again = export(tmp_path, ("vector_add",), [], tmp_path / "out")
    assert again.returncode == 73 and "is not empty; name a new folder" in again.stderr


def test_nothing_of_hidden_cases_is_written(tmp_path: Path) -> None:
    assert export(tmp_path, SOME, [], tmp_path / "out").returncode == 0
    text = "".join(
        path.read_text() for path in (tmp_path / "out").rglob("*.json*") if path.is_file()
    )
    for name in SOME:
        spec = (OPERATORS / name / "spec.toml").read_text()
        tables = [part.split("\n\n")[0] for part in spec.split("[[cases]]")[1:]]
        public = {line for part in tables if '"public"' in part for line in part.splitlines()}
        hidden = {line for part in tables if '"hidden"' in part for line in part.splitlines()}
        only = [line.split('"')[1] for line in hidden - public if line.startswith(("id", "distr"))]
        assert only
        uuids = [one for one in only if f"/{one}." in text or f'"{one}"' in text]
        assert not uuids
    for name in ("def inputs", "def mutants", "def shortcuts", "def cost", "Rng"):
        assert name not in text


def test_the_exported_code_computes_what_the_reference_computes(tmp_path: Path) -> None:
    for name in ("vector_add", "swiglu", "adamw_step"):
        for made in definitions_of(OPERATORS / name, TENSOR_BYTES):
            names: dict[str, Any] = {}
            exec(made.document["reference"], names)
            from harness.operator import Operator

            operator = Operator.load(OPERATORS / name)
            dtype = made.document["name"].removeprefix(f"{name}_")
            wire = next(
                one
                for one in operator.spec["cases"]
                if one["interpreter"] and one["dtype"] in (dtype, one["dtype"])
            )
            arguments = operator.inputs(operator.case(wire, "cpu"), 3)
            got = names["run"](**arguments)
            got = got if isinstance(got, tuple) else (got,)
            for a, b in zip(got, operator.reference(arguments), strict=True):
                assert torch.equal(a, b)


def test_a_status_depends_on_the_kind_and_the_stage() -> None:
    assert status_of(verdict("pass")) == ""
    for kind, status in STATUS.items():
        assert status_of(verdict("error", kind, stage="run")) == status
    for kind in ("unsupported", "internal_error", "hidden_case", "cancelled"):
        assert status_of(verdict("error", kind)) == ""
    assert status_of(verdict("error", "type_error", stage="import")) == "COMPILE_ERROR"
    assert status_of(verdict("error", "type_error", stage="record")) == "RUNTIME_ERROR"
    assert status_of(verdict("fail", "unattributed", stage="judge")) == "RUNTIME_ERROR"


def test_a_pass_needs_a_time_and_a_verdict_that_passed(vector_add: Exported) -> None:
    timed = record("large", "pass", latency={"median_ns": 2e6}, pytorch_ns=3e6)
    untimed = record("small", "pass", latency=None)
    made = verdict("pass", cases=[timed, untimed])
    [trace] = traces_of(job(made), vector_add, "s")
    assert trace["evaluation"]["status"] == "PASSED"
    assert trace["evaluation"]["performance"] == {
        "latency_ms": 2.0,
        "reference_latency_ms": 3.0,
        "speedup_factor": 1.5,
    }
    assert trace["evaluation"]["correctness"]["max_relative_error"] == "NaN"
    assert statuses(vector_add, verdict("pass", cases=[untimed])) == {}
    assert statuses(vector_add, verdict("fail", "hidden_case", cases=[timed, untimed])) == {}


def test_only_the_cases_that_failed_have_a_trace(vector_add: Exported) -> None:
    some = [record("small", "pass"), record("three_elements", "fail")]
    found = statuses(vector_add, verdict("fail", "wrong_result", cases=some))
    assert found == {"three_elements": "INCORRECT_NUMERICAL"}
    nothing_ran = verdict("error", "compilation_error", stage="compile")
    assert set(statuses(vector_add, nothing_ran).values()) == {"COMPILE_ERROR"}
    assert set(statuses(vector_add, nothing_ran)) == set(vector_add.cases)
    skipped = [{"ids": ["small"]}]
    assert "small" not in statuses(vector_add, {**nothing_ran, "skipped_cases": skipped})
    assert statuses(vector_add, verdict("error", "internal_error")) == {}


def test_a_submission_that_writes_in_place_gets_an_entry_that_returns() -> None:
    [made, *_] = definitions_of(OPERATORS / "adamw_step", TENSOR_BYTES)
    solution = solution_of(job(verdict("pass"), entry="adamw_step"), made)
    assert solution["spec"]["entry_point"] == "assay_entry.py::run"
    [main, entry] = solution["sources"]
    assert main["path"] == "main.py"
    names: dict[str, Any] = {}
    exec(entry["content"].replace("from .main import adamw_step as _entry", ""), names)

    def fake(*arguments: Any) -> None:
        for value in arguments:
            if isinstance(value, torch.Tensor):
                value.fill_(5.0)

    names["_entry"] = fake
    written = list(made.written.values())
    inputs = {name: torch.zeros(2) if name in written else 0.5 for name in made.document["inputs"]}
    outputs = names["run"](**inputs)
    assert [float(one[0]) for one in outputs] == [5.0] * len(made.written)
    assert all(float(inputs[name][0]) == 0.0 for name in written)


def test_code_that_cannot_stand_alone_is_refused() -> None:
    text = "from harness.operator import Rng\nimport torch\n\n\ndef reference(x):\n    return {}\n"
    assert reference_code(text.format("x"), ["x"]).endswith("def run(x):\n    return x\n")
    with pytest.raises(NoReference, match="needs Rng"):
        reference_code(text.format("Rng(x)"), ["x"])
    with pytest.raises(NoReference, match="does not take y"):
        reference_code(text.format("x"), ["y"])
