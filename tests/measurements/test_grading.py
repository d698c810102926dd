"""Tests that a measurement of grades keeps what it has measured, however it ends. A program of this
test takes the place of the server."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
NAMES = [path.parent.name for path in sorted(ROOT.glob("operators/*/*/spec.toml"))][:3]
# Takes verdicts into its store, when it answers or only when it ends. At the submission number
# `last` it sends a signal to the measurement and does not answer.
SERVER = """#!{python}
import json, os, pathlib, sqlite3, sys
FOLDER, LAST, SIGNAL, LATE = pathlib.Path({folder!r}), {last}, {signal}, {late}
assert (FOLDER / "environment").exists()
store = sqlite3.connect(sys.argv[sys.argv.index("--store") + 1])
store.execute("CREATE TABLE verdicts (job TEXT, document TEXT)")
verdicts = []

def keep():
    while verdicts:
        store.execute("INSERT INTO verdicts VALUES (?, ?)", verdicts.pop(0))
    store.commit()

submitted = 0
for line in sys.stdin:
    request = json.loads(line)
    if request["params"]["name"] == "start_run":
        answer = {{"run": "run_1"}}
    else:
        submitted += 1
        if submitted == LAST:
            os.kill(os.getppid(), SIGNAL)
            continue
        verdict = {{"outcome": "pass", "perf": submitted, "cases": [], "gpu_alone_ms": 500}}
        verdict["stage_ms"] = {{"queue": 1, "judge": 1000}}
        answer = {{"job": f"job_{{submitted}}"}}
        verdicts.append((answer["job"], json.dumps(verdict)))
        if not LATE:
            keep()
    result = {{"structuredContent": answer, "content": [{{"text": ""}}]}}
    print(json.dumps({{"id": request["id"], "result": result}}), flush=True)
keep()
"""
# The environment takes seconds, because it imports torch.
MEASUREMENT = """
import pathlib, sys
sys.path.insert(0, {measurements!r})
import environment
def noted():
    (pathlib.Path({folder!r}) / "environment").touch()
    return {{"gpu": "none"}}
environment.environment = noted
import grading
grading.main()
"""


def measured(folder: Path, last: int, sent: int, late: bool) -> tuple[int, dict[str, Any] | None]:
    """Returns the exit status and the file of a measurement with three submissions. The submission
    before them starts the pool."""
    binary, out = folder / "assay", folder / "new/grading.json"
    binary.write_text(
        SERVER.format(python=sys.executable, folder=str(folder), last=last, signal=sent, late=late)
    )
    binary.chmod(0o755)
    script = MEASUREMENT.format(measurements=str(ROOT / "measurements"), folder=str(folder))
    command = [sys.executable, "-c", script, "--binary", str(binary), "--device", "cpu"]
    command += ["--out", str(out), "--operators", *NAMES]
    done = subprocess.run(command, timeout=120, env={**os.environ, "TMPDIR": str(folder)})
    return done.returncode, json.loads(out.read_text()) if out.exists() else None


@pytest.mark.parametrize("late", [False, True])
def test_a_whole_measurement_has_all_verdicts(tmp_path: Path, late: bool) -> None:
    status, result = measured(tmp_path, 0, 0, late)
    assert status == 0 and result is not None
    assert {one["operator"]: one["perf"] for one in result["graded"]} == dict(
        zip(NAMES, (2, 3, 4), strict=True)
    )
    assert result["summary"]["gpu_s_each"] == dict.fromkeys(NAMES, 1.0)
    assert (result["chosen"], result["environment"]) == (3, {"gpu": "none"})
    assert (result["summary"]["submissions"], result["summary"]["passed"]) == (3, 3)
    assert (result["summary"]["gpu_s"], result["summary"]["gpu_alone_s"]) == (1.0, 0.5)
    assert not any("job" in one for one in result["graded"])


@pytest.mark.parametrize(
    ("sent", "status"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -signal.SIGKILL)],
)
def test_a_measurement_that_is_stopped_keeps_its_submissions(
    tmp_path: Path, sent: signal.Signals, status: int
) -> None:
    seen, result = measured(tmp_path, 4, sent, late=False)
    assert seen == status and result is not None
    assert [one["perf"] for one in result["graded"]] == [2, 3]
    assert (result["summary"]["passed"], result["chosen"]) == (2, 3)
    assert result["environment"] == {"gpu": "none"}


def test_verdicts_that_are_stored_at_the_end_are_kept_too(tmp_path: Path) -> None:
    status, result = measured(tmp_path, 4, signal.SIGINT, late=True)
    assert status == 130 and result is not None
    assert [one.get("perf") for one in result["graded"]] == [2, 3]


def test_a_submission_without_a_verdict_is_no_pass(tmp_path: Path) -> None:
    status, result = measured(tmp_path, 4, signal.SIGKILL, late=True)
    assert status == -signal.SIGKILL and result is not None
    assert result["summary"] == {"submissions": 2, "passed": 0}
    assert [one["job"] for one in result["graded"]] == ["job_2", "job_3"]


def test_a_measurement_without_a_submission_writes_no_file(tmp_path: Path) -> None:
    assert measured(tmp_path, 1, signal.SIGTERM, late=False) == (143, None)
