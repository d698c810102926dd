"""Defines Check, the result of one check of `operators lint`.

Check("small", "cost is the tensors' bytes", False, "reference.py:40: cost() says ...")"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass
class Check:
    case: str | None  # None if the check is about the whole operator
    name: str
    ok: bool
    detail: str = ""
    mutant: bool = False  # True if the check requires that a wrong answer is rejected

    def wire(self) -> dict[str, Any]:
        return {
            "case": self.case,
            "check": self.name,
            "ok": self.ok,
            "detail": self.detail,
            "mutant": self.mutant,
        }


def line_of(file: Path, text: str) -> str:
    """Returns FILE:LINE of the first line that begins with `text`. Returns FILE if there is no such
    line."""
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith(text):
            return f"{file}:{number}"
    return str(file)
