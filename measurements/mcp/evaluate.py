"""Measures POST /v1/evaluate on the device `fake`: evaluations a second of a trivial job in batches.
Each job is a `test` of a different source of one line for vector_add, for which the fake device makes
a pass with its records; it compiles and runs nothing. So the job costs its way through the server:
HTTP, JSON, the schema, keys, two durable writes, the queue, and the result.

    python measurements/mcp/evaluate.py --out measurements/results/evaluate-cpu2.json \\
        --binary before=/old/bin/assay --binary after=build/release/bin/assay

Several binaries are measured in turns, so that other load of the machine disturbs them alike. The
clients run on the same machine as the server, so they take a part of its processor time."""

from __future__ import annotations

import argparse
import asyncio
import http.client
import json
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / folder) for folder in ("python", "tests/e2e", "measurements")]

import assay  # noqa: E402
from environment import environment  # noqa: E402
from http_serving import serving  # noqa: E402


class Connection:
    """One connection to the server, which stays open. Python's own client costs less than httpx."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)

    def post(self, path: str, body: Any) -> Any:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        self._connection.request("POST", path, json.dumps(body), headers)
        return json.loads(self._connection.getresponse().read())

    def evaluate(self, members: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Sends the members until all have a verdict."""
        body = {"evaluations": members, "wait_ms": 60_000, "rewards": ["kevin"]}
        while True:
            found: list[dict[str, Any]] = self.post("/v1/evaluate", body)["evaluations"]
            if all(one.get("outcome") for one in found):
                return found
            time.sleep(0.05)  # the queue is full


def cpu_seconds(pid: int) -> float:
    """Returns the processor time that a process has used. Unlike the rate, it hardly depends on
    other load of the machine."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def with_cpu(pid: int, work: Callable[[], dict[str, Any]], count: str) -> dict[str, Any]:
    """Runs a measurement, and adds the server's processor time for each of its units."""
    begin = cpu_seconds(pid)
    row = work()
    return {**row, "server_cpu_ms_each": (cpu_seconds(pid) - begin) * 1000 / row[count]}


def in_threads(count: int, work: Callable[[int], None]) -> float:
    """Runs `work` in threads. Returns the time in seconds."""
    threads = [threading.Thread(target=work, args=(number,)) for number in range(count)]
    begin = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.monotonic() - begin


def batches(port: int, size: int, clients: int, each: int, label: str) -> dict[str, Any]:
    """Each client sends `each` batches of `size` different sources, one after the other."""
    samples: list[float] = []

    def work(number: int) -> None:
        connection = Connection(port)
        for batch in range(each):
            begin = time.monotonic()
            connection.evaluate(
                [
                    {
                        "operator": "vector_add",
                        "source": f"# fake: pass\n# {label} {number} {batch} {member}\n",
                    }
                    for member in range(size)
                ]
            )
            samples.append(time.monotonic() - begin)

    seconds = in_threads(clients, work)
    count = size * clients * each
    return {
        "batch": size,
        "clients": clients,
        "evaluations": count,
        "seconds": seconds,
        "per_second": count / seconds,
        "batch_seconds": samples,
    }


async def client_rate(port: int, count: int) -> dict[str, Any]:
    """The same batches through assay.AsyncClient."""
    begin = time.monotonic()
    async with assay.AsyncClient(f"http://127.0.0.1:{port}") as client:
        members = [
            assay.Evaluation("vector_add", source=f"# fake: pass\n# client {number}\n")
            for number in range(count)
        ]
        results = await client.evaluate_all(members)
    assert all(result.correct for result in results)
    seconds = time.monotonic() - begin
    return {"evaluations": count, "seconds": seconds, "per_second": count / seconds}


SHAPES = ((1, 1), (16, 1), (256, 1), (128, 2), (128, 4))  # members of a batch, clients


def measured(binary: str, each: int, turn: int) -> dict[str, Any]:
    """Measures one server, from its start to its end."""
    with tempfile.TemporaryDirectory() as folder, serving(binary, Path(folder)) as server:
        port, pid = server.port, server.process.pid
        batches(port, 16, 1, 2, "warm")
        rows = [
            with_cpu(
                pid,
                lambda size=size, clients=clients: batches(
                    port, size, clients, each, f"{turn} {size}x{clients}"
                ),
                "evaluations",
            )
            for size, clients in SHAPES
        ]
        client = with_cpu(pid, lambda: asyncio.run(client_rate(port, 2048)), "evaluations")
        return {"turn": turn, "load_1min": os.getloadavg()[0], "batches": rows, "client": client}


def named_binary(text: str) -> tuple[str, str]:
    name, equals, path = text.partition("=")
    return (name, path) if equals else ("assay", text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    default = str(ROOT / "build/release/bin/assay")
    parser.add_argument(
        "--binary", action="append", type=named_binary, help=f"NAME=PATH; default: {default}"
    )
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--each", type=int, default=8, help="batches of each client")
    parser.add_argument("--turns", type=int, default=1, help="how often each binary is measured")
    arguments = parser.parse_args()
    binaries = dict(arguments.binary or [("assay", default)])
    results: dict[str, Any] = {"environment": environment(), **{name: [] for name in binaries}}
    for turn in range(arguments.turns):
        for name, binary in binaries.items():
            found = measured(binary, arguments.each, turn)
            results[name].append(found)
            for row in [*found["batches"], found["client"]]:
                shown = {key: value for key, value in row.items() if not isinstance(value, list)}
                print(turn, name, shown, flush=True)
    arguments.out.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
