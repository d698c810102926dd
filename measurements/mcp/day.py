"""Measures the memory of an HTTP server during the calls of a day.

    python measurements/mcp/day.py --out measurements/results/day-cpu2.json

A day has 24 parts with 4,800 calls each, which the clients send as fast as the server answers. In
each part, 20 clients call tools on the device `fake`: practice and scored calls with new sources,
tasks, sessions that are never closed, resources, and calls that fail. At the end of each part, the
result has the server's resident memory, its threads and its descriptors. The clock is the real one,
so no session or task reaches the end of its time: only the limits of their numbers keep the memory
small."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "measurements"), str(ROOT / "measurements/mcp")]
from environment import environment  # noqa: E402
from token_clients import META, PROTOCOL, Connection, make_tokens, serving  # noqa: E402

CLIENTS = 20
PARTS = 24
ROUNDS = 40  # of each client in a part
CALLS_OF_ROUND = 6
TASKS = {**META, "io.modelcontextprotocol/clientCapabilities": {
    "extensions": {"io.modelcontextprotocol/tasks": {}}}}  # fmt: skip
INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "day", "version": "1"},
}


async def round_of(connection: Connection, run: str) -> None:
    code = f"# fake: pass\n# {os.urandom(2_000).hex()}\n"
    work = {"operator": "vector_add", "code": code}
    await connection.call("run_tests", work)
    await connection.call("compile", {**work, "run": run})
    await connection.call("run_tests", {**work, "operator": "no_such_operator"})
    task = {"name": "run_tests", "arguments": {**work, "code": code + "# task\n"}, "_meta": TASKS}
    named = {"Mcp-Protocol-Version": PROTOCOL, "Mcp-Method": "tools/call", "Mcp-Name": "run_tests"}
    await connection.post("tools/call", task, named)
    await connection.post("initialize", INITIALIZE, {})  # a session that nobody closes
    read = {"uri": "guide://atomics", "_meta": META}
    named = {"Mcp-Protocol-Version": PROTOCOL, "Mcp-Method": "resources/read",
             "Mcp-Name": "guide://atomics"}  # fmt: skip
    status, _ = await connection.post("resources/read", read, named)
    assert status == 200


async def part(port: int, secrets: list[str]) -> None:
    async def client(secret: str) -> None:
        connection = await Connection.open(port, secret)
        request = {"agent": "a", "model": "m", "track": "scaled", "suite": "vector_add"}
        _, started = await connection.call("start_run", request)
        for _ in range(ROUNDS):
            await round_of(connection, started["structuredContent"]["run"])
        connection.close()

    await asyncio.gather(*(client(secret) for secret in secrets))


def facts(pid: int) -> dict[str, int]:
    """Returns the resident memory in KiB, the number of threads and of descriptors."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    values = dict(line.split(":", 1) for line in lines if ":" in line)
    return {
        "resident_kib": int(values["VmRSS"].split()[0]),
        "threads": int(values["Threads"]),
        "descriptors": len(os.listdir(f"/proc/{pid}/fd")),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--binary", default=str(ROOT / "build/release/bin/assay"))
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    parts: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        secrets = make_tokens(options.binary, folder / "tokens", CLIENTS)
        with serving(options.binary, folder, "--rate-limit", "0") as (process, port):
            for number in range(PARTS):
                asyncio.run(part(port, secrets))
                parts.append({"part": number + 1, **facts(process.pid)})
                print(parts[-1], flush=True)
    middle = statistics.median(one["resident_kib"] for one in parts[PARTS // 4 : PARTS // 2])
    end = statistics.median(one["resident_kib"] for one in parts[-PARTS // 4 :])
    summary = {
        "calls": CLIENTS * PARTS * (ROUNDS * CALLS_OF_ROUND + 1),
        "parts_7_to_12_kib": middle,
        "parts_19_to_24_kib": end,
        "growth": round(end / middle - 1, 4),
    }
    print(summary)
    if options.out:
        result = {"script": "mcp/day.py", "environment": environment(), "summary": summary,
                  "parts": parts}  # fmt: skip
        options.out.write_text(json.dumps(result) + "\n")


if __name__ == "__main__":
    main()
