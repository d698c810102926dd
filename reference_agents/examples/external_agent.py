"""Runs an agent that uses only the MCP tools of Assay.

external_agent.py OPERATORS [URL | option of `assay serve`]...   (README.md explains the arguments)
"""

import asyncio
import os
import re
import sys
from typing import Any

import httpx2  # comes with mcp
import mcp

ENDPOINT, KEY, MODEL = (
    os.environ.get(name, "")
    for name in ("ASSAY_LLM_BASE_URL", "ASSAY_LLM_API_KEY", "ASSAY_LLM_MODEL")
)
PROMPT = "Write this operator with Triton kernels, in one ```python block.\n\n"


async def ask(spec: str) -> tuple[str, dict[str, int]]:
    headers = {"Authorization": f"Bearer {KEY}"} if KEY else {}
    body = {"model": MODEL, "messages": [{"role": "user", "content": PROMPT + spec}]}
    async with httpx2.AsyncClient(headers=headers, timeout=600) as http:
        reply = await http.post(f"{ENDPOINT}/chat/completions", json=body)
    answer = reply.raise_for_status().json()
    return answer["choices"][0]["message"]["content"] or "", answer.get("usage") or {}


async def main(suite: str, *server: str) -> None:
    async def call(tool: str, **arguments: Any) -> dict[str, Any]:
        result = await client.call_tool(tool, arguments)
        answer = {"text": result.content[0].text, **(result.structured_content or {})}
        if answer.get("status") == "running":
            return await call("job", job=answer["job"], wait_s=20)
        return answer

    command = mcp.StdioServerParameters(
        command="build/release/bin/assay", args=["serve", "--stdio", *server], env=dict(os.environ)
    )
    async with mcp.Client(server[0] if server and "://" in server[0] else command) as client:
        rules = {"track": "one_shot", "suite": suite}
        started = await call("start_run", agent="external", model=MODEL, **rules)
        run = started.get("run") or sys.exit(started["text"])
        for name in started["operators"]:
            spec = await call("fetch_spec", operator=name, response_format="detailed")
            reply, used = await ask(spec["text"])
            tokens = [used.get(key, 0) for key in ("prompt_tokens", "completion_tokens")]
            await call("report_usage", run=run, input_tokens=tokens[0], output_tokens=tokens[1])
            code = (re.findall(r"```python\n(.*?)```", reply, re.DOTALL) or [reply])[-1]
            verdict = await call("submit", run=run, operator=name, code=code)
            print(name, verdict["text"].splitlines()[0])
        print((await call("scorecard", run=run))["text"])


asyncio.run(main(*sys.argv[1:]))
