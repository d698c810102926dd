"""CUDA contexts made in a second on one GPU and on several at once: whether the driver makes them one by one for the whole machine.

    python bench/contexts.py --devices 0 1 2 3 --processes 6 --seconds 6 --out bench-out/contexts.json

Every submission gets a context of its own, so this bounds how fast small jobs can be. So many processes for each GPU do nothing but fork
children that make a context and end.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import time
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from environment import environment

OK = 0


def make_one(device: int) -> int:
    """In a child of its own: 0 when a context was made."""
    cuda = ctypes.CDLL("libcuda.so.1")
    handle, context = ctypes.c_int(), ctypes.c_void_p()
    if cuda.cuInit(0) != OK or cuda.cuDeviceGet(ctypes.byref(handle), device) != OK:
        return 1
    return 0 if cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), handle) == OK else 2


def maker(device: int, end: float, made: Any) -> None:
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
    end = time.time() + seconds
    begin = time.time()
    workers = [context.Process(target=maker, args=(device, end, made)) for device in devices for _ in range(processes)]
    for worker in workers:
        worker.start()
    total = sum(made.get() for _ in workers)
    for worker in workers:
        worker.join()
    return total / (time.time() - begin)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--devices", nargs="+", type=int, required=True)
    parser.add_argument("--processes", type=int, default=6, help="for each GPU")
    parser.add_argument("--seconds", type=float, default=6.0, help="for each measurement")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    rows = []
    for count in sorted({1, 2, len(options.devices)}):
        for processes in sorted({1, options.processes}):
            devices = options.devices[:count]
            rows.append({"gpus": len(devices), "processes_each": processes, "per_second": rate(devices, processes, options.seconds)})
            print(f"{len(devices)} GPUs, {processes} processes each: {rows[-1]['per_second']:.1f} contexts/s", flush=True)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps({"what": __doc__, "environment": environment(), "rates": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
