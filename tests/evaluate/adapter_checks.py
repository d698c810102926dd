"""Tries one adapter with the real library against a server on the fake device. Prints what it saw as
JSON. test_adapters.py runs this script with the Python that has the library.

    python adapter_checks.py verifiers http://127.0.0.1:8080"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "python"))

PASS = "Here:\n```python\n# fake: pass\n```\n"
FAIL = "Here:\n```python\n# fake: fail\n```\n"
OURS = "Here:\n```python\n# fake: error=aborted\n```\n"


def verifiers(url: str) -> dict[str, Any]:
    from assay.adapters import verifiers_env as adapter

    config = adapter.AssayTasksetConfig(
        task=adapter.AssayTaskConfig(url=url), operators=["vector_add", "relu"]
    )
    tasks = list(adapter.AssayTaskset(config))

    def score(reply: str) -> dict[str, Any]:
        rewards: dict[str, Any] = {}
        metrics: dict[str, Any] = {}
        trace = SimpleNamespace(
            last_reply=reply,
            rewards=rewards,
            metrics=metrics,
            record_reward=lambda key, value, weight: rewards.update({key: value}),
            record_metrics=metrics.update,
        )
        try:
            asyncio.run(tasks[0].score(trace))
        except Exception as error:
            return {"error": type(error).__name__, "rewards": rewards}
        return {"rewards": rewards, "metrics": metrics}

    return {
        "names": [task.data.name for task in tasks],
        "pass": score(PASS),
        "fail": score(FAIL),
        "ours": score(OURS),
    }


def openenv(url: str) -> dict[str, Any]:
    from assay.adapters import openenv_env as adapter
    from fastapi.testclient import TestClient

    environment = adapter.KernelEnvironment(url, most_turns=2)
    first = environment.reset(seed=1, operator="vector_add")
    steps = [
        environment.step(adapter.KernelAction(completion=reply)) for reply in (OURS, FAIL, PASS)
    ]
    app = adapter.create_app(
        lambda: adapter.KernelEnvironment(url),
        adapter.KernelAction,
        adapter.KernelObservation,
        env_name="assay",
    )
    with TestClient(app) as client:
        schema = client.get("/schema").json()
        health = client.get("/health").status_code
    return {
        "operator": first.operator,
        "steps": [[one.reward, one.done, one.correct, one.masked] for one in steps],
        "count": environment.state.step_count,
        "action": sorted(schema["action"]["properties"]),
        "health": health,
    }


def nemo_gym(url: str) -> dict[str, Any]:
    from unittest.mock import MagicMock

    from assay.adapters import nemo_gym_server as adapter
    from nemo_gym.server_utils import ServerClient

    config = adapter.AssayConfig(
        host="127.0.0.1", port=1, entrypoint="app.py", name="assay", assay_url=url
    )
    server = adapter.AssayResourcesServer(config=config, server_client=MagicMock(spec=ServerClient))

    def verify(reply: str) -> list[Any]:
        message = {
            "id": "m",
            "type": "message",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": reply, "annotations": []}],
        }
        response = {
            "id": "r",
            "created_at": 0.0,
            "model": "scripted",
            "object": "response",
            "output": [message],
            "parallel_tool_calls": False,
            "tool_choice": "none",
            "tools": [],
        }
        body = adapter.AssayVerifyRequest(
            responses_create_params={"input": []}, response=response, operator="vector_add"
        )
        found = asyncio.run(server.verify(body))
        return [found.reward, found.mask_sample, found.correct]

    return {"verdicts": [verify(reply) for reply in (PASS, FAIL, OURS)]}


def inspect_ai(url: str) -> dict[str, Any]:
    from assay.adapters.inspect_task import assay_kernels
    from inspect_ai import eval as evaluate
    from inspect_ai.model import ModelAPI, ModelOutput, get_model, modelapi

    seen: dict[str, Any] = {"tools": []}

    @modelapi(name="scripted")
    class Scripted(ModelAPI):
        async def count_text_tokens(self, text: str) -> int:
            return len(text)

        async def generate(self, input: Any, tools: Any, **_: Any) -> ModelOutput:
            seen["tools"] = sorted(tool.name for tool in tools)
            return ModelOutput.for_tool_call("scripted", "finish", {"answer": PASS})

    task = assay_kernels(url=url, operators="vector_add")
    log = evaluate(task, model=get_model("scripted/1"), display="none", log_dir=sys.argv[3])[0]
    scores = log.samples[0].scores if log.samples else {}
    return {
        "status": log.status,
        "error": str(log.error),
        "tools": seen["tools"],
        "scores": [score.value for score in (scores or {}).values()],
    }


def harbor(url: str) -> dict[str, Any]:
    from assay.adapters.harbor_tasks import write_tasks
    from assay.client import Client
    from harbor.models.task.task import Task

    with Client(url) as client:
        folder = write_tasks(client, Path(sys.argv[3]), ["vector_add"])[0]
    task = Task(folder)
    return {
        "name": task.config.task.name if task.config.task else "",
        "instruction": "vector_add" in task.instruction,
        "timeout": task.config.verifier.timeout_sec,
    }


def verl(url: str) -> dict[str, Any]:
    """Lets verl's own loader make its reward manager, which calls the function of the adapter."""
    import os

    import numpy as np
    import torch
    from assay.adapters import trainer_rewards as adapter
    from omegaconf import OmegaConf
    from verl import DataProto
    from verl.trainer.ppo.reward import load_reward_manager

    os.environ["ASSAY_URL"] = url
    replies = [PASS, FAIL, OURS]
    tokenizer = SimpleNamespace(decode=lambda ids, **_: replies[int(ids[0])])
    function = {"path": adapter.__file__, "name": "verl_reward", "reward_kwargs": {}}

    def manager(name: str) -> Any:
        chosen = {"source": "register", "name": name}
        reward = {"custom_reward_function": function, "reward_manager": chosen, "reward_kwargs": {}}
        return load_reward_manager(OmegaConf.create({"reward": reward}), tokenizer)

    async def judge(name: str) -> list[Any]:
        data = DataProto.from_dict(
            tensors={
                "responses": torch.arange(3).reshape(3, 1),
                "attention_mask": torch.ones(3, 2, dtype=torch.int64),
            },
            non_tensors={
                "data_source": np.array(["assay"] * 3, dtype=object),
                "reward_model": np.array([{"ground_truth": "vector_add"}] * 3, dtype=object),
                "extra_info": np.array([{} for _ in replies], dtype=object),
            },
        )
        made = manager(name)
        return [await made.run_single(data[i : i + 1]) for i in range(3)]

    found = {name: asyncio.run(judge(name)) for name in ("naive", "dapo")}
    return {
        name: [[one["reward_score"], one["reward_extra_info"]["masked"]] for one in rows]
        for name, rows in found.items()
    }


def slime(url: str) -> dict[str, Any]:
    """Lets slime's own hub of reward models, from a checkout, load the function of the adapter."""
    import os

    sys.path.insert(0, os.environ["ASSAY_SLIME"])
    from slime.rollout.rm_hub import async_rm, batched_async_rm
    from slime.utils.types import Sample

    os.environ["ASSAY_URL"] = url
    options = SimpleNamespace(custom_rm_path="assay.adapters.trainer_rewards.slime_reward")

    def samples() -> list[Any]:
        return [Sample(response=reply, label="vector_add") for reply in (PASS, FAIL, OURS)]

    group = samples()
    rewards = asyncio.run(batched_async_rm(options, group))
    return {
        "group": [[reward, one.remove_sample] for reward, one in zip(rewards, group, strict=True)],
        "one": asyncio.run(async_rm(options, samples()[0])),
    }


def main() -> None:
    if sys.argv[4:] == ["train"]:
        import adapter_training

        found = adapter_training.wrong_after_training(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
    else:
        found = globals()[sys.argv[1]](sys.argv[2])
    print(json.dumps(found))


if __name__ == "__main__":
    main()
