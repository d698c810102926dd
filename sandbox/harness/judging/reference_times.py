"""Times a reference on the judge's device.

samples_ns = times_ns(torch.device("cuda:0"), lambda: operator.reference(arguments), max_ms=100)

The host launches PyTorch's operations one after the other. On a busy processor this takes longer
than the operations do, and the GPU waits between them. A client can keep the processors busy, and a
longer time of PyTorch raises the score of a submission that is compared with it. So a kernel that
only waits runs before each sample on a GPU. Meanwhile the host queues the operations, so that the
sample contains no gaps. Two kinds of references still have gaps: those that wait for the device, and
those whose operations take longer to queue than MOST_LEAD_S."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

import torch

WARM_UP, SAMPLES = 2, 10  # the number of runs, unless a time limit below ends them
LEAST_SAMPLES = 3  # unless MAX_TIMING_MS ends them
# Time limits. They are short, because a reference may consist of thousands of launches, and other
# jobs wait for the GPU. A caller can ask for a shorter time than MAX_TIMING_MS.
WARM_UP_S, MAX_TIMING_MS = 0.01, 100
DEFAULT_L2_BYTES = 64 << 20
# The device waits before a sample for LEAD_FACTOR times as long as the host needed to queue the
# quickest run so far, but at most for MOST_LEAD_S. The device's queue has room for about 1,000
# operations, so a longer wait would not help.
LEAD_FACTOR, MOST_LEAD_S = 2.0, 0.01
# A warm-up counts as the only sample if the thread that queued it had no processor for at most this
# share of its time. Otherwise other processes may have made a quick run look slow.
MOST_IDLE_SHARE = 0.1
CYCLES_PER_S = 2.0e9  # about the highest clock of a GPU; with a lower clock the wait is longer


class Timer(Protocol):
    idle_s: float  # the time for which the thread had no processor while it queued the last run

    def warm_up(self) -> float:
        """Runs the reference until it is warm. Returns the time of the last run in nanoseconds."""

    def sample(self) -> float:
        """Returns the time of one run in nanoseconds."""


def times_ns(
    device: torch.device, run: Callable[[], None], max_ms: float = MAX_TIMING_MS
) -> list[float]:
    """Returns samples of the time of a call on the device, in nanoseconds: at least one, and none
    that begins later than MAX_TIMING_MS after the first one. After `max_ms`, only as many follow as
    LEAST_SAMPLES lacks. If the caller asks for less than MAX_TIMING_MS, and the warm-up takes longer
    than that, the time of the warm-up is the only sample, unless the thread had no processor for a
    part of it."""
    timer: Timer = _CudaTimer(device, run) if device.type == "cuda" else _CpuTimer(run)
    warm_up = timer.warm_up()
    is_slow = warm_up >= max_ms * 1e6 and timer.idle_s * 1e9 <= MOST_IDLE_SHARE * warm_up
    if max_ms < MAX_TIMING_MS and is_slow:
        return [warm_up]
    samples: list[float] = []
    begin = time.perf_counter()
    while len(samples) < SAMPLES:
        passed_ms = (time.perf_counter() - begin) * 1e3
        limit_ms = max_ms if len(samples) >= LEAST_SAMPLES else max(max_ms, MAX_TIMING_MS)
        if samples and passed_ms >= limit_ms:
            break
        samples.append(timer.sample())
    return samples


class _CpuTimer:
    def __init__(self, run: Callable[[], None]) -> None:
        self.run = run

    def sample(self) -> float:
        start, worked = time.perf_counter_ns(), time.thread_time()
        self.run()
        took_ns = float(time.perf_counter_ns() - start)
        self.idle_s = took_ns / 1e9 - (time.thread_time() - worked)
        return took_ns

    warm_up = sample


class _CudaTimer:
    """Measures device time with a cold L2 cache. Before each sample, it overwrites a buffer that is
    twice as large as the cache, and makes the device wait until the host has queued the run."""

    def __init__(self, device: torch.device, run: Callable[[], None]) -> None:
        properties = torch.cuda.get_device_properties(device)
        l2_bytes = int(getattr(properties, "L2_cache_size", 0) or DEFAULT_L2_BYTES)
        self.flush = torch.empty(2 * l2_bytes, dtype=torch.uint8, device=device)
        self.run = run
        self.queueing_s = MOST_LEAD_S  # the shortest time in which the host queued a run
        self.idle_s = 0.0

    def warm_up(self) -> float:
        begin = time.perf_counter()
        for _ in range(WARM_UP):
            last = self._time(lead_s=0)
            if time.perf_counter() - begin > WARM_UP_S:
                break
        return last

    def sample(self) -> float:
        return self._time(min(LEAD_FACTOR * self.queueing_s, MOST_LEAD_S))

    def _time(self, lead_s: float) -> float:
        start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        self.flush.zero_()
        if lead_s > 0:
            torch.cuda._sleep(int(lead_s * CYCLES_PER_S))
        begin, worked = time.perf_counter(), time.thread_time()
        start.record()
        self.run()
        stop.record()
        took_s = time.perf_counter() - begin
        self.queueing_s = min(self.queueing_s, took_s)
        self.idle_s = took_s - (time.thread_time() - worked)
        stop.synchronize()
        return float(start.elapsed_time(stop)) * 1e6
