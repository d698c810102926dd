"""A resources server for NeMo-Gym. /verify evaluates the last message of the response. An error of
Assay sets mask_sample, so that the sample is excluded.

    python -m assay.adapters.nemo_gym_server    (NeMo-Gym starts it with its own configuration)"""

from __future__ import annotations

import os
from typing import Any, ClassVar

from assay.async_client import AsyncClient
from assay.evaluation import Evaluation

try:
    from nemo_gym.base_resources_server import (
        BaseResourcesServerConfig,
        BaseVerifyRequest,
        BaseVerifyResponse,
        SimpleResourcesServer,
    )
except ImportError as error:
    raise ImportError("this module needs nemo-gym: pip install nemo-gym") from error


class AssayConfig(BaseResourcesServerConfig):  # type: ignore[misc,unused-ignore]
    assay_url: str = "http://127.0.0.1:8080"
    policy: str = "kevin"
    mode: str = "test"


class AssayVerifyRequest(BaseVerifyRequest):  # type: ignore[misc,unused-ignore]
    operator: str


class AssayVerifyResponse(BaseVerifyResponse):  # type: ignore[misc,unused-ignore]
    operator: str = ""
    correct: bool = False
    perf: float | None = None
    suspect: bool = False
    mask_sample: bool = False
    failure_reason: str | None = None


def text_of(response: Any) -> str:
    """Returns the text of the last message of a response in the form of the Responses API."""
    for item in reversed(response.output):
        if getattr(item, "type", "") == "message":
            return "".join(getattr(part, "text", "") for part in item.content)
    return ""


class AssayResourcesServer(SimpleResourcesServer):  # type: ignore[misc,unused-ignore]
    config: AssayConfig
    checkpoint_verify: ClassVar[Any] = "replay"  # an evaluation that is sent again has the same id

    async def verify(self, body: AssayVerifyRequest) -> AssayVerifyResponse:
        mode: Any = self.config.mode
        evaluation = Evaluation(body.operator, completion=text_of(body.response), mode=mode)
        async with AsyncClient(self.config.assay_url, os.environ.get("ASSAY_TOKEN")) as client:
            result = await client.evaluate(evaluation, rewards=[self.config.policy])
        reward = result.rewards.get(self.config.policy) if result.usable else None
        return AssayVerifyResponse(
            **body.model_dump(),
            reward=0.0 if reward is None else reward,
            mask_sample=reward is None,
            failure_reason=result.summary if reward is None else None,
            correct=result.correct,
            perf=result.perf,
            suspect=result.suspect,
        )


if __name__ == "__main__":
    AssayResourcesServer.run_webserver()
