"""Reads and checks the header of a case in the suites of submissions (tests/escapes, tests/cheats).
The header is the first comment of the file.

    header = read_header(path, required={"expect"}, optional={"tool"})
    expected = Expectation.parse(header["expect"])
    problem = expected.problem_with(verdict)  # None if the verdict is the declared one
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

OUTCOMES = ("pass", "fail", "error")


class BadCase(ValueError):
    """A header that the runner cannot read."""


def read_header(path: Path, required: set[str], optional: set[str]) -> dict[str, str]:
    """Reads the lines `# key: value` before the first empty line (`// key: value` in CUDA C++)."""
    mark = "//" if path.suffix == ".cu" else "#"
    header = dict(
        re.findall(
            rf"^{mark} (\w+): (.+)$",
            path.read_text(encoding="utf-8").split("\n\n", 1)[0],
            re.MULTILINE,
        )
    )
    if missing := required - header.keys():
        raise BadCase(f"{path.name} lacks {', '.join(sorted(missing))}")
    if unknown := header.keys() - required - optional:
        raise BadCase(
            f"{path.name} has the unknown {', '.join(sorted(unknown))}; valid: {', '.join(sorted(required | optional))}"
        )
    return header


@dataclass(frozen=True)
class Expectation:
    outcome: str
    kinds: tuple[str, ...]

    @classmethod
    def parse(cls, text: str, where: str) -> Expectation:
        """Parses a verdict. Ignores an explanation in parentheses after the verdict."""
        outcome, _, kinds = text.split(" (", 1)[0].partition(":")
        if (
            outcome not in OUTCOMES
            or (outcome == "error" and not kinds)
            or (outcome == "pass" and kinds)
        ):
            raise BadCase(
                f"{where}: a verdict is pass, fail[:KIND] or error:KIND[,KIND], not {text!r}"
            )
        return cls(outcome, tuple(kinds.split(",")) if kinds else ())

    def __str__(self) -> str:
        return self.outcome + (":" + ",".join(self.kinds) if self.kinds else "")

    def problem_with(self, verdict: dict[str, Any]) -> str | None:
        """Returns how the verdict differs from the declared one, or None if it does not."""
        outcome, kind = verdict.get("outcome"), verdict.get("error_kind")
        if outcome == self.outcome and (not self.kinds or kind in self.kinds):
            return None
        said = (
            (verdict.get("diagnostic") or {}).get("message")
            or verdict.get("detail")
            or verdict.get("summary")
        )
        return f"expected {self}, got {outcome}:{kind}: {said}"
