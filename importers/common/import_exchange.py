"""What the importer and the jailed process of one file say to each other.

    exchange = GoldenExchange(golden, target="cuda:90", timeout_s=240)
    channel.send(*exchange.request())
    while not exchange.take(channel.receive(), result): ...  # fills the result

Everything that the process sends is untrusted."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "sandbox"))

from benchmark_file import GoldenFile, operator_name  # noqa: E402
from harness.wire.frames import Frame  # noqa: E402

# The files of an operator, by the kind of the import (golden_child.py).
PART_FILES = {
    "golden": ("spec.toml", "reference.py", "oracle.py", "test_part.py"),
    "eager": ("spec.toml", "reference.py"),
    "problem": ("spec.toml", "reference.py", "problem.py", "interface.json"),
}
MAX_PARTS_BYTES = 64 << 20  # of one file's operators together
# Each of the steps that find the cases for the interpreter, and those of other shapes, may take this
# long, or this part of the time for a file if that is longer, whatever is left of Limits.timeout_s.
# A step that takes longer finds no case, and the file keeps its operators.
INTERPRET_STEP_WALL_S = 45
INTERPRET_STEP_PART = 0.25
INTERPRET_STEPS = 7
FIRST_INTERPRET_STEP = "golden outputs"


@dataclass
class Result:
    """What the import of one file gave. Everything in it comes from an untrusted process."""

    report: dict[str, Any]
    parts: dict[tuple[str, str], bytes] = field(default_factory=dict)


def interpret_step_wall_s(timeout_s: float) -> int:
    return max(INTERPRET_STEP_WALL_S, int(INTERPRET_STEP_PART * timeout_s))


class Exchange(Protocol):
    """What the importer and the process of one file say to each other."""

    def request(self) -> tuple[dict[str, Any], bytes]:
        """Returns the message that the process waits for."""

    def take(self, frame: Frame, result: Result) -> bool:
        """Adds what the untrusted frame says to the result. Returns True if it was the last frame.
        Raises KeyError, TypeError or ValueError if the frame breaks the protocol."""


@dataclass(frozen=True)
class GoldenExchange:
    """The import of a golden file, which golden_child.py runs."""

    golden: GoldenFile
    target: str
    timeout_s: float  # for the file

    def request(self) -> tuple[dict[str, Any], bytes]:
        header = {
            "type": self.golden.kind,
            "name": self.golden.name,
            "description": self.golden.description,
            "difficulty": self.golden.difficulty,
            "provenance": vars(self.golden.provenance),
            "target": self.target,
            "options": self.golden.options,
            "interpret_step_wall_s": interpret_step_wall_s(self.timeout_s),
        }
        return header, self.golden.text.encode()

    def take(self, frame: Frame, result: Result) -> bool:
        if frame.type == "part":
            _keep(result, self.golden, frame)
        elif frame.type == "report":
            result.report = _checked(frame.header["report"], self.golden, result)
        return frame.type == "report"


def failed(kind: str, message: str) -> dict[str, Any]:
    reason = f"{kind}: {message}"
    return {"tier": "neither", "kind": kind, "reason": reason, "left_out": [], "operators": []}


def _keep(result: Result, golden: GoldenFile, frame: Frame) -> None:
    operator, file = str(frame.header["operator"]), str(frame.header["file"])
    first = operator_name(golden.name)
    number = operator.removeprefix(first).removeprefix("_")
    if not (operator == first or (operator == f"{first}_{number}" and number.isdecimal())):
        raise ValueError(f"an operator has the name {operator[:80]!r}")
    if file not in PART_FILES[golden.kind]:
        raise ValueError(f"an operator has the file {file[:80]!r}")
    result.parts[operator, file] = frame.payload
    if sum(map(len, result.parts.values())) > MAX_PARTS_BYTES:
        raise ValueError(f"its operators have more than {MAX_PARTS_BYTES >> 20} MiB")


def _checked(report: dict[str, Any], golden: GoldenFile, result: Result) -> dict[str, Any]:
    """Returns the report with the types that the rest of the importer relies on."""
    operators = [
        {
            "name": str(one["name"]),
            "cases": int(one["cases"]),
            "tier": str(one["tier"]),
            "reason": str(one["reason"]),
            "interpreted": int(one.get("interpreted", 0)),
            "other_shapes": int(one.get("other_shapes", 0)),
        }
        for one in report["operators"]
    ]
    names = {one["name"] for one in operators}
    if {(name, file) for name in names for file in PART_FILES[golden.kind]} != set(result.parts):
        raise ValueError("an operator lacks a file")
    checked = {
        "tier": str(report["tier"]),
        "kind": str(report["kind"]),
        "reason": str(report["reason"]),
        "calls": int(report["calls"]),
        "left_out": [str(reason) for reason in report["left_out"]],
        "operators": operators,
    }
    if "arithmetic" in report:
        checked["arithmetic"] = [str(name) for name in report["arithmetic"]]
    return checked
