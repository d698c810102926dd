"""Measures whether one client of an HTTP server slows down the others.

    python measurements/mcp/tenants.py --out measurements/results/tenants-cpu2.json

200 clients, each with a token of its own, send calls of `run_tests` on the device `fake`: each has
one call at a time and sends the next one when the answer has come. In turns, nobody else uses the
server, or one more client keeps 100 times as many calls in flight. The result has each client's
latencies, and the ratio of the slowest client's median to the fastest client's median."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "measurements")]
from environment import environment  # noqa: E402

CLIENTS = 200
GREEDY = 100  # calls that the greedy client keeps in flight
CALLS = 20  # measured calls of each client in a turn
TURNS = 3
JOB_MS = 20
RETRY_S = 0.05
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "tenants", "version": "1"},
}


def make_tokens(binary: str, file: Path) -> list[str]:
    """Writes the token file. Returns the secrets, the greedy client's first."""
    secrets = []
    with file.open("w") as out:
        for number in range(CLIENTS + 1):
            command = [binary, "token", "new", "--name", f"client{number}", "--scope", "practice"]
            made = subprocess.run(command, capture_output=True, text=True, check=True)
            out.write(made.stdout)
            secrets.append(re.findall(r"assay_[0-9a-z]{26}", made.stderr)[0])
    file.chmod(0o600)
    return secrets


class Client:
    """One connection of a client."""

    def __init__(self, port: int, secret: str) -> None:
        self.port, self.secret = port, secret
        self.refused = 0

    async def open(self) -> None:
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)

    def close(self) -> None:
        self.writer.close()

    async def call(self) -> float:
        """Sends one call until it is accepted. Returns the time of the accepted call in ms."""
        while True:
            code = f"# fake: sleep_ms={JOB_MS}\n# {os.urandom(8).hex()}\n"
            params = {
                "name": "run_tests",
                "arguments": {"operator": "vector_add", "code": code},
                "_meta": META,
            }
            body = json.dumps(
                {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
            ).encode()
            head = (
                "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                "Accept: application/json, text/event-stream\r\n"
                "Mcp-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n"
                f"Mcp-Name: run_tests\r\nAuthorization: Bearer {self.secret}\r\n"
                f"Content-Length: {len(body)}\r\n\r\n"
            )
            begin = time.perf_counter()
            self.writer.write(head.encode() + body)
            status, text = await self._answer()
            took = (time.perf_counter() - begin) * 1e3
            if status == 200 and b'"outcome":"pass"' in text.replace(b" ", b""):
                return took
            self.refused += 1
            await asyncio.sleep(RETRY_S)

    async def _answer(self) -> tuple[int, bytes]:
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode()
        status = int(head.split(" ", 2)[1])
        length = re.search(r"(?i)content-length: (\d+)", head)
        if length:
            return status, await self.reader.readexactly(int(length[1]))
        text = b""
        while size := int((await self.reader.readuntil(b"\r\n")).strip() or b"0", 16):
            text += await self.reader.readexactly(size)
            await self.reader.readexactly(2)
        await self.reader.readexactly(2)
        return status, text


async def turn(port: int, secrets: list[str], greedy: bool) -> dict[str, Any]:
    clients = [Client(port, secret) for secret in secrets[1:]]
    others = [Client(port, secrets[0]) for _ in range(GREEDY if greedy else 0)]
    await asyncio.gather(*(one.open() for one in clients + others))
    done = asyncio.Event()
    greedy_calls = 0

    async def hurry(client: Client) -> None:
        nonlocal greedy_calls
        while not done.is_set():
            await client.call()
            greedy_calls += 1

    async def work(client: Client) -> list[float]:
        await client.call()  # not measured: it waits while the other clients begin
        return [round(await client.call(), 2) for _ in range(CALLS)]

    hurrying = [asyncio.create_task(hurry(one)) for one in others]
    begin = time.perf_counter()
    samples = await asyncio.gather(*(work(one) for one in clients))
    seconds = time.perf_counter() - begin
    done.set()
    await asyncio.gather(*hurrying)
    for one in clients + others:
        one.close()
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


def serve(binary: str, folder: Path, tokens: Path) -> tuple[subprocess.Popen[str], int]:
    command = [
        binary, "serve", "--http", "127.0.0.1:0", "--device", "fake", "--rate-limit", "0",
        "--token-file", str(tokens), "--store", str(folder / "assay.db"), "--log-level", "warning",
    ]  # fmt: skip
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    for line in process.stderr:
        if found := re.search(r"http://[^ ]*?:(\d+)", line):
            return process, int(found[1])
    raise SystemExit("the server did not start")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--binary", default=str(ROOT / "build/release/bin/assay"))
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(8_192, hard), hard))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        secrets = make_tokens(options.binary, folder / "tokens")
        process, port = serve(options.binary, folder, folder / "tokens")
        try:
            turns = [
                asyncio.run(turn(port, secrets, greedy))
                for _ in range(TURNS)
                for greedy in (False, True)
            ]
        finally:
            process.terminate()
            process.wait()
    for one in turns:
        print({key: value for key, value in one.items() if key != "samples_ms"})
    if options.out:
        result = {"script": "mcp/tenants.py", "environment": environment(), "turns": turns}
        options.out.write_text(json.dumps(result) + "\n")


if __name__ == "__main__":
    main()
