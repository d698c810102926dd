"""Tests how the figures of processor use are computed from the counters of the kernel."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "measurements/mcp"))

from processor_use import (  # noqa: E402
    TICKS_PER_S,
    Moment,
    ProcessorUse,
    Use,
    between,
    machine_seconds,
    own_and_ended_use,
)


def test_each_mode_of_the_machine_has_its_columns() -> None:
    # user, nice, system, idle, iowait, irq, softirq, steal, guest, guest_nice
    columns = [value * TICKS_PER_S for value in (1, 2, 4, 8, 16, 32, 64, 128, 1, 2)]
    text = f"cpu  {' '.join(map(str, columns))}\ncpu0 1 1\n"
    assert machine_seconds(text) == {"user": 3, "system": 100, "idle": 8, "io": 16, "steal": 128}


def test_the_name_of_a_process_may_contain_blanks_and_brackets() -> None:
    # The fields of proc_pid_stat(5) from the state on: minflt and cminflt, then the four times.
    times = [str(value * TICKS_PER_S) for value in (1, 2, 4, 8)]
    fields = ["S", "1", *["0"] * 5, "30", "400", "0", "0", *times, "0"]
    assert own_and_ended_use(f"7 (a) b (c)) {' '.join(fields)}") == (Use(3, 30), Use(12, 400))


def test_figures_are_rates_and_an_ended_process_counts_once() -> None:
    machine = {"user": 10.0, "system": 5.0, "idle": 100.0, "io": 0.0, "steal": 0.0}
    later = {**machine, "user": 14.0, "idle": 103.0}
    begin = Moment(
        100.0, machine, {"candidate": Use(6.0, 40)}, {"page_faults": 50}, {"cpu": 1_000_000}
    )
    end = Moment(
        102.0,
        later,
        {"candidate": Use(9.0, 60), "judge": Use(1.0, 8)},
        {"page_faults": 250},
        {"cpu": 2_000_000},
    )
    figures = between(begin, end)
    assert (figures["user"], figures["system"], figures["idle"]) == (2.0, 0.0, 1.5)
    assert figures["by_role"] == {"candidate": 1.5, "judge": 0.5}
    assert figures["faults_by_role"] == {"candidate": 10, "judge": 4}
    assert figures["page_faults_per_s"] == 100
    assert figures["stalled"] == {"cpu": 0.5}


def test_a_load_of_this_process_is_the_load_of_the_server() -> None:
    with ProcessorUse(os.getpid()) as use:
        until_s = time.process_time() + 3 / TICKS_PER_S
        while time.process_time() < until_s:
            pass
    assert use.result["by_role"]["server"] > 0
