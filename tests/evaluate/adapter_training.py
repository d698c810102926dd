"""Trains the policy of examples/train_tiny_policy.py with rewards that come through an adapter and
the real library. adapter_checks.py calls this in the Python that has the library."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "examples")]

import train_tiny_policy  # noqa: E402

STEPS, GROUP, SEED = 6, 6, 3
RATE = 40.0  # a test gives the rewards 0 and 0.3, so the advantages are small
One = Callable[[str, str], "float | None"]  # (operator, answer) -> reward


def verifiers(url: str, folder: Path) -> One:
    from assay.adapters import verifiers_env as adapter

    config = adapter.AssayTasksetConfig(
        task=adapter.AssayTaskConfig(url=url), operators=train_tiny_policy.OPERATORS
    )
    tasks = {task.data.name: task for task in adapter.AssayTaskset(config)}

    def judge(operator: str, answer: str) -> float | None:
        rewards: dict[str, float] = {}
        trace = SimpleNamespace(
            last_reply=answer,
            rewards=rewards,
            metrics={},
            record_reward=lambda key, value, weight: rewards.update({key: value}),
            record_metrics=lambda _: None,
        )
        asyncio.run(tasks[operator].score(trace))
        return rewards["kevin"]

    return judge


def openenv(url: str, folder: Path) -> One:
    from assay.adapters import openenv_env as adapter

    environment = adapter.KernelEnvironment(url, most_turns=1)

    def judge(operator: str, answer: str) -> float | None:
        environment.reset(seed=1, operator=operator)
        found = environment.step(adapter.KernelAction(completion=answer))
        return None if found.masked else found.reward

    return judge


def nemo_gym(url: str, folder: Path) -> One:
    from unittest.mock import MagicMock

    from assay.adapters import nemo_gym_server as adapter
    from nemo_gym.server_utils import ServerClient

    config = adapter.AssayConfig(
        host="127.0.0.1", port=1, entrypoint="app.py", name="assay", assay_url=url
    )
    server = adapter.AssayResourcesServer(config=config, server_client=MagicMock(spec=ServerClient))

    def judge(operator: str, answer: str) -> float | None:
        content = [{"type": "output_text", "text": answer, "annotations": []}]
        message = {"id": "m", "type": "message", "role": "assistant", "status": "completed"}
        response = {"id": "r", "created_at": 0.0, "model": "scripted", "object": "response"}
        response |= {"output": [{**message, "content": content}], "parallel_tool_calls": False}
        response |= {"tool_choice": "none", "tools": []}
        body = adapter.AssayVerifyRequest(
            responses_create_params={"input": []}, response=response, operator=operator
        )
        found = asyncio.run(server.verify(body))
        return None if found.mask_sample else found.reward

    return judge


def inspect_ai(url: str, folder: Path) -> One:
    from assay.adapters.inspect_task import assay_kernels
    from inspect_ai import eval as evaluate
    from inspect_ai.model import ModelAPI, ModelOutput, get_model, modelapi

    answers: list[str] = []

    @modelapi(name="trained")
    class Trained(ModelAPI):
        async def count_text_tokens(self, text: str) -> int:
            return len(text)

        async def generate(self, input: Any, tools: Any, **_: Any) -> ModelOutput:
            return ModelOutput.for_tool_call("trained", "finish", {"answer": answers[-1]})

    def judge(operator: str, answer: str) -> float | None:
        answers.append(answer)
        task = assay_kernels(url=url, operators=operator)
        model = get_model("trained/1", memoize=False)
        log = evaluate(task, model=model, display="none", log_dir=str(folder))[0]
        assert log.status == "success" and log.samples, log.error
        [score] = (log.samples[0].scores or {}).values()
        return float(score.value["reward"])  # type: ignore[index, call-overload, arg-type]

    return judge


def harbor(url: str, folder: Path) -> One:
    """Runs the verifier of the task folders as Harbor's container does."""
    from assay.adapters.harbor_tasks import write_tasks
    from assay.client import Client
    from harbor.models.task.task import Task

    with Client(url) as client:
        folders = write_tasks(client, folder / "tasks", train_tiny_policy.OPERATORS)
    tasks = {one.name: Task(one) for one in folders}

    def judge(operator: str, answer: str) -> float | None:
        root = folder / "container"
        (root / "app").mkdir(parents=True, exist_ok=True)
        (root / "app/kernel.py").write_text(answer.split("```python\n")[1].split("```")[0])
        script = tasks[operator].paths.tests_dir / "evaluate.py"
        text = script.read_text().replace("/tests/task.json", str(script.parent / "task.json"))
        environment = {**os.environ, "ASSAY_URL": url, "HARBOR_ROOT": str(root)}
        subprocess.run([sys.executable, "-c", text], env=environment, check=True, timeout=120)
        found = json.loads((root / "logs/verifier/reward.json").read_text())
        return float(found["reward"])

    return judge


def verl(url: str, folder: Path) -> One:
    import numpy as np
    import torch
    from assay.adapters import trainer_rewards as adapter
    from omegaconf import OmegaConf
    from verl import DataProto
    from verl.trainer.ppo.reward import load_reward_manager

    os.environ["ASSAY_URL"] = url
    answers: list[str] = []
    tokenizer = SimpleNamespace(decode=lambda ids, **_: answers[-1])
    function = {"path": adapter.__file__, "name": "verl_reward", "reward_kwargs": {}}
    chosen = {"source": "register", "name": "naive"}
    reward = {"custom_reward_function": function, "reward_manager": chosen, "reward_kwargs": {}}

    def judge(operator: str, answer: str) -> float | None:
        answers.append(answer)
        data = DataProto.from_dict(
            tensors={
                "responses": torch.zeros((1, 1), dtype=torch.int64),
                "attention_mask": torch.ones(1, 2, dtype=torch.int64),
            },
            non_tensors={
                "data_source": np.array(["assay"], dtype=object),
                "reward_model": np.array([{"ground_truth": operator}], dtype=object),
                "extra_info": np.array([{}], dtype=object),
            },
        )

        async def run() -> Any:  # the manager belongs to the loop in which it is made
            manager = load_reward_manager(OmegaConf.create({"reward": reward}), tokenizer)
            return await manager.run_single(data)

        found = asyncio.run(run())
        return None if found["reward_extra_info"]["masked"] else float(found["reward_score"])

    return judge


def wrong_after_training(name: str, url: str, folder: Path) -> dict[str, float]:
    """Returns, for each operator, the share of wrong answers of the trained policy."""
    one: One = globals()[name](url, folder)

    def judge(answers: list[tuple[str, str]]) -> list[float | None]:
        rewards = {answer: one(*answer) for answer in set(answers)}  # equal answers, equal rewards
        return [rewards[answer] for answer in answers]

    policy = train_tiny_policy.train(judge, STEPS, GROUP, RATE, SEED)
    return {
        operator: policy.probabilities(operator)["wrong"]
        for operator in train_tiny_policy.OPERATORS
    }
