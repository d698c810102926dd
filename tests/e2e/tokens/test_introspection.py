"""Tests `assay serve --http` with opaque access tokens, about which the server asks a real HTTP
server of the test (RFC 7662): valid and invalid tokens, trouble of the issuer, and that no secret
reaches a log. tests/clients/test_identity_provider.py does the same with a real provider."""

from __future__ import annotations

import base64
import json
import signal
import subprocess
import threading
import time
import urllib.parse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from http_serving import PING, WAIT_S, Server, new_token, serving, wait_until

RESOURCE = "https://assay.example/mcp"
CLIENT_ID = "assay server"
SECRET = "geheim:%&+ä"
TOKEN = "opaque-token-of-alice+/="


class Asked:
    """The issuer's endpoint. A test changes what it answers."""

    def __init__(self) -> None:
        self.tokens: list[str] = []
        self.secret = SECRET
        self.answer: Callable[[str], tuple[int, str]] = self.active
        self.claims: dict[str, Any] = {}

    def active(self, token: str) -> tuple[int, str]:
        if token != TOKEN:
            return 200, '{"active": false}'
        now = int(time.time())
        claims = {
            "active": True,
            "sub": "alice",
            "aud": RESOURCE,
            "exp": now + 300,
            "scope": "practice",
            "token_type": "Bearer",
            **self.claims,
        }
        return 200, json.dumps({name: value for name, value in claims.items() if value is not None})


@contextmanager
def asked_server() -> Iterator[tuple[Asked, str]]:
    asked = Asked()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            form = urllib.parse.parse_qs(body, strict_parsing=True)
            assert form["token_type_hint"] == ["access_token"]
            scheme, _, credentials = self.headers["Authorization"].partition(" ")
            pair = base64.b64decode(credentials).decode().split(":")
            status, text = 401, '{"error": "invalid_client"}'
            if (scheme, *map(urllib.parse.unquote_plus, pair)) == (
                "Basic",
                CLIENT_ID,
                asked.secret,
            ):
                asked.tokens.append(form["token"][0])
                status, text = asked.answer(form["token"][0])
            self.send_response(status)
            if 300 <= status < 400:
                self.send_header("Location", "/elsewhere")
            self.send_header("Content-Length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield asked, f"http://127.0.0.1:{server.server_address[1]}/introspect"
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture(scope="module")
def endpoint() -> Iterator[tuple[Asked, str]]:
    with asked_server() as running:
        yield running


@pytest.fixture
def asked(endpoint: tuple[Asked, str]) -> Asked:
    asked = endpoint[0]
    asked.tokens, asked.secret, asked.claims = [], SECRET, {}
    asked.answer = asked.active
    return asked


def options(folder: Path, url: str, *more: str) -> list[str]:
    secret = folder / "secret"
    secret.write_text(SECRET + "\n")
    secret.chmod(0o600)
    keys = folder / "keys.json"
    keys.write_text(
        '{"keys":[{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}'
    )
    return [
        *("--public-url", RESOURCE, "--oauth-issuer", "https://id.example"),
        *("--oauth-jwks", str(keys), "--oauth-introspection-url", url),
        *("--oauth-introspection-client", CLIENT_ID, "--oauth-introspection-secret", str(secret)),
        *more,
    ]


def ping(server: Server, token: str) -> tuple[int, str]:
    status, headers, _ = server.request("POST", "/mcp", PING, token)
    return status, headers.get("www-authenticate", "")


def test_opaque_tokens(
    binary: str, tmp_path: Path, endpoint: tuple[Asked, str], asked: Asked
) -> None:
    logs = [tmp_path / name for name in ("log", "audit", "access")]
    tokens = tmp_path / "tokens"
    own = new_token(binary, tokens, "carol", "practice")
    more = ["--token-file", str(tokens), "--log-file", str(logs[0])]
    more += ["--audit-log", str(logs[1]), "--access-log", str(logs[2])]
    with serving(binary, tmp_path, *options(tmp_path, endpoint[1], *more)) as server:
        assert ping(server, TOKEN)[0] == 200
        assert ping(server, TOKEN)[0] == 200
        assert asked.tokens == [TOKEN]  # the answer is used again
        status, challenge = ping(server, "guessed-token")
        assert status == 401 and 'error="invalid_token"' in challenge and "not active" in challenge
        # A JWT is verified with the issuer's keys, and a token of the file with its hash.
        assert ping(server, "e30.e30.AAAA")[0] == 401
        assert ping(server, own)[0] == 200
        assert asked.tokens == [TOKEN, "guessed-token"]

        start = {"agent": "a", "model": "m", "track": "iterative", "suite": "vector_add"}
        message = {"jsonrpc": "2.0", "id": 5, "method": "tools/call"}
        message["params"] = {"name": "start_run", "arguments": start}
        status, headers, _ = server.request("POST", "/mcp", json.dumps(message), TOKEN)
        assert status == 403 and 'scope="practice score"' in headers["www-authenticate"]
        # The token has more scopes, and another subject, after SIGHUP.
        asked.claims = {"scope": "practice score"}
        server.process.send_signal(signal.SIGHUP)
        wait_until(lambda: "the keys of the issuers are read again" in logs[0].read_text())
        assert "run" in server.call("start_run", start, TOKEN)["structuredContent"]
    text = "".join(log.read_text() for log in logs)
    assert "https://id.example alice" in text
    for hidden in (SECRET, TOKEN, "guessed-token", urllib.parse.quote(SECRET)):
        assert hidden not in text


def test_trouble_of_the_issuer_is_not_the_callers_fault(
    binary: str, tmp_path: Path, endpoint: tuple[Asked, str], asked: Asked
) -> None:
    log = tmp_path / "log"
    more = ["--oauth-introspection-cache-s", "0", "--log-file", str(log)]
    released = threading.Event()

    def late(_: str) -> tuple[int, str]:
        released.wait(20)
        return 200, '{"active": true}'

    always = options(tmp_path, endpoint[1], *more, "--oauth-introspection-timeout-ms", "300")
    with serving(binary, tmp_path, *always) as server:
        assert ping(server, TOKEN)[0] == 200

        def trouble() -> bool:
            status, headers, _ = server.request("POST", "/mcp", PING, TOKEN)
            assert "www-authenticate" not in headers
            return status == 503 and headers["retry-after"] == "1"

        for answer in (
            (500, asked.active(TOKEN)[1]),
            (302, ""),
            (200, "{}"),
            (200, '{"active": "yes"}'),
            (200, '{"active": true, "x": "' + "x" * (20 << 10) + '"}'),
        ):
            asked.answer = lambda _, answer=answer: answer  # type: ignore[misc]
            assert trouble(), answer
        asked.answer, asked.secret = asked.active, "another secret"  # the issuer refuses the server
        assert trouble()
        asked.secret = SECRET
        assert ping(server, TOKEN)[0] == 200
        asked.answer = late
        assert trouble()
        released.set()
        asked.answer = asked.active
        wait_until(lambda: ping(server, TOKEN)[0] == 200)  # after the pause
        # A new secret is in use at once.
        asked.secret = "new secret"
        (tmp_path / "secret").write_text(asked.secret)
        assert ping(server, TOKEN)[0] == 200
        (tmp_path / "secret").chmod(0o640)
        assert trouble()
    text = log.read_text()
    assert "an issuer cannot be asked about tokens" in text
    assert "the issuer can be asked about tokens again" in text
    assert "chmod 600" in text
    for hidden in (SECRET, "new secret", TOKEN):
        assert hidden not in text


def test_guesses_are_limited_before_the_issuer_is_asked(
    binary: str, tmp_path: Path, endpoint: tuple[Asked, str], asked: Asked
) -> None:
    with serving(
        binary, tmp_path, *options(tmp_path, endpoint[1], "--rate-limit", "0.01")
    ) as server:  # a burst of one request
        assert ping(server, TOKEN)[0] == 200
        assert ping(server, "guess")[0] == 429
    assert asked.tokens == [TOKEN]


@pytest.mark.parametrize(
    ("change", "status", "said"),
    [
        (["--oauth-introspection-url", "http://id.example/x"], 64, "https://"),
        (["--oauth-introspection-issuer", "https://other.example"], 64, "valid: https://id.exam"),
        (["--oauth-introspection-cache-s", "3601"], 64, "3600"),
        (["--oauth-introspection-timeout-ms", "0"], 64, "60000"),
        (["--oauth-introspection-secret", "/nowhere/secret"], 66, "/nowhere"),
        (["--oauth-introspection-secret", "/dev/null"], 78, "regular file"),
        (["--oauth-introspection-secret", "open"], 76, "chmod 600"),
        (["--oauth-introspection-secret", "empty"], 78, "is empty"),
        (["--oauth-introspection-client"], 64, "--oauth-introspection-client"),
    ],
)
def test_wrong_options(
    binary: str, tmp_path: Path, change: list[str], status: int, said: str
) -> None:
    for name, text, mode in (("open", "x", 0o604), ("empty", "\n", 0o600)):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(mode)
    words = options(tmp_path, "https://id.example/introspect")
    if change[0] in words:
        at = words.index(change[0])
        del words[at : at + 2]
    if len(change) == 1:
        change = []
    done = subprocess.run(
        [binary, "serve", "--http", "127.0.0.1:8080", *words, *change],
        capture_output=True,
        text=True,
        timeout=WAIT_S,
        cwd=tmp_path,
    )
    assert done.returncode == status and said in done.stderr, done.stderr
    assert SECRET not in done.stderr
