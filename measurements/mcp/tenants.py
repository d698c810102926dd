"""Measures whether one client of an HTTP server slows down the others.

    python measurements/mcp/tenants.py --out measurements/results/tenants-cpu2.json

200 clients, each with a token of its own, send calls of `run_tests` on the device `fake`. Each has
one call at a time and sends the next one when the answer has come. In turns, nobody else uses the
server, or one more client keeps 100 times as many calls in flight. The result has each client's
latencies, and the ratio of the slowest client's median to the fastest client's median."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "measurements"), str(ROOT / "measurements/mcp")]
from environment import environment  # noqa: E402
from token_clients import Connection, make_tokens, serving  # noqa: E402

CLIENTS = 200
GREEDY = 100  # calls that the greedy client keeps in flight
CALLS = 10  # measured calls of each client in a turn
TURNS = 3
JOB_MS = 5
RETRY_S = 0.05


class Client:
    """Sends calls on one connection, and counts those that the server refused."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.refused = 0

    async def call(self) -> float:
        """Sends one call until it is accepted. Returns the time of the accepted call in ms."""
        while True:
            code = f"# fake: sleep_ms={JOB_MS}\n# {os.urandom(8).hex()}\n"
            begin = time.perf_counter()
            status, result = await self.connection.call(
                "run_tests", {"operator": "vector_add", "code": code}
            )
            took = (time.perf_counter() - begin) * 1e3
            if status == 200 and result.get("structuredContent", {}).get("outcome") == "pass":
                return took
            self.refused += 1
            await asyncio.sleep(RETRY_S)


async def turn(port: int, secrets: list[str], greedy: bool) -> dict[str, Any]:
    async def client(secret: str) -> Client:
        return Client(await Connection.open(port, secret))

    clients = [await client(secret) for secret in secrets[1:]]
    others = [await client(secrets[0]) for _ in range(GREEDY if greedy else 0)]
    done = asyncio.Event()
    greedy_calls = 0

    async def hurry(one: Client) -> None:
        nonlocal greedy_calls
        while not done.is_set():
            await one.call()
            greedy_calls += 1

    async def work(one: Client) -> list[float]:
        await one.call()  # not measured: it waits while the other clients begin
        return [round(await one.call(), 2) for _ in range(CALLS)]

    hurrying = [asyncio.create_task(hurry(one)) for one in others]
    begin = time.perf_counter()
    samples = await asyncio.gather(*(work(one) for one in clients))
    seconds = time.perf_counter() - begin
    done.set()
    await asyncio.gather(*hurrying)
    for one in clients + others:
        one.connection.close()
    medians = sorted(statistics.median(times) for times in samples)
    return {
        "greedy": greedy,
        "seconds": round(seconds, 2),
        "fastest_p50_ms": round(medians[0], 1),
        "median_p50_ms": round(statistics.median(medians), 1),
        "slowest_p50_ms": round(medians[-1], 1),
        "slowest_to_fastest": round(medians[-1] / medians[0], 2),
        "refused_of_clients": sum(one.refused for one in clients),
        "calls_of_greedy": greedy_calls,
        "refused_of_greedy": sum(one.refused for one in others),
        "samples_ms": samples,
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--binary", default=str(ROOT / "build/release/bin/assay"))
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        secrets = make_tokens(options.binary, folder / "tokens", CLIENTS + 1)
        with serving(options.binary, folder, "--rate-limit", "0") as (_, port):
            turns = [
                asyncio.run(turn(port, secrets, greedy))
                for _ in range(TURNS)
                for greedy in (False, True)
            ]
    for one in turns:
        print({key: value for key, value in one.items() if key != "samples_ms"})
    if options.out:
        result = {"script": "mcp/tenants.py", "environment": environment(), "turns": turns}
        options.out.write_text(json.dumps(result) + "\n")


if __name__ == "__main__":
    main()
