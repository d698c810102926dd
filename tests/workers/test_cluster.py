"""Checks that no verdict is lost and none counts twice when a Slurm cluster takes workers away: jobs
run while nodes, controllers, workers and the server are killed at random.

ASSAY_CLUSTER_S sets how many seconds the faults last; `./run cluster-test` sets more."""

from __future__ import annotations

import http.client
import json
import os
import random
import re
import signal
import sqlite3
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from http_serving import Server, serving, wait_until
from slurm import Slurm

FAULTS_S = float(os.environ.get("ASSAY_CLUSTER_S", "15"))
SETTLE_S = 60.0  # the time in which the last jobs must end
CLIENTS = 4
SLEEP_MS = 150  # of each job


def pool_file(folder: Path, binary: str) -> Path:
    log = folder / "worker.log"
    command = f"srun --quiet --unbuffered --ntasks=1 {binary} worker --device fake --log-file {log}"
    path = folder / "workers.toml"
    path.write_text(
        f'[[pool]]\nname = "slurm"\ncommand = {json.dumps(command)}\ndevice = "fake"\n'
        "least = 2\nmost = 4\nidle_s = 5\nstart_s = 10\n"
    )
    return path


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


class Faults:
    """Breaks something at random. Each fault is repaired before the next one, except that new
    workers must come by themselves."""

    def __init__(self, slurm: Slurm, folder: Path, chance: random.Random) -> None:
        self.slurm = slurm
        self.folder = folder
        self.chance = chance
        self.done: Counter[str] = Counter()

    def kill_worker(self) -> None:
        if pids := worker_pids(self.folder):
            os.kill(self.chance.choice(pids), signal.SIGKILL)

    def cancel_job(self) -> None:
        if jobs := self.slurm.steps():
            self.slurm.run("scancel", self.chance.choice(jobs))

    def drain_node(self) -> None:
        node = self.chance.choice(self.slurm.nodes)
        self.slurm.run("scontrol", "update", f"nodename={node}", "state=drain", "reason=test")
        time.sleep(1)
        self.slurm.run("scontrol", "update", f"nodename={node}", "state=resume")

    def preempt(self) -> None:
        urgent = ["sbatch", "--partition=urgent", "--exclusive", "--nodes=1", "--wrap", "sleep 1"]
        self.slurm.run(*urgent, f"--output={self.folder}/urgent.out")

    def kill_node(self) -> None:
        node = self.chance.choice(self.slurm.nodes)
        self.slurm.kill(node)
        self.slurm.start_node(node)

    def kill_controller(self) -> None:
        self.slurm.kill("slurmctld")
        self.slurm.start_controller()

    def one(self) -> None:
        faults: list[Callable[[], None]] = [
            self.kill_worker,
            self.cancel_job,
            self.drain_node,
            self.preempt,
            self.kill_node,
            self.kill_controller,
        ]
        fault = self.chance.choice(faults)
        fault()
        self.done[fault.__name__] += 1


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


def test_a_worker_runs_under_slurm(slurm: Slurm, binary: str, tmp_path: Path) -> None:
    file = pool_file(tmp_path, binary)
    environment = slurm.environment
    with serving(
        binary, tmp_path, "--workers", str(file), device="", environment=environment
    ) as server:
        answer = run_tests(server, "first")
        assert answer["outcome"] == "pass"
        assert answer["provenance"]["worker"].startswith("slurm-")
        assert len(slurm.steps()) >= 1
    # The allocations end with the server.
    wait_until(lambda: slurm.steps() == [])


def test_no_verdict_is_lost_when_everything_dies(slurm: Slurm, binary: str, tmp_path: Path) -> None:
    file = pool_file(tmp_path, binary)
    log = tmp_path / "serve.log"
    arguments = ("--workers", str(file), "--log-file", str(log))
    environment = slurm.environment
    faults = Faults(slurm, tmp_path, random.Random(11))
    clients = Clients()
    store = tmp_path / "assay.db"
    try:
        command = [binary, "serve", "--http", "127.0.0.1:0", "--store", str(store), *arguments]
        killed = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
        assert killed.stderr is not None
        for line in killed.stderr:
            if found := re.search(r"listening on http://127\.0\.0\.1:(\d+)/mcp", line):
                break
        clients.server = Server(killed, int(found[1]), tls=False)
        threading.Thread(target=killed.stderr.read, daemon=True).start()
        until = time.monotonic() + FAULTS_S / 2
        while time.monotonic() < until:
            faults.one()
            time.sleep(0.5)
        killed.kill()
        killed.wait()
        clients.server = None
        with serving(binary, tmp_path, *arguments, device="", environment=environment) as server:
            clients.server = server
            until = time.monotonic() + FAULTS_S / 2
            while time.monotonic() < until:
                faults.one()
                time.sleep(0.5)
            clients.stop()
            deadline = time.monotonic() + SETTLE_S
            while unfinished(store) > 0:
                assert time.monotonic() < deadline, (
                    f"jobs are stuck\n{log.read_text()[-3_000:]}\n{slurm.logs()}"
                )
                time.sleep(0.2)
    finally:
        clients.stop()
    found_outcomes = outcomes(store)
    print(f"faults: {dict(faults.done)}, verdicts: {dict(found_outcomes)}")
    assert found_outcomes["pass none"] > 0
    # A job that loses three workers is aborted, and one that no worker could take is not charged.
    allowed = {"pass none", "error aborted", "error device_unhealthy"}
    assert set(found_outcomes) <= allowed
    handles = Counter(one["job"] for one in clients.verdicts if "job" in one)
    assert set(handles.values()) <= {1}
    wait_until(lambda: worker_pids(tmp_path) == [])
