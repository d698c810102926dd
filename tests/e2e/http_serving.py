"""Runs `assay serve --http` on a free port, and sends requests to it.

    with serving(binary, folder, "--rate-limit", "5") as server:
        status, headers, text = server.request("POST", "/mcp", PING)

The end of the `with` block stops the server, which must exit with status 0."""

from __future__ import annotations

import http.client
import json
import re
import shutil
import signal
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

# The longest wait for an event that must come. On a machine that runs twenty other programs, an
# event can take fifty times as long as on an idle one.
WAIT_S = 120
PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
PROTOCOL = "2026-07-28"  # the stateless era
STATELESS = {
    "io.modelcontextprotocol/protocolVersion": PROTOCOL,
    "io.modelcontextprotocol/clientCapabilities": {
        "extensions": {"io.modelcontextprotocol/tasks": {}}
    },
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
}
INITIALIZE = json.dumps(
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
)


def new_token(binary: str, file: Path, name: str, *scopes: str) -> str:
    """Adds a new token to the token file. Returns its secret."""
    arguments = [value for scope in scopes for value in ("--scope", scope)]
    made = subprocess.run(
        [binary, "token", "new", "--name", name, *arguments],
        capture_output=True,
        text=True,
        check=True,
    )
    with file.open("a") as out:
        out.write(made.stdout)
    file.chmod(0o600)
    found = re.search(r"assay_[0-9a-z]{26}", made.stderr)
    assert found
    assert found[0] not in made.stdout
    return found[0]


def make_certificate(folder: Path, name: str) -> None:
    """Makes NAME.pem, a certificate for localhost that signs itself, and NAME.key."""
    openssl = shutil.which("openssl")
    assert openssl, "the package openssl is needed to make certificates"
    subject = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    subject += ["-subj", "/CN=localhost", "-days", "2"]
    files = ["-keyout", str(folder / f"{name}.key"), "-out", str(folder / f"{name}.pem")]
    subprocess.run([openssl, "req", "-x509", *subject, *files], check=True, capture_output=True)


# A client must wait longer than a server, which answers `running` after 20 s at the latest.
ANSWER_S = 120


class Server:
    def __init__(self, process: subprocess.Popen[str], port: int, tls: bool) -> None:
        self.process = process
        self.port = port
        self.context = ssl._create_unverified_context() if tls else None

    def connection(self) -> http.client.HTTPConnection:
        if self.context is not None:
            return http.client.HTTPSConnection(
                "127.0.0.1", self.port, timeout=ANSWER_S, context=self.context
            )
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=ANSWER_S)

    def request(
        self,
        method: str,
        path: str,
        body: str = "",
        token: str = "",
        more_headers: dict[str, str] | None = None,
    ) -> tuple[int, dict[str, str], str]:
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            **(more_headers or {}),
        }
        if token:
            headers["Authorization"] = f"Bearer {token}"
        connection = self.connection()
        try:
            connection.request(method, path, body or None, headers)
            response = connection.getresponse()
            return (
                response.status,
                {k.lower(): v for k, v in response.getheaders()},
                response.read().decode(),
            )
        finally:
            connection.close()

    def call(self, tool: str, arguments: dict[str, Any], token: str = "") -> dict[str, Any]:
        message = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": tool, "arguments": arguments},
        }
        status, _, text = self.request("POST", "/mcp", json.dumps(message), token)
        assert status == 200, text
        result: dict[str, Any] = json.loads(text)["result"]
        return result

    def stateless(self, method: str, params: dict[str, Any], name: str, token: str) -> Any:
        """Sends a request of the stateless era from a client that supports tasks. `name` is the
        tool or the task that the request names. Returns the answer, which may be an error."""
        message = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": method,
            "params": {**params, "_meta": STATELESS},
        }
        headers = {"MCP-Protocol-Version": PROTOCOL, "Mcp-Method": method, "Mcp-Name": name}
        status, _, text = self.request("POST", "/mcp", json.dumps(message), token, headers)
        assert status not in (401, 429, 503), text
        return json.loads(text)

    def begin_call(
        self, tool: str, arguments: dict[str, Any], meta: dict[str, Any]
    ) -> http.client.HTTPConnection:
        """Sends a call of the stateless era over a new connection, and returns the connection. The
        caller reads the answer, or hangs up, which cancels the call."""
        params = {"name": tool, "arguments": arguments, "_meta": meta}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": PROTOCOL,
            "Mcp-Method": "tools/call",
            "Mcp-Name": tool,
        }
        connection = self.connection()
        connection.request("POST", "/mcp", json.dumps(message), headers)
        return connection

    def open_session(self, token: str = "") -> str:
        """Opens a session of the legacy era, and returns its id."""
        status, headers, text = self.request("POST", "/mcp", INITIALIZE, token)
        assert status == 200, text
        return headers["mcp-session-id"]

    def ping(self, session: str, token: str = "") -> int:
        """Sends a ping in the session, and returns the HTTP status."""
        return self.request("POST", "/mcp", PING, token, {"Mcp-Session-Id": session})[0]


def wait_until(condition: Callable[[], bool]) -> None:
    """Waits for a state that no event announces."""
    deadline = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < deadline, "the event did not come"
        time.sleep(0.01)


def running_jobs(server: Server, token: str = "") -> int:
    text = server.request("GET", "/metrics", token=token)[2]
    found = re.search(r'assay_jobs_running\{device="fake"\} (\d+)', text)
    assert found
    return int(found[1])


@contextmanager
def serving(
    binary: str,
    store: Path,
    *arguments: str,
    device: str = "fake",
    environment: dict[str, str] | None = None,
    preexec: Callable[[], None] | None = None,
) -> Iterator[Server]:
    command = [
        binary,
        "serve",
        "--http",
        "127.0.0.1:0",
        *(["--device", device] if device else []),
        "--store",
        str(store / "assay.db"),
        *arguments,
    ]
    process = subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, env=environment, preexec_fn=preexec
    )
    assert process.stderr is not None
    lines = []
    for line in process.stderr:
        lines.append(line)
        if found := re.search(r"listening on (https?)://127\.0\.0\.1:(\d+)/mcp", line):
            break
    else:
        raise AssertionError("".join(lines))
    threading.Thread(target=process.stderr.read, daemon=True).start()
    try:
        yield Server(process, int(found[2]), found[1] == "https")
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(WAIT_S) == 0
