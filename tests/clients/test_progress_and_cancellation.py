"""Tests progress and cancellation with the official clients on the real CPU device. Checks that
progress names the stage and the case of a job, and that cancellation really stops the job."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import pytest
from assay_server import serving
from mcp_sessions import CLIENTS, Client, McpError, Pending, Session, Target, connect
from test_scored_run import structured

ENDLESS = "def vector_add(x, y):\n    while True:\n        pass\n"
WRONG = "import torch\ndef vector_add(x, y):\n    return x.clone()\n"
STARTED_WITHIN_S = 90.0  # a new server imports torch first
STOPPED_WITHIN_S = 45.0  # less than 60 s, after which an endless kernel ends anyway


@pytest.fixture(scope="module")
def http_server(binary: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    """Runs one HTTP server on the CPU device for all tests of the file. A client of the transport
    stdio starts a server of its own."""
    store = tmp_path_factory.mktemp("store") / "assay.db"
    with serving("http", binary, "--store", str(store), "--device", "cpu") as target:
        yield target


@pytest.fixture
def cpu_server(
    serve: Callable[..., AbstractContextManager[Target]], http_server: Target
) -> Callable[[str], AbstractContextManager[Target]]:
    def start(transport: str) -> AbstractContextManager[Target]:
        return (
            nullcontext(http_server) if transport == "http" else serve(transport, "--device", "cpu")
        )

    return start


def messages(progress: list[dict[str, Any]]) -> str:
    return "\n".join(str(one.get("message")) for one in progress)


def wait_until_running(pending: Pending) -> None:
    deadline = time.monotonic() + STARTED_WITHIN_S
    while "stage run" not in messages(pending.progress):
        assert time.monotonic() < deadline, (
            f"not running after {STARTED_WITHIN_S} s: {messages(pending.progress)}"
        )
        assert not pending.future.done(), pending.result()
        time.sleep(0.05)


def wait_until_warm(session: Session) -> None:
    """Waits until the server has imported torch. On a busy machine the import takes so long that
    the first call answers with a job handle, so the function waits for that job."""
    answer = session.call("run_tests", {"operator": "vector_add", "code": WRONG})[
        "structuredContent"
    ]
    deadline = time.monotonic() + STARTED_WITHIN_S
    while answer.get("status") == "running" or answer.get("state") in ("queued", "running"):
        assert time.monotonic() < deadline, f"not warm after {STARTED_WITHIN_S} s: {answer}"
        time.sleep(0.2)
        answer = session.call("job", {"job": answer["job"]})["structuredContent"]


def test_progress_rises_and_names_stage_and_case(
    client: Client, http_server: Target, node_dir: Path
) -> None:
    with connect(client, http_server, node_dir) as session:
        wait_until_warm(session)
        # A grade runs several cases in the interpreter. The import and each case take half a
        # second, which is long enough for a progress message.
        source = "import time\ntime.sleep(0.5)\ndef vector_add(x, y):\n    time.sleep(0.5)\n    return x.clone()\n"
        wanted = {"agent": "test", "model": "none", "track": "practice", "suite": "vector_add"}
        run = session.call("start_run", wanted)["structuredContent"]["run"]
        pending = session.start("submit", {"run": run, "operator": "vector_add", "code": source})
        pending.result()
        values = [one["progress"] for one in pending.progress]
        assert values and values == sorted(set(values)), values
        said = messages(pending.progress)
        assert "stage import" in said and "stage run" in said and "case 1 of " in said, said


def fill_and_cancel(session: Session) -> None:
    """Starts an endless job on every slot of the device and cancels all jobs. The next job must not
    wait for any of these jobs."""
    slots = min(os.cpu_count() or 1, 8)
    endless = [
        session.start("run_tests", {"operator": "vector_add", "code": f"{ENDLESS}# {slot}\n"})
        for slot in range(slots)
    ]
    for pending in endless:
        wait_until_running(pending)
    begin = time.monotonic()
    for pending in endless:
        pending.abort()
    answer = structured(session, "run_tests", operator="vector_add", code=WRONG)
    assert answer["outcome"] == "fail", answer
    assert time.monotonic() - begin < STOPPED_WITHIN_S
    for pending in endless:
        with pytest.raises(McpError):
            pending.result(STARTED_WITHIN_S)


@pytest.mark.parametrize("client", CLIENTS, ids=str)
def test_cancel_frees_the_device(
    client: Client, transport: str, cpu_server: Any, node_dir: Path
) -> None:
    with cpu_server(transport) as target, connect(client, target, node_dir) as session:
        fill_and_cancel(session)


def test_job_tool_cancels(serve: Any, node_dir: Path) -> None:
    """Checks that the tool `job` cancels a long job by its handle. The client does not cancel a
    request."""
    code = "# fake: sleep_ms=50000\ndef vector_add(x, y):\n    return x\n"
    with (
        serve("stdio", "--device", "fake") as target,
        connect(CLIENTS[0], target, node_dir) as session,
    ):
        answer = session.call("run_tests", {"operator": "vector_add", "code": code})[
            "structuredContent"
        ]
        assert answer["status"] == "running"
        ended = session.call("job", {"job": answer["job"], "cancel": True})["structuredContent"]
        assert (ended["state"], ended["error_kind"]) == ("cancelled", "cancelled")
