"""Reads a case of the escape suite: one submission in cases/NN_name.py. The first lines of the file
say what the submission tries and which verdict is expected. Cases with a number below OWN follow a
public list of known attempts. Cases with the number OWN or above were written against this code.

    # attempt: ptrace of other processes, process_vm_readv            one line
    # expect: pass                                                    pass | fail[:KIND] | error:KIND[,KIND]
    # tier: C                                                         C any Linux, R root or delegated cgroup, G GPU, S stand-ins for a GPU
    # defence: seccomp, pid_namespace                                 layers of docs/explanation/sandbox.md
    # tool: compile                                                   optional; run_tests
    # short: yes                                                      optional; part of ./run test

The runner sends probe.py, with the canaries' addresses filled in, followed by the case. If an
attempt succeeds, the entry function raises an exception. So `expect: pass` means that the jail
stopped the attempt."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from case_header import BadCase, Expectation, read_header

HERE = Path(__file__).resolve().parent
CASES = HERE / "cases"
OWN = 101
TIERS = {"C", "R", "G", "S"}
DEFENCES_BESIDE_LAYERS = {
    "supervisor",  # limits wall time and output, and kills processes by pidfd
    "frames",  # checks what a candidate sends
    "judge",  # keeps expected values in another process and compares there
    "no_gpu",  # the candidate has no GPU
    "launcher",  # checks plans, guards buffers, and is a separate process with limits
    "tools",  # check the arguments of each call
    "environment",  # the variables of a candidate come from a fixed list
    "zygote",  # never sees a submission, and gives its children new random seeds
    "allowed",  # the attempt is meant to work
}


@dataclass(frozen=True)
class Case:
    number: int
    name: str
    path: Path
    attempt: str
    expect: Expectation
    tier: str
    defences: tuple[str, ...]
    tool: str
    short: bool

    def source(self, canaries: dict[str, Any]) -> str:
        prelude = (
            (HERE / "probe.py")
            .read_text(encoding="utf-8")
            .replace("CANARIES: dict = {}", f"CANARIES: dict = {canaries!r}", 1)
        )
        return prelude + "\n\n" + self.path.read_text(encoding="utf-8")

    def problem_with(self, verdict: dict[str, Any]) -> str | None:
        """Returns how the verdict differs from the declared one, or None if it does not."""
        return self.expect.problem_with(verdict)


def read_case(path: Path) -> Case:
    match = re.fullmatch(r"(\d\d|1\d\d)_([a-z0-9_]+)\.py", path.name)
    if match is None:
        raise BadCase(f"{path.name} is neither NN_name.py nor 1NN_name.py")
    header = read_header(path, {"attempt", "expect", "tier", "defence"}, {"tool", "short"})
    if header["tier"] not in TIERS:
        raise BadCase(
            f"{path.name}: tier is one of {', '.join(sorted(TIERS))}, not {header['tier']!r}"
        )
    return Case(
        number=int(match[1]),
        name=path.stem,
        path=path,
        attempt=header["attempt"],
        expect=Expectation.parse(header["expect"], path.name),
        tier=header["tier"],
        defences=tuple(part.strip() for part in header["defence"].split(",")),
        tool=header.get("tool", "run_tests"),
        short=header.get("short") == "yes",
    )


def all_cases() -> list[Case]:
    return sorted(
        (read_case(path) for path in CASES.glob("*.py")), key=lambda case: (case.number, case.name)
    )
