"""Measures how many CUDA contexts can be created per second, on one GPU and on several GPUs at the
same time. The result shows whether the driver creates contexts one after the other for the whole
machine.

    python measurements/contexts.py --devices 0 1 2 3 --processes 1 6 12 --seconds 6 \
        --out bench-out/contexts.json

Every submission gets its own context, so this rate limits the number of small jobs per second. For
each GPU, some processes fork children one after the other; a child only creates a context and ends.
Meanwhile another process keeps a context on each GPU, as the judges of a server do. Without it, the
driver would set the GPU up again for each context. In the result, `parts` contains the time of each
step of creating a context, measured without other processes. It is measured with one and with eight
hardware queues (CUDA_DEVICE_MAX_CONNECTIONS; eight is the driver's default)."""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import json
import os
import statistics
import time
from collections.abc import Callable, Iterator
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from environment import environment

OK = 0
PART_SAMPLES = 12
CONNECTIONS = (1, 8)


def make_one(device: int, done: Callable[[str], None] = lambda part: None) -> int:
    """Creates one context. Returns 0 if that succeeded. The caller is a child process that then
    ends. Calls `done` with the name of each finished step."""
    cuda = ctypes.CDLL("libcuda.so.1")
    handle, context = ctypes.c_int(), ctypes.c_void_p()
    done("library")
    if cuda.cuInit(0) != OK or cuda.cuDeviceGet(ctypes.byref(handle), device) != OK:
        return 1
    done("cuInit")
    if cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), handle) != OK:
        return 2
    done("context")
    return 0


def parts_of_one(device: int, connections: int) -> dict[str, float]:
    """Returns the milliseconds of each step of creating a context. The last step is the end of the
    process."""
    reader, writer = os.pipe()
    times = {"begin": time.perf_counter()}
    child = os.fork()
    if child == 0:
        os.environ["CUDA_DEVICE_MAX_CONNECTIONS"] = str(connections)
        status = make_one(device, lambda part: times.update({part: time.perf_counter()}))
        os.write(writer, json.dumps(times).encode())
        os._exit(status)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        times = json.loads(pipe.read())
    if os.waitpid(child, 0)[1] != 0:
        raise SystemExit("no context could be made")
    instants = [*times.items(), ("end", time.perf_counter())]
    return {
        part: round((at - before) * 1e3, 2)
        for (part, at), (_, before) in zip(instants[1:], instants, strict=False)
    }


def parts(device: int) -> list[dict[str, Any]]:
    rows = [
        {"connections": connections, **parts_of_one(device, connections)}
        for _ in range(PART_SAMPLES)
        for connections in CONNECTIONS
    ]
    for connections in CONNECTIONS:
        of_these = [row for row in rows if row["connections"] == connections]
        medians = {
            part: statistics.median(row[part] for row in of_these)
            for part in of_these[0]
            if part != "connections"
        }
        print(f"{connections} queues, ms: {medians}", flush=True)
    return rows


@contextlib.contextmanager
def held_contexts(devices: list[int]) -> Iterator[None]:
    """Keeps a context on each GPU until the block ends."""
    reader, writer = os.pipe()
    holders = []
    for device in devices:
        ready, readied = os.pipe()
        holder = os.fork()
        if holder == 0:
            os.close(writer)
            status = make_one(device)
            os.write(readied, b"x")
            os.read(reader, 1)  # ends when the parent closes its end
            os._exit(status)
        os.close(readied)
        os.read(ready, 1)
        os.close(ready)
        holders.append(holder)
    try:
        yield
    finally:
        os.close(writer)
        os.close(reader)
        for holder in holders:
            os.waitpid(holder, 0)


def maker(device: int, end: float, made: Any) -> None:
    os.environ["CUDA_DEVICE_MAX_CONNECTIONS"] = "1"  # as launchers have
    count = 0
    while time.time() < end:
        child = os.fork()
        if child == 0:
            os._exit(make_one(device))
        if os.waitpid(child, 0)[1] != 0:
            break
        count += 1
    made.put(count)


def rate(devices: list[int], processes: int, seconds: float) -> float:
    context = get_context("fork")
    made = context.Queue()
    with held_contexts(devices):
        end = time.time() + seconds
        begin = time.time()
        workers = [
            context.Process(target=maker, args=(device, end, made))
            for device in devices
            for _ in range(processes)
        ]
        for worker in workers:
            worker.start()
        total = sum(made.get() for _ in workers)
        took = time.time() - begin
        for worker in workers:
            worker.join()
    return total / took


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--devices", nargs="+", type=int, required=True)
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 6], help="for each GPU")
    parser.add_argument("--seconds", type=float, default=6.0, help="for each measurement")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    rows = []
    for count in sorted({1, min(2, len(options.devices)), len(options.devices)}):
        for processes in options.processes:
            devices = options.devices[:count]
            rows.append(
                {
                    "gpus": len(devices),
                    "processes_each": processes,
                    "per_second": rate(devices, processes, options.seconds),
                }
            )
            print(
                f"{len(devices)} GPUs, {processes} processes each: {rows[-1]['per_second']:.1f} contexts/s",
                flush=True,
            )
    options.out.parent.mkdir(parents=True, exist_ok=True)
    document = {
        "what": __doc__,
        "environment": environment(),
        "rates": rows,
        "parts": parts(options.devices[0]),
    }
    options.out.write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
