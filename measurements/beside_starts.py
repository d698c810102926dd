"""Measures how much launchers that start on a GPU disturb a job that is timed on the same GPU.

    python measurements/beside_starts.py --device 0 --out bench-out/beside-starts.json

Some processes imitate launchers that start. Each forks children one after the other, and a child
ends after `cuInit` or after it has created a context. Meanwhile this process times a short kernel,
with a flush of the L2 before each sample, and calls the driver to allocate and to free memory. In
the result, `blocks` contains the median and the longest sample of each block, in microseconds.
`calls` contains the duration of each call, in milliseconds."""

from __future__ import annotations

import argparse
import ctypes
import json
import multiprocessing
import os
import signal
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from contexts import OK, make_one
from environment import environment

BLOCK_SAMPLES = 64
ELEMENTS = 1 << 20
MEMORY_BYTES = 64 << 20
FLUSH_BYTES = 256 << 20
ROUNDS = 3
# Maps each measurement to two values: the step after which each child ends (make_one() reports
# `cuInit` and `context`), and the number of processes that fork such children.
BESIDE = {
    "nothing": ("", 0),
    "cuInit": ("cuInit", 1),
    "one start": ("context", 1),
    "three starts": ("context", 3),
}


class StoppedHere(Exception):
    pass


def start_repeatedly(device: int, until: str) -> None:
    def done(part: str) -> None:
        if part == until:
            raise StoppedHere

    while True:
        child = os.fork()
        if child == 0:
            try:
                make_one(device, done)
            except StoppedHere:
                os._exit(0)
            os._exit(1)
        os.waitpid(child, 0)


@contextmanager
def beside(device: int, until: str, processes: int) -> Iterator[None]:
    context = multiprocessing.get_context("spawn")  # a fork would inherit this process's context
    workers = [
        context.Process(target=start_repeatedly, args=(device, until)) for _ in range(processes)
    ]
    for worker in workers:
        worker.start()
    time.sleep(1.0 if workers else 0.0)
    yield
    for worker in workers:
        assert worker.pid is not None
        os.kill(worker.pid, signal.SIGKILL)
        worker.join()


def timed_kernel(device: int) -> Callable[[], list[float]]:
    import torch

    where = torch.device("cuda", device)
    x, y = (torch.randn(ELEMENTS, device=where) for _ in range(2))
    z, flush = torch.empty_like(x), torch.empty(FLUSH_BYTES, dtype=torch.uint8, device=where)

    def block() -> list[float]:
        marks = [
            (torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True))
            for _ in range(BLOCK_SAMPLES)
        ]
        for start, stop in marks:
            flush.zero_()
            start.record()
            torch.add(x, y, out=z)
            stop.record()
        torch.cuda.synchronize(where)
        samples = [start.elapsed_time(stop) * 1e3 for start, stop in marks]
        return [round(statistics.median(samples), 3), round(max(samples), 3)]

    return block


def timed_calls() -> list[float]:
    """Returns the milliseconds that it takes to allocate device memory and to free it."""
    cuda = ctypes.CDLL("libcuda.so.1")
    memory = ctypes.c_uint64()
    begin = time.perf_counter()
    if cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(MEMORY_BYTES)) != OK:
        raise SystemExit("no memory")
    middle = time.perf_counter()
    if cuda.cuMemFree_v2(memory) != OK:
        raise SystemExit("the driver does not take memory back")
    return [round((middle - begin) * 1e3, 4), round((time.perf_counter() - middle) * 1e3, 4)]


def repeated(seconds: float, once: Callable[[], list[float]]) -> list[list[float]]:
    end, rows = time.perf_counter() + seconds, []
    while time.perf_counter() < end:
        rows.append(once())
    return rows


def line_of(name: str, blocks: list[list[float]], calls: list[list[float]]) -> str:
    medians, longest = sorted(block[0] for block in blocks), sorted(block[1] for block in blocks)
    takes = [call[0] for call in calls]
    of_95 = len(blocks) * 95 // 100
    return (
        f"{name}: median of {len(blocks)} blocks {medians[len(medians) // 2]:.2f} us (95 % under {medians[of_95]:.2f}), "
        f"longest sample {longest[len(longest) // 2]:.1f} us (95 % under {longest[of_95]:.1f}); "
        f"taking memory {statistics.mean(takes):.2f} ms, at most {max(takes):.1f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", type=int, default=0)
    parser.add_argument(
        "--seconds",
        type=float,
        default=1.5,
        help="for each measurement; there are some two dozen",
    )
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    block = timed_kernel(options.device)
    repeated(options.seconds, block)  # a warm-up, in which the GPU's clock rises
    measured: dict[str, dict[str, Any]] = {name: {"blocks": [], "calls": []} for name in BESIDE}
    for _ in range(ROUNDS):
        for name, (until, processes) in BESIDE.items():
            with beside(options.device, until, processes):
                measured[name]["blocks"] += repeated(options.seconds, block)
                measured[name]["calls"] += repeated(options.seconds, timed_calls)
    for name, rows in measured.items():
        print(line_of(name, **rows), flush=True)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(
        json.dumps({"what": __doc__, "environment": environment(), "beside": measured}) + "\n"
    )


if __name__ == "__main__":
    main()
