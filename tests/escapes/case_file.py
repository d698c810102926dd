"""Reads a case of the escape suite: one submission in cases/NN_name.py. The first lines of the file
say what the submission tries and which verdict is expected. Cases with a number below OWN follow a
public list of known attempts. Cases with the number OWN or above were written against this code.

    # attempt: reads other processes by ptrace and process_vm_readv
    # expect: pass (the attempt gains nothing)
    # needs: nothing
    # defence: seccomp, pid_namespace
    # tool: compile
    # in_run_test: yes

- attempt: what the submission tries, in one line.
- expect: the expected verdict, as pass | fail[:KIND] | error:KIND[,KIND]. An explanation in
  parentheses may follow.
- needs: what the case needs besides Linux: nothing, root (or a delegated control group), gpu, or
  gpu_stand_ins (device nodes and programs that stand in for a GPU).
- defence: the layers of docs/explanation/sandbox.md that stop the attempt, or names of
  DEFENCES_BESIDE_LAYERS.
- tool: the tool that gets the submission. Optional, default run_tests.
- in_run_test: `yes` if `./run test` runs the case too. Optional.

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
NEEDS = {"nothing", "root", "gpu", "gpu_stand_ins"}
DEFENCES_BESIDE_LAYERS = {
    "supervisor",  # limits wall time and output, and kills processes by pidfd
    "frames",  # checks what a candidate sends
    "judge",  # keeps expected values in another process and compares there
    "no_gpu",  # the candidate has no GPU
    "launcher",  # checks plans, guards buffers, and is a separate process with limits
    "tools",  # check the arguments of each call
    "environment",  # the variables of a candidate come from a fixed list
    "zygote",  # never sees a submission, and gives its children new random seeds
    "none_needed",  # the attempt is allowed
}


@dataclass(frozen=True)
class Case:
    number: int
    name: str
    path: Path
    attempt: str
    expect: Expectation
    needs: str
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
        """Returns how the verdict differs from the declared one, or None if the two agree."""
        return self.expect.problem_with(verdict)


def read_case(path: Path) -> Case:
    match = re.fullmatch(r"(\d\d|1\d\d)_([a-z0-9_]+)\.py", path.name)
    if match is None:
        raise BadCase(f"{path.name} is neither NN_name.py nor 1NN_name.py")
    header = read_header(path, {"attempt", "expect", "needs", "defence"}, {"tool", "in_run_test"})
    if header["needs"] not in NEEDS:
        raise BadCase(
            f"{path.name}: needs is one of {', '.join(sorted(NEEDS))}, not {header['needs']!r}"
        )
    return Case(
        number=int(match[1]),
        name=path.stem,
        path=path,
        attempt=header["attempt"],
        expect=Expectation.parse(header["expect"], path.name),
        needs=header["needs"],
        defences=tuple(part.strip() for part in header["defence"].split(",")),
        tool=header.get("tool", "run_tests"),
        short=header.get("in_run_test") == "yes",
    )


def all_cases() -> list[Case]:
    return sorted(
        (read_case(path) for path in CASES.glob("*.py")), key=lambda case: (case.number, case.name)
    )
