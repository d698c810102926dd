"""Checks that every cheat gets its declared verdict and no Perf that it did not earn, and that the
next honest submission passes."""

from __future__ import annotations

from typing import Any

import pytest
from cheat_file import Case, cheats
from cheat_server import CheatServer, Results
from classes import CLASSES

PERF_SLACK = 1.1  # largest Perf relative to the oracle's, because both measurements have noise
# A control follows each tenth case on the CPU, where it costs as much as a case. On a GPU one
# follows each case.
CONTROL_EVERY = 10


def problems_of(server: CheatServer, case: Case, verdict: dict[str, Any], device: str) -> list[str]:
    expected = case.expected_on(device)
    assert expected is not None
    problems = [problem] if (problem := expected.problem_with(verdict)) else []
    perf = verdict.get("perf")
    if perf is not None and expected.outcome != "pass":
        problems.append(f"it got a Perf of {perf}")
    if perf is not None and perf > PERF_SLACK * (honest := server.honest_perf(case.operator)):
        problems.append(f"it got a Perf of {perf}; the oracle gets {honest}")
    return problems


def check(server: CheatServer, case: Case, results: Results, device: str, control: bool) -> None:
    verdict = server.send(case)
    problems = problems_of(server, case, verdict, device)
    if control and (after := server.control())["outcome"] != "pass":
        problems.append(f"the control after it: {after['summary']}")
    seen = f"{verdict.get('outcome')}:{verdict.get('error_kind')}"
    results.setdefault(device, {})[case.name] = {
        "seen": seen,
        "perf": verdict.get("perf"),
        "problems": problems,
    }
    said = str(verdict.get("stdout", ""))[-2000:] + str(verdict.get("stderr", ""))[-2000:]
    assert not problems, "\n".join(
        [*problems, verdict.get("summary", ""), *map(str, verdict.get("cases", [])), said]
    )


def test_case_on_the_cpu(case: Case, cpu_server: CheatServer, results: Results) -> None:
    check(cpu_server, case, results, "cpu", control=case.number % CONTROL_EVERY == 0)


@pytest.mark.gpu
def test_case_on_the_gpu(case: Case, gpu_server: CheatServer, results: Results) -> None:
    check(gpu_server, case, results, "gpu", control=True)


@pytest.mark.gpu
def test_case_is_stamped_on_the_host_tier(case: Case, host_tier_server: CheatServer) -> None:
    """A submission that cannot be recorded can pass on the host tier if it uses a kernel. The
    verdict must not look like one of the plan tier."""
    verdict = host_tier_server.send(case)
    assert verdict["tier"] == "host" and "could not be recorded" in verdict["tier_reason"], verdict[
        "summary"
    ]


def test_case_is_real_without_a_gpu(case: Case, cpu_server: CheatServer, results: Results) -> None:
    """Checks without a GPU that a case for a GPU is valid: its kernels compile, or are refused as
    the case declares."""
    verdict = cpu_server.send(case, "compile")
    problem = case.compiles.problem_with(verdict)
    results.setdefault("compile", {})[case.name] = {
        "seen": f"{verdict.get('outcome')}:{verdict.get('error_kind')}",
        "problems": [],
    }
    assert problem is None, f"{problem}\n{verdict.get('summary')}"


def test_every_class_has_a_case() -> None:
    assert set(CLASSES) == {case.number for case in cheats()}
