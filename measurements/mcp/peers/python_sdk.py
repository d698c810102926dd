"""Serves the tool of contenders.py with the official Python SDK. The tool returns Assay's answer,
which the server keeps in memory.

python python_sdk.py stdio ANSWER_FILE
python python_sdk.py http ANSWER_FILE PORT"""

from __future__ import annotations

import json
import logging
import sys
from pathlib import Path

from mcp.server.mcpserver import MCPServer
from mcp.types import CallToolResult

transport, answer_file, *port = sys.argv[1:]
answer = CallToolResult.model_validate(json.loads(Path(answer_file).read_text()))
server = MCPServer("python-sdk", version="1.0.0", log_level="WARNING")
logging.getLogger("uvicorn.access").disabled = True


@server.tool(structured_output=False)
async def list_operators(query: str = "") -> CallToolResult:
    """List the operators."""
    return answer


if transport == "stdio":
    server.run("stdio")
else:
    server.run(
        "streamable-http",
        host="127.0.0.1",
        port=int(port[0]),
        json_response=True,
        stateless_http=True,
    )
