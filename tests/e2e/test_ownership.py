"""Tests over HTTP that a client's runs, jobs, artifacts, sessions and tasks are out of the reach of
other clients, even of a client that has the handles."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from http_serving import Server, new_token, serving

UNKNOWN = {kind: f"{kind}_" + "0" * 26 for kind in ("run", "job", "artifact")}


def calls_with(run: str, job: str, artifact: str) -> list[tuple[str, dict[str, Any]]]:
    kernel = {"operator": "vector_add", "code": "# fake: pass\n", "run": run}
    return [
        ("scorecard", {"run": run}),
        ("report_usage", {"run": run, "input_tokens": 10**12, "output_tokens": 1, "cost_usd": 1e6}),
        ("compile", kernel),
        ("run_tests", kernel),
        ("profile", kernel),
        ("submit", kernel),
        ("job", {"job": job, "cancel": True}),
        ("read_artifact", {"artifact": artifact}),
    ]


def read(server: Server, uri: str, token: str) -> dict[str, Any]:
    message = {"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": uri}}
    answer: dict[str, Any] = json.loads(
        server.request("POST", "/mcp", json.dumps(message), token)[2]
    )
    return answer


def test_the_handles_of_another_client_are_useless(binary: str, tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    alice = new_token(binary, tokens, "alice", "practice")
    bob = new_token(binary, tokens, "bob", "practice", "score")
    carol = new_token(binary, tokens, "carol", "practice", "score")
    start = {"agent": "bob", "model": "m", "track": "iterative", "suite": "vector_add"}
    with serving(binary, tmp_path, "--token-file", str(tokens)) as server:
        run = server.call("start_run", start, bob)["structuredContent"]["run"]
        kernel = {"operator": "vector_add", "code": "# fake: pass\n", "run": run}
        compiled = server.call("compile", kernel, bob)["structuredContent"]
        job, artifact = compiled["job"], compiled["artifacts"][0]["artifact"]
        card = server.call("scorecard", {"run": run}, bob)
        for thief in (alice, carol):
            for (tool, stolen), (_, unknown) in zip(
                calls_with(run, job, artifact), calls_with(**UNKNOWN), strict=True
            ):
                answer = server.call(tool, stolen, thief)
                assert answer["isError"], (tool, answer)
                assert answer["structuredContent"]["error"]["code"] == "not_found", (tool, answer)
                assert answer == server.call(tool, unknown, thief)
            for shape, handle, none in (
                ("run://{}/scorecard", run, UNKNOWN["run"]),
                ("artifact://{}", artifact, UNKNOWN["artifact"]),
            ):
                refused = read(server, shape.format(handle), thief)["error"]
                expected = read(server, shape.format(none), thief)["error"]
                assert (refused["code"], refused["message"]) == (
                    expected["code"],
                    expected["message"],
                )
                assert "result" in read(server, shape.format(handle), bob)
        assert server.call("scorecard", {"run": run}, bob) == card
        # bob's only submission is still his, and his handles work for him.
        assert server.call("submit", kernel, bob)["structuredContent"]["outcome"] == "pass"
        assert server.call("read_artifact", {"artifact": artifact}, bob)["content"]
        assert not server.call("job", {"job": job}, bob).get("isError")
    # The operator of the server sees the runs of all clients.
    report = subprocess.run(
        [binary, "report", "--run", run, "--store", str(tmp_path / "assay.db")],
        capture_output=True,
        text=True,
    )
    assert report.returncode == 0, report.stderr
    assert "vector_add" in report.stdout


def test_sessions_and_tasks_of_another_client_are_useless(binary: str, tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    alice = new_token(binary, tokens, "alice", "score")
    bob = new_token(binary, tokens, "bob", "score")
    call = {
        "name": "run_tests",
        "arguments": {"operator": "vector_add", "code": "# fake: sleep_ms=60000\n"},
    }
    with serving(binary, tmp_path, "--token-file", str(tokens)) as server:
        session = server.open_session(bob)
        assert server.ping(session, bob) == 200
        assert server.ping(session, alice) == 404
        task = server.stateless("tools/call", call, "run_tests", bob)["result"]["taskId"]
        none = "task_" + "0" * 26
        for method in ("tasks/get", "tasks/cancel"):
            stolen = server.stateless(method, {"taskId": task}, task, alice)["error"]
            unknown = server.stateless(method, {"taskId": none}, none, alice)["error"]
            assert stolen["code"] == unknown["code"]
            assert stolen["message"] == unknown["message"].replace(none, task)
        assert server.stateless("tasks/get", {"taskId": task}, task, bob)["result"]["status"] == (
            "working"
        )
        server.stateless("tasks/cancel", {"taskId": task}, task, bob)


def test_a_scope_that_was_taken_away(binary: str, tmp_path: Path) -> None:
    """The scope counts in each call: a token that lost it can read its scored run, but neither
    submit nor report usage."""
    tokens = tmp_path / "tokens"
    token = new_token(binary, tokens, "alice", "practice", "score")
    start = {"agent": "a", "model": "m", "track": "iterative", "suite": "vector_add"}
    with serving(binary, tmp_path, "--token-file", str(tokens)) as server:
        run = server.call("start_run", start, token)["structuredContent"]["run"]
    tokens.write_text(tokens.read_text().replace("practice,score", "practice"))
    with serving(binary, tmp_path, "--token-file", str(tokens)) as server:
        for tool, arguments in calls_with(run, "", "")[1:6]:
            answer = server.call(tool, arguments, token)
            assert answer["structuredContent"]["error"]["code"] == "permission_denied", tool
            assert "scope 'score'" in answer["content"][0]["text"]
        card = server.call("scorecard", {"run": run}, token)["structuredContent"]
        assert card["operators"][0]["tool_calls"] == 0
        assert card["input_tokens"] == 0
