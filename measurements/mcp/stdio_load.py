"""Measures a server with a pipelined client over stdio. The client keeps a fixed number of calls in
flight: it sends the next calls when answers arrive."""

from __future__ import annotations

import json
import subprocess
import time
from typing import Any

from contenders import Contender, call_message, memory_mib

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "bench", "version": "0"},
    },
}


def start(contender: Contender) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        contender.stdio,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=contender.environment(),
    )


def stop(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None
    process.stdin.close()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def start_up_ms(contender: Contender) -> float:
    """Returns the milliseconds from spawning the server to its answer to `initialize`."""
    begin = time.perf_counter()
    process = start(contender)
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(json.dumps(INITIALIZE).encode() + b"\n")
    process.stdin.flush()
    line = process.stdout.readline()
    elapsed = (time.perf_counter() - begin) * 1e3
    process.kill()
    process.wait()
    if "result" not in json.loads(line):
        raise SystemExit(f"{contender.name} refused initialize: {line!r}")
    return elapsed


def pipelined(contender: Contender, calls: int, window: int) -> dict[str, Any]:
    process = start(contender)
    assert process.stdin is not None and process.stdout is not None
    messages = [call_message(number).encode() + b"\n" for number in range(1, calls + 1)]
    process.stdin.write(messages[0])
    process.stdin.flush()
    first = json.loads(process.stdout.readline())
    if first.get("result", {}).get("isError") or "result" not in first:
        raise SystemExit(f"{contender.name} does not answer: {first}")
    sent, received, last = 1, 1, b""
    begin = time.perf_counter()
    while received < calls:
        upto = min(calls, received + window)
        # Sends several calls at a time, so that this client needs little processor time.
        if sent - received <= window // 2 and upto > sent:
            process.stdin.write(b"".join(messages[sent:upto]))
            process.stdin.flush()
            sent = upto
        last = process.stdout.readline()
        received += 1
    seconds = time.perf_counter() - begin
    memory = memory_mib(process.pid)
    stop(process)
    if "result" not in json.loads(last):
        raise SystemExit(f"{contender.name} ended with {last!r}")
    return {
        "calls": calls - 1,
        "window": window,
        "seconds": seconds,
        "rps": (calls - 1) / seconds,
        "memory_mib": memory,
    }
