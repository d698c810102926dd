"""Defines the servers that measure.py compares: Assay, and servers built with the two official
SDKs. Each server has one tool, and all tools return the same bytes.

Assay computes the answer from its catalog and checks the answer against a schema. The other servers
return an answer that they keep in memory."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PEERS = Path(__file__).resolve().parent / "peers"
START_TIMEOUT_S = 30.0

TOOL = "list_operators"
ARGUMENTS = {"query": "vector_add"}
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


def call_message(number: int) -> str:
    params = {"name": TOOL, "arguments": ARGUMENTS, "_meta": META}
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})


@dataclass(frozen=True)
class Contender:
    name: str
    stdio: list[str]
    http: list[str]  # the command for HTTP; its last argument is the port (for Assay: HOST:PORT)
    env: dict[str, str]

    def environment(self) -> dict[str, str]:
        return {**os.environ, **self.env}


def assay(name: str, binary: str, scratch: Path) -> Contender:
    command = [binary, "serve", "--device", "fake", "--store"]
    return Contender(
        name,
        [*command, str(scratch / f"{name}-stdio.db"), "--stdio"],
        [*command, str(scratch / f"{name}-http.db"), "--http"],
        {},
    )


def contenders(binary: str, node_dir: Path, answer: Path, scratch: Path) -> list[Contender]:
    node, typescript, python = (
        str(node_dir / "node_modules/.bin/node"),
        str(PEERS / "typescript.mjs"),
        str(PEERS / "python_sdk.py"),
    )
    node_env = {"ASSAY_NODE_DIR": str(node_dir), "NODE_ENV": "production"}
    return [
        assay("assay", binary, scratch),
        Contender(
            "typescript_sdk",
            [node, typescript, "stdio", str(answer)],
            [node, typescript, "http", str(answer)],
            node_env,
        ),
        Contender(
            "python_sdk",
            [sys.executable, python, "stdio", str(answer)],
            [sys.executable, python, "http", str(answer)],
            {},
        ),
    ]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def http_server(contender: Contender) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    port = free_port()
    last = f"127.0.0.1:{port}" if contender.name.startswith("assay") else str(port)
    process = subprocess.Popen(
        [*contender.http, last],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=contender.environment(),
    )
    try:
        deadline = time.monotonic() + START_TIMEOUT_S
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                if process.poll() is not None or time.monotonic() > deadline:
                    raise SystemExit(f"{contender.name} does not listen") from None
                time.sleep(0.02)
        yield process, port
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def memory_mib(pid: int) -> dict[str, float]:
    """Returns the current and the maximum resident set size of a process."""
    fields = dict(
        line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines()
    )
    return {
        "rss": int(fields["VmRSS"].split()[0]) / 1024,
        "peak": int(fields["VmHWM"].split()[0]) / 1024,
    }


def same_answer(result: dict[str, Any], wanted: dict[str, Any]) -> bool:
    return all(result.get(key) == wanted[key] for key in ("content", "structuredContent"))
