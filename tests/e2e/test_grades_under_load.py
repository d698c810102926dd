"""Checks that measurements/grades_under_load.py runs to its end on a small scale, and that the
shares it reports are right. The fake device invents times, so the values of Perf have no
meaning."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from grades_under_load import ALONE, LOAD, summary

ROOT = Path(__file__).resolve().parent.parent.parent
OPERATORS = ("vector_add", "relu")


def sample(phase: str, perf: float | None, operator: str = "relu") -> dict[str, object]:
    outcome = "fail" if perf is None else "pass"
    return {"phase": phase, "operator": operator, "outcome": outcome, "wall_s": 1.0, "perf": perf}


def test_the_share_is_relative_to_the_median_alone() -> None:
    alone = [sample(ALONE, perf) for perf in (1.99, 2.0, 2.5)]
    load = [sample(LOAD, perf) for perf in (1.985, 2.015, 2.03, None)]
    # vector_add has no value that was measured alone, so the summary does not compare its value.
    found = summary([*alone, *load, sample(LOAD, 9.0, "vector_add")])
    assert found[LOAD]["share_within_1_percent"] == pytest.approx(2 / 3)
    assert found[LOAD]["deviation"]["p99"] == pytest.approx(0.015)
    assert found[ALONE]["share_within_1_percent"] == pytest.approx(2 / 3)
    assert found["operators"]["relu"]["perf_alone"] == 2.0
    assert (found["not_passed"], found["without_perf"]) == (1, 1)


def test_it_runs_to_its_end(binary: str, tmp_path: Path) -> None:
    out = tmp_path / "result.json"
    command = [sys.executable, str(ROOT / "measurements/grades_under_load.py"), "--seconds", "2"]
    command += ["--binary", binary, "--device", "fake", "--agents", "3", "--out", str(out)]
    subprocess.run([*command, "--operators", *OPERATORS], check=True, timeout=120)
    document = json.loads(out.read_text())
    samples = document["samples"]
    assert {one["phase"] for one in samples} == {ALONE, LOAD}
    assert {one["operator"] for one in samples} == set(OPERATORS)
    assert sum(one["phase"] == LOAD for one in samples) >= 3 * len(OPERATORS)
    assert all(one["outcome"] == "pass" for one in samples)
    assert document["environment"]["revision"]
    assert document["summary"][LOAD]["perf_values"] == sum(
        bool(one["perf"]) for one in samples if one["phase"] == LOAD
    )
