"""Tests the Python package with a server on the fake device."""

from __future__ import annotations

import asyncio
import inspect
import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import assay
import pytest
import train_tiny_policy
from assay.adapters import harbor_tasks, trainer_rewards
from assay.mcp_client import connect
from assay.protocol import httpx
from http_serving import Server

PASS = "# fake: pass\n"
FAIL = "# fake: fail\n"


def test_every_name_can_be_imported_and_every_error_is_an_assay_error() -> None:
    assert sorted(assay._HOMES) == sorted(assay.__all__)
    found = [getattr(assay, name) for name in assay.__all__]
    errors = {one for one in found if isinstance(one, type) and issubclass(one, Exception)}
    assert errors == {assay.AssayError, assay.DatasetError, assay.ProblemError}
    assert all(issubclass(one, assay.AssayError) for one in errors)


def test_both_clients_have_the_same_methods() -> None:
    def methods(kind: type) -> dict[str, list[str]]:
        return {
            name: list(inspect.signature(function).parameters)
            for name, function in vars(kind).items()
            if inspect.isfunction(function) and not name.startswith("__")
        }

    assert methods(assay.Client) == methods(assay.AsyncClient)


def test_more_evaluations_than_a_batch_and_a_queue_have_places_for(client: assay.Client) -> None:
    sources = [f"{PASS}# batch {number}\n" for number in range(700)]
    results = client.evaluate_all([assay.Evaluation("vector_add", source=one) for one in sources])
    assert [result.index for result in results] == list(range(700))
    assert all(result.correct for result in results)
    assert len({result.id for result in results}) == 700


def test_the_async_client(url: str) -> None:
    async def evaluate() -> list[assay.Result]:
        async with assay.AsyncClient(url) as client:
            members = [assay.Evaluation("vector_add", source=one) for one in (PASS, FAIL)]
            results = await client.evaluate_all(members, rewards=["kevin"])
            assert (await client.get([results[0].id]))[0].correct
            return results

    results = asyncio.run(evaluate())
    assert [result.rewards["kevin"] for result in results] == [0.3, 0.0]


def test_mcp(url: str) -> None:
    async def call() -> tuple[list[str], Any]:
        async with connect(f"{url}/mcp") as server:
            answer = await server.call("run_tests", operator="vector_add", code=PASS)
            return await server.tools(), answer

    tools, answer = asyncio.run(call())
    assert "submit" in tools and answer.structured["outcome"] == "pass"


def test_a_request_is_sent_again() -> None:
    seen: list[str] = []

    def answer(request: Any) -> Any:
        seen.append(request.url.path)
        if len(seen) == 1:
            raise httpx.ConnectError("no server yet", request=request)
        if len(seen) == 2:
            return httpx.Response(429, headers={"Retry-After": "0"}, json={})
        return httpx.Response(200, json={"policies": [], "new_member": 1})

    retry = assay.Retry(attempts=3, first_pause_s=0, longest_pause_s=0)
    transport = httpx.MockTransport(answer)
    with assay.Client("http://test", retry=retry, transport=transport) as client:
        assert client.policies()["policies"] == []
    assert len(seen) == 3


def test_an_unreachable_server_is_an_error() -> None:
    retry = assay.Retry(attempts=2, first_pause_s=0, longest_pause_s=0)
    with assay.Client("http://127.0.0.1:9", retry=retry) as client:
        with pytest.raises(assay.AssayError, match="cannot be reached"):
            client.policies()


def test_a_newer_server_may_send_more() -> None:
    result = assay.Result.from_json({"index": 0, "state": "finished", "outcome": "pass", "x": 1})
    assert result.finished and result.usable


def test_slime_and_verl(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_URL", url)
    replies = [f"```python\n{one}```" for one in (PASS, FAIL, "# fake: error=aborted\n")]

    def samples() -> list[Any]:
        return [
            SimpleNamespace(label="vector_add", response=one, metadata={}, remove_sample=False)
            for one in replies
        ]

    group = samples()
    assert asyncio.run(trainer_rewards.slime_reward(None, group)) == [0.3, 0.0, 0.0]
    assert [one.remove_sample for one in group] == [False, False, True]
    assert asyncio.run(trainer_rewards.slime_reward(None, samples()[0])) == 0.3
    scores = trainer_rewards.verl_batch_reward(
        data_sources=["assay"] * 3, solution_strs=replies, ground_truths=["vector_add"] * 3
    )
    assert [one["score"] for one in scores] == [0.3, 0.0, 0.0]
    assert [one["masked"] for one in scores] == [0, 0, 1]
    for reply, score in zip(replies, scores, strict=True):
        one = trainer_rewards.verl_reward("assay", reply, "vector_add", {"num_turns": 1})
        assert asyncio.run(one) == score


def test_harbor_tasks(url: str, client: assay.Client, tmp_path: Path) -> None:
    folder = harbor_tasks.write_tasks(client, tmp_path, ["vector_add"])[0]
    root = tmp_path / "root"
    (root / "app").mkdir(parents=True)
    script = (
        (folder / "tests/evaluate.py")
        .read_text()
        .replace('"/tests/task.json"', repr(str(folder / "tests/task.json")))
    )

    def verify(source: str) -> tuple[int, dict[str, Any] | None]:
        (root / "app/kernel.py").write_text(source)
        reward = root / "logs/verifier/reward.json"
        reward.unlink(missing_ok=True)
        environment = {"ASSAY_URL": url, "HARBOR_ROOT": str(root), "PATH": ""}
        done = subprocess.run([sys.executable, "-c", script], env=environment, check=False)
        return done.returncode, json.loads(reward.read_text()) if reward.exists() else None

    assert verify(PASS) == (0, {"reward": 0.3, "correct": 1, "suspect": 0})
    assert verify(FAIL) == (0, {"reward": 0.0, "correct": 0, "suspect": 0})
    assert verify("# fake: error=aborted\n") == (1, None)  # no reward, and not the reward 0
    assert "operator" in (folder / "tests/task.json").read_text()
    assert (
        "def vector_add" in (folder / "instruction.md").read_text()
        or "vector_add(" in (folder / "instruction.md").read_text()
    )


def test_the_example_learns_the_fast_kernel(client: assay.Client) -> None:
    judge = train_tiny_policy.through_client(client)
    policy = train_tiny_policy.train(judge, steps=12, group=12, rate=2.0, seed=1)
    for operator in train_tiny_policy.OPERATORS:
        assert policy.probabilities(operator)["fast"] > 0.9


def test_the_openapi_document_is_the_committed_one(server: Server) -> None:
    """The file is updated by: curl URL/v1/openapi.json | python -m json.tool --sort-keys."""
    golden = Path(__file__).parent / "openapi.json"
    document = json.loads(server.request("GET", "/v1/openapi.json")[2])
    assert document == json.loads(golden.read_text())
    assert document["openapi"] == "3.1.0"
