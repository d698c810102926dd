"""The actors of a Ray cluster that run workers, and the engine of a pool of them.

    engine = RayEngine(["assay", "worker", "--device", "cuda:0"], Placement(num_gpus=1))
    with WorkerPool(engine, size=8) as workers:
        workers.evaluate(batch)

ray.init() must have been called before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import ray
from ray import exceptions

from assay.worker_pool import LocalWorker, Worker, WorkerPool
from assay.worker_process import SILENCE_S, WorkerLost, WorkerRefused

START_S = 3600.0  # a cluster may take so long to have a free node
HELLO_S = 120.0  # the time that the command of a worker has on its node
SPARE_THREADS = 2  # of an actor: hello() and alive()
ASK_S = 1.0  # while an evaluation runs, its actor is asked so often whether it lives


@dataclass(frozen=True)
class Placement:
    """Where an actor may run. `accelerator_type` is a name of ray.util.accelerators, "H100" for
    example. `resources` are custom resources of the nodes."""

    num_gpus: float = 0
    num_cpus: float = 1
    accelerator_type: str | None = None
    resources: Mapping[str, float] = field(default_factory=dict)

    def options(self) -> dict[str, Any]:
        options: dict[str, Any] = {"num_gpus": self.num_gpus, "num_cpus": self.num_cpus}
        if self.accelerator_type:
            options["accelerator_type"] = self.accelerator_type
        if self.resources:
            options["resources"] = dict(self.resources)
        return options

    def __str__(self) -> str:
        return ", ".join(f"{name}={value}" for name, value in self.options().items())


class WorkerActor:
    """The code of an actor: one `assay worker`. The worker ends with its actor's process."""

    def __init__(self, command: Sequence[str]) -> None:
        self._worker = LocalWorker(command, HELLO_S)

    def hello(self) -> dict[str, Any]:
        node = ray.get_runtime_context().get_node_id()
        hello = dict(self._worker.hello())
        return {**hello, "host": f"{hello.get('host')}/{node[:8]}"}

    def evaluate(
        self, job: str, attempt: int, body: Mapping[str, Any], input_seed: str
    ) -> dict[str, Any]:
        return self._worker.evaluate(job, attempt, body, input_seed)

    def alive(self) -> None:
        """Returns at once."""


class RayEngine:
    """Starts workers in actors. The pool starts a new actor in place of a lost one, so that it is
    placed again and its worker is checked again; Ray itself restarts none."""

    def __init__(
        self,
        command: Sequence[str],
        placement: Placement | None = None,
        *,
        jobs_per_worker: int = 1,
        start_s: float = START_S,
    ) -> None:
        self._command = list(command)
        self._placement = placement or Placement()
        self._start_s = start_s
        self._actor = ray.remote(WorkerActor).options(
            **self._placement.options(),
            max_restarts=0,
            max_task_retries=0,
            max_concurrency=jobs_per_worker + SPARE_THREADS,
        )

    def start(self) -> Worker:
        try:
            actor = self._actor.remote(self._command)
        except exceptions.RayError as error:
            raise WorkerRefused(f"Ray starts no actor: {_brief(error)}") from error
        return _RayWorker(actor, self._placement, self._start_s)


class _RayWorker:
    """An actor as the pool sees it."""

    def __init__(self, actor: Any, placement: Placement, start_s: float) -> None:
        self._actor = actor
        self._placement = placement
        self._start_s = start_s

    def hello(self) -> Mapping[str, Any]:
        try:
            hello: dict[str, Any] = ray.get(self._actor.hello.remote(), timeout=self._start_s)
        except exceptions.GetTimeoutError as error:
            raise WorkerRefused(
                f"Ray started no actor with {self._placement} in {self._start_s:g} s; `ray status` "
                "shows what the nodes have"
            ) from error
        except (WorkerRefused, WorkerLost) as error:
            raise _cause_of(error) from None
        except exceptions.RayError as error:
            why = _brief(error)
            raise WorkerRefused(f"the actor died before its worker's hello: {why}") from error
        return hello

    def evaluate(
        self, job: str, attempt: int, body: Mapping[str, Any], input_seed: str
    ) -> dict[str, Any]:
        answer: dict[str, Any] = self._call(self._actor.evaluate, job, attempt, body, input_seed)
        return answer

    def stop(self) -> None:
        ray.kill(self._actor)

    def _call(self, method: Any, *arguments: Any) -> Any:
        """Waits for the answer. Ray itself notices the loss of a node only after half a minute, so
        the actor is asked meanwhile."""
        try:
            answer = method.remote(*arguments)
            while not ray.wait([answer], timeout=ASK_S)[0]:
                if not ray.wait([self._actor.alive.remote()], timeout=SILENCE_S)[0]:
                    raise WorkerLost(f"the actor did not answer for {SILENCE_S:g} s")
            return ray.get(answer)
        except WorkerLost as error:
            raise _cause_of(error) from None
        except exceptions.RayError as error:
            raise WorkerLost(f"the actor was lost: {_brief(error)}") from error


def _cause_of(error: Exception) -> Exception:
    """Returns what the actor raised. Ray raises an exception whose text is a whole traceback."""
    cause = getattr(error, "cause", None)
    return cause if isinstance(cause, Exception) else error


def _brief(error: Exception) -> str:
    """Returns the first and the last line of an error of Ray, which may be a long traceback."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0] if len(lines) == 1 else f"{lines[0]} ... {lines[-1].strip()}"


def pool(
    size: int,
    command: Sequence[str] | None = None,
    *,
    num_gpus: float = 1,
    num_cpus: float = 1,
    accelerator_type: str | None = None,
    resources: Mapping[str, float] | None = None,
    jobs_per_worker: int = 1,
    start_s: float = START_S,
) -> WorkerPool:
    """Returns a pool of `size` actors. Without a command, an actor runs `assay worker` on the GPU
    that Ray gives it, or on the processors if `num_gpus` is 0. Calls ray.init() if nobody has."""
    if not ray.is_initialized():
        ray.init(log_to_driver=False)
    if command is None:
        command = ["assay", "worker", "--device", "cuda:0" if num_gpus else "cpu"]
    placement = Placement(num_gpus, num_cpus, accelerator_type, dict(resources or {}))
    engine = RayEngine(command, placement, jobs_per_worker=jobs_per_worker, start_s=start_s)
    return WorkerPool(engine, size, jobs_per_worker=jobs_per_worker)
