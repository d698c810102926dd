"""Tests how many samples the times of a reference have."""

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
        (60, 25, 2),  # the third would begin after 120 ms
        (500, 25, 1),
    ],
)
def test_slow_references_have_fewer_samples(
    run_ms: float, max_ms: float, samples: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0

    def run() -> None:
        nonlocal now
        now += run_ms / 1e3

    clock = SimpleNamespace(perf_counter=lambda: now, perf_counter_ns=lambda: round(now * 1e9))
    monkeypatch.setattr(reference_times, "time", clock)
    times = reference_times.times_ns(torch.device("cpu"), run, max_ms)
    assert times == pytest.approx([run_ms * 1e6] * samples, abs=2)
