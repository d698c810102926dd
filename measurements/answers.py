"""Measures how fast a server judges real answers of models. Several agents send the answers to one
server. Each agent makes its calls of `run_tests` (or of `compile`) one after the other.

    python measurements/answers.py --answers answers.jsonl.gz --suite SUITE --device cuda:0 \
        --agents 24 --seconds 200 --before OLD_BINARY --out measurements/results/answers-h100.json

A file of answers has lines {"id", "operator", "code"}. With `--before`, the script measures two
binaries in turns, the one of this build and the older one that the option names. Both get the same
answers in the same order. So a drift of the machine affects both. For each binary the result has
counts, percentiles and the kinds of its verdicts. It also has a line of samples for each verdict:
id, operator, kind, stage, seconds, the milliseconds of each stage, and the time of the verdict in
seconds after the turn began.

The script also compares the verdicts of both binaries, because a change that makes the server
faster must not change any verdict."""

from __future__ import annotations

import argparse
import collections
import gzip
import http.client
import json
import queue
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from environment import environment

from sandbox import ROOT, Agent, Server, pool_memory

Task = dict[str, str]
PERCENTILES = (50, 90, 99)
TURNS = 2  # each binary is measured this many times


def tasks_of(path: Path, count: int) -> list[Task]:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as stream:
        tasks = [json.loads(line) for line in stream]
    return tasks[:count] if count else tasks


def percentiles(values: list[float]) -> dict[str, float]:
    ordered = sorted(values)
    return {
        f"p{one}": round(ordered[int(one / 100 * (len(ordered) - 1))], 4) for one in PERCENTILES
    }


def judge_for(
    server: Server, tasks: list[Task], agents: int, seconds: float, tool: str
) -> dict[str, Any]:
    """Sends tasks until `seconds` have passed, or until there are no more tasks. Calls that are in
    flight at that moment are not counted, because they end after the measured time."""
    waiting: queue.SimpleQueue[Task] = queue.SimpleQueue()
    for task in tasks:
        waiting.put(task)
    samples: list[dict[str, Any]] = []
    begin = time.monotonic()

    def work() -> None:
        agent = Agent(server.port)
        while time.monotonic() < begin + seconds:
            try:
                task = waiting.get_nowait()
            except queue.Empty:
                return
            start = time.monotonic()
            try:
                verdict = agent.verdict(task["code"], tool=tool, operator=task["operator"])
            except (OSError, http.client.HTTPException):
                if time.monotonic() < begin + seconds:
                    raise
                return  # the server ended during this call
            if time.monotonic() > begin + seconds:
                return
            samples.append(
                {
                    "id": task["id"],
                    "operator": task["operator"],
                    "outcome": verdict.get("outcome"),
                    "kind": verdict.get("error_kind", "none"),
                    "stage": verdict.get("stage"),
                    "stage_ms": verdict.get("stage_ms"),
                    "wall_s": round(time.monotonic() - start, 4),
                    "end_s": round(time.monotonic() - begin, 3),
                }
            )

    threads = [threading.Thread(target=work, daemon=True) for _ in range(agents)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, begin + seconds - time.monotonic()))
    return {"seconds": time.monotonic() - begin, "samples": list(samples)}


def end(server: Server) -> None:
    """Ends the server, which may still have calls in flight."""
    try:
        server.close()
    except subprocess.TimeoutExpired:
        server.process.kill()
        server.process.wait()


def figures(turns: list[dict[str, Any]]) -> dict[str, Any]:
    samples = [one for turn in turns for one in turn["samples"]]
    stages: dict[str, list[float]] = {}
    for one in samples:
        for stage, ms in (one["stage_ms"] or {}).items():
            stages.setdefault(stage, []).append(ms)
    return {
        "verdicts": len(samples),
        "verdicts_per_s": [round(len(turn["samples"]) / turn["seconds"], 3) for turn in turns],
        "wall_s": percentiles([one["wall_s"] for one in samples]),
        "stage_ms": {
            stage: {"jobs": len(values), "mean": round(statistics.mean(values), 2)}
            | percentiles(values)
            for stage, values in sorted(stages.items())
        },
        "kinds": dict(collections.Counter(one["kind"] for one in samples).most_common()),
        "pool_kib": [turn["pool_kib"] for turn in turns],
        "samples": [
            [
                one["id"],
                one["operator"],
                one["kind"],
                one["stage"],
                one["wall_s"],
                one["stage_ms"],
                one["end_s"],
            ]
            for one in samples
        ],
    }


def differences(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """Compares the verdicts on those submissions that both binaries have judged."""
    old = {(one[0], one[1]): one[2] for one in before["samples"]}
    both = [(one, old[one[0], one[1]]) for one in after["samples"] if (one[0], one[1]) in old]
    changed = collections.Counter((was, one[2]) for one, was in both if was != one[2])
    return {
        "both": len(both),
        "changed": [
            {"before": was, "after": now, "count": count}
            for (was, now), count in changed.most_common()
        ],
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=Path, required=True)
    parser.add_argument("--count", type=int, default=0, help="the first COUNT answers; 0: all")
    parser.add_argument("--suite", type=Path, required=True)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--tool", choices=("compile", "run_tests"), default="run_tests")
    parser.add_argument("--agents", type=int, default=24)
    parser.add_argument("--seconds", type=float, default=120, help="of each turn of a binary")
    parser.add_argument("--binary", default=str(ROOT / "build/release/bin/assay"))
    parser.add_argument("--before", help="the binary to compare with")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    tasks = tasks_of(options.answers, options.count)
    binaries = {"after": options.binary}
    if options.before:
        binaries = {"before": options.before} | binaries
    turns: dict[str, list[dict[str, Any]]] = {name: [] for name in binaries}
    for turn in range(TURNS if options.before else 1):
        for name, binary in binaries.items():
            part = tasks[turn::TURNS] if options.before else tasks
            with tempfile.TemporaryDirectory() as folder:
                server = Server(
                    binary, options.device, Path(folder), "--suite", str(options.suite), probe=False
                )
                first = part[0]  # this call starts the processes; it is not counted
                Agent(server.port).verdict(first["code"], operator=first["operator"])
                judged = judge_for(server, part, options.agents, options.seconds, options.tool)
                judged["pool_kib"] = pool_memory(server)
                end(server)
            turns[name].append(judged)
            print(
                f"{name}: {len(judged['samples'])} verdicts in {judged['seconds']:.1f} s",
                file=sys.stderr,
                flush=True,
            )
    result: dict[str, Any] = {
        "environment": environment(),
        "device": options.device,
        "tool": options.tool,
        "agents": options.agents,
        "seconds": options.seconds,
        **{name: figures(one) for name, one in turns.items()},
    }
    if options.before:
        result["verdicts"] = differences(result["before"], result["after"])
    options.out.write_text(json.dumps(result, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
