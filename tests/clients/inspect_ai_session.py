"""Evaluates one task with the agent react() of Inspect AI, whose tools are those of a server.
A scripted model starts a run, submits a source to Assay, and ends the evaluation. Prints what it
saw as JSON. test_inspect_ai.py runs this script with the Python that has Inspect AI.

    python inspect_ai_session.py COMMAND ARGUMENT..."""

from __future__ import annotations

import json
import re
import sys
import tempfile
from typing import Any

from inspect_ai import Task, eval
from inspect_ai.agent import AgentSubmit, react
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelAPI, ModelOutput, get_model, modelapi
from inspect_ai.scorer import includes
from inspect_ai.tool import mcp_server_stdio, mcp_tools

NAME_OF_THE_AGENTS_SUBMIT = "finish"
ANSWER = "the kernel passes"
seen: dict[str, Any] = {"tools": [], "answers": {}}


@modelapi(name="scripted")
class Scripted(ModelAPI):
    """A model that solves the task by a script. Inspect AI's own model for tests counts tokens with
    a table that it loads from the internet."""

    async def count_text_tokens(self, text: str) -> int:
        return len(text)

    async def generate(self, input: Any, tools: Any, **_: Any) -> ModelOutput:
        return next_call(input, tools)


def next_call(messages: Any, tools: Any) -> ModelOutput:
    """Returns the model's next call of a tool."""
    seen["tools"] = sorted(tool.name for tool in tools)
    answers = {one.function: one.text for one in messages if one.role == "tool"}
    seen["answers"] = answers
    if "start_run" not in answers:
        name, arguments = "start_run", {"agent": "react", "model": "scripted", "track": "practice"}
    elif "submit" not in answers:
        run = re.search(r"run_\w+", answers["start_run"])
        assert run, answers["start_run"]
        name = "submit"
        arguments = {"operator": "vector_add", "code": "x = 1\n", "run": run[0]}
    else:
        name, arguments = NAME_OF_THE_AGENTS_SUBMIT, {"answer": ANSWER}
    return ModelOutput.for_tool_call("scripted", name, arguments)


def main(command: list[str]) -> dict[str, Any]:
    server = mcp_server_stdio(command=command[0], args=command[1:])
    agent = react(
        tools=[mcp_tools(server)],
        submit=AgentSubmit(name=NAME_OF_THE_AGENTS_SUBMIT, answer_only=True),
    )
    task = Task(
        dataset=[Sample(input="Write vector_add.", target=ANSWER)],
        solver=agent,
        scorer=includes(),
        message_limit=20,
    )
    model = get_model("scripted/model")
    with tempfile.TemporaryDirectory() as folder:
        log = eval(task, model=model, display="none", log_dir=folder)[0]
        assert log.samples, log.error  # the log is read from the folder
        sample = log.samples[0]
    return {
        **seen,
        "status": log.status,
        "error": log.error.message if log.error else None,
        "completion": sample.output.completion,
        "score": sample.scores["includes"].value if sample.scores else None,
        "limit": sample.limit.type if sample.limit else None,
    }


print(json.dumps(main(sys.argv[1:])))
