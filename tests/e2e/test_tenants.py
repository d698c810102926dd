"""Tests over HTTP that one client cannot shut out the others, although it uses everything that it
may use, and that a team of 200 agents with one token is not refused."""

from __future__ import annotations

import json
import resource
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from http_serving import PING, WAIT_S, Server, new_token, serving

LISTENERS = 1_000
MOST_RUNS = 5_000
CALLS = 64


@pytest.fixture(autouse=True)
def many_descriptors() -> Iterator[None]:
    """Permits this process and its servers to open enough descriptors for the clients."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(8_192, hard), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


class Tenants:
    """A server without a rate limit of requests, and the tokens of two clients."""

    def __init__(self, binary: str, folder: Path) -> None:
        tokens = folder / "tokens"
        self.alice = new_token(binary, tokens, "alice", "practice", "score")
        self.bob = new_token(binary, tokens, "bob", "practice", "score")
        self.arguments = ["--token-file", str(tokens), "--rate-limit", "0"]


def start_task(server: Server, token: str, sleep_ms: int, run: str = "") -> Any:
    arguments = {"operator": "vector_add", "code": f"# fake: sleep_ms={sleep_ms}\n"}
    if run:
        arguments["run"] = run
    params = {"name": "run_tests", "arguments": arguments}
    return server.stateless("tools/call", params, "run_tests", token)


def status_of(server: Server, token: str, task: str) -> str:
    answer = server.stateless("tasks/get", {"taskId": task}, task, token)
    status: str = answer["result"]["status"]
    return status


def wait_for(server: Server, token: str, task: str) -> str:
    until = time.monotonic() + WAIT_S
    while (status := status_of(server, token, task)) == "working" and time.monotonic() < until:
        time.sleep(0.05)
    return status


def test_sessions_of_one_client_do_not_end_those_of_another(binary: str, tmp_path: Path) -> None:
    tenants = Tenants(binary, tmp_path)
    with serving(binary, tmp_path, *tenants.arguments) as server:
        of_bob = server.open_session(tenants.bob)
        oldest = server.open_session(tenants.alice)
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda _: server.open_session(tenants.alice), range(1_100)))
        assert server.ping(of_bob, tenants.bob) == 200
        assert server.ping(oldest, tenants.alice) == 404
        newest = server.open_session(tenants.alice)
        assert server.ping(newest, tenants.alice) == 200


def test_tasks_of_one_client_do_not_refuse_those_of_another(binary: str, tmp_path: Path) -> None:
    tenants = Tenants(binary, tmp_path)
    with serving(binary, tmp_path, *tenants.arguments) as server:
        started, refused = [], ""
        for _ in range(330):
            answer = start_task(server, tenants.alice, 3_000)
            if "error" in answer:
                refused = answer["error"]["message"]
                break
            started.append(answer["result"]["taskId"])
        assert len(started) >= 200, "a team of 200 agents must be able to work"
        assert "too many tasks" in refused and "each token" in refused
        task = start_task(server, tenants.bob, 1)["result"]["taskId"]
        assert wait_for(server, tenants.bob, task) == "completed"
        left = sum(status_of(server, tenants.alice, one) == "working" for one in started)
        assert left >= 200, "alice's tasks must still wait, or bob had no competition"
        for one in started:
            server.stateless("tasks/cancel", {"taskId": one}, one, tenants.alice)


def test_many_runs_of_one_client_are_one_share_of_the_queue(binary: str, tmp_path: Path) -> None:
    tenants = Tenants(binary, tmp_path)
    start = {"agent": "a", "model": "m", "suite": "vector_add"}
    with serving(binary, tmp_path, *tenants.arguments) as server:
        runs = [
            server.call("start_run", start, tenants.alice)["structuredContent"]["run"]
            for _ in range(40)
        ]
        tasks = [
            start_task(server, tenants.alice, 1_500, run)["result"]["taskId"] for run in [*runs, ""]
        ]
        kernel = {"operator": "vector_add", "code": "# fake: pass\n"}
        for arguments in (
            kernel,
            {
                **kernel,
                "run": server.call("start_run", start, tenants.bob)["structuredContent"]["run"],
            },
        ):
            answer = server.call("run_tests", arguments, tenants.bob)["structuredContent"]
            assert answer["outcome"] == "pass"
        left = sum(status_of(server, tenants.alice, task) == "working" for task in tasks)
        assert left >= 20, "bob's two calls must not wait for all jobs of alice"
        for task in tasks:
            server.stateless("tasks/cancel", {"taskId": task}, task, tenants.alice)


def test_slow_bodies_of_one_client_do_not_refuse_others(binary: str, tmp_path: Path) -> None:
    tenants = Tenants(binary, tmp_path)

    def head(token: str) -> bytes:
        return (
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            f"Authorization: Bearer {token}\r\nContent-Length: {len(PING)}\r\n\r\n"
        ).encode()

    def metric(name: str) -> float:
        text = server.request("GET", "/metrics", "", tenants.bob)[2]
        return float(text.split(f"\n{name} ")[1].split("\n")[0])

    with serving(binary, tmp_path, *tenants.arguments) as server:
        address = ("127.0.0.1", server.port)
        slow = [socket.create_connection(address, timeout=WAIT_S) for _ in range(240)]
        for peer in slow:
            peer.sendall(head(tenants.alice))
        until = time.monotonic() + WAIT_S
        while metric("assay_uploads_running") < 208 and time.monotonic() < until:
            time.sleep(0.05)
        assert metric("assay_uploads_running") == 208
        peer = socket.create_connection(address, timeout=WAIT_S)
        peer.sendall(head(tenants.bob))
        until = time.monotonic() + WAIT_S
        while metric("assay_uploads_running") < 209 and time.monotonic() < until:
            time.sleep(0.05)
        peer.sendall(PING.encode())
        assert peer.recv(1_000).startswith(b"HTTP/1.1 200")
        for each in [*slow, peer]:
            each.close()


def test_a_client_that_starts_runs_too_fast_is_refused(binary: str, tmp_path: Path) -> None:
    tenants = Tenants(binary, tmp_path)
    start = {"agent": "a", "model": "m", "suite": "vector_add"}
    with serving(binary, tmp_path, *tenants.arguments) as server:
        # A client may start 512 runs at once, and then two a second. A busy client needs more than
        # 512 calls until one is too early.
        started = 0
        while not (answer := server.call("start_run", start, tenants.alice)).get("isError"):
            started += 1
            assert started < MOST_RUNS
        assert started >= 512
        assert answer["structuredContent"]["error"]["code"] == "resource_exhausted"
        assert not server.call("start_run", start, tenants.bob).get("isError")


def test_listening_clients_leave_room_for_calls(binary: str, tmp_path: Path) -> None:
    """1,000 clients keep a stream open to listen, as the TypeScript SDK does. Then 64 of them call
    a tool at once and ask for progress. No answer may be 503."""

    def listen(session: str) -> socket.socket:
        peer = socket.create_connection(("127.0.0.1", server.port), timeout=60)
        peer.sendall(
            "GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n"
            f"Mcp-Session-Id: {session}\r\n\r\n".encode()
        )
        return peer

    def call(session: str) -> tuple[int, str]:
        message = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {
                "name": "run_tests",
                "arguments": {"operator": "vector_add", "code": "# fake: sleep_ms=100\n"},
                "_meta": {"progressToken": 1},
            },
        }
        together.wait()
        status, _, text = server.request(
            "POST", "/mcp", json.dumps(message), "", {"Mcp-Session-Id": session}
        )
        return status, text

    with serving(binary, tmp_path) as server:
        sessions = [server.open_session() for _ in range(LISTENERS)]
        listeners = [listen(session) for session in sessions]
        for listener in listeners:
            assert listener.recv(12) == b"HTTP/1.1 200"
        together = threading.Barrier(CALLS)
        with ThreadPoolExecutor(CALLS) as pool:
            answers = list(pool.map(call, sessions[:CALLS]))
        assert {status for status, _ in answers} == {200}
        assert all('"outcome":"pass"' in text for _, text in answers)
        metrics = server.request("GET", "/metrics")[2]
        assert f"\nassay_listeners_open {LISTENERS}\n" in metrics
        assert 'assay_http_responses_total{code="503"}' not in metrics
        for listener in listeners:
            listener.close()
