"""The client for MCP, over the official package mcp.

async with connect("http://127.0.0.1:8080/mcp", token="assay_...") as assay:
    spec = await assay.call("fetch_spec", operator="vector_add")
    verdict = await assay.call("run_tests", operator="vector_add", code=source)
    print(verdict.structured["outcome"])"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from assay.errors import AssayError
from assay.protocol import headers_of


@dataclass(frozen=True)
class ToolAnswer:
    """What a tool answered: the text for a model, and the same as data."""

    text: str
    structured: dict[str, Any] = field(default_factory=dict)
    is_error: bool = False


class AssayMcp:
    """The tools of one server. connect() makes this object."""

    def __init__(self, session: Any) -> None:
        self._session = session

    async def tools(self) -> list[str]:
        listed = await self._session.list_tools()
        return [tool.name for tool in listed.tools]

    async def call(self, tool: str, /, **arguments: Any) -> ToolAnswer:
        """Calls a tool. Waits for a job that lasts longer than the server lets a call wait."""
        answer = await self._call(tool, arguments)
        while answer.structured.get("status") == "running":
            answer = await self._call("job", {"job": answer.structured["job"], "wait_s": 20})
        return answer

    async def _call(self, tool: str, arguments: dict[str, Any]) -> ToolAnswer:
        result = await self._session.call_tool(tool, arguments)
        text = "\n".join(part.text for part in result.content if part.type == "text")
        structured = getattr(result, "structured_content", None) or getattr(
            result, "structuredContent", None
        )
        is_error = getattr(result, "is_error", None) or getattr(result, "isError", False)
        return ToolAnswer(text, dict(structured or {}), bool(is_error))


@asynccontextmanager
async def connect(url: str, token: str | None = None) -> AsyncIterator[AssayMcp]:
    """Connects to the endpoint /mcp of a server."""
    try:
        from mcp import ClientSession
        from mcp.client.streamable_http import streamable_http_client
    except ImportError as error:
        raise AssayError("the package mcp is missing: pip install 'assay-mcp[mcp]'") from error
    from assay.protocol import httpx

    async with httpx.AsyncClient(headers=headers_of(token), timeout=120.0) as http:
        async with streamable_http_client(url, http_client=http) as streams:
            async with ClientSession(streams[0], streams[1]) as session:
                await session.initialize()
                yield AssayMcp(session)
