"""A case of the escape suite: one submission in cases/NN_name.py, whose first lines say what it tries and what is expected. Numbers below
OWN follow a list of known attempts; those from it up were thought of against this very code.

    # attempt: ptrace of other processes, process_vm_readv            one line
    # expect: pass                                                    pass | fail[:KIND] | error:KIND[,KIND]
    # tier: C                                                         C any Linux, R root or delegated cgroup, G GPU, S stand-ins for a GPU
    # defence: seccomp, pid_namespace                                 layers of docs/sandbox.md
    # tool: compile                                                   optional; run_tests
    # short: yes                                                      optional; part of ./run test

What is sent is probe.py, with the canaries' addresses filled in, and then the case. An attempt that got through makes the entry function
raise: `expect: pass` means contained.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
CASES = HERE / "cases"
OWN = 101
TIERS = {"C", "R", "G", "S"}
KEYS = {"attempt", "expect", "tier", "defence", "tool", "short"}
DEFENCES_BESIDE_LAYERS = {
    "supervisor",  # wall limits, kill by pidfd, bounded output, waitid
    "frames",  # checks of what a candidate sends
    "judge",  # expected values and comparison live in another process
    "no_gpu",  # the candidate has no GPU
    "launcher",  # plan checks, guards, its own process and limits
    "tools",  # checks at the border of the tools
    "environment",  # rebuilt from a fixed list
    "zygote",  # never sees a submission; reseeds
    "allowed",  # meant to work
}


class BadCase(ValueError):
    """A header that the runner cannot read."""


@dataclass(frozen=True)
class Case:
    number: int
    name: str
    path: Path
    attempt: str
    outcome: str
    kinds: tuple[str, ...]
    tier: str
    defences: tuple[str, ...]
    tool: str
    short: bool

    @property
    def expect(self) -> str:
        return self.outcome + (":" + ",".join(self.kinds) if self.kinds else "")

    def source(self, canaries: dict[str, Any]) -> str:
        prelude = (HERE / "probe.py").read_text(encoding="utf-8").replace("CANARIES: dict = {}", f"CANARIES: dict = {canaries!r}", 1)
        return prelude + "\n\n" + self.path.read_text(encoding="utf-8")

    def problem_with(self, verdict: dict[str, Any]) -> str | None:
        """Why the verdict is not the declared one; None when it is."""
        outcome, kind = verdict.get("outcome"), verdict.get("error_kind")
        if outcome == self.outcome and (not self.kinds or kind in self.kinds):
            return None
        said = (verdict.get("diagnostic") or {}).get("message") or verdict.get("detail") or verdict.get("summary")
        return f"expected {self.expect}, got {outcome}:{kind}: {said}"


def read_case(path: Path) -> Case:
    match = re.fullmatch(r"(\d\d|1\d\d)_([a-z0-9_]+)\.py", path.name)
    if match is None:
        raise BadCase(f"{path.name} is neither NN_name.py nor 1NN_name.py")
    header = dict(re.findall(r"^# (\w+): (.+)$", path.read_text(encoding="utf-8").split("\n\n", 1)[0], re.MULTILINE))
    if missing := {"attempt", "expect", "tier", "defence"} - header.keys():
        raise BadCase(f"{path.name} lacks {', '.join(sorted(missing))}")
    if unknown := header.keys() - KEYS:
        raise BadCase(f"{path.name} has the unknown {', '.join(sorted(unknown))}; valid: {', '.join(sorted(KEYS))}")
    outcome, _, kinds = header["expect"].partition(":")
    if outcome not in ("pass", "fail", "error") or (outcome == "error" and not kinds) or (outcome == "pass" and kinds):
        raise BadCase(f"{path.name}: expect is pass, fail[:KIND] or error:KIND[,KIND], not {header['expect']!r}")
    if header["tier"] not in TIERS:
        raise BadCase(f"{path.name}: tier is one of {', '.join(sorted(TIERS))}, not {header['tier']!r}")
    return Case(
        number=int(match[1]),
        name=path.stem,
        path=path,
        attempt=header["attempt"],
        outcome=outcome,
        kinds=tuple(kinds.split(",")) if kinds else (),
        tier=header["tier"],
        defences=tuple(part.strip() for part in header["defence"].split(",")),
        tool=header.get("tool", "run_tests"),
        short=header.get("short") == "yes",
    )


def all_cases() -> list[Case]:
    return sorted((read_case(path) for path in CASES.glob("*.py")), key=lambda case: (case.number, case.name))
