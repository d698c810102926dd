"""Measures POST /v1/evaluate on the device `fake`: evaluations a second of a trivial job in batches,
and a load in the shape of GRPO (groups of rollouts with several turns), over HTTP and over MCP.

    python measurements/mcp/evaluate.py --out measurements/results/evaluate-cpu2.json

The clients run on the same machine as the server, so they take a part of its processor time."""

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

GROUPS, ROLLOUTS, TURNS = 64, 16, 8


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

    def call(self, source: str) -> None:
        arguments = {"operator": "vector_add", "code": source}
        params = {"name": "run_tests", "arguments": arguments}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        while True:
            result = self.post("/mcp", message)["result"]
            if result["structuredContent"].get("outcome"):
                return
            time.sleep(0.05)


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


def grpo(port: int, over_mcp: bool, label: str) -> dict[str, Any]:
    """64 groups of 16 rollouts with 8 turns. A group sends its 16 sources of a turn together: in one
    request over HTTP, in 16 requests over MCP. 16 groups run at the same time."""
    turns: list[float] = []

    def work(number: int) -> None:
        connections = [Connection(port) for _ in range(ROLLOUTS if over_mcp else 1)]
        for group in range(number, GROUPS, 16):
            for turn in range(TURNS):
                # A fourth of the samples are equal to another one of the group.
                sources = [
                    f"# fake: pass\n# {label} {group} {turn} {member % 12}\n"
                    for member in range(ROLLOUTS)
                ]
                begin = time.monotonic()
                if over_mcp:
                    in_threads(ROLLOUTS, lambda m, s=sources: connections[m].call(s[m]))
                else:
                    name = f"{label}/{group}/{turn}"
                    connections[0].evaluate(
                        [
                            {"operator": "vector_add", "source": source, "group": name}
                            for source in sources
                        ]
                    )
                turns.append(time.monotonic() - begin)

    seconds = in_threads(16, work)
    count = GROUPS * ROLLOUTS * TURNS
    return {
        "protocol": "mcp" if over_mcp else "http",
        "rollout_turns": count,
        "seconds": seconds,
        "per_second": count / seconds,
        "turn_seconds": turns,
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


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", default=str(ROOT / "build/release/bin/assay"))
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--each", type=int, default=8, help="batches of each client")
    arguments = parser.parse_args()
    results: dict[str, Any] = {"environment": environment()}
    with tempfile.TemporaryDirectory() as folder:
        with serving(arguments.binary, Path(folder)) as server:
            port = server.port
            batches(port, 16, 1, 2, "warm")
            pid = server.process.pid
            results["batches"] = [
                with_cpu(
                    pid,
                    lambda size=size, clients=clients: batches(
                        port, size, clients, arguments.each, f"{size}x{clients}"
                    ),
                    "evaluations",
                )
                for size, clients in [(1, 1), (16, 1), (256, 1), (128, 2), (128, 4)]
            ]
            results["client"] = asyncio.run(client_rate(port, 2048))
            results["grpo"] = [
                with_cpu(pid, lambda: grpo(port, False, "http"), "rollout_turns"),
                with_cpu(pid, lambda: grpo(port, True, "mcp"), "rollout_turns"),
            ]
    arguments.out.write_text(json.dumps(results, indent=1) + "\n")
    for row in [*results["batches"], results["client"], *results["grpo"]]:
        print({key: value for key, value in row.items() if not isinstance(value, list)})


if __name__ == "__main__":
    main()
