"""Imports one golden file (a solution that TritonBench-G provides) in a separate process. The
last line of its output is one JSON object, the report.

    # `trace` records the file's calls, and writes an operator for each group of calls.
    python importers/tritonbench_operator.py trace FILE --out SUITE [--arithmetic]
    # `record` records the operators' oracles like submissions.
    python importers/tritonbench_operator.py record OPERATOR_DIR...

A trace without `--arithmetic` records the calls like those of a scored submission, so it shows
whether the file fits the plan tier. If the recorder refuses a call, a trace with `--arithmetic`
still finds the shapes of the outputs, so that the operators can be written for the host tier."""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "sandbox"))

import torch  # noqa: E402
from golden_calls import groups, trace  # noqa: E402
from golden_file import split  # noqa: E402
from golden_operator import Parts, write_operator  # noqa: E402
from harness.entry.errors import Source, describe  # noqa: E402
from harness.operator import Operator  # noqa: E402

MAX_NAME_CHARS = 56  # 8 less than the limit of 64, because a number may be appended


def operator_name(file: Path) -> str:
    name = re.sub(r"[^a-z0-9_]", "_", file.stem.lower())[:MAX_NAME_CHARS]
    return name if name[:1].isalpha() else f"op_{name}"


def prompt_and_difficulty(file: Path) -> tuple[str, int]:
    """Returns the description and the difficulty (1 to 5) that TritonBench gives to the golden
    file. They are in TritonBench's index, which is in the parent of the golden file's folder.
    Returns an empty description and the difficulty 3 if the index does not have them."""
    index = file.parent.parent / "TritonBench_G_v1.json"
    if not index.exists():
        return "", 3
    for entry in json.loads(index.read_text(encoding="utf-8")):
        if entry.get("file") == file.name:
            return str(entry.get("comp_instru", "")), min(
                5, max(1, int(entry.get("difficulty", 3)))
            )
    return "", 3


def trace_file(
    file: Path, suite: Path, target: str, cache: Path | None, arithmetic: bool
) -> dict[str, Any]:
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
    kernel, test = split(file.read_text(encoding="utf-8"))
    description, difficulty = prompt_and_difficulty(file)
    name = operator_name(file)
    for position, group in enumerate(groups([call for call in calls if call.returned is not None])):
        folder = suite / "standard" / (name if position == 0 else f"{name}_{position + 1}")
        shutil.rmtree(folder, ignore_errors=True)
        write_operator(
            folder, group, Parts(file.name, kernel, test, description, difficulty), calls
        )
        found["operators"].append({"name": folder.name, "cases": len(group)})
    return found


def record_operators(folders: list[Path], target: str, cache: Path | None) -> dict[str, Any]:
    """Records the oracle of each operator case by case, as a candidate does. Returns for each
    operator {"recorded": ..., "kind": ..., "message": ...}."""
    inputs = {}
    failed: dict[str, Any] = {}
    for folder in folders:  # makes the inputs before the recorder replaces torch's devices
        operator = Operator.load(folder)
        try:
            wires = [wire for wire in operator.spec["cases"] if wire["visibility"] == "public"]
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
        runner = RecordRunner(
            target, str(cache or Path(scratch) / "triton-cache"), alternatives=False
        )
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


def main() -> None:
    parser = argparse.ArgumentParser(description="One golden file of TritonBench-G.")
    parser.add_argument("what", choices=["trace", "record"])
    parser.add_argument("paths", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, help="trace: the suite's folder")
    parser.add_argument("--target", default="cuda:90")
    parser.add_argument("--cache", type=Path, help="keep compiled kernels in this folder")
    parser.add_argument(
        "--arithmetic",
        action="store_true",
        help="trace: let Assay's kernels do the arithmetic of torch",
    )
    arguments = parser.parse_args()
    torch.manual_seed(0)
    if arguments.what == "trace":
        found = trace_file(
            arguments.paths[0],
            arguments.out,
            arguments.target,
            arguments.cache,
            arguments.arithmetic,
        )
    else:
        found = record_operators(arguments.paths, arguments.target, arguments.cache)
    sys.stdout.write("\n" + json.dumps(found) + "\n")
    sys.stdout.flush()
    os._exit(0)  # a normal exit of the interpreter may crash on objects that a recording leaves


if __name__ == "__main__":
    main()
