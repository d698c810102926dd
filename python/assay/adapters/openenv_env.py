"""An environment for OpenEnv. An action is a completion, and each step evaluates it. The episode ends
when a kernel is right, or after `most_turns` steps.

    uvicorn --factory assay.adapters.openenv_env:make_app    (ASSAY_URL, ASSAY_TOKEN, ASSAY_REWARD)"""

from __future__ import annotations

import os
import random
import uuid
from typing import Any

from assay.client import Client
from assay.evaluation import Evaluation

try:
    from openenv.core.env_server import Action, Environment, Observation, State, create_app
except ImportError as error:
    raise ImportError("this module needs openenv: pip install openenv-core") from error


class KernelAction(Action):  # type: ignore[misc,unused-ignore]
    completion: str


class KernelObservation(Observation):  # type: ignore[misc,unused-ignore]
    operator: str = ""
    text: str = ""  # the specification after reset(), then the feedback
    correct: bool = False
    suspect: bool = False
    masked: bool = False  # mask the sample: `reward` is null


class KernelEnvironment(Environment):  # type: ignore[misc,type-arg,unused-ignore]
    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, url: str | None = None, most_turns: int = 8) -> None:
        super().__init__()
        self._client = Client(
            url or os.environ.get("ASSAY_URL", "http://127.0.0.1:8080"),
            os.environ.get("ASSAY_TOKEN"),
        )
        self._policy = os.environ.get("ASSAY_REWARD", "kevin")
        self._most_turns = most_turns
        self._operator = ""
        self._state = State()

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, **options: Any
    ) -> KernelObservation:
        """Begins an episode with the operator `operator`, or with one that `seed` chooses."""
        wanted = options.get("operator")
        if wanted is None:
            names = [one["operator"] for one in self._client.operators()]
            wanted = random.Random(seed).choice(names)
        self._operator = str(wanted)
        self._state = State(episode_id=episode_id or uuid.uuid4().hex, step_count=0)
        prompt = self._client.operators([self._operator], prompts=True)[0]["prompt"]
        return KernelObservation(operator=self._operator, text=prompt)

    def step(
        self, action: KernelAction, timeout_s: float | None = None, **_: Any
    ) -> KernelObservation:
        self._state.step_count += 1
        result = self._client.evaluate(
            Evaluation(self._operator, completion=action.completion), rewards=[self._policy]
        )
        return KernelObservation(
            operator=self._operator,
            text=result.feedback or result.summary,
            correct=result.correct,
            suspect=result.suspect,
            masked=not result.usable,
            reward=result.rewards.get(self._policy) if result.usable else None,
            done=result.correct or self._state.step_count >= self._most_turns,
        )

    @property
    def state(self) -> State:
        return self._state

    def close(self) -> None:
        self._client.close()


def make_app() -> Any:
    return create_app(KernelEnvironment, KernelAction, KernelObservation, env_name="assay")
