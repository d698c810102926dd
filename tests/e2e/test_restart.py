"""Checks that a restart of the server costs no client anything: SIGTERM lets jobs end, and a job that
the server's end cuts short is not charged and keeps its handle."""

from __future__ import annotations

import http.client
import json
import signal
import threading
from pathlib import Path
from typing import Any

import pytest
from http_serving import WAIT_S, Server, running_jobs, serving, wait_until
from stdio_client import META, StdioClient, serve_command

LONG_MS = 50_000  # a job that ends only because the test ends it


def code(sleep_ms: int = 0, note: str = "") -> str:
    return f"# fake: sleep_ms={sleep_ms}\n# {note}\ndef vector_add(x, y):\n    return x\n"


class Call:
    """A call of a tool in a separate thread."""

    def __init__(self, server: Server, tool: str, arguments: dict[str, Any]) -> None:
        self.result: dict[str, Any] | None = None
        self.thread = threading.Thread(target=self.run, args=(server, tool, arguments))
        self.thread.start()

    def run(self, server: Server, tool: str, arguments: dict[str, Any]) -> None:
        try:
            self.result = server.call(tool, arguments)
        except (OSError, http.client.HTTPException):
            self.result = None  # the server was killed

    def answer(self) -> dict[str, Any]:
        self.thread.join(WAIT_S)
        assert self.result is not None, "the call got no answer"
        structured: dict[str, Any] = self.result["structuredContent"]
        return structured


def wait_for_running_job(server: Server) -> None:
    wait_until(lambda: running_jobs(server) == 1)


def begin_drain(server: Server) -> None:
    server.process.send_signal(signal.SIGTERM)
    wait_until(lambda: server.request("GET", "/healthz")[0] == 503)


def start_run(server: Server) -> str:
    started = server.call(
        "start_run",
        {"agent": "a", "model": "m", "track": "iterative", "suite": "vector_add,relu"},
    )
    run: str = started["structuredContent"]["run"]
    return run


def run_tests(server: Server, run: str, note: str) -> dict[str, Any]:
    answer = server.call("run_tests", {"operator": "vector_add", "code": code(0, note), "run": run})
    structured: dict[str, Any] = answer["structuredContent"]
    assert structured["outcome"] == "pass"
    return structured


def job(server: Server, handle: str) -> dict[str, Any]:
    """Waits for the verdict of a job."""
    for _ in range(3):
        answer = server.call("job", {"job": handle, "wait_s": 20})["structuredContent"]
        if answer["status"] != "running":
            break
    structured: dict[str, Any] = answer
    return structured


def hang_up(server: Server, arguments: dict[str, Any]) -> None:
    """Calls run_tests in the stateless revision, and closes the connection while the job runs."""
    connection = server.begin_call("run_tests", arguments, META)
    wait_for_running_job(server)
    connection.close()


def test_sigterm_lets_the_jobs_in_progress_end(binary: str, tmp_path: Path) -> None:
    with serving(binary, tmp_path) as server:
        kept = server.connection()  # a client whose connection was open before
        kept.request("GET", "/healthz")
        first = kept.getresponse()
        assert (first.status, json.loads(first.read())) == (200, {"status": "ok"})
        call = Call(server, "run_tests", {"operator": "vector_add", "code": code(8000)})
        wait_for_running_job(server)
        begin_drain(server)
        kept.request("GET", "/healthz")
        draining = kept.getresponse()
        assert (draining.status, json.loads(draining.read())) == (503, {"status": "draining"})
        refused = server.call("run_tests", {"operator": "vector_add", "code": code()})
        assert refused["isError"] is True
        error = refused["structuredContent"]["error"]
        assert (error["code"], error["retryable"]) == ("unavailable", True)
        assert not server.call("fetch_spec", {"operator": "vector_add"}).get("isError")
        assert call.answer()["outcome"] == "pass"
        assert server.process.wait(WAIT_S) == 0


def test_an_idle_server_ends_at_once(binary: str, tmp_path: Path) -> None:
    with serving(binary, tmp_path, "--drain-s", "3600") as server:
        server.call("run_tests", {"operator": "vector_add", "code": code()})
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(WAIT_S) == 0


@pytest.mark.parametrize("second", [signal.SIGTERM, signal.SIGINT])
def test_a_second_signal_stops_at_once(binary: str, tmp_path: Path, second: signal.Signals) -> None:
    with serving(binary, tmp_path, "--drain-s", "3600") as server:
        call = Call(server, "run_tests", {"operator": "vector_add", "code": code(LONG_MS)})
        wait_for_running_job(server)
        begin_drain(server)
        server.process.send_signal(second)
        assert server.process.wait(WAIT_S) == 0
        answer = call.answer()
        assert (answer["status"], answer["server_stops"]) == ("running", True)


def test_the_time_to_end_is_limited(binary: str, tmp_path: Path) -> None:
    with serving(binary, tmp_path, "--drain-s", "1") as server:
        call = Call(server, "run_tests", {"operator": "vector_add", "code": code(LONG_MS)})
        wait_for_running_job(server)
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(WAIT_S) == 0
        assert call.answer()["server_stops"] is True


def test_a_restart_costs_a_run_nothing(binary: str, tmp_path: Path) -> None:
    """Ends the server by SIGTERM, and then by SIGKILL, during a call that counts."""
    slow = {"operator": "vector_add", "code": code(4000, "slow")}
    with serving(binary, tmp_path, "--drain-s", "0") as server:
        run = start_run(server)
        left = run_tests(server, run, "first")["calls_left"]
        call = Call(server, "run_tests", {**slow, "run": run})
        wait_for_running_job(server)
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(WAIT_S) == 0
        answer = call.answer()
        assert (answer["status"], answer["server_stops"]) == ("running", True)
        assert answer["job"] in answer["next"]
        assert "cancel" not in answer["next"]
    with serving(binary, tmp_path) as server:
        again = job(server, answer["job"])  # the next server knows the handle
        assert (again["state"], again["outcome"]) == ("finished", "pass")
        assert again["calls_left"] == left  # the call that was cut short is not charged
        assert run_tests(server, run, "second")["calls_left"] == left - 1
        call = Call(server, "run_tests", {**slow, "run": run})
        wait_for_running_job(server)
        server.process.kill()
        server.process.wait()
        call.thread.join(WAIT_S)
        assert call.result is None
        server.process.returncode = 0  # `serving` expects that the server ended by itself
    with serving(binary, tmp_path) as server:
        assert run_tests(server, run, "third")["calls_left"] == left - 2


def test_a_submission_is_graded_once_after_a_restart(binary: str, tmp_path: Path) -> None:
    with serving(binary, tmp_path, "--drain-s", "0") as server:
        run = start_run(server)
        submission = {"operator": "vector_add", "code": code(5000), "run": run}
        call = Call(server, "submit", submission)
        wait_for_running_job(server)
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(WAIT_S) == 0
        handle = call.answer()["job"]
    with serving(binary, tmp_path) as server:
        assert job(server, handle)["outcome"] == "pass"
        second = server.call("submit", {**submission, "code": code(0, "another")})
        assert second["structuredContent"]["error"]["code"] == "permission_denied"


def test_a_call_is_repeated_after_its_server_was_killed(binary: str, tmp_path: Path) -> None:
    """The answer of the first call is lost, because the server is killed after it stored the
    verdict. The repeated calls get this verdict, and only one call is charged."""
    with serving(binary, tmp_path) as server:
        named = {
            "operator": "vector_add",
            "code": code(),
            "run": start_run(server),
            "call_id": "vector_add.1",
        }
        first = server.call("run_tests", named)["structuredContent"]
        server.process.kill()
        server.process.wait(WAIT_S)
        server.process.returncode = 0  # `serving` expects that the server ended by itself
    with serving(binary, tmp_path) as server:
        for _ in range(2):
            again = server.call("run_tests", named)["structuredContent"]
            assert (again["job"], again["outcome"]) == (first["job"], "pass")
            assert again["calls_left"] == first["calls_left"] == 9


def test_a_disconnect_does_not_charge_a_repeated_call(binary: str, tmp_path: Path) -> None:
    with serving(binary, tmp_path) as server:
        named = {
            "operator": "vector_add",
            "code": code(2_000),
            "run": start_run(server),
            "call_id": "vector_add.1",
        }
        hang_up(server, named)
        again = server.call("run_tests", named)["structuredContent"]
        assert (again["outcome"], again["calls_left"]) == ("pass", 9)


def test_a_client_that_cancels_is_charged(binary: str, tmp_path: Path) -> None:
    """In the stateless revision, a client cancels its call by hanging up."""
    with serving(binary, tmp_path) as server:
        run = start_run(server)
        left = run_tests(server, run, "first")["calls_left"]
        arguments = {"operator": "vector_add", "code": code(LONG_MS), "run": run}
        hang_up(server, arguments)
        wait_until(lambda: running_jobs(server) == 0)
        assert run_tests(server, run, "second")["calls_left"] == left - 2


def test_a_stream_ends_with_the_handle(binary: str, tmp_path: Path) -> None:
    """A call whose answer is an event stream gets its answer too when the server stops."""
    message = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {
            "name": "run_tests",
            "arguments": {"operator": "vector_add", "code": code(LONG_MS)},
            "_meta": {"progressToken": "p"},
        },
    }
    with serving(binary, tmp_path, "--drain-s", "0") as server:
        connection = server.connection()
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        connection.request("POST", "/mcp", json.dumps(message), headers)
        response = connection.getresponse()
        assert response.getheader("Content-Type") == "text/event-stream"
        wait_for_running_job(server)
        server.process.send_signal(signal.SIGTERM)
        events = [
            json.loads(line[5:])
            for line in response.read().decode().splitlines()
            if line.startswith("data:") and line[5:].strip()
        ]
        answers = [event for event in events if event.get("id") == 1]
        assert len(answers) == 1
        answer = answers[0]["result"]["structuredContent"]
        assert answer["server_stops"] is True
        assert answer["job"].startswith("job_")
        assert server.process.wait(WAIT_S) == 0


def test_sigterm_lets_a_call_on_stdio_end(binary: str, tmp_path: Path) -> None:
    store = tmp_path / "assay.db"
    client = StdioClient(serve_command(binary, "fake", store))
    call = {"name": "run_tests", "arguments": {"operator": "vector_add", "code": code(2000)}}
    client.call("list_operators", {})
    client.write(2, "tools/call", {**call, "_meta": {**META, "progressToken": 1}})
    assert client.read()["method"] == "notifications/progress"  # so the job is accepted
    client.process.send_signal(signal.SIGTERM)
    while (message := client.read()).get("id") != 2:
        pass
    assert message["result"]["structuredContent"]["outcome"] == "pass"
    assert client.process.wait(WAIT_S) == 0


@pytest.mark.parametrize("ends_input_first", [False, True])
def test_sigterm_ends_an_idle_server_on_stdio(
    binary: str, tmp_path: Path, ends_input_first: bool
) -> None:
    client = StdioClient(serve_command(binary, "fake", tmp_path / "assay.db"))
    client.call("list_operators", {})
    if ends_input_first:
        assert client.process.stdin is not None
        client.process.stdin.close()
    client.process.send_signal(signal.SIGTERM)
    # A server whose input has ended may have ended its work, and with it its handling of signals.
    ends = (0, -signal.SIGTERM) if ends_input_first else (0,)
    assert client.process.wait(WAIT_S) in ends


def test_a_server_on_stdio_whose_client_has_gone_stops(binary: str, tmp_path: Path) -> None:
    client = StdioClient(serve_command(binary, "fake", tmp_path / "assay.db"))
    call = {"name": "run_tests", "arguments": {"operator": "vector_add", "code": code(LONG_MS)}}
    client.write(2, "tools/call", {**call, "_meta": {**META, "progressToken": 1}})
    assert client.read()["method"] == "notifications/progress"
    assert client.process.stdin is not None
    client.process.stdin.close()
    client.process.send_signal(signal.SIGTERM)
    # A server that waits for the job would end later.
    assert client.process.wait(LONG_MS / 1000 - 10) == 0
