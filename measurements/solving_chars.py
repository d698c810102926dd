"""Measures how many characters an agent sends and receives when it makes usual mistakes and then
solves nine operators: once with the whole source in each call, and once with the source sent once
(`source` and `edits`).

    python measurements/solving_chars.py --out measurements/results/solving-chars.json

The agent is a script; measurements/solving_steps.py has its calls. It uses the official client of
MCP over stdio, and the CPU device. Sent characters are those of the arguments as JSON, received
characters are those of the text of the answers. The sums of an operator leave out `profile` of the
right source, which no score needs; `profiles` has their sum. The agent sends edits of the newest
source that was judged. It sends the whole source if that is shorter."""

from __future__ import annotations

import argparse
import asyncio
import collections
import difflib
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import mcp
from environment import environment
from solving_steps import RIGHT, SESSION, Step, steps_of

ROOT = Path(__file__).resolve().parent.parent


def is_unique(lines: list[str], low: int, high: int) -> bool:
    """Returns whether the lines from `low` to `high` occur once, and are not all blank."""
    wanted = lines[low:high]
    places = range(len(lines) - len(wanted) + 1)
    count = sum(lines[at : at + len(wanted)] == wanted for at in places)
    return count == 1 and any(line.strip() for line in wanted)


def edits_between(before: str, after: str) -> str:
    """Returns edits that turn `before` into `after`, with as few lines as possible."""
    old, new = before.splitlines(), after.splitlines()
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    edits = ""
    for tag, low, high, new_low, new_high in matcher.get_opcodes():
        if tag == "equal":
            continue
        below = 0  # equal lines that the edit quotes on both sides, until its lines are unique
        above = 0
        while not is_unique(old, low - above, high + below):
            if low - above > 0 and above <= below:
                above += 1
            elif high + below < len(old):
                below += 1
            else:
                above += 1
        search = old[low - above : high + below]
        replace = old[low - above : low] + new[new_low:new_high] + old[high : high + below]
        edits += "\n".join(["<<<<<<< SEARCH", *search, "=======", *replace, ">>>>>>> REPLACE\n"])
    return edits


class Agent:
    def __init__(self, client: mcp.Client, once: bool) -> None:
        self.client = client
        self.once = once
        self.jobs: dict[str, str] = {}  # handles of jobs, by source
        self.newest = ""  # the newest source that was judged
        self.lines: list[dict[str, Any]] = []

    def source(self, source: str) -> dict[str, str]:
        """Returns the arguments that name the source, in the shortest way."""
        whole = {"code": source}
        if not self.once or not self.newest:
            return whole
        if source in self.jobs:
            return {"source": self.jobs[source]}
        edited = {
            "source": self.jobs[self.newest],
            "edits": edits_between(self.newest, source),
        }
        return min(whole, edited, key=lambda arguments: len(json.dumps(arguments)))

    async def call(
        self, operator: str, tool: str, what: str, arguments: dict[str, Any]
    ) -> dict[str, Any]:
        result = await self.client.call_tool(tool, arguments)
        text = result.content[0].text
        answer: dict[str, Any] = result.structured_content or {}
        self.lines.append(
            {
                "operator": operator,
                "tool": tool,
                "what": what,
                "arguments": arguments,
                "sent": len(json.dumps(arguments)),
                "received": len(text),
                "answer": text,
            }
        )
        if answer.get("status") == "running":
            return await self.call(operator, "job", what, {"job": answer["job"], "wait_s": 20})
        return answer

    async def take(self, operator: str, step: Step, run: str) -> None:
        arguments: dict[str, Any] = {"operator": operator, **step.more}
        if step.source:
            arguments.update(self.source(step.source))
        if step.tool == "submit":
            arguments["run"] = run
        answer = await self.call(operator, step.tool, step.what, arguments)
        if step.what == RIGHT and step.tool != "profile" and answer.get("outcome") != "pass":
            raise RuntimeError(f"{step.tool} of {operator}: {self.lines[-1]['answer']}")
        if step.source and "job" in answer:
            self.jobs[step.source] = answer["job"]
            self.newest = step.source


async def measure(binary: Path, once: bool) -> list[dict[str, Any]]:
    """Returns a line for each call."""
    with tempfile.TemporaryDirectory() as folder:
        options = [
            "serve",
            "--stdio",
            "--device",
            "cpu",
            "--store",
            f"{folder}/assay.db",
            "--log-level",
            "error",
        ]
        server = mcp.StdioServerParameters(command=str(binary), args=options, env=dict(os.environ))
        lines: list[dict[str, Any]] = []
        async with mcp.Client(server) as client:
            start = {"agent": "scripted", "model": "none", "suite": "all"}
            started = await client.call_tool("start_run", start)
            assert started.structured_content
            for operator in SESSION:
                agent = Agent(client, once)
                for step in steps_of(operator):
                    await agent.take(operator, step, started.structured_content["run"])
                lines += agent.lines
        return lines


def sums(lines: list[dict[str, Any]]) -> dict[str, dict[str, int]]:
    total: dict[str, dict[str, int]] = collections.defaultdict(collections.Counter)
    for line in lines:
        profiles = line["tool"] == "profile" and line["what"] == RIGHT
        for key in ("profiles",) if profiles else (line["operator"], "all"):
            total[key]["calls"] += 1
            total[key]["sent"] += line["sent"]
            total[key]["received"] += line["received"]
    return {key: dict(value) for key, value in total.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", type=Path, default=ROOT / "build/release/bin/assay")
    parser.add_argument("--out", type=Path, required=True, help="the file of results")
    options = parser.parse_args()
    session = {
        operator: dict(zip(("calls", "received", "sent"), numbers, strict=True))
        for operator, numbers in SESSION.items()
    }
    session["all"] = {
        key: sum(numbers[key] for numbers in session.values())
        for key in ("calls", "received", "sent")
    }
    result: dict[str, Any] = {
        "script": "measurements/solving_chars.py",
        "environment": environment(),
        "session": session,
    }
    for name, once in (("code", False), ("source", True)):
        lines = asyncio.run(measure(options.binary.resolve(), once))
        result[name] = {"sums": sums(lines), "calls": lines}
    options.out.write_text(json.dumps(result, indent=1) + "\n")
    for operator, before in session.items():
        print(
            operator, before, result["code"]["sums"][operator], result["source"]["sums"][operator]
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
