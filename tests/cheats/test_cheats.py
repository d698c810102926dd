"""Checks that every cheat gets the verdict that its header declares, and no higher Perf than honest
code. Also checks that the next honest submission passes."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from cheat_file import Case, cheats
from cheat_server import CheatServer, Results
from cheat_table import PAGE, PUBLIC, RESULTS, page
from classes import CLASSES

# The largest allowed Perf of a cheat, divided by the oracle's. It is above 1, because both times
# have noise.
PERF_SLACK = 1.1
# On the CPU, a control follows a case only if the number of its class is a multiple of
# CONTROL_EVERY, because a control takes as long as a case. On a GPU, a control follows each case.
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
    """Checks a submission that cannot be recorded but uses a kernel. It can pass in the tier
    `host`, and the verdict must then name this tier."""
    verdict = host_tier_server.send(case)
    assert verdict["tier"] == "host" and "could not be recorded" in verdict["tier_reason"], verdict[
        "summary"
    ]


def test_case_is_real_without_a_gpu(case: Case, cpu_server: CheatServer, results: Results) -> None:
    """Checks without a GPU that a case for a GPU is valid: its kernels compile, or the tool
    `compile` refuses them as the header declares."""
    verdict = cpu_server.send(case, "compile")
    problem = case.compiles.problem_with(verdict)
    results.setdefault("compile", {})[case.name] = {
        "seen": f"{verdict.get('outcome')}:{verdict.get('error_kind')}",
        "problems": [],
    }
    assert problem is None, f"{problem}\n{verdict.get('summary')}"


def test_every_class_has_a_case() -> None:
    assert set(CLASSES) == {case.number for case in cheats()}


def test_the_page_is_that_of_the_results() -> None:
    written = page(json.loads(RESULTS.read_text(encoding="utf-8")))
    assert PAGE.read_text(encoding="utf-8") == written, (
        "run `./run cheats`; if only a text changed, `python tests/cheats/cheat_table.py`"
    )


def test_public_exploits_name_cases() -> None:
    names = re.findall(r"`(\d\d_[a-z_]*)(\*?)`", PUBLIC.read_text(encoding="utf-8"))
    assert len(names) > 20
    known = {case.name for case in cheats()}
    for name, star in names:
        assert name in known or (star and any(one.startswith(name) for one in known)), name
