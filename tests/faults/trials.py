"""Defines the trials of matrix.py: which fault struck, and what became of the verdict."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fault_list import Fault


@dataclass(frozen=True)
class Trial:
    fault: Fault
    tool: str  # run_tests or submit
    correct: bool
    struck: int  # how often the fault struck
    outcome: str  # pass, fail, an error's kind, or "refused"
    charged: bool | None  # None: the store has no such call
    problem: str = ""
    second: Fault | None = None  # a fault in the same job

    @property
    def what(self) -> str:
        return f"{self.fault}" if self.second is None else f"{self.fault}, and {self.second}"


@dataclass
class Matrix:
    trials: list[Trial] = field(default_factory=list)

    @property
    def problems(self) -> list[str]:
        return [
            f"{trial.what} ({trial.tool}, {'correct' if trial.correct else 'wrong'}): "
            f"{trial.outcome}: {trial.problem}"
            for trial in self.trials
            if trial.problem
        ]


def earlier(results: Path | None) -> list[Trial]:
    """Reads the trials of an earlier run."""
    if results is None or not results.exists():
        return []
    lines = [json.loads(line) for line in results.read_text().splitlines()]

    def trial(line: dict[str, Any]) -> Trial:
        second = line.get("second")
        faults = {"fault": Fault(**line["fault"]), "second": second and Fault(**second)}
        return Trial(**{**line, **faults})

    return [trial(line) for line in lines]
