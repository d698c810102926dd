"""Loads pools of workers of one server in turns. roles.py, roles_gpu.py and two_gpus.py use this
file, and import what they need of other folders from it.

    with serving(binary, folder, "--workers", str(file), device="") as server:
        wait_for_workers(server, pools)
        loads = {name: Load(server, name, cases, agents) for name in ...}
        warm(list(loads.values()))
        result = loads["all"].measure("run_tests", seconds)

Each agent has a run and an HTTP connection of its own, and sends the oracles of the operators with
a new comment each time, one call after the other. A run keeps its launcher on a GPU, so the
contexts of the GPU are created in warm(), and no load creates many of them."""

from __future__ import annotations

import json
import os
import re
import statistics
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / folder) for folder in ("tests/e2e", "tests/crash", "measurements")]

import processes as processes  # noqa: E402
from environment import environment as environment  # noqa: E402
from http_serving import Server as Server  # noqa: E402
from http_serving import serving as serving  # noqa: E402
from launch_figures import launch_figures, rounded  # noqa: E402

from sandbox import Agent  # noqa: E402

READY = ("idle", "busy")
Pool = dict[str, Any]


def pools_text(pools: list[Pool]) -> str:
    """Returns the text of a file for --workers."""
    lines = []
    for pool in pools:
        lines.append("[[pool]]")
        lines += [f"{name} = {json.dumps(value)}" for name, value in pool.items()]
    return "\n".join(lines) + "\n"


def sources(suite: Path, operators: list[str]) -> list[tuple[str, str]]:
    """Returns each operator with the source of its oracle."""
    return [(name, next(suite.glob(f"*/{name}/oracle.py")).read_text()) for name in operators]


def metrics(server: Server) -> str:
    return server.request("GET", "/metrics")[2]


def metric(server: Server, name: str) -> float:
    found = re.search(rf"^{re.escape(name)} ([0-9.e+]+)$", metrics(server), re.MULTILINE)
    return float(found[1]) if found else 0.0


def ready(server: Server, pool: str) -> int:
    states = [f'assay_workers{{pool="{pool}",state="{state}"}}' for state in READY]
    return int(sum(metric(server, state) for state in states))


def problems(server: Server) -> str:
    """Returns what the server says about workers that failed."""
    lines = metrics(server).splitlines()
    return "\n".join(line for line in lines if line.startswith("assay_worker_problem{"))


def wait_for_workers(server: Server, pools: list[Pool], limit_s: float) -> float:
    """Waits until every pool has all of its workers, and returns the seconds that this took."""
    begin = time.monotonic()
    while missing := [one["name"] for one in pools if ready(server, one["name"]) < one["least"]]:
        if time.monotonic() - begin > limit_s:
            raise SystemExit(f"workers of {missing} did not start:\n{problems(server)}")
        time.sleep(0.2)
    return time.monotonic() - begin


class Client:
    """An agent with a run on one device of the server."""

    def __init__(self, server: Server, device: str) -> None:
        self._agent = Agent(server.port)
        self._device = device
        started = self._agent.call(
            "start_run", {"agent": "load", "model": "none", "track": "practice"}
        )
        self._run = started["run"]

    def reconnect(self) -> None:
        """Opens a new connection. The server closes one that was idle while others were measured."""
        self._agent.connection.close()  # the next request opens it again

    def verdict(self, tool: str, operator: str, source: str) -> dict[str, Any]:
        arguments = {"operator": operator, "device": self._device, "run": self._run}
        arguments["response_format"] = "detailed"  # names the worker
        arguments["code"] = f"{source}\n# {os.urandom(8).hex()}\n"
        answer = self._agent.call(tool, arguments)
        while answer.get("status") in ("queued", "running"):
            answer = self._agent.call("job", {"job": answer["job"], "wait_s": 20})
        return answer


class Load:
    """The agents of one device, or of several ones, over which they are spread."""

    def __init__(
        self, server: Server, devices: list[str], cases: list[tuple[str, str]], agents: int
    ) -> None:
        self._cases = cases
        self._clients = [Client(server, devices[i % len(devices)]) for i in range(agents)]
        self.sent = 0  # calls
        self.outcomes: Counter[str] = Counter()
        self.wrong: list[str] = []
        self._turns = list(range(agents))
        self._lock = threading.Lock()

    def first_call(self, index: int, tool: str) -> dict[str, Any]:
        self._clients[index].reconnect()
        return self.call(index, tool)

    def call(self, index: int, tool: str) -> dict[str, Any]:
        """Sends the next operator of an agent."""
        operator, source = self._cases[self._turns[index] % len(self._cases)]
        self._turns[index] += 1
        with self._lock:
            self.sent += 1
        answer = self._clients[index].verdict(tool, operator, source)
        with self._lock:
            self.outcomes[str(answer.get("outcome", "no verdict"))] += 1
            if answer.get("outcome") != "pass" and len(self.wrong) < 8:
                self.wrong.append(f"{operator}: {json.dumps(answer)[:400]}")
        return answer

    def start(self, work: Callable[[int], object], agents: int) -> list[threading.Thread]:
        """Starts a thread for each of the first `agents` agents; 0: for all of them."""
        count = agents or len(self._clients)
        threads = [threading.Thread(target=work, args=[i]) for i in range(count)]
        for thread in threads:
            thread.start()
        return threads

    def measure(self, tool: str, seconds: float, agents: int = 0) -> dict[str, Any]:
        """Loads the server with the first `agents` agents; 0: with all of them. Calls in progress at
        the end are finished, and do not count."""
        samples: list[dict[str, Any]] = []
        begin = time.monotonic()

        def work(index: int) -> None:
            self._clients[index].reconnect()
            while time.monotonic() < begin + seconds:
                start = time.monotonic()
                answer = self.call(index, tool)
                sample = {
                    "ms": round((time.monotonic() - start) * 1e3, 1),
                    "end_s": round(time.monotonic() - begin, 3),
                    "outcome": answer.get("outcome"),
                    "worker": answer.get("provenance", {}).get("worker", ""),
                    "stage_ms": {
                        stage: round(ms, 1) for stage, ms in (answer.get("stage_ms") or {}).items()
                    },
                    "launch": rounded(answer.get("launch") or {}),
                }
                with self._lock:
                    samples.append(sample)

        threads = self.start(work, agents)
        for thread in threads:
            thread.join()
        if self.sent != self.outcomes.total():
            raise SystemExit(f"{self.sent - self.outcomes.total()} calls got no answer")
        inside = sorted(
            (one for one in samples if one["end_s"] <= seconds and one["outcome"] == "pass"),
            key=lambda one: float(one["end_s"]),
        )
        result = {
            "tool": tool,
            "agents": len(threads),
            "verdicts": len(inside),
            "verdicts_an_hour": rate_an_hour([one["end_s"] for one in inside]),
            "p50_ms": statistics.median(one["ms"] for one in inside) if inside else None,
            "median_stage_ms": median_stages(inside),
            "launch": launch_figures([one["launch"] for one in inside]),
            "others": len([one for one in samples if one["outcome"] != "pass"]),
        }
        return {**result, "samples": samples}


def rate_an_hour(ends_s: list[float]) -> int:
    """Returns the verdicts an hour between the first verdict and the last one, which leaves out the
    time in which the first jobs fill the pipeline."""
    if len(ends_s) < 2 or ends_s[-1] == ends_s[0]:
        return 0
    return round((len(ends_s) - 1) / (ends_s[-1] - ends_s[0]) * 3600)


def median_stages(samples: list[dict[str, Any]]) -> dict[str, float]:
    stages = sorted({stage for one in samples for stage in one["stage_ms"]})
    return {
        stage: round(statistics.median(one["stage_ms"].get(stage, 0) for one in samples), 1)
        for stage in stages
    }


def warm(loads: list[Load], tool: str, agents: int = 0) -> float:
    """Makes each agent of each load call the tool once, all at the same time. With `agents`, only
    so many agents of each load do it. Returns the seconds that this took."""
    begin = time.monotonic()
    threads = [
        thread
        for load in loads
        for thread in load.start(lambda index, load=load: load.first_call(index, tool), agents)  # type: ignore[misc]
    ]
    for thread in threads:
        thread.join()
    if wrong := [one for load in loads for one in load.wrong]:
        raise SystemExit(f"a right submission does not pass: {wrong[0]}")
    return time.monotonic() - begin
