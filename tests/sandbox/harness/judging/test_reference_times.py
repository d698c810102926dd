"""Tests how many samples the times of a reference have, and that a slow host adds no gaps to them."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch
from harness.judging import reference_times


@pytest.mark.parametrize(
    ("run_ms", "max_ms", "samples"),
    [
        (1, 100, 10),
        (1, 25, 10),
        (4, 25, 7),  # the seventh begins after 24 ms
        (20, 25, 3),  # fewer would be one sample that a busy processor made longer
        (20, 100, 5),
        (60, 100, 2),  # the third would begin after 120 ms
        (500, 100, 1),
    ],
)
def test_slow_references_have_fewer_samples(
    run_ms: float, max_ms: float, samples: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs, times = times_on_a_cpu(run_ms, max_ms, monkeypatch)
    assert times == pytest.approx([run_ms * 1e6] * samples, abs=2)
    assert runs == samples + 1


@pytest.mark.parametrize("run_ms", [25, 60, 500])
def test_the_warm_up_of_a_slow_reference_is_its_only_run_if_no_score_depends_on_it(
    run_ms: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs, times = times_on_a_cpu(run_ms, 25, monkeypatch)
    assert times == pytest.approx([run_ms * 1e6], abs=2)
    assert runs == 1


def test_a_warm_up_without_a_processor_is_no_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    runs, times = times_on_a_cpu(1, 25, monkeypatch, stalled_ms=40)
    assert times == pytest.approx([1e6] * 10, abs=2)
    assert runs == 11


def times_on_a_cpu(
    run_ms: float, max_ms: float, monkeypatch: pytest.MonkeyPatch, stalled_ms: float = 0
) -> tuple[int, list[float]]:
    """`stalled_ms` is the time for which the first run has no processor."""
    now, worked, runs = 0.0, 0.0, 0

    def run() -> None:
        nonlocal now, worked, runs
        now += (run_ms + (0 if runs else stalled_ms)) / 1e3
        worked, runs = worked + run_ms / 1e3, runs + 1

    clock = SimpleNamespace(
        perf_counter=lambda: now,
        perf_counter_ns=lambda: round(now * 1e9),
        thread_time=lambda: worked,
    )
    monkeypatch.setattr(reference_times, "time", clock)
    times = reference_times.times_ns(torch.device("cpu"), run, max_ms)
    return runs, times


class SimulatedGpu:
    """A host and a GPU with a clock each, in microseconds. The GPU executes in order what the host
    queues. Replaces the modules `torch` and `time` of reference_times.py."""

    def __init__(self) -> None:
        self.host_us = self.gpu_us = 0.0
        self.leads_us: list[float] = []
        gpu = self

        class Event:
            def __init__(self, enable_timing: bool) -> None:
                assert enable_timing

            def record(self) -> None:
                self.at_us = gpu.queue(0)

            def synchronize(self) -> None:
                gpu.host_us = max(gpu.host_us, self.at_us)

            def elapsed_time(self, end: Event) -> float:
                return (end.at_us - self.at_us) / 1e3

        self.cuda = SimpleNamespace(
            Event=Event,
            get_device_properties=lambda device: SimpleNamespace(L2_cache_size=1 << 20),
            _sleep=self.sleep,
        )
        self.uint8 = torch.uint8
        self.device = torch.device

    def queue(self, takes_us: float, host_us: float = 0) -> float:
        """Returns when the GPU has executed an operation that the host needs `host_us` to queue."""
        self.host_us += host_us
        self.gpu_us = max(self.gpu_us, self.host_us) + takes_us
        return self.gpu_us

    def sleep(self, cycles: int) -> None:
        self.leads_us.append(cycles / reference_times.CYCLES_PER_S * 1e6)
        self.queue(self.leads_us[-1])

    def empty(self, size: int, dtype: torch.dtype, device: torch.device) -> SimpleNamespace:
        return SimpleNamespace(zero_=lambda: self.queue(1))

    def perf_counter(self) -> float:
        return self.host_us / 1e6

    thread_time = perf_counter


@pytest.mark.parametrize("host_us", [5, 30, 300])
def test_the_time_is_that_of_the_gpu_however_slow_the_host_is(
    host_us: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    gpu = SimulatedGpu()
    monkeypatch.setattr(reference_times, "torch", gpu)
    monkeypatch.setattr(reference_times, "time", gpu)

    def reference() -> None:
        for _ in range(10):
            gpu.queue(takes_us=20, host_us=host_us)

    times = reference_times.times_ns(torch.device("cuda:0"), reference)
    assert len(times) >= reference_times.LEAST_SAMPLES
    assert times == pytest.approx([200e3] * len(times))


def test_the_gpu_waits_no_longer_than_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = SimulatedGpu()
    monkeypatch.setattr(reference_times, "torch", gpu)
    monkeypatch.setattr(reference_times, "time", gpu)

    def reference() -> None:
        gpu.queue(takes_us=1, host_us=40_000)

    times = reference_times.times_ns(torch.device("cuda:0"), reference)
    most_us = reference_times.MOST_LEAD_S * 1e6
    assert gpu.leads_us == pytest.approx([most_us] * len(times))
    # The flush of 1 us and the wait begin when the host begins to queue the run.
    assert times == pytest.approx([(40_000 - most_us) * 1e3] * len(times))
