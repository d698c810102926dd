"""The client for asyncio. tests/python/test_client.py checks that it has the methods of Client.

async with AsyncClient("http://127.0.0.1:8080") as client:
    results = await client.evaluate_all(evaluations, rewards=["kevin"])"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from assay.errors import AssayError
from assay.evaluation import Evaluation
from assay.protocol import (
    RETRY_STATUSES,
    Retry,
    Rewards,
    batches,
    body_of,
    checked,
    document_of,
    headers_of,
    httpx,
    may_retry,
    query_of,
    results_of,
)
from assay.results import Result, Run

WAIT_MS = 30_000  # of one request


class AsyncClient:
    """Talks to one server."""

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        retry: Retry | None = None,
        timeout_s: float = 120.0,
        transport: Any = None,
    ) -> None:
        self.retry = retry or Retry()
        self._http = httpx.AsyncClient(
            base_url=url, headers=headers_of(token), timeout=timeout_s, transport=transport
        )

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        await self._http.aclose()

    async def evaluate(self, evaluation: Evaluation, *, rewards: Rewards = ()) -> Result:
        """Evaluates one source and waits for its result."""
        return (await self.evaluate_all([evaluation], rewards=rewards))[0]

    async def evaluate_all(
        self,
        evaluations: Iterable[Evaluation],
        *,
        rewards: Rewards = (),
        timeout_s: float = 3600.0,
    ) -> list[Result]:
        """Evaluates all sources and waits for the results, which are in the order of the
        evaluations. After `timeout_s` seconds, the results that are missing are pending. A source
        that the server refuses gets a result with a problem."""
        until = time.monotonic() + timeout_s
        results: list[Result] = []
        for batch in batches(evaluations):
            results += await self._batch(batch, rewards, until, len(results))
        return results

    async def _batch(
        self, batch: list[Evaluation], rewards: Rewards, until: float, base: int
    ) -> list[Result]:
        """Sends the batch until every member has a result. An evaluation that is sent again gets
        the earlier id, so nothing is judged twice."""
        results: dict[int, Result] = {}
        attempt = 0
        while True:
            missing = [index for index in range(len(batch)) if index not in results]
            left_ms = max(int((until - time.monotonic()) * 1000), 0)
            answers = await self.submit(
                [batch[index] for index in missing],
                rewards=rewards,
                wait_ms=min(WAIT_MS, left_ms),
            )
            over = time.monotonic() >= until
            refused = False
            for index, answer in zip(missing, answers, strict=True):
                again = (answer.pending or may_retry(answer)) and not over
                refused = refused or may_retry(answer)
                if not again:
                    results[index] = replace(answer, index=base + index)
            if len(results) == len(batch):
                return [results[index] for index in range(len(batch))]
            if refused:
                await asyncio.sleep(
                    min(self.retry.pause_s(attempt), max(until - time.monotonic(), 0))
                )
                attempt += 1

    async def submit(
        self, evaluations: Sequence[Evaluation], *, rewards: Rewards = (), wait_ms: int = 0
    ) -> list[Result]:
        """Sends at most 256 evaluations. Answers at once, or waits up to `wait_ms`."""
        response = await self._send(
            "POST", "/v1/evaluate", json=body_of(evaluations, rewards, wait_ms)
        )
        return results_of(response.status_code, document_of(response))

    async def get(
        self, ids: Sequence[str], *, rewards: Rewards = (), wait_ms: int = 0
    ) -> list[Result]:
        response = await self._send(
            "GET", "/v1/evaluations", params=query_of(ids, rewards, wait_ms)
        )
        return results_of(response.status_code, document_of(response))

    async def cancel(self, ids: Sequence[str]) -> list[Result]:
        response = await self._send("DELETE", "/v1/evaluations", params=query_of(ids, (), 0))
        return results_of(response.status_code, document_of(response))

    async def start_run(
        self, agent: str, model: str, *, track: str = "practice", suite: str = "all"
    ) -> Run:
        # The request may be repeated, for example if the connection is lost.
        body = {"agent": agent, "model": model, "track": track, "suite": suite}
        body["idempotency_key"] = uuid.uuid4().hex
        return Run.from_json(checked(await self._send("POST", "/v1/runs", json=body)))

    async def operators(
        self, names: Sequence[str] = (), *, prompts: bool = False
    ) -> list[dict[str, Any]]:
        query = {"prompt": "true" if prompts else "false"}
        if names:
            query["names"] = ",".join(names)
        found: list[dict[str, Any]] = checked(
            await self._send("GET", "/v1/operators", params=query)
        )["operators"]
        return found

    async def policies(self) -> dict[str, Any]:
        found: dict[str, Any] = checked(await self._send("GET", "/v1/policies"))
        return found

    async def _send(self, method: str, path: str, **arguments: Any) -> httpx.Response:
        for attempt in range(self.retry.attempts):
            last = attempt + 1 == self.retry.attempts
            try:
                response = await self._http.request(method, path, **arguments)
            except httpx.TransportError as error:
                if last:
                    raise AssayError(f"the server cannot be reached: {error}") from error
                await asyncio.sleep(self.retry.pause_s(attempt))
                continue
            if last or response.status_code not in RETRY_STATUSES:
                return response
            await asyncio.sleep(self.retry.pause_s(attempt, response.headers.get("Retry-After")))
        raise AssayError("Retry.attempts must be at least 1")
