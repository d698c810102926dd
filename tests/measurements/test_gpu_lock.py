"""Tests the figures that measurements/mcp/gpu_lock.py computes from a server's log."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "measurements/mcp"))

import gpu_lock  # noqa: E402


def log_of(*changes: tuple[int, str, str], device: str = "cuda:0") -> list[str]:
    lines = []
    for at_ms, event, mode in changes:
        fields: dict[str, Any] = {"device": device, "event": event, "mode": mode}
        line = {"level": "trace", "message": "gpu lock", **fields, "at_us": at_ms * 1000}
        lines.append(json.dumps(line) + "\n")
    return lines


def test_the_time_is_split_by_what_holders_and_waiters_do() -> None:
    lines = log_of(
        (1000, "waits", "prepare"),
        (1000, "holds", "prepare"),
        (1100, "waits", "shared"),
        (1100, "holds", "shared"),
        (1300, "waits", "exclusive"),
        (1350, "released", "prepare"),
        (1400, "released", "shared"),
        (1400, "holds", "exclusive"),
        (2000, "released", "exclusive"),
        (2500, "waits", "host"),
        (2500, "holds", "host"),
        (2600, "released", "host"),
    )
    device = gpu_lock.figures(lines)["devices"]["cuda:0"]
    assert device["use_s"] == {"alone": 0.7, "draining": 0.1, "idle": 0.5, "shared": 0.3}
    assert device["modes"]["prepare"] == {
        "holders": 1,
        "held_s": 0.35,
        "waited_s": 0.0,
        "median_hold_ms": 350.0,
        "holds_ms": [350.0],
    }
    assert device["modes"]["exclusive"]["waited_s"] == 0.1
    assert device["modes"]["exclusive"]["holds_ms"] == [600.0]
    assert "load" not in device["modes"]


def test_a_waiter_that_gave_up_no_longer_waits() -> None:
    lines = log_of(
        (0, "waits", "shared"),
        (0, "holds", "shared"),
        (0, "waits", "exclusive"),
        (100, "gave up", "exclusive"),
        (300, "released", "shared"),
    )
    assert gpu_lock.figures(lines)["devices"]["cuda:0"]["use_s"] == {"draining": 0.1, "shared": 0.2}


def test_the_judges_requests_are_added_up_by_their_type() -> None:
    lines = [
        json.dumps({"message": "judge request", "type": name, "waited_ms": waited, "ms": ms}) + "\n"
        for name, waited, ms in (("prepare", 0, 5), ("prepare", 3, 7), ("refresh", 1, 2))
    ]
    found = gpu_lock.figures(lines)["judge"]
    assert found["prepare"] == {
        "number": 2,
        "total_s": 0.01,
        "mean_ms": 6,
        "median_ms": 6,
        "mean_waited_ms": 1.5,
    }
    assert found["refresh"]["number"] == 1


def test_devices_are_apart_and_steps_are_added_up() -> None:
    other = {"level": "info", "message": "job finished", "job": "job_1"}
    step = {"message": "timing step", "operator": "relu", "step": "oracle", "ms": 12.0}
    inputs = {**step, "step": "new inputs", "ms": 1.0, "run_ms": 0.0}
    lines = [
        *log_of((0, "waits", "load"), (0, "holds", "load"), (50, "released", "load")),
        *log_of((0, "waits", "load"), (0, "holds", "load"), device="cuda:1"),
        json.dumps(other) + "\n",
        json.dumps(step) + "\n",
        json.dumps({**step, "operator": "gelu", "ms": 18.0, "run_ms": 7.0}) + "\n",
        json.dumps(inputs) + "\n",
        '{"message": "gpu lo',  # the server was killed while it wrote
    ]
    found = gpu_lock.figures(lines)
    assert found["devices"]["cuda:0"]["modes"]["load"]["holds_ms"] == [50.0]
    assert found["devices"]["cuda:1"]["modes"] == {}  # it holds the lock still
    assert found["steps"] == {
        "operators": 2,
        "new inputs": {"number": 1, "total_s": 0.0, "mean_ms": 1.0},
        "oracle": {
            "number": 2,
            "total_s": 0.03,
            "mean_ms": 15.0,
            "mean_parts_ms": {"run": 3.5},
        },
    }


def test_a_log_without_its_begin_and_a_log_as_text_are_refused() -> None:
    with pytest.raises(SystemExit, match="lacks its begin"):
        gpu_lock.figures(log_of((0, "released", "shared")))
    with pytest.raises(SystemExit, match="--log-format json"):
        gpu_lock.figures(["2026-11-24T06:30:00.123Z trace gpu lock mode=shared\n"])


def test_an_unknown_event_is_refused() -> None:
    with pytest.raises(SystemExit, match="'steals'"):
        gpu_lock.figures(log_of((0, "steals", "shared")))
