"""Checks that no verdict is lost and none counts twice when a Slurm cluster takes workers away: a
bench of four agents and four clients send jobs while nodes, controller, workers and server are
killed at random.

ASSAY_CLUSTER_FAULTS sets the number of faults; `./run cluster-test` sets more."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from cluster_load import (
    AGENTS,
    OPERATORS,
    SAMPLES,
    Bench,
    Clients,
    outcomes,
    unfinished,
    worker_pids,
)
from http_serving import Server, serving, wait_until
from slurm import Slurm, free_port

FAULTS = int(os.environ.get("ASSAY_CLUSTER_FAULTS", "20"))
PAUSE_S = 0.5  # between two faults
SETTLE_S = 60.0  # the time in which the last jobs must end
STOP_S = 60.0
ORACLE = Path(__file__).resolve().parent.parent.parent / "operators/standard/vector_add/oracle.py"


def pool_file(folder: Path, binary: str, device: str = "fake") -> Path:
    log = folder / "worker.log"
    options = ["--quiet", "--unbuffered", "--ntasks=1"]
    command = f"srun {' '.join(options)} {binary} worker --device {device} --log-file {log}"
    path = folder / "workers.toml"
    path.write_text(
        f'[[pool]]\nname = "slurm"\ncommand = {json.dumps(command)}\ndevice = "{device}"\n'
        f"least = {2 if device == 'fake' else 1}\nmost = {8 if device == 'fake' else 1}\n"
        f"idle_s = 5\nstart_s = {10 if device == 'fake' else 60}\n"
    )
    return path


class Killable:
    """A server that can be killed and started again at the same address, with the same store."""

    def __init__(self, binary: str, folder: Path, environment: dict[str, str]) -> None:
        self.log = folder / "serve.log"
        self.store = folder / "assay.db"
        self._port = free_port()
        self.url = f"http://127.0.0.1:{self._port}/mcp"
        self._command = [binary, "serve", "--http", f"127.0.0.1:{self._port}"]
        self._command += ["--store", str(self.store), "--log-file", str(self.log)]
        self._command += ["--workers", str(pool_file(folder, binary))]
        self._environment = environment
        self.clients: Clients | None = None
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(
            self._command, stderr=subprocess.PIPE, text=True, env=self._environment
        )
        assert self.process.stderr is not None
        said = []
        for line in self.process.stderr:
            said.append(line)
            if re.search(r"listening on http://", line):
                break
        else:
            raise AssertionError("".join(said))
        threading.Thread(target=self.process.stderr.read, daemon=True).start()
        if self.clients:
            self.clients.server = Server(self.process, self._port, tls=False)

    def kill(self) -> None:
        if self.clients:
            self.clients.server = None
        self.process.kill()
        self.process.wait()

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise


class Faults:
    """Breaks something at random. Each fault is repaired before the next one, except that new
    workers must come by themselves."""

    def __init__(self, slurm: Slurm, server: Killable, folder: Path, chance: random.Random) -> None:
        self.slurm = slurm
        self.server = server
        self.folder = folder
        self.chance = chance
        self.done: Counter[str] = Counter()

    def kill_worker(self) -> bool:
        pids = worker_pids(self.folder)
        if pids:
            try:
                os.kill(self.chance.choice(pids), signal.SIGKILL)
            except ProcessLookupError:
                return False  # it has just ended by itself
        return bool(pids)

    def cancel_job(self) -> bool:
        jobs = self.slurm.steps()
        if jobs:
            self.slurm.run("scancel", self.chance.choice(jobs))
        return bool(jobs)

    def drain_node(self) -> bool:
        node = self.chance.choice(self.slurm.nodes)
        self.slurm.run("scontrol", "update", f"nodename={node}", "state=drain", "reason=test")
        time.sleep(PAUSE_S)
        self.slurm.run("scontrol", "update", f"nodename={node}", "state=resume")
        return True

    def preempt(self) -> bool:
        urgent = ["sbatch", "--partition=urgent", "--exclusive", "--nodes=1", "--wrap", "sleep 1"]
        self.slurm.run(*urgent, f"--output={self.folder}/urgent.out")
        return True

    def kill_node(self) -> bool:
        node = self.chance.choice(self.slurm.nodes)
        self.slurm.kill(node)
        self.slurm.start_node(node)
        return True

    def kill_controller(self) -> bool:
        self.slurm.kill("slurmctld")
        self.slurm.start_controller()
        return True

    def kill_server(self) -> bool:
        self.server.kill()
        self.server.start()
        return True

    def one(self) -> None:
        """Does one fault that has struck something."""
        often: list[Callable[[], bool]] = [
            self.kill_worker,
            self.cancel_job,
            self.drain_node,
            self.preempt,
            self.kill_node,
            self.kill_controller,
        ]
        fault = self.chance.choice([*often, *often, *often, self.kill_server])
        if fault():
            self.done[fault.__name__] += 1


@pytest.mark.parametrize("device", ["fake", "cpu"])
def test_a_worker_runs_under_slurm(slurm: Slurm, binary: str, tmp_path: Path, device: str) -> None:
    file = pool_file(tmp_path, binary, device)
    environment = slurm.environment
    with serving(
        binary, tmp_path, "--workers", str(file), device="", environment=environment
    ) as server:
        arguments = {"operator": "vector_add", "code": ORACLE.read_text()}
        arguments["response_format"] = "detailed"
        answer = server.call("run_tests", arguments)["structuredContent"]
        while "outcome" not in answer:
            waited = {"job": answer["job"], "wait_s": 20, "response_format": "detailed"}
            answer = server.call("job", waited)["structuredContent"]
        assert answer["outcome"] == "pass", answer
        assert answer["provenance"]["worker"].startswith("slurm-")
        assert answer["provenance"]["device"] == device
        assert len(slurm.steps()) >= 1
    # The allocations end with the server.
    wait_until(lambda: slurm.steps() == [])


def test_no_verdict_is_lost_when_everything_dies(slurm: Slurm, binary: str, tmp_path: Path) -> None:
    server = Killable(binary, tmp_path, slurm.environment)
    faults = Faults(slurm, server, tmp_path, random.Random(11))
    clients = server.clients = Clients()
    clients.server = Server(server.process, int(server.url.split(":")[2].split("/")[0]), tls=False)
    bench = Bench(binary, tmp_path, server.url)
    try:
        while faults.done.total() < FAULTS:
            faults.one()
            time.sleep(PAUSE_S)
        if not faults.done["kill_server"]:  # the short form may draw none
            faults.kill_server()
            faults.done["kill_server"] += 1
        clients.stop()
        bench.finish()
        deadline = time.monotonic() + SETTLE_S
        while unfinished(server.store) > 0:
            assert time.monotonic() < deadline, (
                f"jobs are stuck\n{server.log.read_text()[-3_000:]}\n{slurm.logs()}"
            )
            time.sleep(0.2)
    finally:
        clients.stop()
        bench.finish()
        status = server.stop()
    assert status == 0
    found_outcomes = outcomes(server.store)
    attempts = bench.attempts()
    print(
        f"faults: {dict(faults.done)}, verdicts: {dict(found_outcomes)}, "
        f"agents' benches: {len(attempts)}, interrupted {bench.interrupted} times"
    )
    assert found_outcomes["pass none"] > 0
    # A job that loses three workers is aborted, and one that no worker could take is not charged.
    ours = {"error aborted", "error device_unhealthy"}
    assert {one for one in found_outcomes if one.startswith("error")} <= ours
    handles = Counter(one["job"] for one in clients.verdicts if "job" in one)
    assert set(handles.values()) <= {1}
    # Every attempt of every agent has finished, and once.
    assert len(attempts) >= len(AGENTS) and len(attempts) % len(AGENTS) == 0, bench.said
    samples = range(1, SAMPLES + 1)
    every = Counter((operator, sample) for operator in OPERATORS.split(",") for sample in samples)
    assert [one for one in attempts if one != every] == [], bench.said
    wait_until(lambda: worker_pids(tmp_path) == [])


def test_a_partition_that_does_not_exist_is_named(
    slurm: Slurm, binary: str, tmp_path: Path
) -> None:
    wrong = f"srun --quiet --unbuffered --partition=nowhere {binary} worker --device fake"
    good = f"{binary} worker --device fake"
    file = tmp_path / "workers.toml"
    file.write_text(
        f'[[pool]]\nname = "wrong"\ncommand = {json.dumps(wrong)}\n'
        f'[[pool]]\nname = "good"\ncommand = {json.dumps(good)}\n'
    )
    environment = slurm.environment
    with serving(
        binary, tmp_path, "--workers", str(file), device="", environment=environment
    ) as server:
        page: list[str] = []

        def is_named() -> bool:
            page[:] = server.request("GET", "/metrics")[2].splitlines()
            return any("invalid partition specified: nowhere" in line for line in page)

        wait_until(is_named)
        arguments = {"operator": "vector_add", "code": "# fake: pass\n", "device": "good"}
        answer = server.call("run_tests", arguments)["structuredContent"]
        assert answer["outcome"] == "pass", (answer, page)
