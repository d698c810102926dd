"""Asks processes of compare_outputs.py whether a mutant computes what its oracle computes.

with Comparers(4) as comparers:
    cases, problem = comparers.ask(question)   # from any number of threads

With Comparers(4, device="cuda:0"), the programs run on this GPU, and not in the interpreter.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any

PROGRAM = Path(__file__).resolve().parent / "compare_outputs.py"
Process = subprocess.Popen[str]


class Comparers:
    """Processes that compare outputs, one question at a time each. Thread-safe."""

    def __init__(self, processes: int, device: str = "cpu") -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="compare-outputs-", dir="/dev/shm")
        self._device = device
        self._ended = False
        self._all = [self._start() for _ in range(processes)]
        self._free: queue.SimpleQueue[Process] = queue.SimpleQueue()
        for process in self._all:
            self._free.put(process)

    def _start(self) -> Process:
        return subprocess.Popen(
            [sys.executable, str(PROGRAM), self._folder.name, self._device],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )

    def ask(self, question: dict[str, Any]) -> tuple[dict[str, str], str]:
        """Returns the results by case, and why they are incomplete. The second text is empty if
        they are complete. Raises RuntimeError if the process ended; the next question starts
        another one."""
        process = self._free.get()
        if process.poll() is not None and not self._ended:
            process = self._start()
            self._all.append(process)
        try:
            assert process.stdin and process.stdout
            process.stdin.write(json.dumps(question) + "\n")
            process.stdin.flush()
            cases: dict[str, str] = {}
            problem = ""
            for text in process.stdout:
                line = json.loads(text)
                if "case" in line:
                    cases[line["case"]] = line["said"]
                elif "error" in line:
                    problem = line["error"]
                else:
                    return cases, problem or (f"wait status {line['end']}" if line["end"] else "")
            raise RuntimeError("a process of compare_outputs.py ended")
        finally:
            self._free.put(process)

    def end(self) -> None:
        """Ends the processes at once. Calls in progress raise RuntimeError."""
        self._ended = True
        for process in self._all:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # the forked processes too
        for process in self._all:
            process.wait()

    def __enter__(self) -> Comparers:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.end()
        self._folder.cleanup()
