"""Reward functions for slime and verl. The environment variables ASSAY_URL, ASSAY_TOKEN,
ASSAY_REWARD (a policy, default kevin) and ASSAY_MODE (default test) choose the server and the reward.

    slime: --custom-rm-path assay.adapters.trainer_rewards.slime_reward
    verl:  reward.custom_reward_function.path=.../trainer_rewards.py
           reward.custom_reward_function.name=verl_reward

The label (slime) or the ground truth (verl) of a sample is the name of its operator."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, cast

from assay.async_client import AsyncClient
from assay.client import Client
from assay.evaluation import Evaluation, Mode
from assay.results import Result

# The reward of a masked sample, for a trainer that needs a number. The trainer must not use it.
MASKED_REWARD = 0.0


def _url() -> str:
    return os.environ.get("ASSAY_URL", "http://127.0.0.1:8080")


def _policy() -> str:
    return os.environ.get("ASSAY_REWARD", "kevin")


def _evaluation(operator: str, completion: str, group: str | None) -> Evaluation:
    mode = cast(Mode, os.environ.get("ASSAY_MODE", "test"))
    run = os.environ.get("ASSAY_RUN") or None
    return Evaluation(operator, completion=completion, mode=mode, group=group, run=run)


def reward_of(result: Result, policy: str) -> float | None:
    """Returns the reward, or None if the sample must be masked."""
    return result.rewards.get(policy) if result.usable else None


def _group_of(sample: Any) -> str | None:
    """Returns the name of the group of samples that share a prompt and a rollout step."""
    metadata = sample.metadata if isinstance(sample.metadata, dict) else {}
    if "assay_group" in metadata:
        return str(metadata["assay_group"])
    return None


async def slime_reward(args: Any, sample: Any, **_: Any) -> Any:
    """slime's custom_rm: takes one sample and returns its reward, or takes a list of samples (with
    --group-rm) and returns a list. A sample that must be masked gets remove_sample = True, so slime
    sets its loss mask to 0."""
    samples = sample if isinstance(sample, list) else [sample]
    async with AsyncClient(_url(), os.environ.get("ASSAY_TOKEN")) as client:
        results = await client.evaluate_all(
            [_evaluation(str(one.label), str(one.response), _group_of(one)) for one in samples],
            rewards=[_policy()],
        )
    rewards: list[float] = []
    for one, result in zip(samples, results, strict=True):
        reward = reward_of(result, _policy())
        if reward is None:
            one.remove_sample = True
        rewards.append(MASKED_REWARD if reward is None else reward)
    return rewards if isinstance(sample, list) else rewards[0]


def _verl_score(result: Result) -> dict[str, Any]:
    """verl reads the key score, and reports the others. It has no mask in reward functions: a sample
    with masked = 1 must be dropped by the trainer's filter."""
    reward = reward_of(result, _policy())
    return {
        "score": MASKED_REWARD if reward is None else reward,
        "masked": int(reward is None),
        "correct": int(result.correct),
        "suspect": int(result.suspect),
    }


async def verl_reward(
    data_source: str,
    solution_str: str,
    ground_truth: str,
    extra_info: Mapping[str, Any] | None = None,
    **_: Any,
) -> dict[str, Any]:
    """verl's reward function for one sample, for the reward managers naive, dapo and limited. They
    call it for many samples at the same time. Each sample is a request of its own, so a sample that
    arrives after somebody has read a verdict of its group gets other inputs than the group."""
    evaluation = _evaluation(ground_truth, solution_str, (extra_info or {}).get("assay_group"))
    async with AsyncClient(_url(), os.environ.get("ASSAY_TOKEN")) as client:
        results = await client.evaluate_all([evaluation], rewards=[_policy()])
    return _verl_score(results[0])


def verl_batch_reward(
    data_sources: Sequence[str] | None = None,
    solution_strs: Sequence[str] | None = None,
    ground_truths: Sequence[str] | None = None,
    extra_infos: Sequence[Mapping[str, Any] | None] | None = None,
    **_: Any,
) -> list[dict[str, Any]]:
    """The same for a batch, for the reward manager batch of verl before 0.9."""
    infos: Sequence[Mapping[str, Any] | None] = extra_infos or [None] * len(solution_strs or [])
    evaluations = [
        _evaluation(operator, solution, (info or {}).get("assay_group"))
        for operator, solution, info in zip(
            ground_truths or [], solution_strs or [], infos, strict=True
        )
    ]
    with Client(_url(), os.environ.get("ASSAY_TOKEN")) as client:
        return [_verl_score(one) for one in client.evaluate_all(evaluations, rewards=[_policy()])]
