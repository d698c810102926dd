"""Sends thousands of answers of models to one server, and kills the server's processes meanwhile.
Checks that no job is lost, that a kill changes only the verdicts of jobs that used the killed
process, and that memory does not grow.

    python tests/crash/soak_answers.py --answers answers.jsonl.gz --suite SUITE --jobs 20000 \\
        --out measurements/results/soak-answers-cpu2.json

A file of answers has lines {"id", "operator", "code"}, as for measurements/answers.py. Several
agents send the answers by the tools `compile`, `run_tests` and `submit` in turn. Each source gets
its own comment, so that the server does not return the verdict of an earlier job. Every few seconds
one process is killed: a zygote, a judge or a candidate. The jobs that used this process may end
with an infrastructure error. Among all other jobs, those with the same answer and tool must get the
same kind of verdict. A timeout is allowed too. At the end the server itself is killed, and the next
server must know every verdict."""

from __future__ import annotations

import argparse
import collections
import itertools
import json
import random
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "measurements"), str(Path(__file__).resolve().parent)]

import processes  # noqa: E402
from answers import Task, tasks_of  # noqa: E402
from crash import OURS  # noqa: E402
from environment import environment  # noqa: E402
from soak import problems_of, sample  # noqa: E402

from sandbox import Agent, Server  # noqa: E402

TOOLS = ("compile", "run_tests", "run_tests", "submit")
KILLED_ROLES = ("zygote", "judge", "candidate")
JOBS_OF_A_KILL = 16  # the maximum number of jobs that one kill can end
ASKED_AGAIN = 500  # the number of verdicts that are asked for after the restart
# After this share of the jobs, the caches are full. The cache of recordings holds up to 64 MiB.
SETTLED = 0.8
BUSY = {"timeout"}  # the error kinds that a busy machine can cause


@dataclass
class Soak:
    """What the threads of the agents and of the killer have seen. Several threads write to it."""

    kinds: dict[tuple[str, str, str], collections.Counter[str]] = field(default_factory=dict)
    verdicts: list[tuple[str, str]] = field(default_factory=list)  # the job and its outcome
    kills: list[str] = field(default_factory=list)  # the roles of the killed processes
    samples: list[dict[str, int]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, task: Task, tool: str, verdict: dict[str, Any]) -> int:
        """Records a verdict. Returns the number of verdicts so far."""
        kind = str(verdict.get("error_kind") or verdict.get("outcome"))
        with self.lock:
            key = (task["operator"], task["id"], tool)
            self.kinds.setdefault(key, collections.Counter())[kind] += 1
            if "outcome" not in verdict:
                self.problems.append(f"{key} has no verdict: {json.dumps(verdict)[:300]}")
            else:
                self.verdicts.append((verdict["job"], verdict["outcome"]))
            return len(self.verdicts)

    def ours(self) -> int:
        """Returns the number of jobs that ended with an error that the submission did not cause."""
        return sum(
            count for seen in self.kinds.values() for kind, count in seen.items() if kind in OURS
        )

    def check(self) -> None:
        allowed = JOBS_OF_A_KILL * len(self.kills)
        if self.ours() > allowed:
            self.problems.append(f"{self.ours()} errors of our own after {len(self.kills)} kills")
        for key, seen in self.kinds.items():
            if len(set(seen) - OURS - BUSY) > 1:
                self.problems.append(f"{key} has different verdicts: {dict(seen)}")
        self.problems += problems_of(self.samples, SETTLED)


def turns(counter: Iterator[int], jobs: int) -> Iterator[int]:
    """Yields the indices of the next jobs. All agents share `counter`, so each job is sent once."""
    while (index := next(counter)) < jobs:
        yield index


def work(soak: Soak, server: Server, jobs: Iterator[int], tasks: list[Task], every: int) -> None:
    agent = Agent(server.port)
    for index in jobs:
        # The tool changes from job to job. The term `index // len(tasks)` counts the passes over
        # the answers. It makes an answer get another tool in the next pass, even if the number of
        # answers is a multiple of the number of tools.
        task = tasks[index % len(tasks)]
        tool = TOOLS[(index + index // len(tasks)) % len(TOOLS)]
        done = soak.add(
            task, tool, agent.verdict(task["code"], tool=tool, operator=task["operator"])
        )
        if done % every == 0:
            soak.samples.append(sample(server.process.pid))


def kill_at_times(soak: Soak, server: Server, seconds: float, ended: threading.Event) -> None:
    rng = random.Random(20_261_127)
    while not ended.wait(seconds):
        role = rng.choice(KILLED_ROLES)
        pids = processes.by_role(server.process.pid)[role]
        if pids and processes.kill(rng.choice(pids)):
            soak.kills.append(role)


def ask_again(soak: Soak, server: Server) -> None:
    agent = Agent(server.port)
    for job, outcome in random.Random(1).sample(
        soak.verdicts, min(ASKED_AGAIN, len(soak.verdicts))
    ):
        known = agent.call("job", {"job": job, "wait_s": 0}).get("outcome")
        if known != outcome:
            soak.problems.append(f"{job} was {outcome}, is {known} after a restart")


@dataclass
class Plan:
    binary: str
    device: str
    suite: Path
    tasks: list[Task]
    jobs: int
    agents: int
    kill_s: float  # the time between two kills, in seconds
    every: int  # the number of jobs between two samples

    def start(self, folder: Path) -> Server:
        return Server(self.binary, self.device, folder, "--suite", str(self.suite), probe=False)


def run(plan: Plan) -> tuple[Soak, float]:
    """Returns what was seen, and the time in seconds that all jobs took."""
    soak = Soak()
    with tempfile.TemporaryDirectory(prefix="assay-soak-") as name:
        folder = Path(name)
        server = plan.start(folder)
        begin = time.monotonic()
        counter = itertools.count()
        ended = threading.Event()
        killer = threading.Thread(target=kill_at_times, args=(soak, server, plan.kill_s, ended))
        agents = [
            threading.Thread(
                target=work, args=(soak, server, turns(counter, plan.jobs), plan.tasks, plan.every)
            )
            for _ in range(plan.agents)
        ]
        for thread in (killer, *agents):
            thread.start()
        for thread in agents:
            thread.join()
        seconds = time.monotonic() - begin
        ended.set()
        killer.join()
        server.process.kill()
        server.process.wait()
        if len(soak.verdicts) != plan.jobs:
            soak.problems.append(f"{len(soak.verdicts)} verdicts of {plan.jobs} jobs")
        again = plan.start(folder)
        ask_again(soak, again)
        again.close()
    soak.check()
    return soak, seconds


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--answers", type=Path, required=True)
    parser.add_argument("--suite", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=20_000)
    parser.add_argument("--agents", type=int, default=8)
    parser.add_argument("--kill-s", type=float, default=5.0, help="seconds between two kills")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--binary", default=str(ROOT / "build/release/bin/assay"))
    parser.add_argument("--every", type=int, default=100, help="jobs between two samples")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    plan = Plan(
        options.binary,
        options.device,
        options.suite,
        tasks_of(options.answers, 0),
        options.jobs,
        options.agents,
        options.kill_s,
        options.every,
    )
    soak, seconds = run(plan)
    kinds = sum(soak.kinds.values(), collections.Counter())
    result = {
        "what": __doc__,
        "device": plan.device,
        "jobs": plan.jobs,
        "agents": plan.agents,
        "seconds": round(seconds, 1),
        "kills": dict(collections.Counter(soak.kills)),
        "errors_of_our_own": soak.ours(),
        "kinds": dict(kinds.most_common()),
        "problems": soak.problems,
    }
    if options.out:
        options.out.write_text(
            json.dumps(
                {**result, "samples": soak.samples, "environment": environment()},
                separators=(",", ":"),
            )
            + "\n"
        )
    print(json.dumps(result, indent=1))
    print("first", soak.samples[0], "last", soak.samples[-1])
    raise SystemExit(1 if soak.problems else 0)


if __name__ == "__main__":
    main()
