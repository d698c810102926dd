"""An agent from outside: external_agent.py OPERATORS [URL | option of `assay serve`]... README.md
beside this file says more."""

import asyncio
import os
import re
import sys
from typing import Any

import httpx2  # comes with mcp
import mcp

BASE_URL, KEY, MODEL = (
    os.environ.get(f"ASSAY_LLM_{name}", "") for name in ("BASE_URL", "API_KEY", "MODEL")
)


async def ask(spec: str) -> tuple[str, dict[str, int]]:
    messages = [
        {
            "role": "user",
            "content": f"Write this operator with Triton kernels, in one ```python block.\n\n{spec}",
        }
    ]
    async with httpx2.AsyncClient(
        headers={"Authorization": f"Bearer {KEY}"} if KEY else {}, timeout=600
    ) as http:
        reply = (
            (
                await http.post(
                    f"{BASE_URL}/chat/completions", json={"model": MODEL, "messages": messages}
                )
            )
            .raise_for_status()
            .json()
        )
    return reply["choices"][0]["message"]["content"] or "", reply.get("usage") or {}


async def main(suite: str, *server: str) -> None:
    async def call(tool: str, **arguments: Any) -> dict[str, Any]:
        result = await client.call_tool(tool, arguments)
        answer = {"text": result.content[0].text, **(result.structured_content or {})}
        return (
            await call("job", job=answer["job"], wait_s=20)
            if answer.get("status") == "running"
            else answer
        )

    command = mcp.StdioServerParameters(
        command="build/release/bin/assay", args=["serve", "--stdio", *server], env=dict(os.environ)
    )
    async with mcp.Client(server[0] if server and "://" in server[0] else command) as client:
        started = await call(
            "start_run", agent="external", model=MODEL, track="one_shot", suite=suite
        )
        run = started.get("run") or sys.exit(started["text"])
        for name in started["operators"]:
            reply, used = await ask(
                (await call("fetch_spec", operator=name, response_format="detailed"))["text"]
            )
            await call(
                "report_usage",
                run=run,
                input_tokens=used.get("prompt_tokens", 0),
                output_tokens=used.get("completion_tokens", 0),
            )
            code = (re.findall(r"```python\n(.*?)```", reply, re.DOTALL) or [reply])[-1]
            print(
                name,
                (await call("submit", run=run, operator=name, code=code))["text"].splitlines()[0],
            )
        print((await call("scorecard", run=run))["text"])


asyncio.run(main(*sys.argv[1:]))
