"""Tests measurements/agents_study.py: it runs on a small scale, its statistics are correct, and
docs/measurements/agents-study.md agrees with the committed results."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "measurements"))

import agents_study_tables as tables  # noqa: E402
import paired  # noqa: E402


def test_the_page_says_what_the_results_say() -> None:
    document = json.loads((ROOT / "measurements/results/agents-study.json").read_text())
    assert json.loads(json.dumps(tables.summary(document["attempts"]))) == document["summary"]
    page = (ROOT / "docs/measurements/agents-study.md").read_text()
    assert tables.replace_tables(page, document) == page, (
        "run `python measurements/agents_study.py --tables` and commit docs/measurements/agents-study.md"
    )


def test_the_results_support_the_claims() -> None:
    """Checks the main claims of the study. The study's other comparisons may have any result."""
    document = json.loads((ROOT / "measurements/results/agents-study.json").read_text())
    seen = {
        (claim["part"], claim["what"]): claim["seen"] for claim in document["summary"]["claims"]
    }
    assert seen["device", "feedback (1 attempt against 5)"] == "yes"
    assert seen["device", "debugging trap after 5 repairs"] == "yes"
    assert seen["fake", "pool of ancestors"] == "yes"
    assert seen["fake", "optimizer"] == "yes"


def test_the_study_on_a_small_scale(binary: str, tmp_path: Path) -> None:
    out = tmp_path / "study.json"
    command = [
        sys.executable,
        str(ROOT / "measurements/agents_study.py"),
        "--binary",
        binary,
        "--parts",
        "fake",
        "--operators",
        "relu",
    ]
    subprocess.run(
        [*command, "--samples", "2", "--most-seeds", "1", "--out", str(out)],
        check=True,
        timeout=300,
        capture_output=True,
    )
    document = json.loads(out.read_text())
    attempts = document["attempts"]
    assert {(row["agent"], row["sample"]) for row in attempts} >= {
        ("one_shot", 1),
        ("geak?ancestors=1", 2),
    }
    assert all(row["compile"] >= 1 and row["replies"] >= 1 for row in attempts)
    assert all((row["perf"] > 0) == row["passed"] for row in attempts)
    assert "| `geak?ancestors=1` |" in tables.tables(document)


def row(agent: str, sample: int, passed: bool, perf: float | None) -> dict[str, object]:
    counts = {"replies": 1, "compile": 1, "run_tests": 1, "profile": 0}
    about = {"part": "device", "agent": agent, "seed": 1, "operator": "relu", "sample": sample}
    return {**about, "passed": passed, "perf": perf, **counts}


def test_a_claim_needs_an_interval_without_zero_and_times_where_it_is_about_times() -> None:
    rows = [row("alphaevolve", i, True, None) for i in range(20)] + [
        row("one_shot", i, i % 2 == 0, None) for i in range(20)
    ]
    feedback = ("device", "feedback", "alphaevolve", "one_shot", "passed")
    found = tables.evaluate_claim(rows, feedback)
    assert found is not None and found["seen"] == "yes" and found["gain"] == pytest.approx(0.5)
    same = tables.evaluate_claim(rows, ("device", "nothing", "one_shot", "one_shot", "passed"))
    assert same is not None and same["seen"] == "no" and same["gain"] == 0
    assert (
        tables.evaluate_claim(rows, ("device", "speed", "alphaevolve", "one_shot", "perf")) is None
    )
    assert tables.evaluate_claim(rows, ("device", "absent", "geak", "one_shot", "passed")) is None


def test_intervals() -> None:
    low, high = paired.wilson(10, 10)
    assert high == pytest.approx(1) and 0.69 < low < 0.73  # 10 of 10 do not prove 100 %
    low, high = paired.wilson(5, 10)
    assert low == pytest.approx(1 - high) and 0.23 < low < 0.25
    gain, (low, high) = paired.difference([1, 2, 3, 4] * 10, [0, 2, 2, 4] * 10)
    assert gain == 0.5 and 0.3 < low < 0.5 < high < 0.7
    assert paired.difference([2, 3], [1, 2]) == (1, (1, 1))
