"""Checks the pool of the Python package with real workers on the fake device, and assay.ray with a
stand-in for Ray. tests/workers/test_ray.py uses the real Ray."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tests/workers")]

import assay  # noqa: E402
import assay.worker_pool  # noqa: E402
import assay.worker_process  # noqa: E402
from assay.worker_pool import LocalEngine, WorkerPool  # noqa: E402
from http_serving import serving, wait_until  # noqa: E402
from test_workers import CHANGED, PASS, pool, run_tests, slow  # noqa: E402

FAKE_RAY = ROOT / "tests/workers/fake_ray"
HELLO = {
    "type": "hello",
    "protocol": assay.worker_pool.PROTOCOL,
    "assay": assay.__version__,
    "host": "node",
    "device": {"description": "a device", "class": {}},
}


def evaluations_of(*sources: str, group: str | None = None) -> list[assay.Evaluation]:
    return [assay.Evaluation("vector_add", source=source, group=group) for source in sources]


def engine(binary: str, change: dict[str, Any] | None = None) -> LocalEngine:
    command = [binary, "worker", "--device", "fake"]
    if change is not None:
        command = [sys.executable, str(CHANGED), json.dumps(change), *command]
    return LocalEngine(command)


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assay.worker_pool, "FIRST_PAUSE_S", 0.01)


class Killer:
    """Kills each worker of a pool as soon as it is busy, `times` times."""

    def __init__(self, workers: WorkerPool, times: int) -> None:
        self.workers = workers
        self.left = times
        self.thread = threading.Thread(target=self.kill)
        self.thread.start()

    def kill(self) -> None:
        while self.left > 0:
            losses = self.workers.report().losses
            wait_until(lambda: self.workers.report().busy > 0)
            [seat] = [seat for seat in self.workers._seats if seat.taken]
            os.kill(seat.worker.hello()["pid"], signal.SIGKILL)  # type: ignore[union-attr]
            wait_until(lambda before=losses: self.workers.report().losses > before)
            self.left -= 1


@pytest.fixture(scope="module")
def workers(binary: str) -> Iterator[WorkerPool]:
    with WorkerPool(engine(binary), 2) as made:
        yield made


def test_results_come_in_order_with_rewards(workers: WorkerPool) -> None:
    bad = assay.Evaluation("no_such_operator", source=PASS)
    grade = assay.Evaluation("vector_add", source=PASS, mode="grade")
    batch = [
        *evaluations_of(PASS, "# fake: fail\ndef vector_add(x, y):\n    return x\n"),
        bad,
        grade,
    ]
    results = workers.evaluate(batch, rewards=["kevin", assay.Policy("twice", "2 * correct")])
    assert [one.index for one in results] == [0, 1, 2, 3]
    assert [one.outcome for one in results] == ["pass", "fail", "", ""]
    assert results[0].rewards == {"kevin": 0.3, "twice": 2.0}
    assert results[0].usable
    assert "@" in results[0].worker
    assert [one.state for one in results[2:]] == ["refused", "refused"]
    assert results[2].problem is not None and results[2].problem.kind == "unknown-name"
    assert results[3].problem is not None and "needs `run`" in results[3].problem.detail
    assert len({one.id for one in results[:2]}) == 2


def test_a_group_has_the_same_inputs_only_in_one_batch(workers: WorkerPool) -> None:
    first = workers.evaluate(evaluations_of(PASS, PASS + "#", group="step-1"))
    second = workers.evaluate(evaluations_of(PASS, group="step-1"))
    assert first[0].inputs == first[1].inputs != second[0].inputs
    assert first[0].group == "step-1"


def test_members_of_a_server_are_refused(workers: WorkerPool) -> None:
    with pytest.raises(ValueError, match="only a server knows these members: run, priority"):
        workers.evaluate([assay.Evaluation("vector_add", source=PASS, run="r", priority="low")])


def test_what_never_began_in_time_is_cancelled(workers: WorkerPool) -> None:
    results = workers.evaluate(evaluations_of(*[PASS] * 3), timeout_s=0)
    assert [(one.state, one.masked, one.deadline_passed) for one in results] == [
        ("cancelled", True, True)
    ] * 3
    assert workers.evaluate(evaluations_of(PASS))[0].outcome == "pass"


class StandInWorker:
    """A worker whose evaluations pass."""

    def __init__(self, late: threading.Event) -> None:
        self.late = late

    def hello(self) -> Mapping[str, Any]:
        return HELLO

    def evaluate(self, *_: object) -> dict[str, Any]:
        self.late.set()
        return {"state": "done", "outcome": "pass"}

    def stop(self) -> None:
        pass


def test_the_time_does_not_end_what_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise, a slow kernel would get a masked result."""
    late = threading.Event()

    def clock() -> float:
        """The time is over as soon as a worker has an evaluation."""
        begun = late.is_set() or any(seat.taken for seat in one._seats)
        return 1_000.0 if begun else 0.0

    with WorkerPool(SimpleNamespace(start=lambda: StandInWorker(late)), 1) as one:
        monkeypatch.setattr(assay.worker_pool, "time", SimpleNamespace(monotonic=clock))
        results = one.evaluate(evaluations_of(PASS, PASS + "#"), timeout_s=500)
    assert [(result.state, result.masked, result.deadline_passed) for result in results] == [
        ("done", False, False),
        ("cancelled", True, True),
    ]


def test_a_lost_worker_costs_no_result(binary: str) -> None:
    with WorkerPool(engine(binary), 1) as one:
        killer = Killer(one, 1)
        [result] = one.evaluate(evaluations_of(slow(5_000)))
        killer.thread.join()
        assert result.outcome == "pass"
        assert one.report().losses == 1
        killer = Killer(one, 3)
        [result] = one.evaluate(evaluations_of(slow(50_000)), rewards=["kevin"])
        killer.thread.join()
        assert (result.state, result.error_kind, result.masked) == ("aborted", "aborted", True)
        assert result.rewards == {"kevin": None}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"hello": {"assay": "0.0.1"}}, "version 0.0.1 of Assay"),
        ({"hello": {"protocol": 1}}, "install the same version"),
        ({"silent": True}, "sent nothing for 1 s"),
    ],
)
def test_an_unusable_worker_is_named(
    binary: str, change: dict[str, Any], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "silent" in change:  # another worker may need longer until it says something
        monkeypatch.setattr(assay.worker_process, "SILENCE_S", 1.0)
    with WorkerPool(engine(binary, change), 1) as one:
        [result] = one.evaluate(evaluations_of(PASS))
        assert result.masked
        assert words in result.summary


# Sends its second argument as the header of a frame, writes its process into the file that the
# first argument names, and then waits for the end of the input.
SAYS = """
import os, struct, sys
with open(sys.argv[1], "a") as pids:
    print(os.getpid(), file=pids)
text = sys.argv[2].encode()
sys.stdout.buffer.write(struct.pack("<4sIQ", b"ASY1", len(text), 0) + text)
sys.stdout.flush()
sys.stdin.read()
"""
DESCRIBES_NO_DEVICE = {**HELLO, "device": {"name": "fake"}}
HAS_NO_CLASS: dict[str, Any] = {**HELLO, "device": {"description": "a device"}}


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ("no JSON", "started no worker: "),
        ("[]", "its header is no JSON object"),
        (json.dumps({"type": "alive"}), "the first message is 'alive' and no hello"),
        (json.dumps({**HELLO, "device": "fake"}), "on node describes no device"),
        (json.dumps(DESCRIBES_NO_DEVICE), "on node describes no device"),
        (json.dumps(HAS_NO_CLASS), "on node describes no device"),
        (json.dumps({**HELLO, "device": {**HAS_NO_CLASS["device"], "class": 1}}), "describes no"),
    ],
)
def test_a_malformed_first_message_is_named(header: str, words: str, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    command = [sys.executable, "-c", SAYS, str(pids), header]
    with WorkerPool(LocalEngine(command), 1) as one:
        [result] = one.evaluate(evaluations_of(PASS), timeout_s=60)
    assert result.error_kind == "device_unhealthy"
    assert words in result.summary
    for pid in pids.read_text().split():
        assert not Path(f"/proc/{pid}").exists()


CLASS = {
    "name": "GPU",
    "memory_bytes": 80 << 30,
    "driver": "570.1",
    "clock_khz": 1_980_000,
    "bandwidth_bytes_per_s": 4_800_000_000_000,
}


@pytest.mark.parametrize(
    ("change", "admitted"),
    [
        ({}, True),
        ({"memory_bytes": (80 << 30) + 4096, "clock_khz": 1_980_500}, True),
        ({"memory_bytes": 81 << 30}, False),
        ({"driver": "580.2"}, False),
        ({"clock_khz": 1_755_000}, False),
        ({"bandwidth_bytes_per_s": 3_350_000_000_000}, False),
    ],
)
def test_all_workers_have_devices_of_one_class(
    change: dict[str, Any], admitted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A refused worker is not started again during the test.
    monkeypatch.setattr(assay.worker_pool, "FIRST_PAUSE_S", assay.worker_pool.LONGEST_PAUSE_S)

    def hello(changed: Mapping[str, Any]) -> dict[str, Any]:
        return {**HELLO, "device": {"description": "a device", "class": {**CLASS, **changed}}}

    class Two:
        def __init__(self) -> None:
            self.hellos = [hello({}), hello(change)]

        def start(self) -> SimpleNamespace:
            said = self.hellos.pop(0)
            return SimpleNamespace(hello=lambda: said, stop=lambda: None)

    with WorkerPool(Two(), 2) as workers:
        wait_until(lambda: workers.report().idle + workers.report().failed_starts == 2)
        assert workers.report().idle == 1 + admitted
        assert ("its device" in workers.report().problem) is not admitted


def test_a_missing_program_is_named() -> None:
    with WorkerPool(LocalEngine(["no-such-program"]), 1) as one:
        [result] = one.evaluate(evaluations_of(PASS))
        assert result.error_kind == "device_unhealthy"
        assert "there is no program no-such-program" in result.summary


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The stand-in for Ray, and assay.ray that uses it."""
    before = {name for name in sys.modules if name.split(".")[0] == "ray" or "assay.ray" in name}
    for name in before:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.syspath_prepend(str(FAKE_RAY))
    import ray

    yield ray
    for name in list(sys.modules):
        if name.split(".")[0] == "ray" or name.startswith("assay.ray"):
            del sys.modules[name]


def test_actors_are_placed_by_their_options(ray: Any, binary: str) -> None:
    import assay.ray

    command = [binary, "worker", "--device", "fake"]
    with assay.ray.pool(1, command, accelerator_type="H100", jobs_per_worker=2) as workers:
        results = workers.evaluate(evaluations_of(PASS, PASS + "#"))
        assert [one.outcome for one in results] == ["pass", "pass"]
        assert results[0].worker.endswith("/01234567")
        [seat] = workers._seats
        ray.kill(seat.worker._actor)  # type: ignore[union-attr]
        assert workers.evaluate(evaluations_of(PASS))[0].worker.startswith("2@")
        assert "The actor is dead." in workers.report().problem
    [(_, options), _] = ray.started
    assert options["num_gpus"] == 1
    assert options["accelerator_type"] == "H100"
    assert options["max_restarts"] == 0
    assert options["max_concurrency"] == 4


def test_no_free_node_is_named(ray: Any) -> None:
    from assay.ray.actors import Placement, RayEngine, WorkerActor

    def never(_: WorkerActor) -> dict[str, Any]:
        threading.Event().wait(60)
        return {}

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WorkerActor, "hello", never)
        placed = RayEngine(["assay"], Placement(num_gpus=8), start_s=0.05)
        with WorkerPool(placed, 1) as workers:
            [result] = workers.evaluate(evaluations_of(PASS))
    assert result.error_kind == "device_unhealthy"
    assert "no actor with num_gpus=8, num_cpus=1 in 0.05 s" in result.summary


def test_a_server_reaches_a_worker_through_an_actor(
    binary: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", f"{FAKE_RAY}:{ROOT / 'python'}")
    words = [sys.executable, "-m", "assay.ray", "worker", "--num-cpus", "2", "--"]
    file = pool(tmp_path, shlex.join([*words, binary, "worker", "--device", "fake"]))
    with serving(binary, tmp_path, "--workers", str(file), device="") as server:
        assert run_tests(server, PASS)["provenance"]["worker"].startswith("pool-1@")


# The command of a server for a worker on Ray, which soon says that no node is free.
BRIDGE = """
import sys
import assay.ray.bridge
assay.ray.bridge.PENDING_S = 0
from assay.ray.__main__ import main
sys.exit(main())
"""


@pytest.mark.parametrize("end", ["SIGTERM", "input"])
def test_a_bridge_ends_while_no_node_is_free(end: str) -> None:
    paths = f"{FAKE_RAY}:{ROOT / 'python'}"
    bridge = subprocess.Popen(
        [sys.executable, "-c", BRIDGE, "worker", "--num-gpus", "8", "--", "no-such-program"],
        env={**os.environ, "PYTHONPATH": paths, "ASSAY_FAKE_RAY_FULL": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert bridge.stdin and bridge.stdout and bridge.stderr
    with bridge:
        try:
            assert b"pending: no node has num_gpus=8" in bridge.stderr.readline()
            if end == "SIGTERM":
                bridge.send_signal(signal.SIGTERM)
                words = b"SIGTERM came before a node was free"
            else:
                bridge.stdin.write(b"unread")
                bridge.stdin.close()
                words = b"the input ended before a node was free"
            assert bridge.wait(30) == 0
            assert words in bridge.stderr.read()
            assert bridge.stdout.read() == b""
        finally:
            bridge.kill()
