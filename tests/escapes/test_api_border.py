"""Tests attempt 48 of the escape suite: sources and names that the server refuses before it queues
a job."""

from __future__ import annotations

import pytest
from conftest import Results
from escape_server import EscapeServer

BAD_SOURCES = {
    "empty": "",
    "blank": " \n\t\n",
    "zero byte": "x = 1\n\0",
    "over the limit": "#" * ((1 << 20) + 1),
}
BAD_NAMES = [
    "../vector_add",
    "/etc/passwd",
    "vector_add/../../x",
    "vector_add\0",
    "vector_add\n",
    "a" * 4096,
    "-rf",
    "\udcff",
    "..",
    "",
]


@pytest.mark.short
def test_refused_at_the_border(escape_server: EscapeServer, results: Results) -> None:
    problems = []
    for name, source in BAD_SOURCES.items():
        if not escape_server.refuses("run_tests", {"operator": "vector_add", "code": source}):
            problems.append(f"a source that is {name} was taken")
    for operator in BAD_NAMES:
        if not escape_server.refuses(
            "run_tests", {"operator": operator, "code": "def vector_add(x, y): return x"}
        ):
            problems.append(f"the operator {operator!r} was taken")
    for device in BAD_NAMES[:-1]:
        if not escape_server.refuses(
            "run_tests", {"operator": "vector_add", "code": "x = 1", "device": device}
        ):
            problems.append(f"the device {device!r} was taken")
    for target in ("cuda:90; id", "-v", "/etc/passwd", "@response"):
        if not escape_server.refuses(
            "compile", {"operator": "vector_add", "code": "x = 1", "targets": [target]}
        ):
            problems.append(f"the target {target!r} was taken")
    problems += escape_server.broken_invariants()
    results["48_names_and_sources"] = {"seen": "refused", "problems": problems}
    assert not problems, "\n".join(problems)
