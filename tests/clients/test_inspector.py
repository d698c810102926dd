"""Checks that the official Inspector accepts `tools/list`, with the stateless and the session-based
protocol, over each transport."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from mcp_sessions import Target

INSPECTOR = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"


def inspect(
    node_dir: Path, target: Target, era: str, *arguments: str
) -> subprocess.CompletedProcess[str]:
    server = (
        ["--server-url", target.url, "--transport", "http"] if target.url else list(target.command)
    )
    node = str(node_dir / "node_modules/.bin/node")
    # The server's arguments come after `--`, so that the Inspector does not interpret them.
    own = ["--cli", "--protocol-era", era, "--format", "json", *arguments]
    command = [node, str(node_dir / INSPECTOR), *own, *(server if target.url else ["--", *server])]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("era", ["legacy", "auto", "modern"])
def test_strict_tools_list(era: str, transport: str, serve: Any, node_dir: Path) -> None:
    with serve(transport, "--device", "fake") as target:
        done = inspect(node_dir, target, era, "--method", "tools/list", "--strict")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "warn" not in done.stderr.lower(), done.stderr
    answer = json.loads(done.stdout)
    assert "fetch_spec" in [
        tool["name"] for tool in answer.get("tools", answer.get("result", {}).get("tools", []))
    ]


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_tool_call(era: str, serve: Any, node_dir: Path) -> None:
    with serve("http", "--device", "fake") as target:
        done = inspect(
            node_dir,
            target,
            era,
            "--method",
            "tools/call",
            "--tool-name",
            "fetch_spec",
            "--tool-arg",
            "operator=vector_add",
        )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "vector_add" in done.stdout
