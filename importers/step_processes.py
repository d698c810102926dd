"""Runs the steps of an import in processes. A step may start further processes: a golden file may
start compilers, and a compiler can run for minutes. When a step ends, all its processes are killed.

    processes = StepProcesses()
    done = processes.run([sys.executable, "step.py"], environment, timeout_s=600)  # None: too late
    processes.stop()  # ends all steps; run() then raises Stopped

Each step is a process group. Thread-safe."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading


class Stopped(Exception):
    """The import was stopped, so no step may start."""


class StepProcesses:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: set[int] = set()  # the ids of the process groups
        self._stopped = False

    def run(
        self, command: list[str], environment: dict[str, str], timeout_s: float
    ) -> subprocess.CompletedProcess[str] | None:
        """Runs a step. Returns the finished process with its output, or None if the step took
        longer than `timeout_s`. Raises Stopped after a call of stop()."""
        with self._lock:
            if self._stopped:
                raise Stopped
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                env=environment,
                start_new_session=True,
            )
            self._running.add(process.pid)
        out = err = ""
        late = False
        try:
            out, err = process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            late = True
        finally:
            with self._lock:
                _kill_group(process.pid)
                self._running.discard(process.pid)
            if late:
                process.communicate()
        if late:
            return None
        return subprocess.CompletedProcess(command, process.returncode, out, err)

    def stop(self) -> None:
        with self._lock:
            self._stopped = True
            for group in self._running:
                _kill_group(group)


def _kill_group(group: int) -> None:
    """Kills all processes of a group. Does nothing if the group has no process left. A group's id
    stays valid as long as the group has a process, even after the process with the same id has
    ended."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)
