"""Measures a server whose jobs run on many workers on the device `fake`.

    python measurements/mcp/workers.py --workers 64 --rate 300 --seconds 600 \\
        --out measurements/results/workers-cpu2.json

Jobs arrive at a fixed rate, and each sleeps for a fixed time on its worker. The overhead of a job
is the time from the moment at which it should have been sent to its answer, without this sleep. So
it contains the queue, the store and the client. The part of it that passed before the client sent
the job is its *lag*. All processes run on this machine, and other work may run beside them. So the
result also has two times for the server, all workers and this client: the processor time, which
hardly depends on other work, and the time that their threads were ready to run and waited for a
processor (`schedstat` of Linux). If the second time is most of the overhead, the machine made it
and not Assay. With `chrt --rr 5 python measurements/mcp/workers.py ...`, no ordinary process of the
machine can take a processor from the measurement. The result has the server's resident memory over time, too, and how long the server
took to notice that a worker was killed or stopped."""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "measurements"), str(ROOT / "measurements/mcp")]
from environment import environment  # noqa: E402
from token_clients import Connection, make_tokens, serving  # noqa: E402

TOKENS = 16
START_S = 120.0
SAMPLE_S = 5.0
SETTLE_S = 2.0  # the health checks of the new workers
POLICIES = {
    os.SCHED_OTHER: "other",
    os.SCHED_RR: "round robin",
    os.SCHED_FIFO: "first in, first out",
}
NAMES = ("idle", "busy")


def resident_kib(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1])


def scheduled_ms(pids: list[int]) -> tuple[float, float]:
    """Returns the processor time of the processes, and the time for which their threads waited for
    a processor. Threads that have ended are left out."""
    used = waited = 0
    for pid in pids:
        for task in Path(f"/proc/{pid}/task").iterdir():
            fields = (task / "schedstat").read_text().split()
            used += int(fields[0])
            waited += int(fields[1])
    return used / 1e6, waited / 1e6


def children(pid: int) -> list[int]:
    listed = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True)
    return [int(word) for word in listed.stdout.split()]


def summary(values: list[float]) -> dict[str, float]:
    return {
        "median": statistics.median(values),
        "p90": percentile(values, 0.9),
        "p99": percentile(values, 0.99),
        "max": max(values),
    }


def metric(port: int, secret: str, name: str) -> float:
    command = ["curl", "--silent", "--header", f"Authorization: Bearer {secret}"]
    page = subprocess.run(
        [*command, f"http://127.0.0.1:{port}/metrics"], capture_output=True, text=True, check=True
    ).stdout
    found = re.search(rf"^{re.escape(name)} ([0-9.e+]+)$", page, re.MULTILINE)
    return float(found[1]) if found else 0.0


def ready(port: int, secret: str) -> float:
    """Returns the number of workers that are ready."""
    return sum(
        metric(port, secret, f'assay_workers{{pool="many",state="{name}"}}') for name in NAMES
    )


def percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


async def load(
    port: int, secrets: list[str], pid: int, options: argparse.Namespace
) -> dict[str, Any]:
    """Sends jobs at a fixed rate. A job for which no connection is free waits for one, and this
    wait counts."""
    free: asyncio.Queue[Connection] = asyncio.Queue()
    for number in range(options.workers * 4):
        free.put_nowait(await Connection.open(port, secrets[number % len(secrets)]))
    code = f"# fake: sleep_ms={options.sleep_ms}\ndef vector_add(x, y):\n    return x\n"
    arguments = {"operator": "vector_add", "code": code, "device": "many"}
    overheads: list[float] = []
    lags: list[float] = []
    outcomes: dict[str, int] = {}
    memory: list[int] = []

    async def one(due: float) -> None:
        connection = await free.get()
        lags.append((time.perf_counter() - due) * 1e3)
        _, message = await connection.call("run_tests", arguments)
        free.put_nowait(connection)
        overheads.append((time.perf_counter() - due) * 1e3 - options.sleep_ms)
        answer = message.get("structuredContent", {})
        outcome = str(answer.get("outcome", answer.get("error", "no verdict")))
        outcomes[outcome] = outcomes.get(outcome, 0) + 1

    async def watch() -> None:
        while True:
            memory.append(resident_kib(pid))
            await asyncio.sleep(SAMPLE_S)

    watcher = asyncio.create_task(watch())
    processes = {"server": [pid], "workers": children(pid), "client": [os.getpid()]}
    before = {name: scheduled_ms(pids) for name, pids in processes.items()}
    begin = time.perf_counter()
    tasks = []
    for number in range(int(options.rate * options.seconds)):
        due = begin + number / options.rate
        if (wait := due - time.perf_counter()) > 0:
            await asyncio.sleep(wait)
        tasks.append(asyncio.create_task(one(due)))
    await asyncio.gather(*tasks)
    took = time.perf_counter() - begin
    watcher.cancel()
    after = {name: scheduled_ms(pids) for name, pids in processes.items()}
    per_verdict = {
        name: {
            "processor": (after[name][0] - before[name][0]) / len(overheads),
            "waited_for_a_processor": (after[name][1] - before[name][1]) / len(overheads),
        }
        for name in processes
    }
    return {
        "verdicts": len(overheads),
        "outcomes": outcomes,
        "verdicts_per_s": len(overheads) / took,
        "ms_per_verdict": per_verdict,
        "overhead_ms": summary(overheads),
        "lag_ms": summary(lags),
        "resident_kib": memory,
        "samples_ms": {
            "overhead": [round(one, 1) for one in overheads],
            "lag": [round(one, 1) for one in lags],
        },
    }


def notice_s(port: int, secret: str, server: int, how: signal.Signals) -> float:
    """Kills or stops one worker, and returns the seconds until the server counts it as lost."""
    losses = 'assay_worker_losses_total{pool="many"}'
    before = metric(port, secret, losses)
    victim = children(server)[0]
    begin = time.perf_counter()
    os.kill(victim, how)
    while metric(port, secret, losses) == before:
        time.sleep(0.02)
    return time.perf_counter() - begin


def measure(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    command = f"{options.binary} worker --device fake"
    (folder / "workers.toml").write_text(
        f'[[pool]]\nname = "many"\ncommand = {json.dumps(command)}\n'
        f"least = {options.workers}\nmost = {options.workers}\n"
    )
    secrets = make_tokens(options.binary, folder / "tokens", TOKENS)
    more = ["--workers", str(folder / "workers.toml"), "--rate-limit", "0"]
    with serving(options.binary, folder, *more) as (process, port):
        begin = time.perf_counter()
        while ready(port, secrets[0]) < options.workers:
            if time.perf_counter() - begin > START_S:
                raise SystemExit("the workers did not start")
            time.sleep(0.2)
        started_s = time.perf_counter() - begin
        time.sleep(SETTLE_S)
        result = asyncio.run(load(port, secrets, process.pid, options))
        result["start_s"] = started_s
        result["notice_killed_s"] = notice_s(port, secrets[0], process.pid, signal.SIGKILL)
        result["notice_stopped_s"] = notice_s(port, secrets[0], process.pid, signal.SIGSTOP)
        return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", default=str(ROOT / "build/release/bin/assay"))
    parser.add_argument("--workers", type=int, default=64)
    parser.add_argument("--rate", type=float, default=300.0, help="jobs per second")
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--sleep-ms", type=int, default=100, help="the time of each job")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        result = measure(options, Path(folder))
    settings = {name: getattr(options, name) for name in ("workers", "rate", "seconds", "sleep_ms")}
    settings["scheduler"] = POLICIES[os.sched_getscheduler(0)]
    document = {
        "script": "measurements/mcp/workers.py",
        "environment": environment(),
        "settings": settings,
        **result,
    }
    text = json.dumps(document, indent=1) + "\n"
    if options.out.suffix == ".gz":
        options.out.write_bytes(gzip.compress(text.encode(), mtime=0))
    else:
        options.out.write_text(text)
    long = ("resident_kib", "samples_ms")
    print(json.dumps({key: value for key, value in result.items() if key not in long}))


if __name__ == "__main__":
    main()
