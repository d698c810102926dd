"""Checks that a bench that was killed and resumed has the same results as an uninterrupted bench.
Only handles, times and numerical errors (which depend on the random inputs) can differ."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import processes
import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]
OPERATORS = ["vector_add", "relu", "gelu_tanh"]
# Fields that can differ: handles, times, numerical errors and numbers of calls. Errors differ
# because the judge draws new inputs for each verdict. Numbers of calls differ because an
# interrupted call is repeated and counted again, and because a slow job needs more calls that wait
# for it.
VARYING = {
    "run",
    "samples",
    "created_unix_ms",
    "job",
    "sandbox_ms",
    "max_error",
    "explanation",
    "wall_ms",
    "tool_calls",
}


def without_varying(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_varying(inner) for key, inner in value.items() if key not in VARYING}
    return [without_varying(inner) for inner in value] if isinstance(value, list) else value


def arguments_of(folder: Path, agent: str) -> list[str]:
    where = [
        "--store",
        str(folder / "s.db"),
        "--out",
        str(folder / "out"),
        "--operators",
        ",".join(OPERATORS),
        "--device",
        "cpu",
    ]
    return ["bench", "--agent", agent, "--model", "sim:7", "--samples", "2", "--jobs", "2", *where]


def ends_in(folder: Path) -> dict[tuple[str, int], dict[str, Any]]:
    lines = [json.loads(line) for line in (folder / "out/journal.jsonl").read_text().splitlines()]
    ends = [line for line in lines if line["kind"] == "finished"]
    assert len(ends) == 2 * len(OPERATORS)  # each attempt ends once
    return {(end["operator"], end["sample"]): without_varying(end) for end in ends}


def steps_in(folder: Path) -> dict[str, list[Any]]:
    """Returns, for each transcript, the replies and the tool calls with their code. Leaves out
    interrupted calls, calls that only wait for a job, and notes."""
    steps: dict[str, list[Any]] = {}
    for file in sorted((folder / "out/transcripts").iterdir()):
        mine: list[Any] = []
        code_of_job: dict[str, Any] = {}  # later calls name the code by the handle of a job
        for line in map(json.loads, file.read_text().splitlines()):
            if line["kind"] == "reply":
                mine.append(("reply", line["text"]))
            elif line["kind"] == "tool_call" and line["tool"] not in (
                "job",
                "report_usage",
                "scorecard",
            ):
                given = line["arguments"]
                step = (line["tool"], given.get("code", code_of_job.get(given.get("source"))))
                if not mine or mine[-1] != step:
                    mine.append(step)
            elif line["kind"] == "tool_result" and "job" in (line["structured"] or {}):
                code_of_job.setdefault(line["structured"]["job"], mine[-1][1])
        steps[file.name] = mine
    return steps


def report_of(assay: Run, folder: Path) -> Any:
    runs = [
        json.loads(line)["run"]
        for line in (folder / "out/journal.jsonl").read_text().splitlines()
        if '"kind":"run"' in line
    ]
    flags = [flag for run in runs for flag in ("--run", run)]
    document = json.loads(
        assay("report", "--store", str(folder / "s.db"), "--format", "json", *flags).stdout
    )
    return without_varying(document)


@pytest.mark.parametrize("agent", ["one_shot", "geak?iterations=4"])
def test_killed_and_resumed_equals_uninterrupted(
    binary: str, assay: Run, tmp_path: Path, agent: str
) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    for folder in (whole, killed):
        folder.mkdir()
    done = assay(*arguments_of(whole, agent))
    assert done.returncode == 0, done.stderr

    environment = {**os.environ, "ASSAY_STATE_DIR": str(tmp_path / "state")}
    kills = 0
    for at_bytes in (30_000, 70_000):  # the size of the transcripts at an early and a late kill
        resume = ["--resume"] if (killed / "out/journal.jsonl").exists() else []
        command = [binary, *arguments_of(killed, agent), *resume]
        with subprocess.Popen(
            command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as bench:
            deadline = time.monotonic() + 120
            while bench.poll() is None and time.monotonic() < deadline:
                if (
                    sum(file.stat().st_size for file in killed.glob("out/transcripts/*"))
                    >= at_bytes
                ):
                    bench.send_signal(signal.SIGKILL)
                    kills += 1
                    break
                time.sleep(0.005)
        # The killed bench's server ends because its standard input has ended.
        assert processes.survivors_after(str(killed)) == []
    assert kills == 2
    done = assay(*arguments_of(killed, agent), "--resume")
    assert done.returncode == 0, done.stderr

    assert ends_in(killed) == ends_in(whole)
    assert steps_in(killed) == steps_in(whole)
    assert report_of(assay, killed) == report_of(assay, whole)
