"""Runs soak_answers.py for some jobs without kills. Checks that it reports different verdicts,
errors without a kill, and growth."""

from __future__ import annotations

import collections
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import soak_answers
from soak_answers import ROOT, Plan, Soak

JOBS = 24
NEVER_S = 3600.0


def test_every_job_gets_its_verdict_and_the_next_server_knows_it() -> None:
    binary = os.environ.get("ASSAY_BIN", str(ROOT / "build/release/bin/assay"))
    sources = {
        operator: (ROOT / f"operators/standard/{operator}/oracle.py").read_text()
        for operator in ("vector_add", "relu")
    }
    tasks = [
        {"id": operator, "operator": operator, "code": code} for operator, code in sources.items()
    ]
    plan = Plan(binary, "fake", ROOT / "operators", tasks, JOBS, 3, NEVER_S, every=4)
    soak, _ = soak_answers.run(plan)
    assert soak.problems == []
    assert len(soak.verdicts) == JOBS and len({job for job, _ in soak.verdicts}) == JOBS
    assert {outcome for _, outcome in soak.verdicts} == {"pass"} and soak.kills == []


def seen(*kinds: str) -> Soak:
    sample = {"descriptors": 1, "threads": 1, "processes": 1}
    sample |= {"server_kib": 1, "zygote_kib": 1, "judge_kib": 1}
    key = ("relu", "1", "submit")
    soak = Soak(kinds={key: collections.Counter(kinds)}, samples=[sample, sample])
    soak.check()
    return soak


def test_different_verdicts_on_one_answer_are_a_problem() -> None:
    assert seen("none", "none").problems == []
    assert "different verdicts" in seen("none", "wrong_result").problems[0]


def test_errors_of_the_servers_own_need_a_kill() -> None:
    assert "errors of our own after 0 kills" in seen("none", "internal_error").problems[0]


def test_growth_is_a_problem() -> None:
    soak = seen("none")
    soak.samples += [soak.samples[0]] * 8 + [{**soak.samples[0], "descriptors": 100}]
    soak.check()
    assert soak.problems == ["descriptors grew from 1 to 100"]
