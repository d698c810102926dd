"""Sends each case. The case must get its declared verdict in time. Then the test checks the
invariants, and sends two controls: a correct submission, which must pass, and a wrong one, which
must fail."""

from __future__ import annotations

import ctypes
import os

import pytest
from case_file import Case
from conftest import Results
from escape_server import (
    IMPORT_WALL_MS,
    LAUNCH_WALL_MS,
    RUN_WALL_MS,
    SLACK_S,
    EscapeServer,
    Outcome,
)


def limit_s(outcome: Outcome) -> float:
    """Returns the maximum time of the case in seconds: the sum of the limits of its stages."""
    stage = outcome.verdict.get("stage")
    return (
        IMPORT_WALL_MS
        + (RUN_WALL_MS if stage != "import" else 0)
        + (LAUNCH_WALL_MS if stage == "launch" else 0)
    ) / 1e3


def has_landlock() -> bool:
    """Returns whether the kernel has Landlock. If so, the system call returns the version of
    Landlock's interface."""
    return (
        ctypes.CDLL(None).syscall(ctypes.c_long(444), None, ctypes.c_long(0), ctypes.c_long(1)) > 0
    )


def reason_to_skip(case: Case, private: bool) -> str | None:
    if case.needs == "gpu_stand_ins" and not private:
        return "simulated on a private host, with stand-ins for a GPU's device nodes"
    if case.needs == "gpu" and not os.path.exists("/dev/nvidiactl"):
        return "needs a GPU"
    if case.defences == ("landlock",) and not has_landlock():
        return "this kernel has no Landlock, and nothing else stands against it"
    if case.needs == "root" and os.geteuid() != 0:
        return "needs root or a delegated cgroup"
    return None


def check_controls(server: EscapeServer, controls: tuple[Case, Case]) -> list[str]:
    found = []
    for control in controls:
        outcome = server.run(control.source({}))
        if problem := control.problem_with(outcome.verdict):
            found.append(f"control {control.name}: {problem}")
    return found


def test_case(
    case: Case, escape_server: EscapeServer, control_cases: tuple[Case, Case], results: Results
) -> None:
    if reason := reason_to_skip(case, escape_server.private):
        pytest.skip(reason)
    outcome = escape_server.run(case.source(escape_server.canaries.addresses()), case.tool)
    problems = [] if (wrong := case.problem_with(outcome.verdict)) is None else [wrong]
    if outcome.wall_s > limit_s(outcome) + SLACK_S:
        problems.append(
            f"the verdict took {outcome.wall_s:.1f} s; its limits allow {limit_s(outcome):.1f} s and {SLACK_S} s more"
        )
    if escape_server.canaries.secret in repr(outcome.verdict):
        problems.append("a secret of the host is in the verdict")
    problems += check_controls(escape_server, control_cases)
    problems += escape_server.broken_invariants()
    results[case.name] = {
        "seen": outcome.kind,
        "wall_s": round(outcome.wall_s, 2),
        "problems": problems,
    }
    said = outcome.verdict.get("stdout", "")
    assert not problems, "\n".join(
        [*problems, "", said[-3000:], outcome.verdict.get("stderr", "")[-2000:]]
    )
