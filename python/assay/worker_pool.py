"""Evaluates batches on workers, without a server.

    engine = LocalEngine(["assay", "worker", "--device", "cpu"])
    with WorkerPool(engine, size=2) as pool:
        results = pool.evaluate([assay.Evaluation("vector_add", source=source)], rewards=["kevin"])

An engine starts the workers: on this machine (LocalEngine), or on a Ray cluster (assay.ray)."""

from __future__ import annotations

import hashlib
import json
import secrets
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Protocol

import assay
from assay.evaluation import Evaluation
from assay.protocol import Rewards, body_of
from assay.results import Result
from assay.worker_process import WorkerLost, WorkerProcess, WorkerRefused

PROTOCOL = 5  # docs/reference/workers.md
MOST_ATTEMPTS = 3  # on the last one, an evaluation has its worker alone
PATIENCE = 3  # after so many failed starts in a row, waiting evaluations end
FIRST_PAUSE_S = 0.5  # after a failed start; it doubles with each failure
LONGEST_PAUSE_S = 30.0
# The members of a device class that are compared in whole GiB, MHz and GB/s.
CLASS_UNITS = {"memory_bytes": 1 << 30, "clock_khz": 1_000, "bandwidth_bytes_per_s": 10**9}
INPUTS_DIGITS = 12
HANDLE_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
HANDLE_CHARACTERS = 26
SERVER_ONLY = ("run", "deadline", "idempotency_key", "priority")


class Worker(Protocol):
    """One worker, wherever it runs. Its methods raise WorkerLost."""

    def hello(self) -> Mapping[str, Any]:
        """Waits for the worker's first message. Raises WorkerRefused."""

    def evaluate(
        self, job: str, attempt: int, body: Mapping[str, Any], input_seed: str
    ) -> dict[str, Any]:
        """Returns the result of one evaluation."""

    def stop(self) -> None:
        """Ends the worker. May be called several times, and while other methods run."""


class Engine(Protocol):
    """Starts workers."""

    def start(self) -> Worker:
        """Begins to start a worker, without waiting for it. Raises WorkerRefused."""


class LocalEngine:
    """Starts workers on this machine."""

    def __init__(self, command: Sequence[str], start_s: float = 60.0) -> None:
        self.command = list(command)
        self.start_s = start_s

    def start(self) -> Worker:
        return LocalWorker(self.command, self.start_s)


class LocalWorker:
    """A worker on this machine. A Ray actor contains one, too."""

    def __init__(self, command: Sequence[str], start_s: float) -> None:
        self._command = command
        self._start_s = start_s
        self._lock = threading.Lock()
        self._process: WorkerProcess | None = None
        self._stopped = False

    def hello(self) -> Mapping[str, Any]:
        with self._lock:
            if self._stopped:
                raise WorkerRefused("the worker was stopped")
            if self._process is None:
                self._process = WorkerProcess(self._command, start_s=self._start_s)
            return {**self._process.hello, "pid": self._process.pid}

    def evaluate(
        self, job: str, attempt: int, body: Mapping[str, Any], input_seed: str
    ) -> dict[str, Any]:
        return self._started().evaluate(job, attempt, body, input_seed)

    def stop(self) -> None:
        with self._lock:
            self._stopped = True
            if self._process:
                self._process.close()

    def _started(self) -> WorkerProcess:
        if self._process is None:
            raise WorkerLost("the worker has not started")
        return self._process


@dataclass
class PoolReport:
    """What a pool does now, and the sums of what it did."""

    starting: int = 0
    idle: int = 0
    busy: int = 0
    losses: int = 0
    failed_starts: int = 0
    problem: str = ""  # why the last worker was lost or did not start


class _Seat:
    """A place for one worker after another."""

    def __init__(self) -> None:
        self.worker: Worker | None = None
        self.ready = False
        self.name = ""
        self.taken = 0  # slots that evaluations hold


class WorkerPool:
    """Keeps `size` workers, and gives each of them `jobs_per_worker` evaluations at a time. An
    evaluation whose worker is lost runs again on another one, at most twice. Thread-safe."""

    def __init__(self, engine: Engine, size: int, *, jobs_per_worker: int = 1) -> None:
        if size < 1 or jobs_per_worker < 1:
            raise ValueError("size and jobs_per_worker must be at least 1")
        self._engine = engine
        self._slots = jobs_per_worker
        self._changed = threading.Condition()
        self._closed = False
        self._kind: tuple[str, ...] = ()  # of the first worker; all others must be equal
        self._failures_in_row = 0
        self._sums = PoolReport()
        self._numbers = 0
        self._seats = [_Seat() for _ in range(size)]
        self._starters: list[threading.Thread] = []
        self._threads = ThreadPoolExecutor(size * jobs_per_worker)
        with self._changed:
            for seat in self._seats:
                self._begin_start(seat)

    def __enter__(self) -> WorkerPool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the workers. Evaluations that still run end as `aborted`."""
        with self._changed:
            self._closed = True
            workers = [seat.worker for seat in self._seats if seat.worker]
            self._changed.notify_all()
        for worker in workers:
            worker.stop()
        for starter in list(self._starters):
            starter.join()
        self._threads.shutdown()

    def report(self) -> PoolReport:
        with self._changed:
            ready = [seat for seat in self._seats if seat.ready]
            busy = sum(seat.taken > 0 for seat in ready)
            starting = len(self._seats) - len(ready)
            return replace(self._sums, starting=starting, idle=len(ready) - busy, busy=busy)

    def evaluate(
        self, batch: Iterable[Evaluation], *, rewards: Rewards = (), timeout_s: float = 3600.0
    ) -> list[Result]:
        """Returns the results in the order of the batch, one for each evaluation. What waits for a
        worker after `timeout_s` seconds is cancelled. What runs by then has the limits of its job,
        so that a slow kernel gets no masked result. All evaluations of a group in one batch get the
        same inputs, and those of the next batch get others."""
        every = list(batch)
        for one in every:
            wrong = [name for name in SERVER_ONLY if getattr(one, name) is not None]
            if wrong:
                raise ValueError(f"only a server knows these members: {', '.join(wrong)}")
        until = time.monotonic() + timeout_s
        seeds = {one.group: secrets.token_hex(32) for one in every if one.group}
        futures = [
            self._threads.submit(self._run, one, rewards, seeds.get(one.group or "", ""), until)
            for one in every
        ]
        return [
            replace(Result.from_json({"index": index, **future.result()}), index=index)
            for index, future in enumerate(futures)
        ]

    def _run(
        self, evaluation: Evaluation, rewards: Rewards, seed: str, until: float
    ) -> dict[str, Any]:
        job = "job_" + "".join(secrets.choice(HANDLE_ALPHABET) for _ in range(HANDLE_CHARACTERS))
        body = body_of([replace(evaluation, group=None)], rewards, 0)
        result = self._attempts(job, body, seed, until)
        result = {"operator": evaluation.operator, "mode": evaluation.mode, **result}
        if result["state"] != "refused":
            names = [one if isinstance(one, str) else one.name for one in rewards]
            result = {"id": job, "rewards": dict.fromkeys(names), **result}
        if evaluation.group:
            inputs = hashlib.sha256(seed.encode()).hexdigest()[:INPUTS_DIGITS]
            result |= {"group": evaluation.group, "inputs": inputs}
        return result

    def _attempts(
        self, job: str, body: Mapping[str, Any], seed: str, until: float
    ) -> dict[str, Any]:
        losses: list[str] = []
        for attempt in range(1, MOST_ATTEMPTS + 1):
            slots = self._slots if attempt == MOST_ATTEMPTS else 1
            seat, worker, why = self._take(slots, until)
            if seat is None or worker is None:
                return why
            try:
                answer = worker.evaluate(job, attempt, body, seed)
                return {**answer, "worker": seat.name}
            except WorkerLost as error:
                losses.append(f"{seat.name}: {error}")
                self._lose(seat, worker, losses[-1])
            finally:
                with self._changed:
                    if seat.worker is worker:
                        seat.taken -= slots
                    self._changed.notify_all()
        return _unfinished("aborted", "aborted", "three workers were lost: " + "; ".join(losses))

    def _take(self, slots: int, until: float) -> tuple[_Seat | None, Worker | None, dict[str, Any]]:
        """Waits for a worker with free slots. Otherwise returns the result that says why not."""
        with self._changed:
            failures_before = self._sums.failed_starts
            while True:
                if self._closed:
                    return None, None, _unfinished("aborted", "aborted", "the pool was closed")
                left = until - time.monotonic()
                if left <= 0:
                    why = "the time was over before a worker was free"
                    late = _unfinished("cancelled", "cancelled", why)
                    return None, None, {**late, "deadline_passed": True}
                for seat in self._seats:
                    if seat.ready and seat.taken + slots <= self._slots:
                        seat.taken += slots
                        return seat, seat.worker, {}
                none_can_come = self._failures_in_row >= PATIENCE and not any(
                    seat.ready for seat in self._seats
                )
                if none_can_come and self._sums.failed_starts > failures_before:
                    why = f"the pool has no worker: {self._sums.problem}"
                    return None, None, _unfinished("aborted", "device_unhealthy", why)
                self._changed.wait(left)

    def _lose(self, seat: _Seat, worker: Worker, why: str) -> None:
        with self._changed:
            if seat.worker is not worker:
                return  # another evaluation has noticed it
            seat.worker = None
            seat.ready = False
            seat.taken = 0
            self._sums.losses += 1
            self._sums.problem = why
            self._begin_start(seat)
        worker.stop()

    def _begin_start(self, seat: _Seat) -> None:
        """Starts a worker for the seat in the background. The lock must be held."""
        if self._closed:
            return
        self._starters = [one for one in self._starters if one.is_alive()]
        starter = threading.Thread(target=self._start, args=(seat,), daemon=True)
        self._starters.append(starter)
        starter.start()

    def _start(self, seat: _Seat) -> None:
        while True:
            worker: Worker | None = None
            try:
                worker = self._engine.start()
                with self._changed:
                    seat.worker = worker  # so that close() ends it
                    if self._closed:
                        raise WorkerRefused("the pool was closed")
                self._admit(seat, worker.hello())
                return
            except (WorkerRefused, WorkerLost, OSError) as error:
                if worker:
                    worker.stop()
                with self._changed:
                    seat.worker = None
                    if self._closed:
                        return
                    self._sums.failed_starts += 1
                    self._sums.problem = str(error)
                    self._failures_in_row += 1
                    self._changed.notify_all()
                    doublings = min(self._failures_in_row - 1, 10)
                    pause = min(FIRST_PAUSE_S * 2**doublings, LONGEST_PAUSE_S)
                    self._changed.wait_for(lambda: self._closed, pause)
                    if self._closed:
                        return

    def _admit(self, seat: _Seat, hello: Mapping[str, Any]) -> None:
        host = hello.get("host", "?")
        if hello.get("protocol") != PROTOCOL or hello.get("assay") != assay.__version__:
            raise WorkerRefused(
                f"the worker on {host} has version {hello.get('assay')} of Assay and protocol "
                f"{hello.get('protocol')}, and this package has {assay.__version__} and "
                f"{PROTOCOL}; install the same version on the worker's machine"
            )
        try:
            device = str(hello["device"]["description"])
            hardware = _class_of(hello["device"]["class"])
        except (KeyError, TypeError, AttributeError) as error:
            raise WorkerRefused(f"the hello of the worker on {host} describes no device") from error
        kind = (str(hello.get("harness")), str(hello.get("suite")), device, hardware)
        with self._changed:
            self._kind = self._kind or kind
            if kind != self._kind:
                raise WorkerRefused(
                    f"the worker on {host} differs from the first one in its files of "
                    "sandbox/harness, its operators or its device, so their results cannot be "
                    f"compared: {kind} and {self._kind}"
                )
            self._numbers += 1
            seat.name = f"{self._numbers}@{host}"
            seat.ready = True
            self._failures_in_row = 0
            self._changed.notify_all()


def _class_of(hardware: Mapping[str, Any]) -> str:
    """Returns a text that is equal for devices whose times can be compared. The description of a
    device has neither the driver nor the clocks. The units are those of class_difference() in
    sandbox/job/device_class.h."""
    return json.dumps(
        {
            name: value // CLASS_UNITS[name] if name in CLASS_UNITS else value
            for name, value in hardware.items()
        },
        sort_keys=True,
    )


def _unfinished(state: str, kind: str, summary: str) -> dict[str, Any]:
    """Returns the result of an evaluation that no worker has ended."""
    infra = kind != "cancelled"
    return {
        "state": state,
        "outcome": "error",
        "error_kind": kind,
        "stage": "queue",
        "summary": summary,
        "infra": infra,
        "masked": True,
    }
