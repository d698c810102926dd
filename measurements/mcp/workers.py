"""Measures a server whose jobs run on many workers on the device `fake`.

    python measurements/mcp/workers.py --workers 64 --rate 300 --seconds 600 \\
        --out measurements/results/workers-cpu2.json

Jobs arrive at a fixed rate, and each sleeps for a fixed time on its worker. The overhead of a job
is the time from the moment at which it should have been sent to its answer, without this sleep. So
it contains the queue, the store and the client. The result also has the server's processor time for
each verdict, which hardly depends on other work, its resident memory over time, and how long the
server took to notice that a worker was killed or stopped. All processes run on this machine."""

from __future__ import annotations

import argparse
import asyncio
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
NAMES = ("idle", "busy")


def resident_kib(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1])


def processor_s(pid: int) -> float:
    """Returns the processor time that the process has used, of all its threads."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


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
    outcomes: dict[str, int] = {}
    memory: list[int] = []

    async def one(due: float) -> None:
        connection = await free.get()
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
    used_s = processor_s(pid)
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
    return {
        "verdicts": len(overheads),
        "outcomes": outcomes,
        "verdicts_per_s": len(overheads) / took,
        "server_processor_ms_per_verdict": (processor_s(pid) - used_s) * 1e3 / len(overheads),
        "overhead_ms": {
            "median": statistics.median(overheads),
            "p99": percentile(overheads, 0.99),
            "max": max(overheads),
        },
        "resident_kib": memory,
    }


def notice_s(port: int, secret: str, server: int, how: signal.Signals) -> float:
    """Kills or stops one worker, and returns the seconds until the server counts it as lost."""
    losses = 'assay_worker_losses_total{pool="many"}'
    before = metric(port, secret, losses)
    children = subprocess.run(["pgrep", "-P", str(server)], capture_output=True, text=True)
    begin = time.perf_counter()
    os.kill(int(children.stdout.split()[0]), how)
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
    document = {
        "script": "measurements/mcp/workers.py",
        "environment": environment(),
        "settings": settings,
        **result,
    }
    options.out.write_text(json.dumps(document, indent=1) + "\n")
    print(json.dumps({key: value for key, value in result.items() if key != "resident_kib"}))


if __name__ == "__main__":
    main()
