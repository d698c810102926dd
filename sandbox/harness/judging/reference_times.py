"""Times a reference on the judge's device.

samples_ns = times_ns(torch.device("cuda:0"), lambda: operator.reference(arguments), max_ms=100)"""

from __future__ import annotations

import time
from collections.abc import Callable

import torch

WARM_UP, SAMPLES = 2, 10  # the number of runs, unless a time limit below ends them
LEAST_SAMPLES = 3  # unless MAX_TIMING_MS ends them
# Time limits. They are short, because a reference may consist of thousands of launches, and other
# jobs wait for the GPU. A caller can ask for a shorter time than MAX_TIMING_MS.
WARM_UP_S, MAX_TIMING_MS = 0.01, 100
DEFAULT_L2_BYTES = 64 << 20


def times_ns(
    device: torch.device, run: Callable[[], None], max_ms: float = MAX_TIMING_MS
) -> list[float]:
    """Returns samples of the time of a call on the device, in nanoseconds: at least one, and none
    that begins later than MAX_TIMING_MS after the first one. After `max_ms`, only as many follow as
    LEAST_SAMPLES lacks."""
    time_one = _cuda_timer(device, run) if device.type == "cuda" else _cpu_timer(run)
    samples: list[float] = []
    begin = time.perf_counter()
    while len(samples) < SAMPLES:
        passed_ms = (time.perf_counter() - begin) * 1e3
        limit_ms = max_ms if len(samples) >= LEAST_SAMPLES else max(max_ms, MAX_TIMING_MS)
        if samples and passed_ms >= limit_ms:
            break
        samples.append(time_one())
    return samples


def _cpu_timer(run: Callable[[], None]) -> Callable[[], float]:
    run()

    def time_one() -> float:
        start = time.perf_counter_ns()
        run()
        return float(time.perf_counter_ns() - start)

    return time_one


def _cuda_timer(device: torch.device, run: Callable[[], None]) -> Callable[[], float]:
    """Returns a function that measures device time with a cold L2 cache. Before each sample, it
    overwrites a buffer that is twice as large as the cache."""
    l2_bytes = int(
        getattr(torch.cuda.get_device_properties(device), "L2_cache_size", 0) or DEFAULT_L2_BYTES
    )
    flush = torch.empty(2 * l2_bytes, dtype=torch.uint8, device=device)
    begin = time.perf_counter()
    for _ in range(WARM_UP):
        run()
        torch.cuda.synchronize(device)
        if time.perf_counter() - begin > WARM_UP_S:
            break

    def time_one() -> float:
        start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        flush.zero_()
        start.record()
        run()
        stop.record()
        stop.synchronize()
        return float(start.elapsed_time(stop)) * 1e6

    return time_one
