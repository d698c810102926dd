"""Tests `assay serve --http` with a file of an issuer's keys: the claims of tokens, scopes, SIGHUP,
the options, and tokens of the token file that expire. tests/clients/test_identity_provider.py tests
a whole identity provider."""

from __future__ import annotations

import json
import os
import signal
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from http_serving import PING, WAIT_S, Server, make_certificate, new_token, serving, wait_until
from jwt.algorithms import ECAlgorithm

ISSUER = "https://id.example/realms/team"
RESOURCE = "https://assay.example/mcp"
METADATA = "https://assay.example/.well-known/oauth-protected-resource/mcp"


class Issuer:
    """Signs tokens, and publishes its keys in a file."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "keys.json"
        self.number = 0
        self.new_key()

    def new_key(self) -> None:
        self.number += 1
        self.key = generate_private_key(SECP256R1())
        public = ECAlgorithm.to_jwk(self.key.public_key(), as_dict=True)
        self.file.write_text(json.dumps({"keys": [{**public, "kid": str(self.number)}]}))

    def token(self, scope: str = "practice", **claims: Any) -> str:
        now = int(time.time())
        payload = {
            "iss": ISSUER,
            "sub": "alice",
            "aud": RESOURCE,
            "iat": now,
            "exp": now + 300,
            "scope": scope,
            **claims,
        }
        payload = {name: value for name, value in payload.items() if value is not None}
        return jwt.encode(
            payload, self.key, "ES256", headers={"kid": str(self.number), "typ": "at+jwt"}
        )

    def options(self) -> list[str]:
        return [
            *("--public-url", RESOURCE),
            *("--oauth-issuer", ISSUER, "--oauth-jwks", str(self.file)),
        ]


@pytest.fixture
def issuer(tmp_path: Path) -> Issuer:
    return Issuer(tmp_path)


def ping(server: Server, token: str) -> tuple[int, str]:
    status, headers, _ = server.request("POST", "/mcp", PING, token)
    return status, headers.get("www-authenticate", "")


def test_tokens_and_challenges(binary: str, tmp_path: Path, issuer: Issuer) -> None:
    with serving(binary, tmp_path, *issuer.options()) as server:
        assert ping(server, issuer.token())[0] == 200
        status, challenge = ping(server, "")
        assert status == 401
        assert challenge == (
            f'Bearer realm="assay", scope="practice", resource_metadata="{METADATA}"'
        )
        now = int(time.time())
        for wrong in (
            {"exp": None},
            {"exp": now - 60},
            {"nbf": now + 60},
            {"iat": now + 60},
            {"aud": None},
            {"aud": "https://other.example/mcp"},
            {"iss": "https://evil.example"},
            {"sub": None},
        ):
            status, challenge = ping(server, issuer.token(**wrong))
            assert status == 401 and 'error="invalid_token"' in challenge, wrong
        status, challenge = ping(server, issuer.token("openid profile"))
        assert status == 403 and 'error="insufficient_scope", ' in challenge
        public_name = {"Host": "assay.example"}
        path = "/.well-known/oauth-protected-resource/mcp"
        status, _, text = server.request("GET", path, more_headers=public_name)
        assert status == 200
        assert json.loads(text)["resource"] == RESOURCE
        assert server.request("GET", path, more_headers={"Host": "evil.example"})[0] == 403


def test_a_scored_run_needs_the_scope(binary: str, tmp_path: Path, issuer: Issuer) -> None:
    start = {"agent": "a", "model": "m", "track": "iterative", "suite": "vector_add"}
    with serving(binary, tmp_path, *issuer.options()) as server:
        message = {
            "jsonrpc": "2.0",
            "id": 5,
            "method": "tools/call",
            "params": {"name": "start_run", "arguments": start, "_meta": {"progressToken": 1}},
        }
        status, headers, text = server.request("POST", "/mcp", json.dumps(message), issuer.token())
        assert status == 403
        assert 'scope="practice score"' in headers["www-authenticate"]
        assert json.loads(text)["id"] == 5
        run = server.call("start_run", start, issuer.token("practice score"))["structuredContent"]
        # A newer token of the same subject is the same principal, and another subject is not.
        card = server.call("scorecard", {"run": run["run"]}, issuer.token())
        assert not card.get("isError")
        other = server.call("scorecard", {"run": run["run"]}, issuer.token(sub="bob"))
        assert other["structuredContent"]["error"]["code"] == "not_found"


def test_sighup_reads_the_keys_again(binary: str, tmp_path: Path, issuer: Issuer) -> None:
    log = tmp_path / "log"
    with serving(binary, tmp_path, *issuer.options(), "--log-file", str(log)) as server:
        old = issuer.token()
        assert ping(server, old)[0] == 200
        issuer.new_key()
        new = issuer.token()
        server.process.send_signal(signal.SIGHUP)
        wait_until(lambda: "the keys of the issuers are read again" in log.read_text())
        assert ping(server, new)[0] == 200
        assert ping(server, old)[0] == 401
        issuer.file.write_text("{}")
        server.process.send_signal(signal.SIGHUP)
        wait_until(lambda: "the old keys of an issuer stay in use" in log.read_text())
        assert ping(server, new)[0] == 200


@contextmanager
def https_keys(folder: Path, certificate: str, issuer: Issuer) -> Iterator[str]:
    """Publishes the issuer's keys over HTTPS. Yields the URL."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(issuer.file.read_bytes())

        def log_message(self, *_: Any) -> None:
            pass

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / f"{certificate}.pem", folder / f"{certificate}.key")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"https://localhost:{server.server_address[1]}/keys"
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize("trusted", [True, False])
def test_keys_over_https(trusted: bool, binary: str, tmp_path: Path, issuer: Issuer) -> None:
    for name in ("own", "other"):
        make_certificate(tmp_path, name)
    environment = {
        **os.environ,
        "SSL_CERT_FILE": str(tmp_path / ("own.pem" if trusted else "other.pem")),
    }
    options = ["--public-url", RESOURCE, "--oauth-issuer", ISSUER]
    with (
        https_keys(tmp_path, "own", issuer) as url,
        serving(binary, tmp_path, *options, "--oauth-jwks", url, environment=environment) as server,
    ):
        status, headers, _ = server.request("POST", "/mcp", PING, issuer.token())
        if trusted:
            assert status == 200
        else:  # the keys cannot be trusted, which is no fault of the client
            assert status == 503 and headers["retry-after"] == "1"
            assert "www-authenticate" not in headers


def test_tokens_of_the_file_beside_the_issuer(binary: str, tmp_path: Path, issuer: Issuer) -> None:
    tokens = tmp_path / "tokens"
    secret = new_token(binary, tokens, "carol", "practice")
    with serving(binary, tmp_path, *issuer.options(), "--token-file", str(tokens)) as server:
        assert ping(server, secret)[0] == 200
        assert ping(server, issuer.token())[0] == 200
        status, challenge = ping(server, "unknown")
        assert status == 401 and METADATA in challenge
        refused = server.call(
            "start_run", {"agent": "a", "model": "m", "track": "iterative"}, secret
        )
        assert refused["isError"] and "'score'" in refused["content"][0]["text"]


def test_a_token_of_the_file_expires(binary: str, tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    secret = new_token(binary, tokens, "carol", "practice")
    line = tokens.read_text().strip()
    tokens.write_text(f"{line} expires=2020-01-01T00:00:00Z\n")
    log = tmp_path / "log"
    with serving(binary, tmp_path, "--token-file", str(tokens), "--log-file", str(log)) as server:
        status, challenge = ping(server, secret)
        assert (status, challenge) == (401, 'Bearer realm="assay", error="invalid_token"')
        tokens.write_text(f"{line} expires=2999-01-01T00:00:00Z\n")
        server.process.send_signal(signal.SIGHUP)
        wait_until(lambda: "the tokens were read again" in log.read_text())
        assert ping(server, secret)[0] == 200
    made = subprocess.run(
        [binary, "token", "new", "--name", "x", "--scope", "practice", "--expires", "tomorrow"],
        capture_output=True,
        text=True,
    )
    assert made.returncode == 64 and "2027-01-31T00:00:00Z" in made.stderr


@pytest.mark.parametrize(
    ("options", "status", "said"),
    [
        (["--oauth-issuer", "http://id.example"], 64, "https://"),
        (["--oauth-issuer", ISSUER, "--oauth-scope", "a=admin"], 64, "practice or score"),
        (["--oauth-issuer", ISSUER, "--public-url", "assay.example"], 64, "--public-url"),
        (["--oauth-issuer", ISSUER, "--oauth-leeway-s", "301"], 64, "300"),
        (["--oauth-jwks", "keys.json"], 64, "--oauth-issuer"),
        (["--allow-origin", "*"], 64, "https://HOST"),
        (["--oauth-issuer", ISSUER, "--oauth-jwks", "/nowhere/keys.json"], 66, "/nowhere"),
    ],
)
def test_wrong_options(
    binary: str, tmp_path: Path, options: list[str], status: int, said: str
) -> None:
    done = subprocess.run(
        [binary, "serve", "--http", "127.0.0.1:8080", *options],
        capture_output=True,
        text=True,
        timeout=WAIT_S,
        cwd=tmp_path,
    )
    assert done.returncode == status and said in done.stderr, done.stderr
