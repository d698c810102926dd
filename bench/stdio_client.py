"""A bare MCP client over stdio: as little between the stopwatch and the server as possible."""

from __future__ import annotations

import json
import subprocess
import time
from typing import Any

PROTOCOL = "2026-07-28"


class StdioClient:
    """Starts `command` and speaks the stateless era, one request at a time. Not thread-safe."""

    def __init__(self, command: list[str], env: dict[str, str] | None = None) -> None:
        self.started = time.perf_counter()
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env)
        self.next_id = 0

    def send(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Sends one request and returns the message that answers it; notifications on the way are skipped."""
        self.next_id += 1
        request = {"jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params}
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()
        while line := self.process.stdout.readline():
            message: dict[str, Any] = json.loads(line)
            if message.get("id") == self.next_id:
                return message
        raise RuntimeError(f"the server closed its output during {method}")

    def initialize(self) -> dict[str, Any]:
        """The legacy handshake."""
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "0"}}
        return self.send("initialize", params)

    def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Calls a tool in the stateless era and returns its result; follows a `job` handle to the end."""
        meta = {
            "io.modelcontextprotocol/protocolVersion": PROTOCOL,
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        message = self.send("tools/call", {"name": tool, "arguments": arguments, "_meta": meta})
        if "error" in message:
            raise RuntimeError(f"{tool}: {message['error']}")
        result: dict[str, Any] = message["result"]
        return result

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(timeout=30)
