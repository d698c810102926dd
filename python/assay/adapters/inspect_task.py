"""A task for Inspect AI: the model gets Assay's tools over MCP, and the scorer reads the verdict of
what it answers.

    inspect eval assay/adapters/inspect_task.py -T url=http://127.0.0.1:8080 -T operators=vector_add"""

from __future__ import annotations

import os
from typing import Any

from assay.async_client import AsyncClient
from assay.client import Client
from assay.evaluation import Evaluation

try:
    from inspect_ai import Task, task
    from inspect_ai.agent import AgentSubmit, react
    from inspect_ai.dataset import Sample
    from inspect_ai.scorer import Score, Target, accuracy, mean, scorer
    from inspect_ai.solver import TaskState
    from inspect_ai.tool import mcp_server_http, mcp_tools
except ImportError as error:
    raise ImportError("this module needs inspect-ai: pip install inspect-ai") from error

PROMPT = (
    "Write the kernel below. Try it with the tools. Then finish with your answer: the whole source "
    "in one Python code block.\n\n"
)


@scorer(metrics={"correct": [accuracy()], "reward": [mean()]})  # type: ignore[untyped-decorator,unused-ignore]
def assay_scorer(url: str, policy: str = "kevin") -> Any:
    """Evaluates the answer. A sample whose result says nothing about the answer is not scored."""

    async def score(state: TaskState, target: Target) -> Score | None:
        async with AsyncClient(url, os.environ.get("ASSAY_TOKEN")) as client:
            evaluation = Evaluation(target.text, completion=state.output.completion)
            result = await client.evaluate(evaluation, rewards=[policy])
        reward = result.rewards.get(policy)
        if not result.usable or reward is None:
            return None
        return Score(
            value={"correct": int(result.correct), "reward": reward},
            explanation=result.feedback,
            metadata={"id": result.id, "tier": result.tier, "suspect": result.suspect},
        )

    return score


@task  # type: ignore[untyped-decorator,unused-ignore]
def assay_kernels(
    url: str = "http://127.0.0.1:8080",
    operators: str = "",
    policy: str = "kevin",
    tools: bool = True,
) -> Task:
    names = [name for name in operators.split(",") if name]
    token = os.environ.get("ASSAY_TOKEN")
    with Client(url, token) as client:
        rows = client.operators(names, prompts=True)
    samples = [Sample(input=PROMPT + row["prompt"], target=row["operator"]) for row in rows]
    solver = None
    if tools:
        headers = {"Authorization": f"Bearer {token}"} if token else None
        server = mcp_server_http(url=f"{url}/mcp", headers=headers)
        solver = react(
            tools=[mcp_tools(server)],
            submit=AgentSubmit(name="finish", answer_only=True),  # `submit` is a tool of Assay
        )
    return Task(dataset=samples, solver=solver, scorer=assay_scorer(url, policy))
