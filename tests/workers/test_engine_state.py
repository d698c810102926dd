"""Checks what a client learns about the engine while its job waits for a worker or runs again, and that
a trainer's evaluations leave the reserve to clients that wait."""

from __future__ import annotations

import contextlib
import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from http_serving import Server, new_token, running_jobs, serving, wait_until
from test_workers import (
    PASS,
    assay,
    metric,
    pool,
    problems,
    run_tests,
    slow,
    total,
    worker_pids,
    workers,
)

BATCH = 40
SAID = {
    "lost": "the worker of this job was lost, so the job runs again",
    "preempted": "the engine stopped the worker of this job, so the job runs again",
}


def evaluations(server: Server, sources: list[str], token: str = "") -> list[str]:
    """Sends evaluations, and returns their handles at once."""
    wanted = [{"operator": "vector_add", "source": source} for source in sources]
    body = json.dumps({"evaluations": wanted})
    status, _, text = server.request("POST", "/v1/evaluate", body, token)
    assert status == 202, text
    return [one["id"] for one in json.loads(text)["evaluations"]]


def job(server: Server, handle: str) -> dict[str, Any]:
    answer = server.call("job", {"job": handle, "wait_s": 0})
    structured: dict[str, Any] = answer["structuredContent"]
    if engine := structured.get("engine"):
        assert f"worker {engine['state']}: " in answer["content"][0]["text"]
    return structured


def engine_of(server: Server, handle: str) -> dict[str, str]:
    found: dict[str, str] = job(server, handle).get("engine", {})
    return found


def test_a_job_says_that_its_engine_has_no_machine(binary: str, tmp_path: Path) -> None:
    words = "job 7 queued and waiting for resources"
    file = pool(tmp_path, f"sh -c 'echo {words} >&2; cat'")
    arguments = ["--workers", str(file), "--drain-s", "0"]  # the job never ends
    with serving(binary, tmp_path, *arguments, device="") as server:
        [handle] = evaluations(server, [PASS])
        wait_until(lambda: words in problems(server))
        said = "no worker is ready yet; the server waits for one that starts"
        assert engine_of(server, handle) == {"state": "pending", "said": said}


def test_clients_see_no_word_of_the_command_or_of_its_output(binary: str, tmp_path: Path) -> None:
    file = pool(tmp_path, "env TOKEN=of-the-command sh -c 'echo of-the-output >&2; exit 3'")
    log = tmp_path / "log"
    arguments = ["--workers", str(file), "--log-file", str(log)]
    with serving(binary, tmp_path, *arguments, device="") as server:
        [handle] = evaluations(server, [PASS])
        answers: list[dict[str, Any]] = []

        def has_ended() -> bool:
            answers.append(server.call("job", {"job": handle, "wait_s": 0}))
            return bool(answers[-1]["structuredContent"]["status"] != "running")

        wait_until(has_ended)  # after several failed starts
        assert answers[-1]["structuredContent"]["error_kind"] == "device_unhealthy"
        status, _, evaluation = server.request("GET", f"/v1/evaluations?ids={handle}")
        assert status == 200, evaluation
        seen = json.dumps(answers) + evaluation
        assert '"failed"' in seen
        for word in ("of-the-command", "of-the-output"):
            assert word not in seen
            assert word in problems(server) and word in log.read_text()


@pytest.fixture(scope="module")
def working(binary: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("working")
    file = pool(folder, f"{binary} worker --device fake", health_check_s=0)
    with serving(binary, folder, "--workers", str(file), device="") as server:
        yield server


@pytest.mark.parametrize("state", ["lost", "preempted"])
def test_a_job_says_why_it_runs_again(working: Server, state: str) -> None:
    wait_until(lambda: workers(working, "idle") == 1)
    # The job must not end before the worker has been killed, however busy the machine is.
    [handle] = evaluations(working, [slow(30_000, state)])
    wait_until(lambda: workers(working, "busy") == 1)
    # One of them has the job. On a busy machine there can be another one, because the server starts
    # one in place of a worker that is late.
    pids = worker_pids(working)
    if state == "preempted":
        for pid in pids:
            os.kill(pid, signal.SIGTERM)
        wait_until(lambda: workers(working, "busy") == 0)  # the worker drains, with the job
    losses = total(working, "losses")
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):  # a worker without a job has ended
            os.kill(pid, signal.SIGKILL)
    wait_until(lambda: total(working, "losses") > losses)
    wait_until(lambda: engine_of(working, handle) != {})
    engine = engine_of(working, handle)
    assert engine["state"] == state
    assert engine["said"].startswith(SAID[state] + "; attempt 2 of 3")
    wait_until(lambda: job(working, handle)["status"] != "running")
    ended = job(working, handle)
    assert ended["outcome"] == "pass"
    assert "engine" not in ended


def test_a_call_passes_an_evaluation_that_waits_for_a_worker(binary: str, tmp_path: Path) -> None:
    """The pool has three places, and its engine starts only one worker."""
    only_one = f"mkdir {tmp_path}/one && exec {binary} worker --device fake"
    file = pool(tmp_path, f"sh -c '{only_one}'", health_check_s=0, most=3)
    arguments = ["--workers", str(file), "--drain-s", "0"]  # the second evaluation never ends
    with serving(binary, tmp_path, *arguments, device="") as server:
        wait_until(lambda: workers(server, "idle") == 1)
        [first] = evaluations(server, [slow(5_000, "first")])
        wait_until(lambda: workers(server, "busy") == 1)
        [second] = evaluations(server, [slow(50_000, "second")])
        wait_until(lambda: metric(server, 'assay_worker_jobs_waiting{pool="pool"}') == 1)
        assert run_tests(server, PASS)["outcome"] == "pass"
        assert job(server, first)["outcome"] == "pass"
        assert job(server, second)["status"] == "running"


def test_a_trainer_leaves_the_reserve_to_people(binary: str, tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    trainer = new_token(binary, tokens, "trainer", "practice")
    person = new_token(binary, tokens, "person", "practice")
    shares = tmp_path / "shares.toml"
    shares.write_text("reserve = 0.5\ntoken.trainer.queued = 200\n")
    arguments = ["--token-file", str(tokens), "--shares-file", str(shares), "--drain-s", "0"]
    log = tmp_path / "log"
    with serving(binary, tmp_path, *arguments, "--log-file", str(log)) as server:
        evaluations(server, [slow(60_000, i) for i in range(BATCH)], trainer)
        wait_until(lambda: running_jobs(server, trainer) > 0)
        arguments_of_call = {"operator": "vector_add", "code": PASS}
        answer = server.call("run_tests", arguments_of_call, person)
        # The answer is the verdict, so the call did not wait for one of the trainer's jobs, which
        # run for longer than a server lets a call wait.
        assert answer["structuredContent"]["outcome"] == "pass"
        before = running_jobs(server, trainer)
        for wrong, why in (("", "is empty"), ("reserve = 2\n", "from 0 to 0.9")):
            shares.write_text(wrong)
            server.process.send_signal(signal.SIGHUP)
            wait_until(lambda why=why: why in log.read_text())
        shares.unlink()
        shares.mkdir()
        server.process.send_signal(signal.SIGHUP)
        wait_until(lambda: "is not a regular file" in log.read_text())
        assert log.read_text().count("the old shares stay in use") == 3
        shares.rmdir()
        shares.write_text("reserve = 0\n")
        server.process.send_signal(signal.SIGHUP)
        wait_until(lambda: running_jobs(server, trainer) > before)  # the reserve has gone


def test_a_bad_file_of_shares_is_refused(binary: str, tmp_path: Path) -> None:
    file = tmp_path / "shares.toml"
    file.write_text("token.alice.weight = -1\n")
    refused = assay(binary, tmp_path, "serve", "--shares-file", str(file))
    assert refused.returncode == 64
    assert f"{file}: `token.alice.weight` must be a number from 0.001 to 1000" in refused.stderr
