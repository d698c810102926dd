"""Times a reference on the judge's device.

samples_ns = times_ns(torch.device("cuda:0"), lambda: operator.reference(arguments), max_ms=100)"""

from __future__ import annotations

import time
from collections.abc import Callable

import torch

WARM_UP, SAMPLES = 2, 10  # the number of runs, unless a time limit below ends them
# Time limits. They are short, because a reference may consist of thousands of launches, and other
# jobs wait for the GPU. A caller can ask for a shorter time than MAX_TIMING_MS.
WARM_UP_S, MAX_TIMING_MS = 0.01, 100
DEFAULT_L2_BYTES = 64 << 20


def times_ns(
    device: torch.device, run: Callable[[], None], max_ms: float = MAX_TIMING_MS
) -> list[float]:
    """Returns samples of the time of a call on the device, in nanoseconds: at least one, and none
    that begins later than `max_ms` after the first one."""
    max_s = max_ms / 1e3
    return _time_cuda(device, run, max_s) if device.type == "cuda" else _time_cpu(run, max_s)


def _time_cpu(run: Callable[[], None], max_s: float) -> list[float]:
    samples: list[float] = []
    run()
    end = time.perf_counter() + max_s
    while len(samples) < SAMPLES and (not samples or time.perf_counter() < end):
        start = time.perf_counter_ns()
        run()
        samples.append(float(time.perf_counter_ns() - start))
    return samples


def _time_cuda(device: torch.device, run: Callable[[], None], max_s: float) -> list[float]:
    """Measures device time with a cold L2 cache. Before each sample, overwrites a buffer that is
    twice as large as the cache."""
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
    samples: list[float] = []
    end = time.perf_counter() + max_s
    while len(samples) < SAMPLES and (not samples or time.perf_counter() < end):
        start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        flush.zero_()
        start.record()
        run()
        stop.record()
        stop.synchronize()
        samples.append(float(start.elapsed_time(stop)) * 1e6)
    return samples
