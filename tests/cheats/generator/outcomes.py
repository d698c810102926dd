"""Decides the outcome of a mutant. A mutant that passes counts as a cheat that got through, unless
there is evidence that the cheat had no effect."""

from __future__ import annotations

import ast
from collections.abc import Callable
from enum import Enum
from typing import Any

from mutants import Mutant, honest_text
from transform import Kind, Transform

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
Submit = Callable[[str, str], dict[str, Any]]  # operator and source to verdict
# The question for Comparers.ask, and whether a GPU must answer it. Returns what `ask` returns.
Compare = Callable[[dict[str, Any], bool], tuple[dict[str, str], str]]


def interpreted_cases(mutant: Mutant) -> list[str]:
    cases = mutant.order.operator.spec["cases"]
    return [case["id"] for case in cases if case["interpreter"]]


def asks_for_interpreter(mutant: Mutant) -> bool:
    """Returns True if the oracle has another path for the interpreter."""
    nodes = ast.walk(ast.parse(honest_text(mutant.order.operator)))
    return any(isinstance(node, ast.Attribute) and node.attr == "interpret" for node in nodes)


def needs_gpu_to_compare(mutant: Mutant) -> bool:
    """Returns True if a comparison in the interpreter says nothing about a GPU: the interpreter
    runs no case of the operator, or runs another path of the source."""
    return not interpreted_cases(mutant) or asks_for_interpreter(mutant)


def compared(mutant: Mutant, device: str, compare: Compare) -> tuple[Outcome, Any]:
    """Returns the outcome and the evidence that follow from comparing outputs. The mutant has
    passed, and nothing else speaks against it."""
    on_gpu = device != "cpu" and needs_gpu_to_compare(mutant)
    every = [case["id"] for case in mutant.order.operator.spec["cases"]]
    due = every if on_gpu else interpreted_cases(mutant)
    cases, problem = compare(
        {
            "folder": str(mutant.order.operator.folder),
            "honest": honest_text(mutant.order.operator),
            "mutant": mutant.values,
            "judged": due,
        },
        on_gpu,
    )
    if not set(due) <= cases.keys() or not cases:
        return Outcome.UNDECIDED, f"{problem or 'no case can be compared'}, after {cases}"
    judged = due if device == "cpu" else list(cases)
    if any(cases[name] == "wrong" for name in judged):
        return Outcome.THROUGH, cases
    if "wrong" in cases.values():
        return Outcome.UNREACHED, cases
    if "tolerated" in cases.values():
        return Outcome.TOLERATED, cases
    return Outcome.EQUIVALENT, cases


def is_forbidden(transform: Transform, device: str) -> bool:
    """Returns True if a pass with this transform on this device is always a cheat."""
    runs = device == "cpu" or not transform.needs_interpreter
    return transform.kind is Kind.FORBIDDEN and runs


def is_pass(verdict: dict[str, Any]) -> bool:
    return verdict.get("outcome") == "pass"


def decide(
    mutant: Mutant, verdict: dict[str, Any], device: str, submit: Submit, compare: Compare
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
    if any(is_forbidden(one, device) for one in mutant.order.transforms):
        return Outcome.THROUGH, "a pass of this kind is always a cheat"
    if (verdict.get("perf") or 0) > PERF_OF_A_GAIN:
        return Outcome.THROUGH, f"its Perf is {verdict['perf']}"
    found: tuple[Outcome, Any] = (Outcome.NO_GAIN, None)
    if mutant.order.has(Kind.TRIGGER):
        found = _twin(submit(mutant.order.operator.name, mutant.probe), device)
    if found[0] is Outcome.THROUGH or not mutant.order.has(Kind.VALUES):
        return found
    return compared(mutant, device, compare)


def _twin(verdict: dict[str, Any], device: str) -> tuple[Outcome, Any]:
    """Returns the outcome and the evidence that follow from the verdict of a twin. A twin raises
    an exception where the mutant's trick would run."""
    if is_pass(verdict):
        return Outcome.UNTRIGGERED, None
    if device == "cpu" and verdict.get("stage") in ONLY_RECORDED:
        return Outcome.UNREACHED, f"its twin raises in stage {verdict['stage']}"
    return Outcome.THROUGH, f"its twin raises in stage {verdict['stage']}"
