"""A taskset for verifiers (PrimeIntellect, 0.4 and later). Each operator is a task, and the reward is
that of a policy.

    taskset = AssayTaskset(AssayTasksetConfig(operators=["vector_add"]))
    eval assay.adapters.verifiers_env    (with a package whose module exports AssayTaskset)"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from assay.async_client import AsyncClient
from assay.client import Client
from assay.errors import AssayError
from assay.evaluation import Evaluation

try:
    import verifiers.v1 as vf
except ImportError as error:
    raise ImportError("this module needs verifiers 0.4: pip install verifiers") from error

SYSTEM = "Write the kernel that the specification asks for. Answer with one Python code block."
DEFAULT_URL = "http://127.0.0.1:8080"


class AssayData(vf.TaskData):  # type: ignore[misc,unused-ignore]
    operator: str


class AssayTaskConfig(vf.TaskConfig):  # type: ignore[misc,unused-ignore]
    url: str = DEFAULT_URL
    policy: str = "kevin"
    mode: str = "test"


class AssayTask(vf.Task[AssayData, vf.State, AssayTaskConfig]):  # type: ignore[misc,unused-ignore]
    @vf.reward()  # type: ignore[untyped-decorator,unused-ignore]
    async def assay(self, trace: Any) -> dict[str, float]:
        """Evaluates the last reply. If the result says nothing about the kernel, raises an error:
        verifiers then records no reward, and not the reward 0."""
        mode: Any = self.config.mode
        evaluation = Evaluation(self.data.operator, completion=trace.last_reply, mode=mode)
        async with AsyncClient(self.config.url, os.environ.get("ASSAY_TOKEN")) as client:
            result = await client.evaluate(evaluation, rewards=[self.config.policy])
        reward = result.rewards.get(self.config.policy) if result.usable else None
        if reward is None:
            raise AssayError(f"no reward: {result.summary}")
        trace.record_metrics({"correct": float(result.correct), "suspect": float(result.suspect)})
        return {self.config.policy: reward}


class AssayTasksetConfig(vf.TasksetConfig):  # type: ignore[misc,unused-ignore]
    task: AssayTaskConfig = AssayTaskConfig()
    operators: list[str] = []


class AssayTaskset(vf.Taskset[AssayTask, AssayTasksetConfig]):  # type: ignore[misc,unused-ignore]
    def load(self) -> Iterable[AssayTask]:
        with Client(self.config.task.url, os.environ.get("ASSAY_TOKEN")) as client:
            rows = client.operators(self.config.operators, prompts=True)
        for row in rows:
            data = AssayData(
                name=row["operator"],
                operator=row["operator"],
                prompt=row["prompt"],
                system_prompt=SYSTEM,
            )
            yield AssayTask(data, self.config.task)
