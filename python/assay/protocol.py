"""What the sync and the async client have in common: bodies, answers, and when to try again."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.errors import AssayError, ProblemError
from assay.evaluation import Evaluation, Policy
from assay.results import Problem, Result

try:
    import httpx2 as httpx
except ImportError:
    try:
        import httpx  # type: ignore[no-redef,import-not-found,unused-ignore]
    except ImportError as error:
        raise ImportError("the clients need httpx: pip install 'assay[client]'") from error

MOST_EVALUATIONS = 256  # of one request
RETRY_STATUSES = frozenset({408, 429, 502, 503, 504})

Rewards = Sequence["str | Policy"]

__all__ = ["MOST_EVALUATIONS", "Retry", "Rewards", "batches", "httpx"]


@dataclass(frozen=True)
class Retry:
    """How often and after which pauses a request is sent again. Every request may be sent again,
    because the server knows an evaluation by its idempotency key."""

    attempts: int = 6
    first_pause_s: float = 0.25
    longest_pause_s: float = 15.0

    def pause_s(self, attempt: int, retry_after: str | None = None) -> float:
        """Returns the pause after attempt number `attempt`, counted from 0."""
        if retry_after and retry_after.isdigit():
            return min(float(retry_after), self.longest_pause_s)
        longest = min(self.first_pause_s * float(2**attempt), self.longest_pause_s)
        return longest * (0.5 + random.random() / 2)


def batches(evaluations: Iterable[Evaluation]) -> list[list[Evaluation]]:
    every = list(evaluations)
    return [every[at : at + MOST_EVALUATIONS] for at in range(0, len(every), MOST_EVALUATIONS)]


def body_of(evaluations: Sequence[Evaluation], rewards: Rewards, wait_ms: int) -> dict[str, Any]:
    body: dict[str, Any] = {"evaluations": [one.to_json() for one in evaluations]}
    if wait_ms:
        body["wait_ms"] = wait_ms
    if rewards:
        body["rewards"] = [one if isinstance(one, str) else one.to_json() for one in rewards]
    return body


def query_of(ids: Sequence[str], rewards: Rewards, wait_ms: int) -> dict[str, str]:
    query = {"ids": ",".join(ids), "wait_ms": str(wait_ms)}
    names = [one for one in rewards if isinstance(one, str)]
    own = [one for one in rewards if not isinstance(one, str)]
    if names:
        query["rewards"] = ",".join(names)
    if own:
        raise AssayError("only names of policies can be given for ids; use the evaluations again")
    return query


def headers_of(token: str | None) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"} if token else {}


def results_of(status: int, document: Any) -> list[Result]:
    """Returns the results of an answer. If all members were refused, these are in the problem."""
    if not isinstance(document, Mapping):
        raise AssayError(f"the server answered with status {status} and no JSON object")
    if "evaluations" not in document:
        raise ProblemError(Problem.from_json(document))
    return [Result.from_json(one) for one in document["evaluations"]]


def document_of(response: httpx.Response) -> Any:
    try:
        return response.json()
    except ValueError as error:
        raise AssayError(
            f"the server answered with status {response.status_code} and no JSON"
        ) from error


def checked(response: httpx.Response) -> Any:
    """Returns the document of an answer. Raises ProblemError for an error."""
    document = document_of(response)
    if response.status_code >= 400:
        raise ProblemError(Problem.from_json(document))
    return document


def may_retry(result: Result) -> bool:
    """Says whether a member was refused for a reason that passes."""
    return result.problem is not None and result.problem.status in RETRY_STATUSES
