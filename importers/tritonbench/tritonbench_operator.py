"""The steps of the import of one golden file (a solution that TritonBench-G provides). Each step
runs in a process of its own, because a recorder can be installed only once in a process
(golden_child.py).

    found = trace_file(golden, suite, "cuda:90", cache, arithmetic=False)
    recorded = record_operators([suite / "standard" / "softmax"], "cuda:90", cache)

trace_file() records the file's calls, and writes an operator for each group of calls. If
`arithmetic` is false, the calls are recorded like those of a scored submission, so the result shows
whether the file fits the plan tier. If the recorder refuses a call, a trace with `arithmetic` still
finds the shapes of the outputs, so that the operators can be written for the host tier.
record_operators() records the operators' oracles like submissions."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "sandbox"))

import torch  # noqa: E402
from benchmark_file import GoldenFile, operator_name  # noqa: E402
from golden_calls import groups, trace  # noqa: E402
from golden_imports import parts_of  # noqa: E402
from golden_operator import Parts, is_other, write_operator  # noqa: E402
from harness.entry.errors import Source, describe  # noqa: E402
from harness.operator import Operator  # noqa: E402


def trace_file(
    golden: GoldenFile, file: Path, suite: Path, target: str, cache: Path, arithmetic: bool
) -> dict[str, Any]:
    """`file` contains the text of the golden file. Its operators are written below `suite`."""
    calls, report = trace(file, target, cache, arithmetic)
    found: dict[str, Any] = {
        key: report.get(key) for key in ("file", "recorded", "stage", "kind", "message", "line")
    }
    notes = [note for call in report["calls"] for note in call.get("notes", [])]
    found["arithmetic"] = sorted(
        {
            note.partition(" ")[0]
            for note in notes
            if "assay_pointwise" in note or "assay_reduce" in note
        }
    )
    found["calls"] = len(calls)
    found["left_out"] = sorted({call.why_not for call in calls if call.why_not})
    found["operators"] = []
    if not report["recorded"]:
        return found
    two = parts_of(golden.text, target)
    found["left_out"] += two.left_out
    name = operator_name(golden.name)
    for position, group in enumerate(groups(calls)):
        folder = suite / "standard" / (name if position == 0 else f"{name}_{position + 1}")
        shutil.rmtree(folder, ignore_errors=True)
        parts = Parts(golden, two.kernel, two.test, report.get("tests", []))
        write_operator(folder, group, parts, calls)
        found["operators"].append({"name": folder.name, "cases": len(group)})
    return found


def record_operators(
    folders: list[Path], target: str, cache: Path, other_shapes: bool = False
) -> dict[str, Any]:
    """Records the oracle of each operator case by case, as a candidate does: the public cases, or
    the hidden ones of other shapes. Returns for each operator {"recorded": ..., "kind": ...,
    "message": ...}."""
    inputs = {}
    failed: dict[str, Any] = {}
    for folder in folders:  # makes the inputs before the recorder replaces torch's devices
        operator = Operator.load(folder)
        try:
            wires = [
                wire
                for wire in operator.spec["cases"]
                if (is_other(wire["id"]) if other_shapes else wire["visibility"] == "public")
            ]
            inputs[folder] = (
                operator,
                [operator.inputs(operator.case(wire, "cpu"), 1) for wire in wires],
            )
        except Exception as error:
            failed[folder.name] = {
                "recorded": False,
                "kind": "no_inputs",
                "message": f"{type(error).__name__}: {error}"[:400],
            }
    from harness.recording.record import RecordRunner

    with tempfile.TemporaryDirectory(prefix="golden-") as scratch:
        runner = RecordRunner(target, str(cache), alternatives=False)
        recorded = {
            folder.name: record_operator(folder, operator, cases, runner, scratch)
            for folder, (operator, cases) in inputs.items()
        }
    return {**failed, **recorded}


def record_operator(
    folder: Path, operator: Operator, cases: list[dict[str, Any]], runner: Any, scratch: str
) -> dict[str, Any]:
    text = (folder / "oracle.py").read_text(encoding="utf-8") + "\n\n" + operator.spec["adapter"]
    source = Source(text, os.path.join(scratch, f"{folder.name}.py"))
    Path(source.path).write_text(text, encoding="utf-8")
    structural = {argument.name for argument in operator.arguments if argument.role == "structural"}
    try:
        names: dict[str, Any] = {"__name__": "submission"}
        with runner.context():
            exec(compile(text, source.path, "exec"), names)
        for arguments in cases:
            runner.recorder.begin_case()
            given = {
                name: runner.recorder.argument(
                    name, x.dtype, x.shape, x.stride(), x if name in structural else None
                )
                if isinstance(x, torch.Tensor)
                else x
                for name, x in arguments.items()
            }
            with runner.context():
                returned = names[operator.spec["entry"]](**given)
            outputs = (
                list(returned)
                if isinstance(returned, tuple)
                else []
                if returned is None
                else [returned]
            )
            outputs += [given[output.source] for output in operator.outputs if output.source]
            if len(outputs) != len(operator.outputs):
                raise ValueError(f"{len(outputs)} outputs; the spec says {len(operator.outputs)}")
            runner.recorder.finish(outputs)
    except Exception as error:
        why = describe(error, source, "record")
        return {
            "recorded": False,
            "kind": why["kind"],
            "message": why["message"][:400],
            "line": why["line"],
        }
    return {"recorded": True}
