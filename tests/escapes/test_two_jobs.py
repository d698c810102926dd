"""Tests attempts to escape that need two jobs, at the same time or one after the other."""

from __future__ import annotations

import re

import pytest
from case_file import HERE, Case, read_case
from conftest import Results
from escape_server import EscapeServer

CASES = [read_case(path) for path in sorted((HERE / "together").glob("*.py"))]
STREAM = re.compile(r"^stream (\d+): (.+)$", re.MULTILINE)
FIXED_STREAMS = {
    "5"
}  # hash("x"): all jobs of a zygote have the same hash seed, which does not depend on inputs


@pytest.mark.parametrize(
    "case", [pytest.param(case, id=case.name, marks=pytest.mark.short) for case in CASES]
)
def test_together(case: Case, escape_server: EscapeServer, results: Results) -> None:
    source = case.source(escape_server.canaries.addresses())
    verdicts = escape_server.run_together([source, source])
    problems = [problem for verdict in verdicts if (problem := case.problem_with(verdict))]
    streams = [dict(STREAM.findall(verdict.get("stdout", ""))) for verdict in verdicts]
    problems += [
        f"stream {name} is the same in both"
        for name in streams[0].keys() - FIXED_STREAMS
        if streams[0][name] == streams[1].get(name)
    ]
    problems += escape_server.broken_invariants()
    results[case.name] = {
        "seen": f"{verdicts[0]['outcome']}:{verdicts[0]['error_kind']}",
        "problems": problems,
    }
    assert not problems, "\n".join(problems)
