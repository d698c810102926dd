"""Bridge passes bytes between this process and a worker in a Ray actor, in both directions.

    status = Bridge("auto", Placement(num_gpus=1), ["assay", "worker"], frames).run()

While no node is free, it writes this to stderr, which a server quotes."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from typing import Any

import ray
from ray import exceptions

from assay.ray.actors import Placement

CHUNK_BYTES = 1 << 20
LOOK_S = 0.5  # while there is no actor, the end of the wait is looked for so often
PENDING_S = 5.0  # after so many seconds without an actor, and then as often, stderr says so
EXIT_ENDED = 0  # the server needs no worker any more
EXIT_LOST = 69  # as of the other commands: something that is needed cannot be used


class PipeActor:
    """The code of an actor: a command whose stdin and stdout are reached by calls."""

    def __init__(self, command: Sequence[str]) -> None:
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def where(self) -> str:
        return f"node {ray.util.get_node_ip_address()}, process {self._process.pid}"

    def write(self, some: bytes) -> None:
        """Writes to stdin. Empty bytes end it."""
        assert self._process.stdin is not None
        if some:
            self._process.stdin.write(some)
            self._process.stdin.flush()
        else:
            self._process.stdin.close()

    def read(self) -> bytes:
        """Waits for output. Returns empty bytes at its end."""
        assert self._process.stdout is not None
        return os.read(self._process.stdout.fileno(), CHUNK_BYTES)

    def signal(self, number: int) -> None:
        self._process.send_signal(number)

    def status(self) -> int:
        return self._process.wait()


class Bridge:
    def __init__(
        self, address: str, placement: Placement, command: Sequence[str], frames: int
    ) -> None:
        self._address = address
        self._placement = placement
        self._command = list(command)
        self._frames = frames
        self._actor: Any = None
        self._stopped = threading.Event()  # SIGTERM has come

    def run(self) -> int:
        """Returns the exit status: that of the worker, 69 if it was lost, or 0 if SIGTERM or the end
        of the input came before there was a worker."""
        try:
            ray.init(self._address, log_to_driver=False, logging_level="ERROR")
        except (ConnectionError, RuntimeError, ValueError) as error:
            say(f"there is no Ray cluster at {self._address}: {error}")
            return EXIT_LOST
        try:
            return self._serve()
        except exceptions.RayError as error:
            say(f"the actor was lost: {str(error).strip().splitlines()[0]}")
            return EXIT_LOST
        except BrokenPipeError:
            say("the server reads nothing more")
            return EXIT_LOST
        finally:
            # The worker has ended, or it must end now. Ray ends it too if this process is killed.
            if self._actor is not None:
                ray.kill(self._actor)

    def _serve(self) -> int:
        # One thread each for read() and write(), and one for the other calls.
        actor = ray.remote(PipeActor).options(
            **self._placement.options(), max_restarts=0, max_concurrency=3
        )
        self._actor = actor.remote(self._command)
        signal.signal(signal.SIGTERM, lambda *_: self._stopped.set())
        where = self._actor.where.remote()
        if not self._wait_for(where):
            return EXIT_ENDED
        say(f"running: {ray.get(where)}")
        threading.Thread(target=self._pass_signal, daemon=True).start()
        threading.Thread(target=self._send_input, daemon=True).start()
        while some := ray.get(self._actor.read.remote()):
            write_all(self._frames, some)
        status: int = ray.get(self._actor.status.remote())
        return status if status >= 0 else 128 - status

    def _wait_for(self, where: Any) -> bool:
        """Waits until the actor runs. Returns false if the server needs it no more."""
        say_at = time.monotonic() + PENDING_S
        while not ray.wait([where], timeout=LOOK_S)[0]:
            if self._stopped.is_set():
                say("SIGTERM came before a node was free")
                return False
            if has_ended(0):
                say("the input ended before a node was free")
                return False
            if time.monotonic() >= say_at:
                say(f"pending: no node has {self._placement} free")
                say_at = time.monotonic() + PENDING_S
        return True

    def _send_input(self) -> None:
        """Passes the server's messages on until its output ends."""
        while True:
            some = os.read(0, CHUNK_BYTES)
            try:
                ray.get(self._actor.write.remote(some))
            except exceptions.RayError:
                return  # read() fails too, or the worker has ended
            if not some:
                return

    def _pass_signal(self) -> None:
        """Waits for SIGTERM, and asks the worker to end its jobs and then itself."""
        self._stopped.wait()
        self._actor.signal.remote(signal.SIGTERM)


def has_ended(file: int) -> bool:
    """Returns whether the other end of a pipe or a socket is closed. Reads nothing from it."""
    poll = select.poll()
    poll.register(file, select.POLLRDHUP)  # poll() always reports a hang-up and errors, too
    return bool(poll.poll(0))


def write_all(file: int, some: bytes) -> None:
    view = memoryview(some)
    while view:
        view = view[os.write(file, view) :]


def say(words: str) -> None:
    print(f"assay.ray: {words}", file=sys.stderr, flush=True)
