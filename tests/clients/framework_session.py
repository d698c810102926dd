"""Uses a server through the tools that an agent framework makes of it, and prints what it saw as
JSON. test_frameworks.py runs this script with a Python that has the framework.

    python framework_session.py langchain|openai|pydantic COMMAND ARGUMENT..."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

OPERATOR = {"operator": "vector_add"}
TESTED = {**OPERATOR, "code": "# fake: sleep_ms=50\n"}
UNKNOWN = {"operator": "none", "code": "x"}


async def langchain(command: list[str]) -> dict[str, Any]:
    from langchain_mcp_adapters.client import MultiServerMCPClient

    server = {"transport": "stdio", "command": command[0], "args": command[1:]}
    client = MultiServerMCPClient({"assay": server})
    async with client.session("assay") as session:
        from langchain_mcp_adapters.tools import load_mcp_tools

        tools = {tool.name: tool for tool in await load_mcp_tools(session)}
        passed = await tools["run_tests"].ainvoke(TESTED)
        try:
            unknown = str(await tools["run_tests"].ainvoke(UNKNOWN))
        except Exception as error:  # the framework's own type
            unknown = str(error)
    return {"tools": list(tools), "passed": str(passed), "unknown": unknown}


async def openai(command: list[str]) -> dict[str, Any]:
    from agents import Agent
    from agents.mcp import MCPServerStdio, MCPUtil
    from agents.run_context import RunContextWrapper
    from agents.tool_context import ToolContext

    parameters = {"command": command[0], "args": command[1:]}
    async with MCPServerStdio(params=parameters, client_session_timeout_seconds=60) as server:
        agent = Agent(name="tester", mcp_servers=[server])
        # Strict schemas are what the models of OpenAI are given.
        tools = {
            tool.name: tool
            for tool in await MCPUtil.get_function_tools(
                server, True, RunContextWrapper(context=None), agent
            )
        }
        answers = []
        for arguments in (TESTED, UNKNOWN):
            text = json.dumps(arguments)
            context = ToolContext(
                context=None, tool_name="run_tests", tool_call_id="1", tool_arguments=text
            )
            answers.append(str(await tools["run_tests"].on_invoke_tool(context, text)))
    return {"tools": list(tools), "passed": answers[0], "unknown": answers[1]}


async def pydantic(command: list[str]) -> dict[str, Any]:
    from fastmcp.client.transports import StdioTransport
    from pydantic_ai import Agent
    from pydantic_ai.mcp import MCPToolset
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    seen: dict[str, Any] = {"tools": []}
    calls = [TESTED, UNKNOWN]

    def model(messages: Any, info: Any) -> ModelResponse:
        """Calls the tool with the next arguments, and remembers what the framework answers."""
        seen["tools"] = [tool.name for tool in info.function_tools]
        answers = [
            str(part.content)
            for message in messages
            for part in message.parts
            if part.part_kind in ("tool-return", "retry-prompt")
        ]
        if len(answers) < len(calls):
            return ModelResponse(parts=[ToolCallPart("run_tests", calls[len(answers)])])
        seen["passed"], seen["unknown"] = answers
        return ModelResponse(parts=[TextPart("done")])

    toolset = MCPToolset(StdioTransport(command[0], command[1:]))
    agent = Agent(FunctionModel(model), toolsets=[toolset])
    async with agent:
        await agent.run("test the kernel")
    return seen


FRAMEWORKS = {"langchain": langchain, "openai": openai, "pydantic": pydantic}
print(json.dumps(asyncio.run(FRAMEWORKS[sys.argv[1]](sys.argv[2:]))))
