"""Sends jobs to a server while a test breaks parts of its cluster: several clients, and a bench of
four agents. Also looks at what the server has stored.

    clients = Clients()
    clients.server = server     # or None while the server is down
    bench = Bench(binary, folder, url)
    ...
    clients.stop()
    bench.finish()"""

from __future__ import annotations

import http.client
import json
import sqlite3
import subprocess
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

from http_serving import Server

CLIENTS = 4
SLEEP_MS = 150  # of each job of a client
AGENTS = ("one_shot", "leader", "alphaevolve", "geak")
OPERATORS = "vector_add,relu,gelu_tanh,softmax_last_dim"
SAMPLES = 2
BENCH_S = 300  # the time in which the last bench must end after the faults
PAUSE_S = 1.0  # before an interrupted bench goes on


def code(name: object) -> str:
    return f"# fake: sleep_ms={SLEEP_MS}\n# {name}\ndef vector_add(x, y):\n    return x\n"


def run_tests(server: Server, name: object) -> dict[str, Any]:
    answer = server.call(
        "run_tests",
        {"operator": "vector_add", "code": code(name), "response_format": "detailed"},
    )
    structured: dict[str, Any] = answer["structuredContent"]
    return structured


def worker_pids(folder: Path) -> list[int]:
    """Returns the workers of this test, which name its folder in their command lines."""
    listed = subprocess.run(["ps", "-wweo", "pid=,comm=,args="], capture_output=True, text=True)
    mine = str(folder / "worker.log")
    rows = [line.split(maxsplit=2) for line in listed.stdout.splitlines()]
    return [int(pid) for pid, comm, args in rows if comm == "assay" and mine in args]


def unfinished(store: Path) -> int:
    with sqlite3.connect(f"file:{store}?mode=ro", uri=True) as database:
        [[count]] = database.execute(
            "SELECT count(*) FROM submissions WHERE job NOT IN (SELECT job FROM verdicts)"
        )
    return int(count)


def outcomes(store: Path) -> Counter[str]:
    """Returns how many jobs of the store have each verdict."""
    with sqlite3.connect(f"file:{store}?mode=ro", uri=True) as database:
        rows = database.execute("SELECT outcome, error_kind FROM verdicts").fetchall()
    return Counter(f"{outcome} {kind}" for outcome, kind in rows)


class Clients:
    """Several clients, each of which sends one job after another until the end."""

    def __init__(self) -> None:
        self.server: Server | None = None
        self.over = threading.Event()
        self.verdicts: list[dict[str, Any]] = []
        self.threads = [threading.Thread(target=self.send, args=(i,)) for i in range(CLIENTS)]
        for thread in self.threads:
            thread.start()

    def send(self, client: int) -> None:
        number = 0
        while not self.over.is_set():
            server = self.server
            if server is None:
                time.sleep(0.05)
                continue
            number += 1
            try:
                self.verdicts.append(run_tests(server, f"{client}-{number}"))
            except (OSError, http.client.HTTPException, AssertionError):
                time.sleep(0.1)  # the server was killed; its store knows the job

    def stop(self) -> None:
        self.over.set()
        for thread in self.threads:
            thread.join()


class Bench:
    """A bench of four agents with a simulated model, again and again until the end. When a fault
    interrupts it, it goes on with --resume."""

    def __init__(self, binary: str, folder: Path, url: str) -> None:
        self.folder = folder
        self.interrupted = 0
        self.said = ""  # by the last bench
        self._command = [binary, "bench", "--server", url, "--model", "sim:7", "--jobs", "4"]
        self._command += ["--operators", OPERATORS, "--samples", str(SAMPLES)]
        self._command += [word for agent in AGENTS for word in ("--agent", agent)]
        self._over = threading.Event()
        self._until = float("inf")
        self._thread = threading.Thread(target=self._work)
        self._thread.start()

    def _work(self) -> None:
        number = 0
        while not self._over.is_set():
            number += 1
            out = self.folder / f"bench-{number}"
            more = ["--out", str(out)]
            while time.monotonic() < self._until:
                done = subprocess.run([*self._command, *more], capture_output=True, text=True)
                self.said = done.stdout[-2_000:] + done.stderr[-2_000:]
                if done.returncode == 0:
                    break
                self.interrupted += 1
                time.sleep(PAUSE_S)
                if out.exists() and "--resume" not in more:
                    more.append("--resume")

    def finish(self) -> None:
        """Waits for the end of the bench that runs, and starts no other one."""
        self._until = time.monotonic() + BENCH_S
        self._over.set()
        self._thread.join()

    def attempts(self) -> list[Counter[tuple[str, int]]]:
        """Returns, for each bench and each of its agents, how often each attempt has finished."""
        return [
            Counter(
                (line["operator"], line["sample"])
                for line in map(json.loads, journal.read_text().splitlines())
                if line["kind"] == "finished"
            )
            for journal in sorted(self.folder.glob("bench-*/*/journal.jsonl"))
        ]
