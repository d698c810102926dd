"""Runs workers on Ray's own cluster of several nodes on this machine, while workers, actors and nodes
are killed at random. `./run cluster-test` runs this file in a Python that has Ray.

ASSAY_CLUSTER_S sets how many seconds the faults last."""

from __future__ import annotations

import os
import random
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ray = pytest.importorskip("ray", reason="./run cluster-test installs Ray")

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tests/workers")]

import assay  # noqa: E402
import assay.ray  # noqa: E402
from cluster_load import Clients, outcomes, run_tests, unfinished, worker_pids  # noqa: E402
from http_serving import serving, wait_until  # noqa: E402
from ray.cluster_utils import Cluster  # noqa: E402

FAULTS_S = float(os.environ.get("ASSAY_CLUSTER_S", "15"))
NODES = 3
BATCH = 24
PAUSE_S = 1.0  # between two faults
SETTLE_S = 60.0
# Ray notices the loss of a node after half a minute, and until then it places actors there.
QUICK = {
    "health_check_initial_delay_ms": 1_000,
    "health_check_period_ms": 500,
    "health_check_timeout_ms": 1_000,
    "health_check_failure_threshold": 3,
}
SLOW = "# fake: sleep_ms=150\n# {}\ndef vector_add(x, y):\n    return x\n"


class RayCluster:
    """A head without workers, and nodes that have processors and accelerators by name only."""

    def __init__(self) -> None:
        head = {"num_cpus": 0, "_system_config": QUICK}
        self.cluster = Cluster(initialize_head=True, head_node_args=head)
        self.nodes = [self.add_node() for _ in range(NODES)]
        self.old = self.add_node("A100")
        ray.init(address=self.cluster.address, log_to_driver=False)

    def add_node(self, accelerator: str = "H100") -> object:
        resources = {f"accelerator_type:{accelerator}": 1}
        return self.cluster.add_node(num_cpus=4, num_gpus=2, resources=resources)

    def replace_node(self, chance: random.Random) -> None:
        node = self.nodes.pop(chance.randrange(len(self.nodes)))
        self.cluster.remove_node(node, allow_graceful=False)  # kill -9 of all its processes
        self.nodes.append(self.add_node())

    def close(self) -> None:
        ray.shutdown()
        self.cluster.shutdown()


@pytest.fixture(scope="module")
def cluster() -> Iterator[RayCluster]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT / "python"))  # the processes of all nodes inherit it
        made = RayCluster()
        yield made
        made.close()


def worker(binary: str, folder: Path) -> list[str]:
    return [binary, "worker", "--device", "fake", "--log-file", str(folder / "worker.log")]


def parent_of(pid: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[1])


class Faults:
    """Breaks something every second. Nodes are replaced, and everything else must come by itself."""

    def __init__(self, cluster: RayCluster, folder: Path, seed: int) -> None:
        self.cluster = cluster
        self.folder = folder
        self.chance = random.Random(seed)
        self.done: Counter[str] = Counter()

    def worker(self) -> int:
        deadline = time.monotonic() + SETTLE_S
        while not worker_pids(self.folder):
            assert time.monotonic() < deadline, f"no worker comes after {self.done}"
            time.sleep(0.05)
        return self.chance.choice(worker_pids(self.folder))

    def kill_worker(self) -> None:
        os.kill(self.worker(), signal.SIGKILL)

    def kill_actor(self) -> None:
        os.kill(parent_of(self.worker()), signal.SIGKILL)

    def kill_node(self) -> None:
        self.cluster.replace_node(self.chance)

    def go_on(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            many = [self.kill_worker, self.kill_actor] * 2
            fault = self.chance.choice([*many, self.kill_node])
            try:
                fault()
                self.done[fault.__name__] += 1
            except (ProcessLookupError, FileNotFoundError, IndexError):
                pass  # the worker has just gone
            time.sleep(PAUSE_S)


def test_actors_are_placed_by_accelerator(cluster: RayCluster, binary: str, tmp_path: Path) -> None:
    batch = [assay.Evaluation("vector_add", source=SLOW.format(i)) for i in range(4)]
    command = worker(binary, tmp_path)
    with assay.ray.pool(2, command, accelerator_type="A100") as workers:
        results = workers.evaluate(batch, rewards=["kevin"])
    assert [one.rewards for one in results] == [{"kevin": 0.3}] * 4
    node = cluster.old.node_id  # type: ignore[attr-defined]
    assert {one.worker.split("/")[1] for one in results} == {node[:8]}
    with assay.ray.pool(1, command, accelerator_type="T4", start_s=1) as workers:
        [result] = workers.evaluate(batch[:1])
    assert result.error_kind == "device_unhealthy"
    assert "accelerator_type=T4 in 1 s" in result.summary
    wait_until(lambda: worker_pids(tmp_path) == [])


def test_every_result_is_there_once_while_actors_and_nodes_die(
    cluster: RayCluster, binary: str, tmp_path: Path
) -> None:
    faults = Faults(cluster, tmp_path, 5)
    over = threading.Event()
    batches: list[list[assay.Result]] = []
    with assay.ray.pool(4, worker(binary, tmp_path), accelerator_type="H100") as workers:

        def send() -> None:
            while not over.is_set():
                sources = [SLOW.format(f"{len(batches)}-{i}") for i in range(BATCH)]
                batch = [assay.Evaluation("vector_add", source=one) for one in sources]
                batches.append(workers.evaluate(batch))

        sender = threading.Thread(target=send)
        sender.start()
        wait_until(lambda: workers.report().busy > 0)
        faults.go_on(FAULTS_S / 2)  # Ray starts nodes only in the main thread
        over.set()
        sender.join()
        report = workers.report()
    results = [one for batch in batches for one in batch]
    print(f"faults: {dict(faults.done)}, {len(results)} results, {report}")
    assert report.losses > 0
    assert all([one.index for one in batch] == list(range(BATCH)) for batch in batches)
    assert len({one.id for one in results}) == len(results)
    # An evaluation that loses three workers is aborted, and a trainer masks it.
    assert {one.error_kind for one in results} <= {"none", "aborted", "device_unhealthy"}
    assert all(one.outcome == "pass" or one.masked for one in results)
    assert sum(one.outcome == "pass" for one in results) > len(results) / 2
    wait_until(lambda: worker_pids(tmp_path) == [])


def test_a_server_loses_no_verdict_while_actors_and_nodes_die(
    cluster: RayCluster, binary: str, tmp_path: Path
) -> None:
    address = ["--address", cluster.cluster.address, "--num-gpus", "1"]
    words = [sys.executable, "-m", "assay.ray", "worker", *address, "--accelerator-type", "H100"]
    file = tmp_path / "workers.toml"
    command = shlex.join([*words, "--", *worker(binary, tmp_path)])
    file.write_text(
        f"[[pool]]\nname = \"ray\"\ncommand = '''{command}'''\ndevice = \"fake\"\n"
        "least = 3\nmost = 3\nstart_s = 60\n"
    )
    log = tmp_path / "serve.log"
    store = tmp_path / "assay.db"
    faults = Faults(cluster, tmp_path, 7)
    clients = Clients()
    arguments = ("--workers", str(file), "--log-file", str(log))
    try:
        with serving(binary, tmp_path, *arguments, device="") as server:
            assert run_tests(server, "first")["provenance"]["worker"].startswith("ray-")
            clients.server = server
            faults.go_on(FAULTS_S / 2)
            clients.stop()
            deadline = time.monotonic() + SETTLE_S
            while unfinished(store) > 0:
                assert time.monotonic() < deadline, f"jobs are stuck\n{log.read_text()[-3_000:]}"
                time.sleep(0.2)
    finally:
        clients.stop()
    found = outcomes(store)
    print(f"faults: {dict(faults.done)}, verdicts: {dict(found)}")
    assert found["pass none"] > 0
    assert set(found) <= {"pass none", "error aborted", "error device_unhealthy"}
    handles = Counter(one["job"] for one in clients.verdicts if "job" in one)
    assert set(handles.values()) <= {1}
    wait_until(lambda: worker_pids(tmp_path) == [])
    listed = subprocess.run(["ps", "-wweo", "args="], capture_output=True, text=True, check=True)
    assert not [line for line in listed.stdout.splitlines() if str(tmp_path) in line]
