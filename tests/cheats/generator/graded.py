"""Sends sources to real servers as graded submissions.

with Graded(binary, "cpu", servers=2) as graded:
    verdict = graded.submit(operator, source)     # from any number of threads
    verdict = graded.submit(operator, source, tested_first=True)

With `tested_first`, a source is sent to `run_tests` first, and graded only if it passes there. The
server judges the public cases of a grade before the hidden ones, by the same rules, so a source that
fails in `run_tests` fails its grade. But a grade also makes the inputs of all hidden cases and
records all configurations of an autotuner, so it takes several times as long to refuse a source.
The grade uses the recordings of `run_tests`. The tests of a thread belong to its run, so they share a
launcher, as those of an agent do. (Otherwise each test would wait for a new GPU context, and the
driver creates only some ten in a second.) A grade has a new launcher in any case. What an earlier
source left in a launcher could make a later one fail its test, so one of CONTROL refusals is
repeated in a new launcher, and the second verdict counts.
"""

from __future__ import annotations

import http.client
import itertools
import json
import sqlite3
import subprocess
import sys
import tempfile
import threading
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
if str(ROOT / "measurements") not in sys.path:
    sys.path.insert(0, str(ROOT / "measurements"))

from sandbox import Agent, Server, make_distinct  # noqa: E402

IMPORT_WALL_MS, RUN_WALL_MS, MEMORY_MIB = 20_000, 90_000, 2048
LIMITS = (
    *("--import-wall-ms", str(IMPORT_WALL_MS)),
    *("--run-wall-ms", str(RUN_WALL_MS)),
    *("--memory-mib", str(MEMORY_MIB)),
    *("--drain-s", "0"),
)
SHOW_S = 30  # the time limit for reading the store
CONTROL = 16
END_S = 10  # then a server that was asked to end is killed
# These errors are Assay's own. Their verdicts say nothing about the submission.
OURS = {"internal_error", "device_unhealthy", "cancelled"}


def _without_samples(part: Any) -> Any:
    if isinstance(part, dict):
        return {key: _without_samples(one) for key, one in part.items() if key != "samples_ns"}
    return [_without_samples(one) for one in part] if isinstance(part, list) else part


class NoVerdict(RuntimeError):
    """A submission has no verdict, because a server failed or ended."""


class Graded:
    """HTTP servers on one device, each with a store of its own. Thread-safe. Each thread stays with
    one server, and starts a practice run there."""

    def __init__(
        self, binary: str, device: str, servers: int = 1, jobs: int = 0, judges: int = 0
    ) -> None:
        """`jobs` is the number of jobs that one GPU has in progress, `judges` the number of its
        judges; 0 is the server's default."""
        self._folder = tempfile.TemporaryDirectory(prefix="cheat-generator-")
        counts = {"--gpu-jobs": jobs, "--judges": judges}
        set_counts = [word for name, n in counts.items() if n for word in (name, str(n))]
        of_gpu = ("--no-host-tier", *set_counts)
        tier = () if device == "cpu" else of_gpu
        self._servers: list[Server] = []
        for number in range(servers):
            folder = Path(self._folder.name) / str(number)
            folder.mkdir()
            self._servers.append(Server(binary, device, folder, *LIMITS, *tier, probe=False))
        self._refusals = itertools.count(1)
        self._turns = itertools.cycle(enumerate(self._servers))
        self._lock = threading.Lock()
        self._local = threading.local()

    def test(self, operator: str, source: str) -> dict[str, Any]:
        """Returns the verdict of `run_tests`. Raises NoVerdict."""
        return self._verdict(operator, make_distinct(source), "run_tests")

    def submit(self, operator: str, source: str, tested_first: bool = False) -> dict[str, Any]:
        """Returns the verdict of the grade, or that of `run_tests` if the source fails there. Raises
        NoVerdict."""
        source = make_distinct(source)
        if tested_first:
            verdict = self._verdict(operator, source, "run_tests")
            if verdict["outcome"] != "pass" and next(self._refusals) % CONTROL == 0:
                verdict = self._verdict(operator, source, "run_tests", in_run=False)
            if verdict["outcome"] != "pass":
                return verdict
        return self._verdict(operator, source, "submit")

    def _verdict(
        self, operator: str, source: str, tool: str, in_run: bool = True
    ) -> dict[str, Any]:
        kept = hasattr(self._local, "agent")
        try:
            verdict = self._send(operator, source, tool, in_run)
        except (OSError, http.client.HTTPException) as error:
            if not kept:
                raise NoVerdict(f"{operator}: {error!r}") from error
            # The server closes a connection that no request used for a while.
            return self._verdict(operator, source, tool, in_run)
        except (RuntimeError, KeyError) as error:  # KeyError: the server started no run
            raise NoVerdict(f"{operator}: {error!r}") from error
        if verdict.get("error_kind") in OURS or "outcome" not in verdict:
            raise NoVerdict(f"{operator}: {verdict.get('summary', verdict)}")
        return verdict

    def stored(self, job: str) -> Any:
        """Returns the verdict of this thread's job with all of its details, also those of hidden
        cases, which answers and `assay show` do not have. Leaves out the samples of times."""
        uri = f"{Path(self._local.store).as_uri()}?mode=ro"
        with closing(sqlite3.connect(uri, uri=True, timeout=SHOW_S)) as store:
            row = store.execute("SELECT document FROM verdicts WHERE job = ?", [job]).fetchone()
        return _without_samples(json.loads(row[0])) if row else None

    def _send(self, operator: str, source: str, tool: str, in_run: bool) -> dict[str, Any]:
        if not hasattr(self._local, "agent"):
            with self._lock:
                number, server = next(self._turns)
            self._local.agent = Agent(server.port)
            self._local.store = Path(self._folder.name) / str(number) / "assay.db"
        agent: Agent = self._local.agent
        try:
            return agent.verdict(
                source, tool=tool, operator=operator, in_run=in_run, distinct=False
            )
        except (OSError, http.client.HTTPException):
            del self._local.agent
            raise

    def end(self) -> None:
        """Ends the servers. Calls in progress raise NoVerdict."""
        for server in self._servers:
            server.process.terminate()
        for server in self._servers:
            try:
                server.process.wait(END_S)
            except subprocess.TimeoutExpired:
                server.process.kill()
                server.process.wait()

    def __enter__(self) -> Graded:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.end()
        self._folder.cleanup()
