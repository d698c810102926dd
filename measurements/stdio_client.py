"""Defines a minimal MCP client over stdio. The client adds as little time as possible to the
measured time of the server."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

PROTOCOL = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": PROTOCOL,
    "io.modelcontextprotocol/clientCapabilities": {},
}


def serve_command(binary: str | Path, device: str, store: str | Path, *more: str) -> list[str]:
    """Returns the command that starts a server on stdio."""
    return [str(binary), "serve", "--stdio", "--device", device, "--store", str(store), *more]


EXIT_TIMEOUT_S = 60
LONGEST_WAIT_S = 20  # of one call of the tool `job`
LONGEST_JOB_S = 900


def how_it_ended(process: subprocess.Popen[Any]) -> str:
    """Says how a process that has closed its output ended: with which exit status or signal."""
    try:
        status = process.wait(EXIT_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        return f"its process still runs {EXIT_TIMEOUT_S} s later"
    how = f"exit status {status}" if status >= 0 else f"killed by {signal.Signals(-status).name}"
    return f"its process ended ({how})"


class StdioClient:
    """Starts `command` and sends it requests of the stateless protocol, one at a time. Not
    thread-safe."""

    def __init__(self, command: list[str], env: dict[str, str] | None = None) -> None:
        self.started = time.perf_counter()
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env
        )
        self.next_id = 0

    def write(self, request_id: int, method: str, params: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        request = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()

    def read(self) -> dict[str, Any]:
        """Returns the next message of any kind."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(
                f"the server closed its output; {how_it_ended(self.process)}; its log is on stderr"
            )
        message: dict[str, Any] = json.loads(line)
        return message

    def send(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Sends one request and returns its response. Skips notifications that arrive before the
        response."""
        self.next_id += 1
        self.write(self.next_id, method, params)
        while True:
            message = self.read()
            if message.get("id") == self.next_id:
                return message

    def initialize(self) -> dict[str, Any]:
        """Performs the legacy handshake."""
        params = {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "bench", "version": "0"},
        }
        return self.send("initialize", params)

    def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Calls a tool and returns its result. If the result of another tool than `job` is the
        handle of a job that still runs, waits until the job ends and returns the result of the job.
        On a busy machine, a job can take longer than a server lets a call wait."""
        result = self._call(tool, arguments)
        deadline = time.monotonic() + LONGEST_JOB_S
        form = {key: arguments[key] for key in ("response_format",) if key in arguments}
        while tool != "job" and result.get("structuredContent", {}).get("status") == "running":
            if time.monotonic() > deadline:
                raise RuntimeError(f"{tool}: no end after {LONGEST_JOB_S} s: {result}")
            job = {"job": result["structuredContent"]["job"], "wait_s": LONGEST_WAIT_S}
            result = self._call("job", {**job, **form})
        return result

    def _call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        message = self.send("tools/call", {"name": tool, "arguments": arguments, "_meta": META})
        if "error" in message:
            raise RuntimeError(f"{tool}: {message['error']}")
        result: dict[str, Any] = message["result"]
        return result

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(EXIT_TIMEOUT_S)
