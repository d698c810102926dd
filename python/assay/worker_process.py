"""Starts `assay worker` on this machine and speaks with it (docs/reference/workers.md).

    with WorkerProcess(["assay", "worker", "--device", "fake"]) as worker:
        worker.hello["device"]["name"]  # "fake"
        worker.evaluate("job_1", 1, {"evaluations": [{"operator": "vector_add", "source": "..."}]})

Needs nothing but the standard library."""

from __future__ import annotations

import json
import os
import select
import shutil
import struct
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

from assay.errors import AssayError

PREFIX = struct.Struct("<4sIQ")  # docs/reference/frames.md
MAGIC = b"ASY1"
MOST_HEADER_BYTES = 4 << 20
MOST_PAYLOAD_BYTES = 64 << 20
SILENCE_S = 4.5  # a worker that sends nothing for so long is lost
END_S = 10.0  # the time that a worker has to end after its input
SHOWN_BYTES = 400  # of what a worker wrote to stderr, in an error


class WorkerLost(AssayError):
    """The worker has gone. Another worker can run its evaluations."""


class WorkerRefused(AssayError):
    """There is no worker, or it cannot be used. The message says what to change."""


class WorkerProcess:
    """One worker. Thread-safe: many threads may call evaluate() at a time."""

    def __init__(self, command: Sequence[str], *, start_s: float = 60.0) -> None:
        """Starts the command and waits for the worker's hello. Raises WorkerRefused."""
        if shutil.which(command[0]) is None:
            raise WorkerRefused(
                f"there is no program {command[0]} on this machine; give the path of `assay`"
            )
        self._log = tempfile.TemporaryFile()  # noqa: SIM115
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log
        )
        assert self._process.stdin is not None and self._process.stdout is not None
        self._input = self._process.stdin
        self._output = self._process.stdout.fileno()
        self._write_lock = threading.Lock()
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._answers: dict[tuple[str, int], dict[str, Any] | None] = {}
        self._lost = ""
        try:
            self.hello, _ = self._read_frame(start_s)
        except (WorkerLost, ValueError) as error:  # ValueError: the header is no JSON
            self.close(0)
            raise WorkerRefused(f"the command {command[0]} started no worker: {error}") from error
        if self.hello.get("type") != "hello":
            self.close(0)
            raise WorkerRefused(f"the first message is {self.hello.get('type')!r} and no hello")
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> WorkerProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def pid(self) -> int:
        return self._process.pid

    def evaluate(
        self, job: str, attempt: int, body: Mapping[str, Any], input_seed: str = ""
    ) -> dict[str, Any]:
        """Sends the body of POST /v1/evaluate with one evaluation, and returns its result. Raises
        WorkerLost."""
        tag = (job, attempt)
        header = {"type": "evaluate", "job": job, "attempt": attempt, "input_seed": input_seed}
        with self._lock:
            self._answers[tag] = None
        try:
            self._send(header, json.dumps(body).encode())
            with self._changed:
                while self._answers[tag] is None:
                    if self._lost:
                        raise WorkerLost(self._lost)
                    self._changed.wait()
                answer = self._answers[tag]
                assert answer is not None
                return answer
        finally:
            with self._lock:
                del self._answers[tag]

    def close(self, end_s: float = END_S) -> None:
        """Ends the worker. Evaluations that it still has are lost."""
        with self._write_lock:
            try:
                self._input.close()
            except OSError:
                pass  # the worker has ended, so nobody reads the rest of the input
        try:
            self._process.wait(end_s)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _send(self, header: Mapping[str, Any], payload: bytes) -> None:
        text = json.dumps(header).encode()
        with self._write_lock:
            try:
                self._input.write(PREFIX.pack(MAGIC, len(text), len(payload)) + text + payload)
                self._input.flush()
            except (OSError, ValueError) as error:
                raise WorkerLost(f"the worker reads nothing: {self._said(str(error))}") from error

    def _read(self) -> None:
        """Receives messages until the worker has ended or broken the protocol."""
        try:
            while True:
                header, payload = self._read_frame(SILENCE_S)
                if header.get("type") != "result":
                    continue
                tag = (str(header.get("job")), int(header.get("attempt", 0)))
                result = json.loads(payload)
                with self._changed:
                    if tag in self._answers:  # otherwise nobody waits for it any more
                        self._answers[tag] = result
                        self._changed.notify_all()
        except (WorkerLost, ValueError, TypeError) as error:
            why = str(error)
        self._process.kill()
        self._process.wait()
        with self._changed:
            self._lost = why
            self._changed.notify_all()

    def _read_frame(self, silence_s: float) -> tuple[dict[str, Any], bytes]:
        magic, header_bytes, payload_bytes = PREFIX.unpack(
            self._read_exactly(PREFIX.size, silence_s)
        )
        if magic != MAGIC:
            raise WorkerLost(self._said("it printed something that is no frame"))
        if header_bytes > MOST_HEADER_BYTES or payload_bytes > MOST_PAYLOAD_BYTES:
            raise WorkerLost(self._said("its message is too large"))
        header = json.loads(self._read_exactly(header_bytes, silence_s))
        if not isinstance(header, dict):
            raise WorkerLost(self._said("its header is no JSON object"))
        return header, self._read_exactly(payload_bytes, silence_s)

    def _read_exactly(self, size: int, silence_s: float) -> bytes:
        parts = bytearray()
        until = time.monotonic() + silence_s
        while len(parts) < size:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self._output], [], [], left)[0]:
                raise WorkerLost(self._said(f"it sent nothing for {silence_s:g} s"))
            some = os.read(self._output, size - len(parts))
            if not some:
                raise WorkerLost(self._said("its output has ended"))
            parts += some
            until = time.monotonic() + silence_s
        return bytes(parts)

    def _said(self, what: str) -> str:
        """Adds the end of what the worker wrote to stderr."""
        size = os.fstat(self._log.fileno()).st_size
        words = os.pread(self._log.fileno(), SHOWN_BYTES, max(size - SHOWN_BYTES, 0))
        text = words.decode(errors="replace").strip()
        return f"{what}; stderr: {text}" if text else what
