"""Runs GEAK's published setting (10 iterations in each of 10 instances) on the track `scaled`,
whose budgets are large enough, with the simulated model."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

Run = Callable[..., subprocess.CompletedProcess[str]]
OPERATORS = ["vector_add", "softmax_last_dim", "rope_neox"]
AGENT = "geak?iterations=10&instances=10"
# A simulated model that often fails and rarely improves a version. So nearly all of the 100
# versions differ, and the agent evaluates each of them.
MODEL = "sim:7?fake=1&compile_error=0.15&wrong=0.15&slow=0.1&repair=0.7&insight=0.3"


def arguments_of(tmp_path: Path, agent: str, *more: str) -> list[str]:
    where = ["--device", "fake", "--store", str(tmp_path / "s.db"), "--out", str(tmp_path / "out")]
    return [
        "bench",
        "--agent",
        agent,
        "--model",
        MODEL,
        "--operators",
        ",".join(OPERATORS),
        "--jobs",
        "2",
        *where,
        *more,
    ]


def steps_of(transcript: Path) -> tuple[dict[str, int], list[str]]:
    """Returns the number of calls of each tool, and the agent's notes."""
    calls: dict[str, int] = {}
    notes = []
    for line in map(json.loads, transcript.read_text().splitlines()):
        if line["kind"] == "tool_call":
            calls[line["tool"]] = calls.get(line["tool"], 0) + 1
        if line["kind"] == "note":
            notes.append(line["text"])
    return calls, notes


def test_ten_by_ten(assay: Run, tmp_path: Path) -> None:
    done = assay(*arguments_of(tmp_path, AGENT, "--track", "scaled"), timeout=300)
    assert done.returncode == 0, done.stderr
    assert "track scaled" in done.stdout and "3 of 3" in done.stdout
    for operator in OPERATORS:
        calls, notes = steps_of(tmp_path / f"out/transcripts/{operator}.1.jsonl")
        assert 20 < calls["compile"] <= 100 and 10 < calls["run_tests"] <= 100, (operator, calls)
        assert calls["submit"] == 1
        assert not [note for note in notes if "budget" in note or "allows" in note], notes
    finished = [
        json.loads(line) for line in (tmp_path / "out/journal.jsonl").read_text().splitlines()
    ][-3:]
    assert all(line["replies"] >= 100 for line in finished), (
        "ten times ten versions are asked for, and thought over"
    )


def test_the_iterative_track_is_too_small_for_it(assay: Run, tmp_path: Path) -> None:
    done = assay(*arguments_of(tmp_path, AGENT), timeout=300)
    assert done.returncode == 0 and "track iterative" in done.stdout, done.stderr
    for operator in OPERATORS:
        calls, _ = steps_of(tmp_path / f"out/transcripts/{operator}.1.jsonl")
        assert calls["compile"] <= 21 and calls["run_tests"] <= 11  # the last call may be refused


def test_the_track_stays_when_a_bench_is_resumed_or_replayed(assay: Run, tmp_path: Path) -> None:
    small = "geak?iterations=2&instances=2"
    assert assay(*arguments_of(tmp_path, small, "--track", "scaled")).returncode == 0
    other = assay(*arguments_of(tmp_path, small, "--resume"))
    assert other.returncode == 64 and 'track is "scaled" there and missing here' in other.stderr
    assert assay(*arguments_of(tmp_path, small, "--track", "scaled", "--resume")).returncode == 0
    where = ["--device", "fake", "--store", str(tmp_path / "s.db")]
    replayed = assay("bench", "--replay", str(tmp_path / "out"), *where)
    assert replayed.returncode == 0 and "track scaled" in replayed.stdout, replayed.stderr


def test_tracks_that_do_not_fit(assay: Run, tmp_path: Path) -> None:
    unknown = assay(*arguments_of(tmp_path, "geak", "--track", "weekend"))
    assert (
        unknown.returncode == 67
        and "valid: practice, one_shot, iterative, scaled" in unknown.stderr
    )
    locked = assay(*arguments_of(tmp_path, "geak", "--track", "one_shot"))
    assert (
        locked.returncode == 64
        and "takes one source per operator, and the agent geak tries several" in locked.stderr
    )
