"""Tests attempts 20 and 21 of the escape suite: the supervisor is killed while a job runs that
tries to outlive it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from case_file import HERE, Case
from conftest import Results
from escape_server import ROOT
from stdio_client import META, StdioClient
from watch import FIRST_SLOT_UID, cgroups

OUTLIVES = """
import signal, time
try:
    syscall(157, 1, 0, 0, 0, 0)  # PR_SET_PDEATHSIG: none
except OSError:
    pass
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        try:
            syscall(157, 1, 0, 0, 0, 0)
        except OSError:
            pass
        time.sleep(100_000)
time.sleep(100_000)
"""
START_S = 120.0
DEATH_S = 60.0


@pytest.fixture
def folder() -> Iterator[Path]:
    made = Path(tempfile.mkdtemp(prefix="escapes-", dir=ROOT / "build"))
    yield made
    shutil.rmtree(made)


def descendants(root: int) -> set[int]:
    table = subprocess.run(
        ["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True
    ).stdout
    pairs = [tuple(map(int, line.split())) for line in table.splitlines()]
    family = {root}
    while grown := {pid for pid, parent in pairs if parent in family} - family:
        family |= grown
    return family - {root}


def slot_processes(pids: set[int]) -> int:
    """Returns how many of the processes run as the user of a slot. Such processes belong to a
    job."""
    table = subprocess.run(
        ["ps", "-eo", "pid=,uid="], capture_output=True, text=True, check=True
    ).stdout
    return sum(
        int(uid) >= FIRST_SLOT_UID and int(pid) in pids
        for pid, uid in map(str.split, table.splitlines())
    )


def test_killed_in_the_middle_of_a_job(
    binary: str, folder: Path, control_cases: tuple[Case, Case], results: Results
) -> None:
    command = [binary, "serve", "--stdio", "--device", "cpu", "--store", str(folder / "assay.db")]
    without = os.environ.get("ASSAY_WITHOUT", "")
    command += ["--without", without] if without else []
    environment = {**os.environ, "ASSAY_STATE_DIR": str(folder / "state")}
    client = StdioClient(command, env=environment)
    server = client.process.pid
    idle = time.monotonic() + START_S
    client.call("run_tests", {"operator": "vector_add", "code": control_cases[0].source({})})
    before = slot_processes(descendants(server))
    source = (HERE / "probe.py").read_text() + OUTLIVES
    client.write(
        10_000,
        "tools/call",
        {
            "name": "run_tests",
            "arguments": {"operator": "vector_add", "code": source},
            "_meta": META,
        },
    )
    while slot_processes(family := descendants(server)) < before + 3:
        assert time.monotonic() < idle, "the job's processes did not start"
        time.sleep(0.05)
    client.process.send_signal(signal.SIGKILL)
    client.process.wait()
    end = time.monotonic() + DEATH_S
    while alive := [pid for pid in family if os.path.exists(f"/proc/{pid}")]:
        assert time.monotonic() < end, f"processes outlive their supervisor: {alive}"
        time.sleep(0.05)
    results["20_outlives_the_supervisor"] = {"seen": "all processes dead", "problems": []}

    again = StdioClient(command, env=environment)
    verdict = again.call(
        "run_tests", {"operator": "vector_add", "code": control_cases[0].source({})}
    )["structuredContent"]
    while verdict.get("status") in (
        "queued",
        "running",
    ):  # on a busy machine the imports may take longer than the waiting time of one call
        verdict = again.call("job", {"job": verdict["job"], "wait_s": 20})["structuredContent"]
    again.close()
    assert verdict.get("outcome") == "pass", verdict
    end = time.monotonic() + DEATH_S
    while left := cgroups(server):
        assert time.monotonic() < end, f"{left} control groups of the killed supervisor are left"
        time.sleep(0.05)
    results["21_restart"] = {"seen": "no group left, next job passes", "problems": []}
