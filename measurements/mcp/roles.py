"""Measures how many verdicts an hour one GPU gives if other machines record for it, with latencies
that were measured on an H200.

    python measurements/mcp/roles.py --out measurements/results/roles-played-cpu2.json

The workers are played (`played_worker.py`): they sleep for the times of `recorders-h200.json`, the
tests of vector_add on an H200, and use no processor meanwhile. A recording takes the times of the
stages import and record, and one processor. The GPU takes those of judge and launch, and has four
jobs at a time, as `--gpu-sharers` of a machine with many cores. So the result says what the server
and its messages add, and how many processors feed one GPU under these times. It says nothing about
a real GPU. Clients send the next job as soon as the last one has its verdict."""

from __future__ import annotations

import argparse
import asyncio
import json
import shlex
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from pools import ROOT, Pool, environment, pools_text
from token_clients import Connection, make_tokens, serving
from workers import SETTLE_S, metric, percentile

LATENCIES = ROOT / "measurements/results/recorders-h200.json"
TOKENS = 16
START_S = 120.0
LAUNCHED = 64  # jobs of the GPU's worker at a time
SHARERS = 4  # of them on the GPU


def latencies() -> dict[str, list[float]]:
    stages = json.loads(LATENCIES.read_text())["run_tests_stage_ms"]
    return {
        "record_ms": [one["import"] + one["record"] for one in stages],
        "gpu_ms": [one["judge"] + one["launch"] for one in stages],
    }


def pools_of(binary: str, times: Path, recorders: int, own_cores: int) -> list[Pool]:
    """Returns the pools: the GPU with its own processors, or with `recorders` workers that record
    for it, each of which has one processor."""
    played = [sys.executable, str(ROOT / "measurements/mcp/played_worker.py")]
    played += ["--binary", binary, "--latencies", str(times), "--sharers", str(SHARERS)]

    def pool(name: str, role: str, count: int, jobs: int, cores: int) -> Pool:
        words = [*played, "--role", role, "--jobs", str(jobs), "--cores", str(cores)]
        return {
            "name": name,
            "role": role,
            "command": shlex.join(words),
            "least": count,
            "most": count,
            "jobs_per_worker": jobs,
        }

    if recorders == 0:
        return [pool("gpu", "all", 1, LAUNCHED, own_cores)]
    places = -(-LAUNCHED // recorders)  # every job of the GPU has a place
    return [
        pool("cpus", "record", recorders, places, 1),
        pool("gpu", "launch", 1, LAUNCHED, 1),
    ]


def ready(port: int, secret: str, pool: str) -> float:
    states = ("idle", "busy")
    return sum(
        metric(port, secret, f'assay_workers{{pool="{pool}",state="{one}"}}') for one in states
    )


async def load(port: int, secrets: list[str], options: argparse.Namespace) -> dict[str, Any]:
    code = "def vector_add(x, y):\n    return x\n"
    arguments = {"operator": "vector_add", "code": code, "device": "gpu"}
    begin = time.perf_counter()
    samples: list[float] = []
    others: list[str] = []

    async def client(number: int) -> None:
        connection = await Connection.open(port, secrets[number % len(secrets)])
        while time.perf_counter() - begin < options.seconds:
            sent = time.perf_counter()
            _, message = await connection.call("run_tests", arguments)
            answer = message.get("structuredContent", {})
            if answer.get("outcome") == "pass":
                samples.append((time.perf_counter() - sent) * 1e3)
            else:
                others.append(str(answer.get("outcome", message)))

    await asyncio.gather(*(client(number) for number in range(options.clients)))
    took = time.perf_counter() - begin
    if not samples:
        raise SystemExit(f"no job passed: {others[:1]}")
    return {
        "verdicts": len(samples),
        "others": others[:10],
        "verdicts_an_hour": len(samples) / took * 3600,
        "wall_ms": {"median": statistics.median(samples), "p99": percentile(samples, 0.99)},
        "samples_ms": [round(one, 1) for one in samples],
    }


def measure(
    options: argparse.Namespace, folder: Path, recorders: int, own_cores: int
) -> dict[str, Any]:
    times = folder / "latencies.json"
    times.write_text(json.dumps(latencies()))
    pools = pools_of(options.binary, times, recorders, own_cores)
    (folder / "workers.toml").write_text(pools_text(pools))
    secrets = make_tokens(options.binary, folder / "tokens", TOKENS)
    more = ["--workers", str(folder / "workers.toml"), "--rate-limit", "0"]
    with serving(options.binary, folder, *more) as (_, port):
        begin = time.perf_counter()
        while any(ready(port, secrets[0], str(one["name"])) < one["least"] for one in pools):
            if time.perf_counter() - begin > START_S:
                raise SystemExit("the workers did not start")
            time.sleep(0.2)
        time.sleep(SETTLE_S)
        return asyncio.run(load(port, secrets, options))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", default=str(ROOT / "build/release/bin/assay"))
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--clients", type=int, default=96)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    times = latencies()
    gpu_s = statistics.mean(times["gpu_ms"]) / 1e3 / SHARERS
    record_s = statistics.mean(times["record_ms"]) / 1e3
    results = []
    for recorders, own_cores in ((0, 1), (0, 2), (0, 4), (1, 0), (4, 0), (8, 0), (16, 0)):
        with tempfile.TemporaryDirectory() as folder:
            result = measure(options, Path(folder), recorders, max(own_cores, 1))
        result = {
            "record_workers": recorders,
            "own_processors": own_cores,
            "most_an_hour": 3600 / max(gpu_s, record_s / max(recorders, own_cores)),
            **result,
        }
        results.append(result)
        print(json.dumps({key: one for key, one in result.items() if key != "samples_ms"}))
    document = {
        "script": "measurements/mcp/roles.py",
        "environment": environment(),
        "settings": {"seconds": options.seconds, "clients": options.clients},
        "latencies": {"file": LATENCIES.name, **times},
        "results": results,
    }
    options.out.write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
