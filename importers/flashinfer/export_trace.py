"""Makes solutions and traces of FlashInfer Trace from jobs of the store and their public verdicts.

    solution = solution_of(job, exported)
    for trace in traces_of(job, exported, solution["name"]):
        trace["evaluation"]["status"]

A trace says what happened with one public case. PASSED needs a verdict that passed as a whole, hidden
cases included, and a time, because the format wants a time for each pass. The status depends on the
types of the verdict, never on its texts. Pure functions."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator
from typing import Any

from export_definition import Exported

NS_PER_MS = 1e6
MAX_LOG_CHARS = 20_000
MAX_NAME_CHARS = 100
ENTRY_FILE, MAIN_FILE = "assay_entry.py", "main"
ENDINGS = {"python": ".py", "cuda": ".cu"}
LANGUAGES = {"python": "triton", "cuda": "cuda"}
# The kinds of errors that say nothing about the submission, or nothing about public cases.
NO_EVIDENCE = (
    *("unsupported", "reference_error", "cancelled", "aborted", "device_unhealthy"),
    *("internal_error", "hidden_case"),
)
# An error in one of these stages means that the source could not be built.
BUILD_STAGES = ("import", "compile")
STATUS = {
    "compilation_error": "COMPILE_ERROR",
    "syntax_error": "COMPILE_ERROR",
    "indentation_error": "COMPILE_ERROR",
    "missing_entry": "COMPILE_ERROR",
    "wrong_result": "INCORRECT_NUMERICAL",
    "output_mismatch": "INCORRECT_SHAPE",
    "timeout": "TIMEOUT",
}
OTHER_STATUS = "RUNTIME_ERROR"


def safe_name(text: str) -> str:
    """Returns the text as a part of a path."""
    return re.sub(r"[^A-Za-z0-9._-]", "_", text)[:MAX_NAME_CHARS].lstrip(".") or "unknown"


def status_of(verdict: dict[str, Any]) -> str:
    """Returns the status of the cases that a verdict without a pass is about, or ""."""
    kind = verdict["error_kind"]
    if verdict["outcome"] == "pass" or kind in NO_EVIDENCE:
        return ""
    if kind in STATUS:
        return STATUS[kind]
    return "COMPILE_ERROR" if verdict["stage"] in BUILD_STAGES else OTHER_STATUS


def language_of(job: dict[str, Any]) -> str:
    return str(job["verdict"].get("language") or "python")


def solution_of(job: dict[str, Any], exported: Exported) -> dict[str, Any]:
    document = exported.document
    language = language_of(job)
    main = MAIN_FILE + ENDINGS.get(language, ".py")
    sources = [{"path": main, "content": job["source"]}]
    entry, in_place = job["entry"], False
    description = f"Job {job['job']} of Assay, operator {job['operator']}."
    if exported.is_imported:
        entry, in_place = "run", _takes_outputs(job["source"], document)
    elif language == "python" and exported.written:
        sources.append({"path": ENTRY_FILE, "content": _entry(job, exported)})
        main, entry = ENTRY_FILE, "run"
    if language == "cuda":
        description += " Its launches are described by the comment at the beginning of the file."
    return {
        "name": f"{document['name']}_{job['job']}",
        "definition": document["name"],
        "author": safe_name(job["author"]),
        "spec": {
            "language": LANGUAGES.get(language, "triton"),
            "target_hardware": ["cuda"],
            "entry_point": f"{main}::{entry}",
            "dependencies": [],
            "destination_passing_style": in_place,
        },
        "sources": sources,
        "description": description,
    }


def _takes_outputs(source: str, document: dict[str, Any]) -> bool:
    """Returns True if the submission's `run` also takes the outputs, as the adapter finds out."""
    wanted = len(document["inputs"]) + len(document["outputs"])
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    for node in reversed(body):
        if isinstance(node, ast.FunctionDef) and node.name == "run":
            given = node.args
            parameters = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg]
            return len([one for one in (*parameters, given.kwarg) if one]) == wanted
    return False


def _entry(job: dict[str, Any], exported: Exported) -> str:
    """Returns the text of a function `run` that returns what the submission writes in place."""
    inputs = list(exported.document["inputs"])
    written = set(exported.written.values())
    lines = [
        '"""Calls a submission that writes to its arguments; `run` returns all outputs."""',
        "",
        f"from .{MAIN_FILE} import {job['entry']} as _entry",
        "",
        "",
        f"def run({', '.join(inputs)}):",
        *(f"    {name} = {name}.clone()" for name in inputs if name in written),
        f"    returned = _entry({', '.join(inputs)})",
        "    returned = iter(returned if isinstance(returned, (tuple, list)) else [returned])",
    ]
    made = [exported.written.get(name, "next(returned)") for name in exported.document["outputs"]]
    lines.append(f"    return {', '.join(made)}")
    return "\n".join(lines) + "\n"


def traces_of(job: dict[str, Any], exported: Exported, solution: str) -> Iterator[dict[str, Any]]:
    verdict = job["verdict"]
    records = {one["id"]: one for one in verdict["cases"] if not one["hidden"]}
    skipped = {name for skip in verdict["skipped_cases"] for name in skip["ids"]}
    by_uuid = {one["uuid"]: one for one in exported.workloads}
    failed = any(one["outcome"] != "pass" for one in records.values())
    for case, uuid_ in exported.cases.items():
        record = records.get(case)
        if case in skipped or (record is None and (failed or verdict["outcome"] != "error")):
            continue
        evaluation = _evaluation(job, record, exported)
        if evaluation is not None:
            yield {
                "definition": exported.document["name"],
                "workload": by_uuid[uuid_],
                "solution": solution,
                "evaluation": evaluation,
            }


def _evaluation(
    job: dict[str, Any], record: dict[str, Any] | None, exported: Exported
) -> dict[str, Any] | None:
    verdict = job["verdict"]
    passed = record is not None and record["outcome"] == "pass"
    made: dict[str, Any] = {
        "status": "",
        "environment": environment_of(verdict["provenance"]),
        "timestamp": job["finished"],
        "log": "",
    }
    if passed and record is not None:
        performance = _performance(record)
        if verdict["outcome"] != "pass" or performance is None:
            return None
        made["status"], made["performance"] = "PASSED", performance
    else:
        made["status"] = status_of(verdict)
        made["log"] = str(verdict["summary"])[:MAX_LOG_CHARS]
    if not made["status"]:
        return None
    if made["status"] in ("PASSED", "INCORRECT_NUMERICAL"):
        made["correctness"] = _correctness(record or {}, exported)
    return made


def _performance(record: dict[str, Any]) -> dict[str, float] | None:
    latency = record.get("latency")
    if not latency or not latency["median_ns"] > 0:
        return None
    made = {"latency_ms": latency["median_ns"] / NS_PER_MS}
    eager = record.get("pytorch_ns")
    if isinstance(eager, int | float) and eager > 0:
        made["reference_latency_ms"] = eager / NS_PER_MS
        made["speedup_factor"] = eager / latency["median_ns"]
    return made


def _correctness(record: dict[str, Any], exported: Exported) -> dict[str, Any]:
    """Returns the errors. Assay measures no relative error, so it is NaN. The absolute error is an
    upper bound if the outputs have different scales."""
    error = record.get("max_abs_error")
    value = float(error) if error is not None else math.nan
    extra = {"assay_scaled_error": number(value), "assay_mismatches": record.get("mismatches", 0)}
    return {
        "max_relative_error": number(math.nan),
        "max_absolute_error": number(value / exported.scale),
        "extra": extra,
    }


def number(value: float) -> float | str:
    """Returns a number as the format writes it: non-finite numbers are texts."""
    if math.isnan(value):
        return "NaN"
    return value if math.isfinite(value) else "Infinity"


def environment_of(provenance: dict[str, Any]) -> dict[str, Any]:
    known = ("torch", "triton", "python", "driver", "nvrtc", "assay")
    libs = {name: str(provenance[name]) for name in known if provenance.get(name)}
    hardware = provenance.get("device_name") or provenance.get("device") or "unknown"
    return {"hardware": str(hardware), "libs": libs}
