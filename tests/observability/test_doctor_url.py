"""Checks `assay doctor --url`, which checks a running server."""

from __future__ import annotations

import json
import signal
import socket
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from http_serving import make_certificate, new_token, running_jobs, serving, wait_until

Run = Callable[..., CompletedProcess[str]]
ALL = ["reach", "token", "protocol", "version", "clock", "queue", "store", "tool"]


def doctor(assay: Run, url: str, *arguments: str, **env: str) -> tuple[int, dict[str, Any]]:
    """Returns the exit status, and the findings by name."""
    done = assay("doctor", "--url", url, "--json", *arguments, **env)
    findings = json.loads(done.stdout)["findings"]
    for finding in findings:
        assert (finding["state"] == "ok") == (finding["advice"] == ""), finding
    return done.returncode, {finding["name"]: finding for finding in findings}


def states(findings: dict[str, Any]) -> dict[str, str]:
    return {name: finding["state"] for name, finding in findings.items()}


def test_a_healthy_server(binary: str, assay: Run, tmp_path: Path) -> None:
    with serving(binary, tmp_path) as server:
        for path in ("", "/", "/mcp"):
            url = f"http://127.0.0.1:{server.port}{path}"
            status, findings = doctor(assay, url)
            assert status == 0
            assert states(findings) == dict.fromkeys(ALL, "ok")
        text = assay("doctor", "--url", url)
        assert text.returncode == 0
        assert "  ok       tool: list_operators works" in text.stdout
        assert "2026-07-28" in findings["protocol"]["text"]


def test_tokens(binary: str, assay: Run, tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    practice = new_token(binary, tokens, "alice", "practice")
    score = new_token(binary, tokens, "bob", "practice", "score")
    with serving(binary, tmp_path, "--token-file", str(tokens)) as server:
        url = f"http://127.0.0.1:{server.port}"
        status, findings = doctor(assay, url, "--token", score)
        assert (status, states(findings)) == (0, dict.fromkeys(ALL, "ok"))
        assert findings["token"]["text"] == "'bob' with the scopes practice, score"
        status, findings = doctor(assay, url, ASSAY_TOKEN=practice)
        assert status == 0
        assert findings["token"]["state"] == "warning"
        wrong = "assay_00000000000000000000000000"
        for token, words in (("", "needs a token"), (wrong, "does not know")):
            status, findings = doctor(assay, url, *(["--token", token] if token else []))
            assert status == 77
            assert words in findings["token"]["text"]
            assert list(findings) == ["reach", "token"]
        for token in (practice, wrong):
            for form in ([], ["--json"]):
                done = assay("doctor", "--url", url, "--token", token, *form)
                assert token not in done.stdout + done.stderr


def test_a_certificate(binary: str, assay: Run, tmp_path: Path) -> None:
    make_certificate(tmp_path, "own")  # valid for two days
    tls = ["--tls-cert", str(tmp_path / "own.pem"), "--tls-key", str(tmp_path / "own.key")]
    with serving(binary, tmp_path, *tls) as server:
        url = f"https://localhost:{server.port}/mcp"
        status, findings = doctor(assay, url)
        assert status == 69
        assert findings["certificate"]["state"] == "PROBLEM"  # nobody trusts its issuer
        status, findings = doctor(assay, url, SSL_CERT_FILE=str(tmp_path / "own.pem"))
        assert status == 0
        assert findings["certificate"]["state"] == "warning"
        assert "(1 days)" in findings["certificate"]["text"]
        assert states(findings) == {"certificate": "warning", **dict.fromkeys(ALL, "ok")}


def test_no_server(assay: Run) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        status, findings = doctor(assay, f"http://127.0.0.1:{unused.getsockname()[1]}")
    assert (status, states(findings)) == (69, {"reach": "PROBLEM"})


def test_a_server_that_stops(binary: str, assay: Run, tmp_path: Path) -> None:
    # The job ends at the second signal, which the end of the `with` block sends.
    slow = "# fake: sleep_ms=600000\ndef vector_add(x, y): pass\n"
    with serving(binary, tmp_path, "--drain-s", "600") as server:
        connection = server.connection()
        message = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": "run_tests", "arguments": {"operator": "vector_add", "code": slow}},
        }
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        connection.request("POST", "/mcp", json.dumps(message), headers)
        wait_until(lambda: running_jobs(server) == 1)
        server.process.send_signal(signal.SIGTERM)
        wait_until(lambda: server.request("GET", "/healthz")[0] == 503)
        status, findings = doctor(assay, f"http://127.0.0.1:{server.port}")
        assert status == 0
        assert states(findings) == {**dict.fromkeys(ALL, "ok"), "reach": "warning"}


@pytest.mark.parametrize(
    "url",
    [
        "assay.example.org",
        "ftp://assay.example.org",
        "http://user:secret@assay.example.org",
        "http://assay.example.org/other",
        "http://assay.example.org:99999",
        "http://",
    ],
)
def test_an_url_that_is_none(assay: Run, url: str) -> None:
    done = assay("doctor", "--url", url)
    assert done.returncode == 64
    assert "https://assay.example.org:8443/mcp" in done.stderr
    assert "secret" not in done.stderr


def test_a_token_is_not_sent_in_clear_text(assay: Run) -> None:
    status, findings = doctor(assay, "http://assay.example.org", "--token", "assay_x")
    assert status == 69
    assert list(findings) == ["certificate"]
