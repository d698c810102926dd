"""Imports golden files in a jail, because the files are untrusted. The jail is that of a submission
(docs/explanation/sandbox.md): no network, no GPU, none of the user's files, and nothing that a file
writes or starts outlives its import.

    with ImportJail(Path("build/release"), strict=False) as jail:
        result = jail.import_file(slot=0, golden, Limits(timeout_s=240, ...), "cuda:90")
    result.report, result.parts  # parts: {(operator, file): bytes}

A warm process in the jail (import_zygote.py) has imported torch and Triton. It forks a child for
each file. `import_file` may be called by several threads, each with its own slot. Another importer
names the module that its children run, and gives `run` an Exchange of its own messages."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "sandbox"))

from benchmark_file import GoldenFile  # noqa: E402
from harness.wire.frames import Channel, Frame, FrameError  # noqa: E402
from import_exchange import (  # noqa: E402
    FIRST_INTERPRET_STEP,
    INTERPRET_STEPS,
    Exchange,
    GoldenExchange,
    Result,
    failed,
    interpret_step_wall_s,
)

# harness/entry/fake_cuda.py has this name too, but importing it here would import torch.
GUARD_LIBRARY = "libassay_fake_cuda_guard.so"
START_S = 120
LOG_CHARS = 2000
SLOTS = 64
PROCESSES = 256  # processes and threads of one file
# Memory that a file's import may write to its /tmp: compiled kernels, and the operators.
TMP_BYTES = 2 << 30


class NoJail(Exception):
    """The jail cannot be used. The message says why, and what helps."""


class Stopped(Exception):
    """The import was stopped."""


@dataclass(frozen=True)
class Limits:
    timeout_s: float  # for the import of one file
    memory_mib: int  # of private memory of each process


class ImportJail:
    def __init__(self, build: Path, strict: bool, child: str = "golden_child") -> None:
        """`child` is a name of import_zygote.CHILDREN."""
        self._command = _command(build, strict, child)
        self._isolation = "strict" if strict else "best_effort"
        self._forked: dict[int, queue.Queue[Frame | None]] = {}
        self._exited: dict[int, queue.Queue[Frame | None]] = {}
        for slot in range(SLOTS):
            self._forked[slot], self._exited[slot] = queue.Queue(), queue.Queue()
        self._sending = threading.Lock()
        self._running: dict[int, _Child] = {}
        self._stopped = False
        self._reader = threading.Thread(target=self._read, daemon=True)
        self.missing_layers: list[str] = []

    def __enter__(self) -> ImportJail:
        ours, theirs = socket.socketpair()
        self._log = tempfile.TemporaryFile()
        with theirs:
            number = str(theirs.fileno())
            self._process = subprocess.Popen(
                [word.replace("{fd}", number) for word in self._command],
                stdin=subprocess.DEVNULL,
                stdout=self._log,
                stderr=self._log,
                pass_fds=(theirs.fileno(),),
                env={"PATH": os.environ.get("PATH", "")},
                start_new_session=True,
            )
        self._control = Channel(ours)
        ours.settimeout(START_S)
        try:
            ready = self._control.receive()
        except (OSError, FrameError):
            ready = None
        if ready is None or ready.type != "ready":
            self.__exit__()
            raise NoJail(f"the jail did not start: {self._tail()}")
        ours.settimeout(None)
        self._note_layers(ready.header["layers"])
        self._reader.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Ends all processes of the jail."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        if self._reader.is_alive():
            self._reader.join()  # it ends, because the zygote's end of the socket is closed
        self._control.close()

    def stop(self) -> None:
        """Ends all children. Their import_file() raises Stopped, and no other file can start."""
        self._stopped = True
        for child in list(self._running.values()):
            child.kill()

    def import_file(self, slot: int, golden: GoldenFile, limits: Limits, target: str) -> Result:
        return self.run(slot, GoldenExchange(golden, target, limits.timeout_s), limits)

    def run(self, slot: int, exchange: Exchange, limits: Limits) -> Result:
        child = self._fork(slot, limits)
        self._running[slot] = child
        try:
            result = child.work(exchange, limits)
        finally:
            child.kill()
            del self._running[slot]
            # The zygote has then reaped the child, so another child may use the slot.
            exited = self._exited[slot].get()
            child.close()
        if self._stopped:
            raise Stopped
        if exited is None:
            raise NoJail(f"the jail ended: {self._tail()}")
        return result

    def _fork(self, slot: int, limits: Limits) -> _Child:
        if self._stopped:
            raise Stopped
        job, theirs = socket.socketpair()
        output = tempfile.TemporaryFile()  # noqa: SIM115, the child object closes it
        jail = {
            "slot": slot,
            "isolation": self._isolation,
            "tmp_bytes": TMP_BYTES,
            "file_bytes": TMP_BYTES,
            "processes": PROCESSES,
            "data_bytes": limits.memory_mib << 20,
        }
        with theirs:
            fds = [theirs.fileno(), output.fileno(), output.fileno()]
            try:
                with self._sending:
                    self._control.send({"type": "fork", "slot": slot, "jail": jail}, fds=fds)
            except OSError:
                self._forked[slot].put(None)
            forked = self._forked[slot].get()
        if forked is None:
            job.close()
            raise NoJail(f"the jail ended: {self._tail()}")
        return _Child(Channel(job), forked.fds[0], output, self._note_layers)

    def _read(self) -> None:
        """Gives each message of the zygote to the thread that waits for it."""
        while True:
            try:
                frame = self._control.receive()
            except (OSError, FrameError):
                frame = None
            if frame is None:
                break
            waiting = self._forked if frame.type == "forked" else self._exited
            waiting[int(frame.header["slot"])].put(frame)
        for slot in range(SLOTS):
            self._forked[slot].put(None)
            self._exited[slot].put(None)

    def _note_layers(self, layers: Any) -> None:
        for layer in layers:
            if not layer["active"] and layer["name"] not in self.missing_layers:
                self.missing_layers.append(str(layer["name"]))

    def _tail(self) -> str:
        self._log.seek(0)
        return self._log.read()[-LOG_CHARS:].decode("utf-8", "replace").strip() or "it said nothing"


class _Child:
    """The process that imports one file. If the machine has pid namespaces, this process is the
    first of its own, and its end ends all processes that it started."""

    def __init__(self, channel: Channel, pidfd: int, output: Any, note_layers: Any) -> None:
        self._channel = channel
        self._pidfd = pidfd
        self._output = output
        self._note_layers = note_layers
        self._group = _process_id(pidfd)
        self._owns_namespace = True
        self._late = False
        self._interprets = False
        self._step = "start"

    def work(self, exchange: Exchange, limits: Limits) -> Result:
        started = time.monotonic()
        timer = threading.Timer(limits.timeout_s, self._end_late)
        timer.start()
        result = Result({})
        try:
            for frame in self._frames(exchange):
                if self._begins_to_interpret(frame):
                    timer.cancel()
                    more_s = INTERPRET_STEPS * interpret_step_wall_s(limits.timeout_s)
                    timer = threading.Timer(more_s, self._end_late)
                    timer.start()
                if exchange.take(frame, result):
                    break
        except (OSError, FrameError, KeyError, TypeError, ValueError) as error:
            result = Result(failed("crash", f"the file's process broke the protocol: {error}"))
        finally:
            timer.cancel()
        if self._late:
            text = f"it took over {limits.timeout_s:g} s, in the step `{self._step}`"
            result = Result(failed("timeout", text))
        elif not result.report:
            text = f"its process ended in the step `{self._step}`: {self._tail()}"
            result = Result(failed("crash", text))
        result.report["seconds"] = round(time.monotonic() - started, 1)
        return result

    def _frames(self, exchange: Exchange) -> Iterator[Frame]:
        parked = self._channel.receive()
        if parked is None:
            return
        layers = parked.header["layers"]
        self._note_layers(layers)
        self._owns_namespace = any(
            layer["name"] == "pid_namespace" and layer["active"] for layer in layers
        )
        self._channel.send(*exchange.request())
        for frame in self._channel:
            for fd in frame.fds:
                os.close(fd)
            if frame.type == "step":
                self._step = str(frame.header["name"])[:80]
            yield frame

    def _begins_to_interpret(self, frame: Frame) -> bool:
        """Returns True once."""
        if self._interprets or frame.type != "step":
            return False
        self._interprets = frame.header["name"] == FIRST_INTERPRET_STEP
        return self._interprets

    def _end_late(self) -> None:
        self._late = True
        self.kill()

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
        if not self._owns_namespace and self._group:
            # Without a pid namespace, the processes that the child started live on.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._group, signal.SIGKILL)

    def close(self) -> None:
        self._channel.close()
        self._output.close()
        os.close(self._pidfd)

    def _tail(self) -> str:
        self._output.seek(0)
        text = self._output.read()[-LOG_CHARS:].decode("utf-8", "replace").strip()
        return text.rpartition("\n")[2] or "it printed nothing"


def _process_id(pidfd: int) -> int:
    """Returns the id that the process has in this process's pid namespace, or 0."""
    for line in Path(f"/proc/self/fdinfo/{pidfd}").read_text(encoding="utf-8").splitlines():
        if line.startswith("Pid:"):
            return max(0, int(line.split()[1]))
    return 0


def _command(build: Path, strict: bool, child: str) -> list[str]:
    jail, native = build / "bin/assay-jail", build / "harness"
    for path, purpose in (
        (jail, "makes the jail that files are imported in"),
        (native / GUARD_LIBRARY, "files need to run without a GPU"),
    ):
        if not path.exists():
            raise NoJail(
                f"there is no {path}, which {purpose}; run ./run setup, or name the build folder "
                "with --build"
            )
    importers, harness = ROOT / "importers", ROOT / "sandbox/harness"
    words = [str(jail), "--isolation", "strict" if strict else "best_effort"]
    words += ["--slots", str(SLOTS), "--keep-fd", "{fd}", "--python", sys.executable]
    for folder in (importers, harness, native):
        words += ["--bind", str(folder)]
    words += ["--env", f"ASSAY_NATIVE_DIR={native}", "--", sys.executable, "-I", "-B", "-u"]
    words += [str(importers / "common/import_zygote.py"), "--control-fd", "{fd}"]
    return [*words, "--child", child]
