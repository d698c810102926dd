"""Uses a server through the client of fastmcp, and prints what it saw as JSON. test_fastmcp.py runs
this script with the Python that has fastmcp.

    python fastmcp_session.py URL [TOKEN]
    python fastmcp_session.py COMMAND ARGUMENT..."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from fastmcp import Client
from fastmcp.client.auth import BearerAuth
from fastmcp.client.transports import StdioTransport


def client_for(arguments: list[str], on_progress: Any) -> Any:
    if arguments[0].startswith("http"):
        auth = BearerAuth(arguments[1]) if len(arguments) > 1 else None
        return Client(arguments[0], auth=auth, progress_handler=on_progress)
    return Client(StdioTransport(arguments[0], arguments[1:]), progress_handler=on_progress)


async def main(arguments: list[str]) -> dict[str, Any]:
    stages: list[str] = []

    async def on_progress(_: float, __: float | None, message: str | None) -> None:
        stages.append(message or "")

    async with client_for(arguments, on_progress) as client:
        names = [tool.name for tool in await client.list_tools()]
        code = "# fake: sleep_ms=50\n"
        passed = await client.call_tool("run_tests", {"operator": "vector_add", "code": code})
        unknown = await client.call_tool(
            "run_tests", {"operator": "none", "code": code}, raise_on_error=False
        )
        guides = await client.list_resources()
        text = (await client.read_resource(guides[0].uri))[0].text
        return {
            "tools": names,
            "outcome": passed.structured_content["outcome"],
            "stages": stages,
            "unknown_is_error": unknown.is_error,
            "templates": len(await client.list_resource_templates()),
            "guide": text[:200],
        }


print(json.dumps(asyncio.run(main(sys.argv[1:]))))
