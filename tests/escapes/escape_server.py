"""Runs the real server for the escape suite, with short limits and in a private host
(private_host.py). canaries.py places secrets that no submission may reach, and watch.py checks that
no submission changes the number of processes, files and other objects."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from canaries import Canaries
from stdio_client import META, StdioClient
from tool_calls import verdict_of
from watch import POLL_S, Watch, launchers

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
IMPORT_WALL_MS = 6_000
RUN_WALL_MS = 4_000
LAUNCH_WALL_MS = 20_000  # the server's default, which no option can change
MEMORY_MIB = 512
CPU_PERCENT = 100  # one processor, so that the limit has an effect on a machine with two
SLACK_S = 30.0  # the time that a verdict may take beyond its limits
# The time in which processes, files and other objects of a case must have gone. A run without a layer
# of the jail finds differences that never go.
SETTLE_S = 5.0 if os.environ.get("ASSAY_WITHOUT") else 60.0
# On a GPU, launchers that are no longer needed end one after the other, and each one first ends its
# context. The server keeps PARKED_LAUNCHERS (sandbox/job/config.h).
SETTLE_ON_GPU_S = 30.0
PARKED_LAUNCHERS = 3
LAUNCHERS_SETTLED_S = 2.0
WARM_UP_JOBS = 4
# Makes malloc return freed memory to the system at once, so that growing memory shows a leak.
FRUGAL_MALLOC = {
    "MALLOC_ARENA_MAX": "1",
    "MALLOC_TRIM_THRESHOLD_": "65536",
    "MALLOC_MMAP_THRESHOLD_": "65536",
}
PRIVATE_HOST = (sys.executable, str(HERE / "private_host.py"))


def can_be_private() -> bool:
    """Returns whether the server can run in a private host. That needs root, and a checkout outside
    of /tmp."""
    if os.geteuid() != 0 or any(
        str(path).startswith(("/tmp/", "/dev/shm/")) for path in (ROOT, Path(sys.executable))
    ):
        return False
    return subprocess.run([*PRIVATE_HOST, "true"], capture_output=True).returncode == 0


@dataclass
class Outcome:
    verdict: dict[str, Any]
    wall_s: float

    @property
    def kind(self) -> str:
        return f"{self.verdict.get('outcome')}:{self.verdict.get('error_kind')}"


class EscapeServer:
    """Runs `assay serve --stdio` on `device`. A mutation build leaves out the isolation layers in
    `without`."""

    def __init__(self, binary: str, device: str = "cpu", without: str = "") -> None:
        (ROOT / "build").mkdir(exist_ok=True)
        self.folder = Path(
            tempfile.mkdtemp(prefix="escapes-", dir=ROOT / "build")
        )  # not in /tmp, because the private host has its own empty /tmp
        self.state = self.folder / "state"
        self.canaries = Canaries(self.folder)
        command = [
            binary,
            "serve",
            "--stdio",
            "--device",
            device,
            "--store",
            str(self.folder / "state" / "assay.db"),
        ]
        command += [
            "--import-wall-ms",
            str(IMPORT_WALL_MS),
            "--run-wall-ms",
            str(RUN_WALL_MS),
            "--memory-mib",
            str(MEMORY_MIB),
        ]
        command += ["--cpu-percent", str(CPU_PERCENT)]
        # A server of a GPU starts several judges, one after the other. One that started after the
        # warm-up would look like a process that a submission left behind.
        command += ["--judges", "1"]
        if without:
            command += ["--without", without]
        self.private = can_be_private()
        if self.private:
            command = [*PRIVATE_HOST, *command]
        environment = {
            **os.environ,
            **FRUGAL_MALLOC,
            **self.canaries.environment(),
            "ASSAY_STATE_DIR": str(self.state),
        }
        self.client = StdioClient(command, env=environment)
        self.pid = self.client.process.pid
        self.on_gpu = device != "cpu"
        self.watch: Watch | None = None

    def warm_up(self, correct: str, largest: list[str]) -> None:
        """Runs jobs until everything that starts on demand has started. The sources `largest` make
        the server's buffers as large as they may become, so that later growth is a leak. Then
        creates a Watch, which records the numbers of processes, files and other objects."""
        for source in largest:
            self.run(source)
        for _ in range(WARM_UP_JOBS):
            outcome = self.run(correct)
            assert outcome.verdict["outcome"] == "pass", outcome.verdict
        time.sleep(1.0)  # the pool of processes refills meanwhile
        if self.on_gpu:
            self._wait_for_launchers()
        self.watch = Watch(self.pid, self.state, self.private)

    def _wait_for_launchers(self) -> None:
        """Waits until those of the warm-up have ended. If they were counted, their end would look
        like a loss. While some end and others start, the number can be right for a moment."""
        end = time.monotonic() + SETTLE_ON_GPU_S
        right_since = time.monotonic()
        while time.monotonic() < right_since + LAUNCHERS_SETTLED_S:
            if (count := launchers(self.pid)) != PARKED_LAUNCHERS:
                right_since = time.monotonic()
                assert right_since < end, f"{count} launchers are left, not {PARKED_LAUNCHERS}"
            time.sleep(POLL_S)

    def run(self, source: str, tool: str = "run_tests") -> Outcome:
        started = time.monotonic()
        verdict = verdict_of(self.client, tool, {"operator": "vector_add", "code": source})
        return Outcome(verdict, time.monotonic() - started)

    def run_together(self, sources: list[str]) -> list[dict[str, Any]]:
        """Sends all sources before it waits for the first answer. Returns the verdicts in the order
        of the sources."""
        handles = []
        for source in sources:
            self.client.next_id += 1
            handles.append(self.client.next_id)
            arguments = {"operator": "vector_add", "code": source, "response_format": "detailed"}
            self.client.write(
                self.client.next_id,
                "tools/call",
                {"name": "run_tests", "arguments": arguments, "_meta": META},
            )
        answers = {}
        while len(answers) < len(handles):
            message = self.client.read()
            if message.get("id") in handles:
                answers[message["id"]] = message["result"]["structuredContent"]
        return [answers[handle] for handle in handles]

    def refuses(self, tool: str, arguments: dict[str, Any]) -> bool:
        """Returns whether the answer is an error of the tool or of the protocol, not a verdict."""
        self.client.next_id += 1
        self.client.write(
            self.client.next_id, "tools/call", {"name": tool, "arguments": arguments, "_meta": META}
        )
        while True:
            answer = self.client.read()
            if (
                answer.get("id") in (self.client.next_id, None) and "method" not in answer
            ):  # the id is null if the server could not read the id
                return "error" in answer or bool(answer["result"].get("isError"))

    def broken_invariants(self) -> list[str]:
        assert self.watch is not None, "warm_up() first"
        seconds = SETTLE_ON_GPU_S if self.on_gpu else SETTLE_S
        return self.watch.settle(seconds) + self.canaries.touched()

    def close(self) -> int:
        try:
            self.client.close()
            return int(self.client.process.returncode)
        except subprocess.TimeoutExpired:
            self.client.process.kill()  # ends even a server that hangs
            self.client.process.wait()
            raise
        finally:
            self.canaries.close()
            shutil.rmtree(self.folder)
