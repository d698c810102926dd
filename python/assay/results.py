"""The answers of a server as dataclasses. docs/reference/evaluate.md describes the fields.

result = Result.from_json({"index": 0, "state": "finished", "outcome": "pass"})
result.finished  # True"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

PROBLEM_PREFIX = "urn:assay:problem:"

T = TypeVar("T")


def _known(kind: type[T], document: Mapping[str, Any]) -> T:
    """Returns an object with those members of the document that the class knows. So a newer server
    can send more."""
    names = {one.name for one in fields(kind)}  # type: ignore[arg-type]
    return kind(**{name: value for name, value in document.items() if name in names})


@dataclass(frozen=True)
class Problem:
    """An error in the form of RFC 9457."""

    type: str = PROBLEM_PREFIX + "internal"
    title: str = ""
    status: int = 500
    detail: str = ""
    retry_after_ms: int | None = None

    @property
    def kind(self) -> str:
        """The type without its prefix: "key-reused"."""
        return self.type.removeprefix(PROBLEM_PREFIX)

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Problem:
        return _known(cls, document)


@dataclass(frozen=True)
class Result:
    """The state of an evaluation and, if it has ended, its result."""

    index: int
    state: str
    id: str = ""
    operator: str = ""
    mode: str = ""
    key: str = ""
    duplicate: bool = False
    group: str = ""
    inputs: str = ""
    queue_position: int = 0
    outcome: str = ""
    error_kind: str = ""
    stage: str = ""
    summary: str = ""
    feedback: str = ""
    compiled: bool = False
    correct: bool = False
    cases: int = 0
    cases_passed: int = 0
    perf: float | None = None
    pytorch: float | None = None
    sol: float | None = None
    own_share: float | None = None
    tier: str = ""
    device: str = ""
    worker: str = ""  # of a pool without a server: which worker it was
    suspect: bool = False
    suspicions: list[str] = field(default_factory=list)
    infra: bool = False
    masked: bool = False
    deadline_passed: bool = False
    elapsed_ms: int = 0
    rewards: dict[str, float | None] = field(default_factory=dict)
    problem: Problem | None = None

    @property
    def finished(self) -> bool:
        """True if there is a verdict."""
        return bool(self.outcome)

    @property
    def pending(self) -> bool:
        return self.state in ("queued", "running")

    @property
    def usable(self) -> bool:
        """True if the result says something about the submission. A trainer must mask a sample
        whose result is not usable; it must not give it the reward 0."""
        return self.finished and not self.masked

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Result:
        members = dict(document)
        if "problem" in members:
            members["problem"] = Problem.from_json(members["problem"])
        return _known(cls, members)


@dataclass(frozen=True)
class Run:
    """A run, which grades are charged to."""

    run: str
    track: str = "practice"
    operators: list[str] = field(default_factory=list)
    expires: str = ""

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Run:
        return _known(cls, document)
