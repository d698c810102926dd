"""Tests `assay serve --http` with raw HTTP requests: tokens, scopes, limits, and refused
settings."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import socket
import subprocess
from pathlib import Path

import pytest
from http_serving import PING, WAIT_S, Server, new_token, serving, wait_until

REQUESTS = 200  # more than a client can send at the rate that is allowed


@pytest.fixture
def token_file(tmp_path: Path) -> Path:
    return tmp_path / "tokens"


def test_tokens_and_scopes(binary: str, tmp_path: Path, token_file: Path) -> None:
    alice = new_token(binary, token_file, "alice", "practice", "score")
    bob = new_token(binary, token_file, "bob", "practice")
    with serving(binary, tmp_path, "--token-file", str(token_file)) as server:
        status, headers, text = server.request("POST", "/mcp", PING)
        assert (status, headers["www-authenticate"]) == (401, 'Bearer realm="assay"')
        assert "token" in json.loads(text)["error"]["message"]
        assert server.request("POST", "/mcp", PING, "assay_" + "0" * 26)[0] == 401
        assert server.request("POST", "/mcp", PING, alice)[0] == 200
        assert server.request("GET", "/healthz")[0] == 200
        run = {"agent": "a", "model": "m", "suite": "vector_add"}
        refused = server.call("start_run", {**run, "track": "one_shot"}, bob)
        assert refused["isError"] is True
        assert "scope 'score'" in refused["content"][0]["text"]
        assert refused["structuredContent"]["error"]["code"] == "permission_denied"
        assert not server.call("start_run", {**run, "track": "practice"}, bob).get("isError")
        assert not server.call("start_run", {**run, "track": "one_shot"}, alice).get("isError")


def test_rate_limit_of_a_token(binary: str, tmp_path: Path, token_file: Path) -> None:
    alice = new_token(binary, token_file, "alice", "score")
    bob = new_token(binary, token_file, "bob", "score")
    with serving(binary, tmp_path, "--token-file", str(token_file), "--rate-limit", "1") as server:
        # The server allows four requests at once, and then one a second. A busy client may need
        # more requests until one is too early.
        allowed = 0
        while (answer := server.request("POST", "/mcp", PING, alice))[0] == 200:
            allowed += 1
            assert allowed < REQUESTS
        status, headers, text = answer
        assert allowed >= 4
        assert status == 429
        assert int(headers["retry-after"]) == 1
        assert "alice" in json.loads(text)["error"]["message"]
        assert json.loads(text)["error"]["data"]["retryAfterMs"] <= 1000
        assert server.request("POST", "/mcp", PING, bob)[0] == 200


def test_unsafe_settings_are_refused(binary: str, tmp_path: Path, token_file: Path) -> None:
    def serve(*arguments: str) -> tuple[int, str]:
        done = subprocess.run(
            [binary, "serve", "--device", "fake", *arguments],
            capture_output=True,
            text=True,
            timeout=WAIT_S,
        )
        return done.returncode, done.stderr

    status, text = serve("--http", "0.0.0.0:0")
    assert status == 76
    assert "--token-file" in text
    new_token(binary, token_file, "alice", "score")
    for mode in (0o640, 0o604, 0o620):
        token_file.chmod(mode)
        status, text = serve("--http", "127.0.0.1:0", "--token-file", str(token_file))
        assert status == 76
        assert f"chmod 600 {token_file}" in text
    status, text = serve("--http", "127.0.0.1:0", "--token-file", str(tmp_path / "none"))
    assert (status, "none cannot be read" in text) == (66, True)
    token_file.write_text("alice everything sha256:00\n")
    token_file.chmod(0o600)
    status, text = serve("--http", "127.0.0.1:0", "--token-file", str(token_file))
    assert status == 78
    assert "line 1" in text
    assert "practice, score" in text
    assert serve("--token-file", str(token_file))[0] == 64
    assert serve("--http", "127.0.0.1:0", "--tls-cert", "x")[0] == 64
    assert serve("--http", "127.0.0.1:0", "--rate-limit", "-1")[0] == 64


def test_names_that_a_proxy_passes_on(binary: str, tmp_path: Path, token_file: Path) -> None:
    alice = new_token(binary, token_file, "alice", "score")
    with serving(
        binary, tmp_path, "--token-file", str(token_file), "--allow-host", "assay.example"
    ) as server:
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {alice}"}
        for host, status in (
            ("assay.example", 200),
            ("ASSAY.example:443", 200),
            ("evil.example", 403),
        ):
            connection = server.connection()
            connection.request("POST", "/mcp", PING, {**headers, "Host": host})
            assert connection.getresponse().status == status
            connection.close()


def test_a_wrong_token_command(binary: str) -> None:
    for arguments, word in (
        (["--name", "a b", "--scope", "score"], "letters"),
        (["--name", "a", "--scope", "root"], "practice, score"),
        (["--name", "a"], "--scope"),
    ):
        done = subprocess.run([binary, "token", "new", *arguments], capture_output=True, text=True)
        assert done.returncode == 64
        assert word in done.stderr
        assert done.stdout == ""


def test_more_descriptors_than_the_process_may_have(binary: str, tmp_path: Path) -> None:
    """Opens more connections than the server may have descriptors. Checks that the additional
    connections wait or get an error, and that earlier connections still work."""

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (600, 600))

    command = [
        binary,
        "serve",
        "--http",
        "127.0.0.1:0",
        "--device",
        "fake",
        "--store",
        str(tmp_path / "assay.db"),
    ]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, preexec_fn=limited)
    assert process.stderr is not None
    found = None
    while found is None:
        found = re.search(r"listening on http://127\.0\.0\.1:(\d+)", process.stderr.readline())
    server = Server(process, int(found[1]), False)
    peers = [
        socket.create_connection(("127.0.0.1", server.port), timeout=WAIT_S) for _ in range(500)
    ]
    request = (
        b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 40\r\n\r\n"
        + PING.encode()
    )
    peers[0].sendall(request)
    assert peers[0].recv(1000).startswith(b"HTTP/1.1 200")
    refused = peers[-1].recv(1000)
    assert refused.startswith(b"HTTP/1.1 503") or refused == b""
    for peer in peers:
        peer.close()
    wait_until(lambda: server.request("GET", "/healthz")[0] == 200)
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=WAIT_S) == 0
    assert os.path.exists(tmp_path / "assay.db")


def test_metrics(binary: str, tmp_path: Path) -> None:
    with serving(binary, tmp_path) as server:
        server.call("list_operators", {})
        status, headers, text = server.request("GET", "/metrics")
        assert status == 200
        assert headers["content-type"].startswith("text/plain; version=0.0.4")
        samples = {
            line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1])
            for line in text.splitlines()
            if not line.startswith("#")
        }
        assert samples['assay_messages_total{method="tools/call",outcome="ok"}'] == 1
        assert samples['assay_jobs_queued{device="fake"}'] == 0
        assert samples['assay_jobs_running{device="fake"}'] == 0
        assert 1e6 < samples["process_resident_memory_bytes"] < 200e6
        assert samples["assay_http_connections"] >= 1
