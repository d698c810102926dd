"""Decides the outcome of a mutant. A mutant that passes counts as a cheat that got through, unless
there is evidence that the cheat had no effect."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Any

from mutants import Mutant
from source_tree import Source
from transform import Kind

COMPARE = Path(__file__).resolve().parent / "compare_outputs.py"
COMPARE_WALL_S = 300
# A mutant counts as faster than the oracle if its Perf is above this value. Perf is the oracle's
# time divided by the mutant's time.
PERF_OF_A_GAIN = 1.1
# Errors that come from a defence. Any other error shows that the mutant does not work at all.
DEFENCES = (
    "not_recordable",
    "canary_violation",
    "protocol_error",
    "crash",
    "timeout",
    "memory_limit",
    "gpu_fault",
    "gpu_memory_limit",
    "implausible_timing",
)


class Outcome(Enum):
    NOT_APPLICABLE = "does not apply"
    NOT_JUDGED = "not judged on this device"
    REFUSED = "refused"
    BROKEN = "no working program"
    EQUIVALENT = "the same outputs bit by bit"
    TOLERATED = "other outputs, all within the tolerance"
    UNREACHED = "wrong only in cases too large for this device"
    UNTRIGGERED = "the trick never ran"
    NO_GAIN = "right outputs, and no Perf above the oracle's"
    UNDECIDED = "passed, and the comparison failed"
    THROUGH = "got through"
    HONEST_PASS = "honest, passed"
    HONEST_REFUSED = "honest, refused"


# In these stages of a grade, the device `cpu` compiles the cases that are too large to run there.
ONLY_RECORDED = ("compile", "record")
Submit = Callable[[str, str], dict[str, Any]]


def judged_cases(mutant: Mutant, device: str) -> list[str]:
    return [
        case["id"]
        for case in mutant.order.operator.spec["cases"]
        if device != "cpu" or case["interpreter"]
    ]


def _compared(mutant: Mutant, device: str) -> tuple[Outcome, Any]:
    judged = judged_cases(mutant, device)
    question = {
        "folder": str(mutant.order.operator.folder),
        "honest": Source(mutant.order.operator).text(),
        "mutant": mutant.values,
        "judged": judged if device == "cpu" else [],
    }
    try:
        done = subprocess.run(
            [sys.executable, str(COMPARE)],
            input=json.dumps(question),
            capture_output=True,
            text=True,
            timeout=COMPARE_WALL_S,
        )
    except subprocess.TimeoutExpired:
        return Outcome.UNDECIDED, "the comparison took too long"
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    cases: dict[str, str] = {line["case"]: line["said"] for line in lines}
    if not set(question["judged"]) <= cases.keys() or not cases:
        return Outcome.UNDECIDED, f"status {done.returncode} after {cases}: {done.stderr[-600:]}"
    if any(cases.get(name) == "wrong" for name in judged):
        return Outcome.THROUGH, cases
    if "wrong" in cases.values():
        return Outcome.UNREACHED, cases
    if "tolerated" in cases.values():
        return Outcome.TOLERATED, cases
    return Outcome.EQUIVALENT, cases


def is_pass(verdict: dict[str, Any]) -> bool:
    return verdict.get("outcome") == "pass"


def decide(
    mutant: Mutant, verdict: dict[str, Any], device: str, submit: Submit
) -> tuple[Outcome, Any]:
    """Returns the outcome and the evidence for it. May send a twin of the mutant."""
    kind = str(verdict.get("error_kind"))
    if kind == "unsupported":
        return Outcome.NOT_JUDGED, None
    if mutant.order.has(Kind.HONEST):
        return (Outcome.HONEST_PASS if is_pass(verdict) else Outcome.HONEST_REFUSED), None
    if not is_pass(verdict):
        refused = verdict.get("outcome") == "fail" or kind in DEFENCES
        return (Outcome.REFUSED if refused else Outcome.BROKEN), None
    if mutant.order.has(Kind.FORBIDDEN):
        return Outcome.THROUGH, "a pass of this kind is always a cheat"
    if (verdict.get("perf") or 0) > PERF_OF_A_GAIN:
        return Outcome.THROUGH, f"its Perf is {verdict['perf']}"
    found: tuple[Outcome, Any] = (Outcome.NO_GAIN, None)
    if mutant.probe:
        found = _twin(submit(mutant.order.operator.name, mutant.probe))
    if found[0] is Outcome.THROUGH or not mutant.values:
        return found
    return _compared(mutant, device)


def _twin(verdict: dict[str, Any]) -> tuple[Outcome, Any]:
    """Returns the outcome and the evidence that follow from the verdict of a twin. A twin raises
    an exception where the mutant's trick would run."""
    if is_pass(verdict):
        return Outcome.UNTRIGGERED, None
    if verdict.get("stage") in ONLY_RECORDED:
        return Outcome.UNREACHED, f"its twin raises in stage {verdict['stage']}"
    return Outcome.THROUGH, f"its twin raises in stage {verdict['stage']}"
