"""Makes system calls fail and kills processes while a job runs, and checks the verdicts. Calls of
the sandboxed processes fail only if strace is installed and the user is root.

    python tests/faults/matrix.py --out docs/reference/generated/faults.md
    python tests/faults/matrix.py --pairs --out docs/reference/generated/fault-pairs.md
    python tests/faults/matrix.py --launcher --out docs/reference/generated/launcher-faults.md

Each trial sends one submission of a scored run, with one fault somewhere on the way of its job. A
correct submission may pass, or end as an error of Assay's own. A wrong submission may fail, or end
so. An error of Assay's own is not charged to the run, and every other verdict is. Afterwards the
server knows each verdict that a client got, and an undisturbed job passes. With --pairs, each trial
has two faults: a process is killed, and a call fails. With --launcher, the device is a GPU with the
fake driver, and the faults also strike launchers."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(ROOT / "measurements"), str(HERE), str(HERE.parent / "crash")]

import processes  # noqa: E402
from fault_list import Fault, all_faults, fault_pairs, traced_faults  # noqa: E402
from fault_page import launcher_page, page, pairs_page  # noqa: E402
from injection import Faults  # noqa: E402
from stdio_client import META, StdioClient  # noqa: E402
from subject import ON_CPU, ON_FAKE_GPU, Subject  # noqa: E402
from tracing import Trace, can_trace  # noqa: E402
from trials import Matrix, Trial, earlier  # noqa: E402

# The names of the errors that are Assay's own.
OURS = ("internal_error", "device_unhealthy", "aborted")
UNDISTURBED_S = 240.0  # after a fault, an undisturbed job passes within this time
LOCKED_S = 120.0
SILENT_S = 600.0  # a server that says nothing for so long hangs


class Server:
    """A server on stdio whose system calls can be made to fail. It is restarted if it ended."""

    def __init__(self, binary: str, folder: Path, subject: Subject = ON_CPU) -> None:
        self.subject = subject
        self.store = folder / "assay.db"
        self.faults = Faults(folder)
        self.log = folder / "server.log"
        self.command = [
            binary, "serve", "--stdio", *subject.options, "--store", str(self.store),
            "--log-file", str(self.log),
        ]  # fmt: skip
        self.environment = self.faults.environment(
            {**os.environ, "ASSAY_STATE_DIR": str(folder / "state")}
        )
        self.count = 0
        self.client = StdioClient(self.command, env=self.environment)

    def alive(self) -> bool:
        return self.client.process.poll() is None

    def restart(self) -> None:
        self.client.process.kill()
        self.client.process.wait()
        self.client = StdioClient(self.command, env=self.environment)

    def end(self, error: str) -> str:
        """Says how the server ended, with the end of its log."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.client.process.wait(5)
        lines = self.log.read_text().splitlines()[-5:]
        status = self.client.process.returncode
        return f"{error}; the server's exit status is {status}; its log: {lines}"

    def new_run(self) -> str:
        request = {"agent": "faults", "model": "none", "track": "iterative"}
        request["suite"] = self.subject.operator
        run: str = self.client.call("start_run", request)["structuredContent"]["run"]
        return run

    def request(self, correct: bool = True, slowed: bool = False, run: str = "") -> dict[str, str]:
        """Returns the arguments of a call. The source has a comment that no earlier job had, so
        that nothing is cached."""
        self.count += 1
        code = f"{self.subject.code(correct, slowed)}\n# {self.count} {os.urandom(8).hex()}\n"
        arguments = {"operator": self.subject.operator, "code": code}
        return {**arguments, "run": run} if run else arguments

    def ask(self, tool: str, arguments: dict[str, Any], killer: Killer | None) -> dict[str, Any]:
        """Calls a tool and returns its response. Lets the killer see each stage."""
        self.client.next_id += 1
        number = self.client.next_id
        meta = {**META, "progressToken": number}
        self.client.write(
            number, "tools/call", {"name": tool, "arguments": arguments, "_meta": meta}
        )
        while True:
            message = self.client.read()
            if message.get("id") == number:
                return message
            text = message.get("params", {}).get("message", "")
            if killer and text.startswith("stage "):
                killer.at(text.removeprefix("stage ").partition(",")[0])

    def verdict(
        self, tool: str, arguments: dict[str, Any], killer: Killer | None
    ) -> dict[str, Any]:
        """Returns the verdict of a job, or {"refused": text} if the server took no job."""
        response = self.ask(tool, arguments, killer)
        while True:
            if "error" in response:
                return {"refused": json.dumps(response["error"])}
            result = response["result"]
            answer: dict[str, Any] = result.get("structuredContent", {})
            if answer.get("status") in ("queued", "running"):
                response = self.ask("job", {"job": answer["job"], "wait_s": 20}, killer)
                continue
            if "outcome" not in answer:
                return {"refused": json.dumps(result)[:500]}
            return answer

    def charged(self, job: str) -> bool | None:
        query = "SELECT refunded FROM tool_calls WHERE job = ?"
        # A server whose call of fcntl failed may keep a lock of its store for a moment.
        deadline = time.monotonic() + LOCKED_S
        while True:
            try:
                with contextlib.closing(
                    sqlite3.connect(f"file:{self.store}?mode=ro", uri=True, timeout=30)
                ) as connection:
                    row = connection.execute(query, (job,)).fetchone()
                return None if row is None else not row[0]
            except sqlite3.OperationalError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)

    def recovers(self) -> str:
        """Returns an empty text when an undisturbed correct job has passed, else what came."""
        deadline = time.monotonic() + UNDISTURBED_S
        answer: dict[str, Any] = {}
        while time.monotonic() < deadline:
            answer = self.verdict("run_tests", self.request(), None)
            if answer.get("outcome") == "pass":
                return ""
        return json.dumps(answer)[:300]


class Killer:
    """Kills the processes with a role, once: when a job is in a stage, or after a time."""

    def __init__(self, server: Server, fault: Fault) -> None:
        self.server, self.fault, self.killed = server, fault, 0
        self.timer = threading.Timer(fault.after_s, self.kill)
        if not fault.stage:
            self.timer.start()

    def at(self, stage: str) -> None:
        if not self.killed and stage == self.fault.stage:
            self.kill()

    def kill(self) -> None:
        for pid in processes.by_role(self.server.client.process.pid)[self.fault.role]:
            self.killed += processes.kill(pid)

    def stop(self) -> int:
        """Kills nothing more. Returns how many processes were killed."""
        self.timer.cancel()
        return self.killed


class Failing:
    """Makes calls of the server or of its judges fail."""

    def __init__(self, server: Server, fault: Fault) -> None:
        self.faults = server.faults
        self.faults.fail(fault.role, fault.call, fault.error, fault.skip, fault.times)

    def stop(self) -> int:
        return self.faults.clear()


def disturb(server: Server, fault: Fault) -> Killer | Failing | Trace:
    """Starts a fault. Its stop() returns how often it struck."""
    if not fault.call:
        return Killer(server, fault)
    if not fault.is_traced:
        return Failing(server, fault)
    pids = processes.by_role(server.client.process.pid)[fault.role]
    # A job takes the candidate that has waited longest. Only this one fails, so that the second
    # attempt of the job is undisturbed.
    return Trace(sorted(pids)[:1], fault.call, fault.error, fault.skip, fault.times)


def stop_all(disturbances: list[Killer | Failing | Trace]) -> int:
    """Stops all faults. Returns how often they struck, which is 0 if one of them did not."""
    return min([one.stop() for one in disturbances])


@contextlib.contextmanager
def watchdog(server: Server) -> Iterator[threading.Event]:
    """Kills a server that hangs. Then its client gets an error, and the event is set."""
    hung = threading.Event()

    def end() -> None:
        hung.set()
        server.client.process.kill()

    timer = threading.Timer(SILENT_S, end)
    timer.start()
    try:
        yield hung
    finally:
        timer.cancel()


def expectation(correct: bool, answer: dict[str, Any], charged: bool | None) -> str:
    """Returns what is wrong with a verdict, or an empty text."""
    outcome, kind = answer.get("outcome"), answer.get("error_kind", "none")
    if outcome == "error" and kind in OURS:
        return "charged for an error of the server" if charged else ""
    if outcome != ("pass" if correct else "fail"):
        return f"the verdict is {outcome} ({kind}): {json.dumps(answer)[:400]}"
    if not correct and kind != "wrong_result":
        return f"the wrong submission failed as {kind}"
    return "" if charged else "a verdict was not charged"


def attempt(
    server: Server, fault: Fault, tool: str, correct: bool, second: Fault | None = None
) -> Trial:
    """Sends a submission while one fault strikes, or two. At most one of the two is a kill, and at
    most one is a call of the server or of a judge."""
    run = server.new_run()
    disturbances = [disturb(server, one) for one in (fault, second) if one is not None]
    killer = next((one for one in disturbances if isinstance(one, Killer)), None)
    arguments = server.request(correct, slowed=killer is not None, run=run)
    outcome, charged, problem = "none", None, ""
    with watchdog(server) as hung:
        try:
            answer = server.verdict(tool, arguments, killer)
            struck = stop_all(disturbances)
            outcome, charged, problem = judged(server, correct, answer)
            if not problem and struck and (why := server.recovers()):
                problem = f"no undisturbed job passes afterwards: {why}"
        except (RuntimeError, OSError, ValueError, sqlite3.Error) as error:
            struck = stop_all(disturbances)
            problem = "the server hung" if hung.is_set() else server.end(str(error))
    if problem:
        server.restart()
    return Trial(fault, tool, correct, struck, outcome, charged, problem, second)


def judged(server: Server, correct: bool, answer: dict[str, Any]) -> tuple[str, bool | None, str]:
    """Returns the outcome of an answer, whether it was charged, and what is wrong with it."""
    if "refused" in answer:
        return "refused", None, ""
    charged = server.charged(answer["job"])
    if charged and answer.get("error_kind") in OURS and not server.recovers():
        # The store may have failed until now. The server gives such a charge back before it checks
        # the next call.
        charged = server.charged(answer["job"])
    outcome = answer["error_kind"] if answer["outcome"] == "error" else answer["outcome"]
    problem = expectation(correct, answer, charged)
    if not problem:
        known = server.client.call("job", {"job": answer["job"], "wait_s": 0})
        again = known["structuredContent"].get("outcome")
        if again != answer["outcome"]:
            problem = f"the server now says {again}"
    return outcome, charged, problem


def calls_of_a_job(server: Server, tool: str) -> dict[str, dict[str, int]]:
    """Returns how often one undisturbed job calls each function, by role."""
    run = server.new_run()
    roles = server.subject.failing
    before = {role: server.faults.counts(role) for role in roles}
    server.verdict(tool, server.request(run=run), None)
    return {
        role: {
            call: count - before[role][call] for call, count in server.faults.counts(role).items()
        }
        for role in roles
    }


def to_try(
    subject: Subject, calls: dict[str, dict[str, int]], most: int, repeat: int, pairs: bool
) -> Sequence[tuple[Fault, Fault | None]]:
    if pairs:
        return fault_pairs(calls, repeat)
    single = all_faults(calls, most, repeat, subject.killed)
    if can_trace() and "launcher" not in subject.failing:
        single += traced_faults(most)
    return [(fault, None) for fault in single]


def run(
    binary: str,
    most: int,
    seed: int,
    share: float,
    repeat: int = 8,
    verbose: bool = False,
    results: Path | None = None,
    pairs: bool = False,
    subject: Subject = ON_CPU,
) -> Matrix:
    """Tries a random share of all faults or of all pairs, each with a correct and with a wrong
    submission. Appends each trial to `results`, and does not repeat the trials of this file."""
    matrix, rng = Matrix(earlier(results)), random.Random(seed)
    known = {(trial.fault, trial.second, trial.correct) for trial in matrix.trials}
    with tempfile.TemporaryDirectory(prefix="assay-faults-") as folder:
        server = Server(binary, Path(folder), subject)
        if why := server.recovers():
            raise SystemExit(f"no undisturbed job passes at the start: {why}")
        calls = calls_of_a_job(server, "submit")
        chosen = [
            one for one in to_try(subject, calls, most, repeat, pairs) if rng.random() < share
        ]
        for number, (fault, second) in enumerate(chosen):
            for correct in (True, False):
                tool = rng.choice(("run_tests", "submit"))
                if (fault, second, correct) in known:
                    continue
                trial = attempt(server, fault, tool, correct, second)
                matrix.trials.append(trial)
                if results:
                    with results.open("a") as file:
                        file.write(json.dumps(asdict(trial)) + "\n")
                if verbose or trial.problem:
                    print(
                        f"{number + 1}/{len(chosen)} {trial.what} ({tool}, "
                        f"{'correct' if correct else 'wrong'}): struck {trial.struck}, "
                        f"{trial.outcome} {trial.problem}",
                        file=sys.stderr,
                        flush=True,
                    )
        server.client.close()
        if left := processes.survivors_after(folder):
            raise SystemExit(f"processes are left: {left}")
    return matrix


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--binary", help="the server's program")
    parser.add_argument("--positions", type=int, default=6, help="calls of one function that fail")
    parser.add_argument("--share", type=float, default=1.0, help="the share of the faults to try")
    parser.add_argument("--pairs", action="store_true", help="two faults in each job")
    parser.add_argument("--launcher", action="store_true", help="on a GPU with the fake driver")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--results", type=Path, help="keep the trials in this file, and go on there"
    )
    parser.add_argument("--out", type=Path, help="write the page to this file")
    options = parser.parse_args()
    subject = ON_FAKE_GPU if options.launcher else ON_CPU
    matrix = run(
        options.binary or subject.binary,
        options.positions,
        options.seed,
        options.share,
        verbose=True,
        results=options.results,
        pairs=options.pairs,
        subject=subject,
    )
    if options.out:
        write = pairs_page if options.pairs else launcher_page if options.launcher else page
        options.out.write_text(write(matrix.trials))
    for problem in matrix.problems:
        print("problem:", problem)
    print(f"{len(matrix.trials)} trials, {len(matrix.problems)} problems")
    raise SystemExit(1 if matrix.problems else 0)


if __name__ == "__main__":
    main()
