"""Runs the load generator wrk against a server. Returns requests per second and latency for a given
number of connections."""

from __future__ import annotations

import json
import os
import subprocess
import urllib.request
from pathlib import Path
from typing import Any

from contenders import TOOL, call_message

SCRIPT = Path(__file__).resolve().parent / "call.lua"


def one_call(port: int) -> dict[str, Any]:
    """Returns the result of one call, to check that the server gives the right answer."""
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": TOOL,
    }
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/mcp", call_message(1).encode(), headers
    )
    with urllib.request.urlopen(request, timeout=10) as reply:
        result: dict[str, Any] = json.load(reply)["result"]
        return result


def load(port: int, connections: int, seconds: int) -> dict[str, Any]:
    command = [
        "wrk",
        "-t1",
        f"-c{connections}",
        f"-d{seconds}s",
        "-s",
        str(SCRIPT),
        f"http://127.0.0.1:{port}/mcp",
    ]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=True,
        timeout=seconds + 60,
        env={**os.environ, "BENCH_BODY": call_message(1)},
    )
    sample: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    sample["rps"] = sample["requests"] / sample["seconds"]
    return sample
