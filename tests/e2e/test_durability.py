"""Checks that `kill -9` of the server loses no accepted job. At the next start an unfinished job
runs again or is reported as aborted."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from stdio_client import StdioClient

SLOW = "# fake: sleep_ms=2500\ndef vector_add(x, y):\n    return x\n"
QUICK = "# fake: pass\ndef vector_add(x, y):\n    return x\n"


def start(binary: str, store: Path) -> StdioClient:
    return StdioClient([binary, "serve", "--stdio", "--device", "fake", "--store", str(store)])


def finished(client: StdioClient, job: str) -> dict[str, Any]:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        answer: dict[str, Any] = client.call("job", {"job": job, "wait_s": 10})["structuredContent"]
        if answer.get("state") not in ("queued", "running") and answer.get("status") not in (
            "queued",
            "running",
        ):
            return answer
    raise AssertionError(f"{job} did not end")


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
    # Sent without waiting for the answer: the job is accepted and running when the server dies.
    client.next_id += 1
    assert client.process.stdin is not None
    import json

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
    time.sleep(1.0)
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
