"""Checks that every client can use the names, descriptions, schemas and instructions that a server
lists."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from mcp_sessions import Client, connect
from tokens import count_tokens

MAX_TOOLS = 20
MAX_NAME = 40
# The maximum size of the result of tools/list as it is sent. Some clients give the whole result to
# the model.
MAX_LIST_BYTES = 16_000
MAX_TEXT_BYTES = 2_048  # Claude Code cuts longer descriptions and instructions
# The maximum number of tokens of all names, descriptions and input schemas together. Each agent
# pays for these tokens before its first call.
MAX_INPUT_TOKENS = 6_000
FLAT_TYPES = ("string", "integer", "number", "boolean")
COMBINERS = ("$ref", "oneOf", "anyOf", "allOf", "not", "if", "$defs")


@pytest.fixture(params=["legacy", "auto"])
def listed(
    request: pytest.FixtureRequest, serve: Any, node_dir: Path
) -> tuple[list[dict[str, Any]], str]:
    with (
        serve("stdio", "--device", "fake") as target,
        connect(Client("typescript_v2", request.param), target, node_dir) as session,
    ):
        page = session.request("listTools", {})
        assert "nextCursor" not in page, "all tools fit on one page"
        return page["tools"], session.connected["instructions"]


def test_tools_are_portable(listed: tuple[list[dict[str, Any]], str], node_dir: Path) -> None:
    tools, instructions = listed
    assert 0 < len(tools) <= MAX_TOOLS
    assert len({tool["name"] for tool in tools}) == len(tools)
    assert len(instructions.encode()) <= MAX_TEXT_BYTES
    for tool in tools:
        assert re.fullmatch(r"[a-z][a-z0-9_]*", tool["name"]) and len(tool["name"]) <= MAX_NAME
        assert tool["title"] and 40 <= len(tool["description"].encode()) <= MAX_TEXT_BYTES
        assert set(tool["annotations"]) >= {
            "readOnlyHint",
            "destructiveHint",
            "idempotentHint",
            "openWorldHint",
        }
        assert tool["inputSchema"]["additionalProperties"] is False
        for schema in (tool["inputSchema"], tool["outputSchema"]):
            assert schema["type"] == "object"
            assert not set(schema) & set(COMBINERS)
        assert not any(f'"{word}"' in json.dumps(tool["inputSchema"]) for word in COMBINERS)
        check_parameters(tool)
    cost = count_tokens(
        node_dir,
        [
            json.dumps({key: tool[key] for key in ("name", "description", "inputSchema")})
            for tool in tools
        ],
    )
    assert sum(cost) <= MAX_INPUT_TOKENS, cost


def test_the_list_is_short(serve: Any) -> None:
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}}
    with serve("stdio", "--device", "fake") as target:
        done = subprocess.run(
            target.command,
            input=json.dumps(message) + "\n",
            capture_output=True,
            text=True,
            timeout=60,
        )
    line = done.stdout.strip()
    assert json.loads(line)["result"]["tools"], done.stderr
    assert len(line.encode()) <= MAX_LIST_BYTES


def check_parameters(tool: dict[str, Any]) -> None:
    """Checks that no parameter is an object, that each has a type and a description, and that an
    optional choice names its default."""
    schema = tool["inputSchema"]
    for name, parameter in schema["properties"].items():
        where = f"{tool['name']}.{name}"
        assert len(name) <= MAX_NAME and parameter["description"], where
        if parameter["type"] == "array":
            assert parameter["items"]["type"] in FLAT_TYPES, where
        else:
            assert parameter["type"] in FLAT_TYPES, where
        if "enum" in parameter:
            optional_filter = parameter["description"].startswith(("Only ", "Default: "))
            assert (
                "default" in parameter or name in schema.get("required", []) or optional_filter
            ), where
        if "default" in parameter and "enum" in parameter:
            assert parameter["default"] in parameter["enum"], where


def test_read_only_tools_say_so(listed: tuple[list[dict[str, Any]], str]) -> None:
    hints = {tool["name"]: tool["annotations"]["readOnlyHint"] for tool in listed[0]}
    assert all(
        hints[name]
        for name in (
            "list_operators",
            "fetch_spec",
            "search_examples",
            "scorecard",
            "read_artifact",
        )
    )
    assert not any(hints[name] for name in ("submit", "check", "start_run", "report_usage"))
