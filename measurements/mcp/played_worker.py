"""Plays a worker whose latencies are given, for measurements of a server whose workers have roles.

    python measurements/mcp/played_worker.py --role launch --latencies latencies.json \\
        --jobs 64 --binary build/release/bin/assay

It speaks the messages of docs/reference/workers.md. It sleeps for the time of each recording and of
each job on the GPU, and uses no processor meanwhile. A recording takes one of `--cores` processors,
and the GPU has `--sharers` jobs at a time. A worker of the program, on the device `fake`, says its versions
and makes the verdicts. The file has two lists, `record_ms` and `gpu_ms`, from which each job takes
the next times."""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PREFIX = struct.Struct("<4sIQ")  # docs/reference/frames.md
ALIVE_S = 1.0
CASES, PLAN_BYTES = 3, 20_000  # of each recording
STREAM_BYTES = 1 << 24
Frame = tuple[dict[str, Any], bytes]


async def read_frame(stream: asyncio.StreamReader) -> Frame | None:
    """Returns the next frame, or None at the end of the stream."""
    try:
        _, header, payload = PREFIX.unpack(await stream.readexactly(PREFIX.size))
        return json.loads(await stream.readexactly(header)), await stream.readexactly(payload)
    except asyncio.IncompleteReadError:
        return None


def frame_bytes(header: dict[str, Any], payload: bytes = b"") -> bytes:
    text = json.dumps(header).encode()
    return PREFIX.pack(b"ASY1", len(text), len(payload)) + text + payload


class Played:
    def __init__(self, options: argparse.Namespace, times: dict[str, list[float]]) -> None:
        self.options = options
        self.record_ms: Iterator[float] = itertools.cycle(times["record_ms"])
        self.gpu_ms: Iterator[float] = itertools.cycle(times["gpu_ms"])
        self.cores = asyncio.Semaphore(options.cores)
        self.gpu = asyncio.Semaphore(options.sharers)
        self.recorded: dict[tuple[str, int], asyncio.Event] = {}

    def send(self, header: dict[str, Any], payload: bytes = b"") -> None:
        # asyncio cannot write to a socket that is stdin and stdout at once. Frames are small.
        sys.stdout.buffer.write(frame_bytes(header, payload))
        sys.stdout.buffer.flush()

    async def record(self) -> None:
        async with self.cores:
            await asyncio.sleep(next(self.record_ms) / 1e3)

    async def serve_order(self, header: dict[str, Any]) -> None:
        await self.record()
        tag = {name: header[name] for name in ("job", "attempt", "recording")}
        for number in range(CASES):
            case = {"type": "recorded_case", **tag, "id": str(number), "kernels": []}
            self.send(case, bytes(PLAN_BYTES))
        self.send({"type": "recorded", **tag, "ok": True, "reports_shortage": False}, b"{}")

    async def serve_job(self, header: dict[str, Any], payload: bytes) -> None:
        tag = {name: header[name] for name in ("job", "attempt")}
        if self.options.role == "launch":
            done = self.recorded[header["job"], header["attempt"]] = asyncio.Event()
            order = {"type": "record", **tag, "recording": 1, "target": "cuda:90"}
            self.send(order)
            await done.wait()
            del self.recorded[header["job"], header["attempt"]]
        elif self.options.role == "all":
            await self.record()
        if self.options.role != "record":
            async with self.gpu:
                await asyncio.sleep(next(self.gpu_ms) / 1e3)
        assert self.child.stdin is not None
        self.child.stdin.write(frame_bytes(header, payload))

    def hello(self, header: dict[str, Any]) -> dict[str, Any]:
        device = {
            "name": "record" if self.options.role == "record" else "cuda:0",
            "description": "played",
            "can_time": self.options.role != "record",
            "best_tier": "plan",
            "default_target": "cuda:90",
            "concurrency": self.options.jobs,
            "class": header["device"]["class"],
        }
        return {**header, "role": self.options.role, "device": device}

    async def pass_on(self) -> None:
        """Passes on what the real worker says."""
        assert self.child.stdout is not None
        while (frame := await read_frame(self.child.stdout)) is not None:
            header, payload = frame
            self.send(self.hello(header) if header["type"] == "hello" else header, payload)

    async def stay_alive(self) -> None:
        while True:
            await asyncio.sleep(ALIVE_S)
            self.send({"type": "alive"})

    async def serve(self) -> None:
        loop = asyncio.get_running_loop()
        server = asyncio.StreamReader(STREAM_BYTES)
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(server), sys.stdin)
        self.child = await asyncio.create_subprocess_exec(
            self.options.binary, "worker", "--device", "fake", limit=STREAM_BYTES,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        tasks = [asyncio.create_task(self.pass_on()), asyncio.create_task(self.stay_alive())]
        while (frame := await read_frame(server)) is not None:
            header, payload = frame
            kind = header["type"]
            if kind == "job":
                tasks.append(asyncio.create_task(self.serve_job(header, payload)))
            elif kind in ("record", "disassemble"):
                tasks.append(asyncio.create_task(self.serve_order(header)))
            elif kind == "recorded":
                self.recorded[header["job"], header["attempt"]].set()
            elif kind == "drain":
                break
            tasks = [task for task in tasks if not task.done()]
        for task in tasks:
            task.cancel()
        self.child.terminate()
        await self.child.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--role", choices=("all", "record", "launch"), required=True)
    parser.add_argument("--latencies", type=Path, required=True)
    parser.add_argument("--cores", type=int, default=1, help="recordings at a time")
    parser.add_argument("--sharers", type=int, default=4, help="jobs on the GPU at a time")
    parser.add_argument("--jobs", type=int, default=1, help="jobs or orders at a time")
    options = parser.parse_args()
    times = json.loads(options.latencies.read_text())
    asyncio.run(Played(options, times).serve())


if __name__ == "__main__":
    main()
