"""Runs `assay serve --http` on a free port, and sends requests to it.

    with serving(binary, folder, "--rate-limit", "5") as server:
        status, headers, text = server.request("POST", "/mcp", PING)

The end of the `with` block stops the server, which must exit with status 0."""

from __future__ import annotations

import http.client
import json
import re
import signal
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}'


class Server:
    def __init__(self, process: subprocess.Popen[str], port: int, tls: bool) -> None:
        self.process = process
        self.port = port
        self.context = ssl._create_unverified_context() if tls else None

    def connection(self) -> http.client.HTTPConnection:
        if self.context is not None:
            return http.client.HTTPSConnection(
                "127.0.0.1", self.port, timeout=20, context=self.context
            )
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)

    def request(
        self, method: str, path: str, body: str = "", token: str = ""
    ) -> tuple[int, dict[str, str], str]:
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
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


@contextmanager
def serving(
    binary: str,
    store: Path,
    *arguments: str,
    device: str = "fake",
    environment: dict[str, str] | None = None,
) -> Iterator[Server]:
    command = [
        binary,
        "serve",
        "--http",
        "127.0.0.1:0",
        "--device",
        device,
        "--store",
        str(store / "assay.db"),
        *arguments,
    ]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
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
        assert process.wait(timeout=20) == 0
