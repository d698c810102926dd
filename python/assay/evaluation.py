"""What a client asks for: evaluations and reward policies.

Evaluation("softmax_last_dim", completion=reply, mode="test", group="step-7/task-3")"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

Mode = Literal["compile", "test", "profile", "grade"]


@dataclass(frozen=True)
class Evaluation:
    """One source to evaluate. Give either `source` or `completion`, a whole reply of a model."""

    operator: str
    source: str | None = None
    completion: str | None = None
    mode: Mode = "test"
    suite: str | None = None
    language: Literal["python", "cuda"] | None = None
    device: str | None = None
    deadline: str | None = None
    priority: Literal["low", "normal", "high"] | None = None
    idempotency_key: str | None = None
    group: str | None = None
    run: str | None = None

    def to_json(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True)
class Policy:
    """A reward policy of your own. GET /v1/policies names the variables and functions."""

    name: str
    expression: str

    def to_json(self) -> dict[str, Any]:
        return asdict(self)
