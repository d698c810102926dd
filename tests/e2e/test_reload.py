"""Checks that SIGHUP makes `assay serve --http` read its files again, without the loss of a
connection or a call."""

from __future__ import annotations

import json
import signal
import ssl
import subprocess
from pathlib import Path
from typing import Any

from http_serving import (
    PING,
    WAIT_S,
    Server,
    make_certificate,
    new_token,
    running_jobs,
    serving,
    wait_until,
)
from stdio_client import StdioClient, serve_command

SLOW = {"operator": "vector_add", "code": "# fake: sleep_ms=15000\ndef vector_add(x, y): pass\n"}
HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


def ping(server: Server, token: str) -> int:
    return server.request("POST", "/mcp", PING, token)[0]


def has_line(log: Path, words: str) -> bool:
    return log.exists() and words in log.read_text()


def test_a_reload_replaces_the_tokens(binary: str, tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    log = tmp_path / "log"
    alice = new_token(binary, tokens, "alice", "practice")
    with serving(binary, tmp_path, "--token-file", str(tokens), "--log-file", str(log)) as server:
        # A call of alice runs, and its answer is an open stream.
        connection = server.connection()
        message = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": "run_tests", "arguments": SLOW, "_meta": {"progressToken": 1}},
        }
        authorization = {"Authorization": f"Bearer {alice}"}
        connection.request("POST", "/mcp", json.dumps(message), {**HEADERS, **authorization})
        stream = connection.getresponse()
        assert stream.getheader("Content-Type") == "text/event-stream"
        idle = server.connection()
        idle.request("POST", "/mcp", PING, {**HEADERS, **authorization})
        assert idle.getresponse().read()
        wait_until(lambda: running_jobs(server, alice) == 1)

        tokens.unlink()
        bob = new_token(binary, tokens, "bob", "practice")
        assert ping(server, bob) == 401
        server.process.send_signal(signal.SIGHUP)
        wait_until(lambda: ping(server, bob) == 200)
        assert ping(server, alice) == 401
        idle.request("POST", "/mcp", PING, {**HEADERS, **authorization})
        assert idle.getresponse().status == 401  # the connection is still open
        assert has_line(log, "the tokens were read again")
        assert running_jobs(server, bob) == 1
        events = [
            json.loads(line[5:])
            for line in stream.read().decode().splitlines()
            if line.startswith("data:") and line[5:].strip()
        ]
        assert events[-1]["result"]["structuredContent"]["outcome"] == "pass"


def test_a_broken_file_keeps_the_old_tokens(binary: str, tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    log = tmp_path / "log"
    alice = new_token(binary, tokens, "alice", "practice")
    with serving(binary, tmp_path, "--token-file", str(tokens), "--log-file", str(log)) as server:
        good = tokens.read_text()
        for broken in (good + "bob\n", "", None):
            if broken is None:
                tokens.write_text(good)
                tokens.chmod(0o644)  # other users can read it
            else:
                tokens.write_text(broken)
            log.write_text("")
            server.process.send_signal(signal.SIGHUP)
            wait_until(lambda: has_line(log, "the old tokens stay in use"))
            assert ping(server, alice) == 200


def served_certificate(server: Server) -> str:
    return ssl.get_server_certificate(("127.0.0.1", server.port), timeout=WAIT_S)


def test_a_reload_replaces_the_certificate(binary: str, tmp_path: Path) -> None:
    for name in ("one", "two"):
        make_certificate(tmp_path, name)
    one = (tmp_path / "one.pem").read_text()
    two = (tmp_path / "two.pem").read_text()
    certificate = tmp_path / "server.pem"
    key = tmp_path / "server.key"
    log = tmp_path / "log"
    certificate.write_text(one)
    key.write_text((tmp_path / "one.key").read_text())
    tls = ["--tls-cert", str(certificate), "--tls-key", str(key)]
    with serving(binary, tmp_path, *tls, "--log-file", str(log)) as server:
        assert served_certificate(server) == one
        old = server.connection()
        old.request("POST", "/mcp", PING, HEADERS)
        assert old.getresponse().read()

        certificate.write_text(two)  # the old key does not belong to it
        server.process.send_signal(signal.SIGHUP)
        wait_until(lambda: has_line(log, "the old certificate stays in use"))
        assert served_certificate(server) == one

        key.write_text((tmp_path / "two.key").read_text())
        server.process.send_signal(signal.SIGHUP)
        wait_until(lambda: served_certificate(server) == two)
        old.request("POST", "/mcp", PING, HEADERS)
        assert old.getresponse().status == 200  # the old connection is still open


def test_a_server_without_files_survives_sighup(binary: str, tmp_path: Path) -> None:
    log = tmp_path / "log"
    with serving(binary, tmp_path, "--log-file", str(log)) as server:
        server.process.send_signal(signal.SIGHUP)
        wait_until(lambda: has_line(log, "SIGHUP only opens the logs again"))
        assert server.request("POST", "/mcp", PING)[0] == 200


def test_sighup_ends_a_server_on_stdio(binary: str, tmp_path: Path) -> None:
    # A program that ignores SIGHUP, such as nohup, passes this on to the programs that it starts.
    inherited = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    try:
        client = StdioClient(serve_command(binary, "fake", tmp_path / "assay.db"))
    finally:
        signal.signal(signal.SIGHUP, inherited)
    client.call("list_operators", {})
    client.process.send_signal(signal.SIGHUP)
    assert client.process.wait(WAIT_S) == -signal.SIGHUP


def test_a_reload_replaces_the_limits(binary: str, tmp_path: Path) -> None:
    limits, log = tmp_path / "limits.toml", tmp_path / "log"
    limits.write_text("rate_limit = 0.01\n")  # a burst of one request
    arguments = ["--limits-file", str(limits), "--log-file", str(log)]
    with serving(binary, tmp_path, *arguments) as server:

        def reload(text: str, said: str) -> None:
            before = log.read_text().count(said)
            limits.write_text(text)
            server.process.send_signal(signal.SIGHUP)
            wait_until(lambda: log.read_text().count(said) > before)

        assert [ping(server, "") for _ in range(3)] == [200, 429, 429]
        reload("max_calls = 1\nprincipal_calls = 1\n", "the limits were read again")
        wait_until(lambda: ping(server, "") == 200)
        assert {ping(server, "") for _ in range(3)} == {200}

        # A call runs when the limit of calls shrinks to one, and ends with its verdict.
        connection = server.connection()
        call: dict[str, Any] = {"name": "run_tests", "arguments": SLOW}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        connection.request("POST", "/mcp", json.dumps(message), HEADERS)
        wait_until(lambda: running_jobs(server) == 1)
        assert server.request("POST", "/mcp", json.dumps(message))[0] == 503

        for wrong, said in (
            ("max_calls = 0", "from 1 to 16384"),
            ("calls = 1", "principal_uploads"),
            ("rate_limit = -1", "requests a second"),
            ("max_calls = ", "line 1"),
            ("max_calls = 16384", "restart it"),
        ):
            reload(wrong, "the old limits stay in use")
            assert said in log.read_text().splitlines()[-1]
        assert server.request("POST", "/mcp", json.dumps(message))[0] == 503

        # A limit that the file no longer names has its first value again.
        reload("", "the limits were read again")
        fast = {"operator": "vector_add", "code": "# fake: pass\ndef vector_add(x, y): pass\n"}
        call["arguments"] = fast
        wait_until(lambda: server.request("POST", "/mcp", json.dumps(message))[0] == 200)
        answer = json.loads(connection.getresponse().read())
        assert answer["result"]["structuredContent"]["outcome"] == "pass"


def test_a_file_of_limits_must_be_usable_at_the_start(binary: str, tmp_path: Path) -> None:
    limits = tmp_path / "limits.toml"
    limits.write_text("max_calls = true\n")
    for path, status, said in ((limits, 78, "max_calls"), (tmp_path / "none", 66, "none")):
        done = subprocess.run(
            [binary, "serve", "--http", "127.0.0.1:0", "--limits-file", str(path)],
            capture_output=True,
            text=True,
            timeout=WAIT_S,
        )
        assert done.returncode == status and said in done.stderr, done.stderr
