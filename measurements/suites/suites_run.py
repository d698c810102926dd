"""Judges and lints the operators of imported suites on one device, within a time limit."""

from __future__ import annotations

import argparse
import http.client
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "measurements"))

from suites_record import Suite, submission_of  # noqa: E402

from sandbox import Agent, Server  # noqa: E402

WAIT_S = 20  # the longest wait of one call for a verdict
END_S = 15  # of --seconds; kept for the ends of server and lint
MOST_LINT_JOBS = 16  # each has a judge process with PyTorch
# Calls in flight for a suite without oracles. Its submissions run on the host tier, where a job has
# the GPU alone, and calls in flight hold up the end of the suite's share of time.
HOST_TIER_JOBS = 2
LINTED_AT_ONCE = 2  # operators of one lint command, for each job
SUMMARY_CHARS = 300
KEPT = ("outcome", "error_kind", "tier", "tier_reason", "stage", "stage_ms", "hints")


def verdict_of(agent: Agent, operator: str, code: str) -> dict[str, Any]:
    answer = agent.call("run_tests", {"operator": operator, "code": code})
    while answer.get("status") in ("queued", "running"):
        answer = agent.call("job", {"job": answer["job"], "wait_s": WAIT_S})
    found = {key: answer.get(key) for key in KEPT}
    return {**found, "summary": str(answer.get("summary", ""))[:SUMMARY_CHARS]}


def within(suite: Suite, text: str) -> str:
    """Returns the beginning of a text of lint, with paths that begin in the suite's folder."""
    return text.replace(f"{suite.folder}/", "")[:SUMMARY_CHARS]


class Run:
    """One run of this script, until `end` of the clock time.monotonic()."""

    def __init__(self, options: argparse.Namespace, number: int) -> None:
        self.options = options
        self.number = number
        self.end = time.monotonic() + options.seconds - END_S
        self.lock = threading.Lock()  # protects the records while suites are measured at once

    def share(self, weight: float, weights_left: float, at_once: int) -> float:
        """Returns the time after which the next step starts nothing. It gets its share of the time
        that is left, and leaves what it does not need to the later steps."""
        now = time.monotonic()
        part = min(1.0, at_once * weight / weights_left)
        return now + max(0.0, self.end - now) * part

    def judge(self, suite: Suite, end: float) -> None:
        """Adds verdicts to the suite's record. Starts no call after `end`, and gives up the calls
        that are in flight at the end of the run."""
        waiting: queue.SimpleQueue[str] = queue.SimpleQueue()
        names = self.to_judge(suite)
        for name in names:
            waiting.put(name)
        if not names or time.monotonic() >= end:
            return
        most = self.options.jobs if suite.has_oracles else self.options.host_tier_jobs
        jobs = min(self.options.jobs, most)
        samples: list[dict[str, Any]] = []
        failures: list[Exception] = []
        with tempfile.TemporaryDirectory() as folder:
            arguments = ("--suite", str(suite.folder))
            try:
                server = Server(
                    self.options.binary, self.options.device, Path(folder), *arguments, probe=False
                )
            except SystemExit as error:
                self.say(f"{suite.record['name']}: {error}")
                return

            def work() -> None:
                agent = Agent(server.port)
                while time.monotonic() < end:
                    try:
                        name = waiting.get_nowait()
                    except queue.Empty:
                        return
                    start = time.monotonic()
                    code = submission_of(suite.folder / "standard" / name)
                    try:
                        verdict = verdict_of(agent, name, code)
                    except (OSError, http.client.HTTPException, RuntimeError) as error:
                        if time.monotonic() < self.end:
                            failures.append(error)
                        return
                    if time.monotonic() > self.end:
                        return
                    wall_s = round(time.monotonic() - start, 3)
                    sample = {"operator": name, "run": self.number, "wall_s": wall_s}
                    samples.append(sample | verdict)

            threads = [
                threading.Thread(target=work, daemon=True) for _ in range(min(jobs, len(names)))
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(max(0.0, self.end - time.monotonic()))
            with self.lock:
                suite.record["verdicts"] += list(samples)
            try:
                server.close()
            except subprocess.TimeoutExpired:
                server.process.kill()
                server.process.wait()
        for failure in failures:
            self.say(f"{suite.record['name']}: a client ended: {failure}")

    def to_judge(self, suite: Suite) -> list[str]:
        """Returns the operators that still need a verdict, and can have one on this device."""
        on_gpu = self.options.device != "cpu"
        missing = self.of_part(suite, "verdicts")
        return [name for name in missing if on_gpu or suite.baseline(name) == "oracle"]

    def to_lint(self, suite: Suite) -> list[str]:
        return self.of_part(suite, "lint")

    def of_part(self, suite: Suite, step: str) -> list[str]:
        """Returns the missing operators of this run's part of the suite."""
        missing = set(suite.missing(step))
        number, count = self.options.part
        return [name for name in suite.names[number - 1 :: count] if name in missing]

    def lint(self, suite: Suite, end: float) -> None:
        """Adds results of lint to the suite's record. Starts no command after `end`. The operators
        of a command that is in progress at the end of the run have no result."""
        jobs = min(self.options.jobs, MOST_LINT_JOBS)
        names = self.to_lint(suite)
        for first in range(0, len(names), jobs * LINTED_AT_ONCE):
            if time.monotonic() >= end:
                return
            part = names[first : first + jobs * LINTED_AT_ONCE]
            found = self.linted(suite, part, jobs)
            with self.lock:
                suite.record["lint"] += found

    def linted(self, suite: Suite, names: list[str], jobs: int) -> list[dict[str, Any]]:
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "lint.json"
            command = [self.options.binary, "operators", "--suite", str(suite.folder), "lint"]
            command += [*names, "--device", self.options.device, "--jobs", str(jobs), "--fresh"]
            process = subprocess.Popen(
                [*command, "--out", str(out)],
                stdout=subprocess.DEVNULL,
                env={**os.environ, "ASSAY_STATE_DIR": f"{folder}/state"},
            )
            try:
                process.wait(max(0.0, self.end - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.terminate()
                try:
                    process.wait(END_S / 2)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
                return []
            if not out.exists():
                self.say(f"{suite.record['name']}: lint ended with status {process.returncode}")
                return []
            found = json.loads(out.read_text(encoding="utf-8"))["operators"]
        return [
            {
                "operator": one["name"],
                "run": self.number,
                "sound": one["sound"],
                "undecided": one["undecided"],
                "failures": [within(suite, text) for text in one["failures"]],
                "mutants": one["mutants"],
                "killed": one["killed"],
                "oracle": within(suite, one["oracle"]),
                "checks_s": round(one["checks_s"], 3),
                "oracle_s": round(one["oracle_s"], 3),
            }
            for one in found
        ]

    @staticmethod
    def say(text: str) -> None:
        print(text, file=sys.stderr, flush=True)
