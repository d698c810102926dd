"""Checks the audit log and the access log of `assay serve`."""

from __future__ import annotations

import json
import os
import re
import signal
from pathlib import Path
from typing import Any

from http_serving import PING, Server, new_token, serving, wait_until
from stdio_client import StdioClient, serve_command

SECRET_CODE = "# fake: pass\ndef vector_add(x, y): return 'a secret of the source'\n"
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


def events_of(log: Path, **wanted: Any) -> list[dict[str, Any]]:
    """Returns the events of the log that have these members."""
    events = [json.loads(line) for line in log.read_text().splitlines()]
    return [event for event in events if wanted.items() <= event.items()]


def start_run(server: Server, token: str, track: str = "practice") -> dict[str, Any]:
    arguments = {"agent": "a", "model": "m", "track": track, "suite": "vector_add"}
    return server.call("start_run", arguments, token)


def test_the_audit_log_says_who_did_what(binary: str, tmp_path: Path) -> None:
    tokens, log = tmp_path / "tokens", tmp_path / "audit.jsonl"
    alice = new_token(binary, tokens, "alice", "practice")
    arguments = ["--token-file", str(tokens), "--audit-log", str(log)]
    with serving(binary, tmp_path, *arguments) as server:
        run = start_run(server, alice)["structuredContent"]["run"]
        said = server.call(
            "submit", {"operator": "vector_add", "code": SECRET_CODE, "run": run}, alice
        )["structuredContent"]
        refused = start_run(server, alice, "one_shot")
        assert refused["isError"]
        guess = "assay_00000000000000000000000000"
        assert server.request("POST", "/mcp", PING, guess)[0] == 401
        assert server.request("POST", "/mcp", PING)[0] == 401
        origin = {"Origin": "https://evil.example"}
        assert server.request("POST", "/mcp", PING, alice, origin)[0] == 403
        assert server.request("POST", "/mcp", PING, alice)[0] == 200
        unknown = json.dumps({"jsonrpc": "2.0", "id": 1, "method": f"secrets/{alice}"})
        server.request("POST", "/mcp", unknown, alice)

    assert log.stat().st_mode & 0o777 == 0o600
    events = events_of(log)
    assert all(TIME.fullmatch(event["time"]) for event in events)
    assert [event["what"] for event in events_of(log, event="server")] == ["start", "stop"]

    (started,) = events_of(log, event="call", tool="start_run", outcome="ok")
    assert started["principal"] == "alice"
    assert started["address"] == "127.0.0.1"
    assert started["method"] == "tools/call"
    assert started["run"] == run
    assert started["duration_ms"] > 0
    (submitted,) = events_of(log, event="call", tool="submit")
    assert (submitted["run"], submitted["job"]) == (run, said["job"])
    (job,) = events_of(log, event="job")
    assert (job["principal"], job["run"], job["job"]) == ("alice", run, said["job"])
    assert (job["tool"], job["operator"], job["outcome"]) == ("submit", "vector_add", "pass")
    assert job["trace"] == submitted["trace"]

    (scope,) = events_of(log, event="call", tool="start_run", outcome="failed")
    assert scope["error"] == "permission_denied"
    assert len(events_of(log, event="refused", error="token", status=401)) == 2
    (foreign,) = events_of(log, event="refused", error="host", status=403)
    assert foreign["address"] == "127.0.0.1"
    assert len(events_of(log, event="call", method="ping", outcome="ok")) == 1
    assert len(events_of(log, event="call", method="other", error="method_not_found")) == 1

    text = log.read_text()
    for secret in (alice, guess, "secret of the source", "def vector_add", "evil.example"):
        assert secret not in text


def test_limits_are_in_the_audit_log(binary: str, tmp_path: Path) -> None:
    tokens, log = tmp_path / "tokens", tmp_path / "audit.jsonl"
    alice = new_token(binary, tokens, "alice", "practice")
    arguments = ["--token-file", str(tokens), "--audit-log", str(log), "--rate-limit", "0.01"]
    with serving(binary, tmp_path, *arguments) as server:
        statuses = [server.request("POST", "/mcp", PING, alice)[0] for _ in range(3)]
        assert statuses == [200, 429, 429]
    limited = events_of(log, event="refused", error="rate", status=429)
    assert len(limited) == 2
    assert {event["principal"] for event in limited} == {"alice"}


def test_a_rotated_audit_log_loses_nothing(binary: str, tmp_path: Path) -> None:
    log, rotated = tmp_path / "audit.jsonl", tmp_path / "audit.jsonl.1"
    with serving(binary, tmp_path, "--audit-log", str(log)) as server:
        server.request("POST", "/mcp", PING)
        log.rename(rotated)
        server.request("POST", "/mcp", PING)  # still in the old file
        server.process.send_signal(signal.SIGHUP)
        wait_until(lambda: log.exists() and bool(events_of(log, what="reload")))
        server.request("POST", "/mcp", PING)
    assert len(events_of(rotated, method="ping")) == 2
    assert len(events_of(log, method="ping")) == 1
    assert events_of(log)[-1]["what"] == "stop"


def test_a_lost_line_is_counted_and_logged(binary: str, tmp_path: Path) -> None:
    log = tmp_path / "log"
    arguments = ["--audit-log", "/dev/full", "--log-file", str(log)]
    with serving(binary, tmp_path, *arguments) as server:
        assert server.request("POST", "/mcp", PING)[0] == 200
        page = server.request("GET", "/metrics")[2]
        assert 'assay_log_file_failures_total{file="audit"} 2\n' in page  # the start and the ping
        assert 'assay_log_file_lines_total{file="audit"} 0\n' in page
    assert "lines of a log file are lost file=audit lost=1" in log.read_text()


def test_the_audit_log_of_a_server_on_stdio(binary: str, tmp_path: Path) -> None:
    log = tmp_path / "audit.jsonl"
    command = serve_command(binary, "fake", tmp_path / "assay.db")
    client = StdioClient([*command, "--audit-log", str(log)])
    client.call("list_operators", {})
    client.close()
    (called,) = events_of(log, event="call", tool="list_operators")
    assert called["principal"] == ""
    assert "address" not in called
    assert events_of(log)[-1]["what"] == "stop"


def test_a_folder_is_no_audit_log(assay: Any, tmp_path: Path) -> None:
    done = assay("serve", "--stdio", "--device", "fake", "--audit-log", str(tmp_path))
    assert done.returncode == 66
    assert str(tmp_path) in done.stderr


def test_the_access_log(binary: str, tmp_path: Path) -> None:
    tokens, log = tmp_path / "tokens", tmp_path / "access.jsonl"
    alice = new_token(binary, tokens, "alice", "practice")
    arguments = ["--token-file", str(tokens), "--access-log", str(log), "--log-format", "json"]
    with serving(binary, tmp_path, *arguments) as server:
        server.request("POST", "/mcp?token=" + alice, PING, alice)
        server.request("GET", "/healthz")
        server.request("POST", "/mcp", PING, "assay_wrong")
        server.request("GET", "/" + "x" * 3000)
    ping, health, refused, long = events_of(log, message="request")
    assert TIME.fullmatch(ping["time"])
    assert (ping["principal"], ping["path"], ping["status"]) == ("alice", "/mcp", 200)
    assert (ping["address"], ping["refused"]) == ("127.0.0.1", "none")
    assert ping["bytes"] > 0
    assert ping["duration_ms"] > 0
    assert (health["method"], health["path"], health["principal"]) == ("GET", "/healthz", "")
    assert (refused["status"], refused["refused"]) == (401, "token")
    assert (long["status"], long["refused"]) == (414, "size")
    assert alice not in log.read_text()
    assert "assay_wrong" not in log.read_text()


def test_the_access_log_goes_to_the_log(binary: str, tmp_path: Path) -> None:
    log, old = tmp_path / "log", tmp_path / "log.1"
    arguments = ["--access-log", "-", "--log-file", str(log)]
    with serving(binary, tmp_path, *arguments) as server:
        server.request("GET", "/healthz")
        os.rename(log, old)
        server.process.send_signal(signal.SIGHUP)
        wait_until(log.exists)  # the log itself is opened again too
        server.request("GET", "/healthz")
    assert "info request address=127.0.0.1" in old.read_text()
    assert "path=/healthz status=200" in log.read_text()
