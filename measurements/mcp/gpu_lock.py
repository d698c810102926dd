"""Shows what the jobs of a server do with its GPUs, from the log of level trace.

    build/release/bin/assay serve --http 127.0.0.1:8000 --device cuda:0 \\
        --log-level trace --log-format json --log-file server.log
    python measurements/mcp/gpu_lock.py server.log --out gpu-lock.json

`use_s` adds up to the time between the first and the last line. The GPU is at each moment used
`alone` (a job is timed, or runs on the host tier), `draining` (jobs share it, and a job waits to have
it alone), `shared`, or `idle`. `modes` has for each mode of the lock (sandbox/gpu/scheduler.h) how
many jobs held it, for how many seconds all of them together held it and waited for it, and the
length of each hold. `steps` has for each step of timed jobs its number, its total and its mean, and
for launches also the mean of each part (docs/reference/verdict.md, "The parts of a launch"). The step
`submission` contains the step `new inputs`. `judge` has the same for each type of request to the
judges (docs/reference/frames.md, "Judge"), with the mean time for which a request waited for the
request before it. Judges work for several jobs at a time, so this can be more than `use_s`."""

from __future__ import annotations

import argparse
import json
import statistics
from collections import Counter, defaultdict, deque
from collections.abc import Iterable
from pathlib import Path
from typing import Any

MODES = ("prepare", "shared", "exclusive", "load", "host")
ALONE = ("exclusive", "host")
PARTS = ("allocate", "load", "map", "fill", "run", "check", "copy", "free")


def use_of(waiting: Counter[str], holding: Counter[str]) -> str:
    if any(holding[mode] for mode in ALONE):
        return "alone"
    if not any(holding.values()):
        return "idle"
    return "draining" if any(waiting[mode] for mode in ALONE) else "shared"


def lock_figures(events: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Returns the figures of one device. Holds of one mode are taken to end in their order."""
    waiting: Counter[str] = Counter()
    holding: Counter[str] = Counter()
    use_us: Counter[str] = Counter()
    held_us: Counter[str] = Counter()
    waited_us: Counter[str] = Counter()
    since: dict[str, deque[int]] = {mode: deque() for mode in MODES}
    holds_ms: dict[str, list[float]] = {mode: [] for mode in MODES}
    last_us: int | None = None
    for event in events:
        at_us, mode = event["at_us"], event["mode"]
        if last_us is not None and at_us > last_us:
            use_us[use_of(waiting, holding)] += at_us - last_us
            for each in MODES:
                held_us[each] += holding[each] * (at_us - last_us)
                waited_us[each] += waiting[each] * (at_us - last_us)
        last_us = at_us
        if event["event"] == "waits":
            waiting[mode] += 1
        elif event["event"] == "gave up":
            waiting[mode] -= 1
        elif event["event"] == "holds":
            waiting[mode] -= 1
            holding[mode] += 1
            since[mode].append(at_us)
        elif event["event"] == "released":
            if not since[mode]:
                raise SystemExit(f"{mode} is released and nobody holds it: the log lacks its begin")
            holding[mode] -= 1
            holds_ms[mode].append(round((at_us - since[mode].popleft()) / 1e3, 1))
        else:
            raise SystemExit(f"unknown event {event['event']!r}")
    return {
        "use_s": {use: round(us / 1e6, 2) for use, us in sorted(use_us.items())},
        "modes": {
            mode: {
                "holders": len(holds_ms[mode]),
                "held_s": round(held_us[mode] / 1e6, 2),
                "waited_s": round(waited_us[mode] / 1e6, 2),
                "median_hold_ms": round(statistics.median(holds_ms[mode]), 1),
                "holds_ms": holds_ms[mode],
            }
            for mode in MODES
            if holds_ms[mode]
        },
    }


def step_figures(lines: Iterable[dict[str, Any]]) -> dict[str, Any]:
    steps: dict[str, list[float]] = defaultdict(list)
    parts: dict[str, Counter[str]] = defaultdict(Counter)
    operators = set()
    for line in lines:
        steps[line["step"]].append(line["ms"])
        parts[line["step"]].update({part: line.get(f"{part}_ms", 0.0) for part in PARTS})
        operators.add(line["operator"])
    return {
        "operators": len(operators),
        **{
            name: {
                "number": len(each),
                "total_s": round(sum(each) / 1e3, 2),
                "mean_ms": round(statistics.mean(each), 2),
                **mean_parts(parts[name], len(each)),
            }
            for name, each in sorted(steps.items())
        },
    }


def judge_figures(lines: Iterable[dict[str, Any]]) -> dict[str, Any]:
    requests: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in lines:
        requests[line["type"]].append(line)
    return {
        name: {
            "number": len(each),
            "total_s": round(sum(one["ms"] for one in each) / 1e3, 2),
            "mean_ms": round(statistics.mean(one["ms"] for one in each), 2),
            "median_ms": round(statistics.median(one["ms"] for one in each), 2),
            "mean_waited_ms": round(statistics.mean(one["waited_ms"] for one in each), 2),
        }
        for name, each in sorted(requests.items())
    }


def mean_parts(total_ms: Counter[str], number: int) -> dict[str, Any]:
    means = {part: round(ms / number, 2) for part, ms in total_ms.items() if ms > 0}
    return {"mean_parts_ms": means} if means else {}


def figures(lines: Iterable[str]) -> dict[str, Any]:
    """Returns the figures of a log. Other lines are left out, and so is a last line that is not
    complete."""
    devices: dict[str, list[dict[str, Any]]] = defaultdict(list)
    steps, requests = [], []
    for text in lines:
        if not text.endswith("\n"):
            continue
        try:
            line = json.loads(text)
        except json.JSONDecodeError as error:
            raise SystemExit(f"not a log with --log-format json: {text[:80]!r}") from error
        if line["message"] == "gpu lock":
            devices[line["device"]].append(line)
        elif line["message"] == "timing step":
            steps.append(line)
        elif line["message"] == "judge request":
            requests.append(line)
    return {
        "devices": {name: lock_figures(events) for name, events in sorted(devices.items())},
        "steps": step_figures(steps),
        "judge": judge_figures(requests),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("log", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    with options.log.open(encoding="utf-8") as lines:
        found = figures(lines)
    options.out.write_text(json.dumps(found) + "\n", encoding="utf-8")
    for name, device in found["devices"].items():
        print(name, device["use_s"])
        for mode, one in device["modes"].items():
            print(" ", mode, {key: value for key, value in one.items() if key != "holds_ms"})
    print(found["steps"])
    for name, one in found["judge"].items():
        print(" ", name, one)


if __name__ == "__main__":
    main()
