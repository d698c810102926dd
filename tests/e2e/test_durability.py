"""Checks that `kill -9` of the server loses no accepted job. At the next start an unfinished job
runs again or is reported as aborted."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import time
from pathlib import Path
from typing import Any

import pytest
from stdio_client import StdioClient

PATIENCE_S = 120.0  # the longest wait for an event that must come
SLOW = "# fake: sleep_ms=5000\ndef vector_add(x, y):\n    return x\n"
QUICK = "# fake: pass\ndef vector_add(x, y):\n    return x\n"


def start(binary: str, store: Path) -> StdioClient:
    return StdioClient([binary, "serve", "--stdio", "--device", "fake", "--store", str(store)])


def finished(client: StdioClient, job: str) -> dict[str, Any]:
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        answer: dict[str, Any] = client.call("job", {"job": job, "wait_s": 10})["structuredContent"]
        if answer.get("state") not in ("queued", "running") and answer.get("status") not in (
            "queued",
            "running",
        ):
            return answer
    raise AssertionError(f"{job} did not end")


def wait_for_stored_job(store: Path, operator: str) -> None:
    """Waits until the store contains an accepted job for the operator."""
    deadline = time.monotonic() + PATIENCE_S
    query = "SELECT COUNT(*) FROM submissions WHERE operator = ?"
    while time.monotonic() < deadline:
        with contextlib.closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as connection:
            if connection.execute(query, (operator,)).fetchone()[0]:
                return
        time.sleep(0.01)
    raise AssertionError(f"no job for {operator} was accepted")


def test_finished_verdicts_and_unfinished_jobs_survive_a_kill(binary: str, tmp_path: Path) -> None:
    store = tmp_path / "assay.db"
    client = start(binary, store)
    run = client.call(
        "start_run",
        {"agent": "test", "model": "none", "track": "iterative", "suite": "vector_add,gelu_tanh"},
    )["structuredContent"]["run"]
    done = client.call("submit", {"run": run, "operator": "vector_add", "code": QUICK})[
        "structuredContent"
    ]
    assert done["outcome"] == "pass"
    # Sends a job and does not wait for the answer. The server is killed after it has accepted the
    # job.
    client.next_id += 1
    assert client.process.stdin is not None
    request = {
        "jsonrpc": "2.0",
        "id": client.next_id,
        "method": "tools/call",
        "params": {
            "name": "submit",
            "arguments": {
                "run": run,
                "operator": "gelu_tanh",
                "code": SLOW.replace("vector_add(x, y)", "gelu_tanh(x)"),
            },
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
            },
        },
    }
    client.process.stdin.write(json.dumps(request).encode() + b"\n")
    client.process.stdin.flush()
    wait_for_stored_job(store, "gelu_tanh")
    client.process.kill()
    client.process.wait()

    again = start(binary, store)
    card = again.call("scorecard", {"run": run})["structuredContent"]
    scores = {entry["operator"]: entry for entry in card["operators"]}
    assert scores["vector_add"]["outcome"] == "pass"
    job = scores["gelu_tanh"]["job"]
    assert job, "the accepted submission is not in the store"
    ended = finished(again, job)
    assert ended.get("state", ended.get("status")) in ("finished", "aborted")
    again.close()
    assert again.process.returncode == 0


def test_the_client_of_a_killed_server_says_how_it_ended(binary: str, tmp_path: Path) -> None:
    client = start(binary, tmp_path / "assay.db")
    client.initialize()
    client.process.kill()
    with pytest.raises(RuntimeError, match="killed by SIGKILL"):
        client.read()
