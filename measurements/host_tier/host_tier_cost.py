"""Measures what the three candidates of the host tier cost: the run, the run that looks for the origin
of the outputs, and the run whose launches do nothing.

    python measurements/host_tier/host_tier_cost.py --out measurements/results/host-tier-cost-cpu.json

The submission adds two vectors and reads a value, so it cannot be recorded. Without --device, a
server with the fake driver runs it in Triton's interpreter. The script reads the processor time of
each process below the server from /proc, a hundred times a second. The candidates of a job are
forked by one zygote and follow each other, so the time of one is that from the end of the one before
it to its own end. It includes the judge's work. One job comes first and is not counted."""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / part) for part in ("measurements", "tests/cheats", "tests/common")]

from cheat_server import CheatServer  # noqa: E402
from environment import environment  # noqa: E402
from host_tier_cases import HONEST  # noqa: E402
from test_host_tier import suite_of_small_cases  # noqa: E402
from tool_calls import verdict_of  # noqa: E402

TICK_MS = 1e3 / os.sysconf("SC_CLK_TCK")
POLL_S = 0.01
RUNS = ("run", "origin", "idle")


class Processes:
    """Watches the processes below this one until end(). Keeps the processor time of each process
    and the time at which it was seen last."""

    def __init__(self) -> None:
        self.seen: dict[int, dict[str, Any]] = {}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()

    def _watch(self) -> None:
        while not self._ended.wait(POLL_S):
            now = time.monotonic()
            for entry in os.listdir("/proc"):
                if not entry.isdigit():
                    continue
                try:
                    text = Path(f"/proc/{entry}/stat").read_text(encoding="ascii", errors="replace")
                except OSError:
                    continue
                fields = text.rpartition(")")[2].split()
                one = self.seen.setdefault(
                    int(entry), {"parent": int(fields[1]), "start": int(fields[19])}
                )
                one |= {"cpu_ms": (int(fields[11]) + int(fields[12])) * TICK_MS, "end": now}

    def end(self) -> dict[int, dict[str, Any]]:
        self._ended.set()
        self._thread.join()
        return self.seen


def candidates(seen: dict[int, dict[str, Any]], begin: float, end: float) -> list[dict[str, Any]]:
    """Returns the three processes with one parent that ended last between the two times, in the
    order of their ends."""
    ended = [one for one in seen.values() if begin < one["end"] < end - POLL_S * 3]
    by_parent: dict[int, list[dict[str, Any]]] = {}
    for one in ended:
        by_parent.setdefault(one["parent"], []).append(one)
    threes = [sorted(of, key=lambda one: one["end"]) for of in by_parent.values() if len(of) == 3]
    return max(threes, key=lambda of: sum(one["cpu_ms"] for one in of), default=[])


def measure(server: CheatServer, source: str) -> dict[str, Any] | None:
    watch = Processes()
    begin = time.monotonic()
    verdict = verdict_of(
        server.client,
        "run_tests",
        {"operator": "vector_add", "code": source, "language": "python"},
    )
    wall_ms = (time.monotonic() - begin) * 1e3
    time.sleep(0.2)  # the last candidate is no longer there
    three = candidates(watch.end(), begin, time.monotonic())
    if verdict["outcome"] != "pass" or verdict["tier"] != "host" or not three:
        print(f"not counted: {verdict['summary']}, {len(three)} candidates", file=sys.stderr)
        return None
    ends = [one["end"] for one in three]
    return {
        "job_ms": round(wall_ms),
        "cpu_ms": {name: one["cpu_ms"] for name, one in zip(RUNS, three, strict=True)},
        "wall_ms": {
            "origin": round((ends[1] - ends[0]) * 1e3),
            "idle": round((ends[2] - ends[1]) * 1e3),
        },
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--device", default="", help="for example cuda:0; default: a fake GPU")
    parser.add_argument("--jobs", type=int, default=20)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    binary = Path(os.environ.get("ASSAY_BIN", str(ROOT / "build/release/bin/assay")))
    with tempfile.TemporaryDirectory() as folder:
        suite = ("--suite", str(suite_of_small_cases(Path(folder) / "suite")))
        program = binary if options.device else binary.with_name("assay_on_fake_gpu")
        server = CheatServer(
            str(program), options.device or "cuda:0", Path(folder), *suite, control=False
        )
        source = HONEST["reads_a_value"].source(server.prelude)
        measure(server, source)
        samples = [one for _ in range(options.jobs) if (one := measure(server, source))]
        server.close()
    medians = {
        "job_ms": statistics.median(one["job_ms"] for one in samples),
        **{
            kind: {
                name: statistics.median(one[kind][name] for one in samples)
                for name in samples[0][kind]
            }
            for kind in ("cpu_ms", "wall_ms")
        },
    }
    result = {
        "environment": environment(),
        "device": options.device or "fake driver, Triton's interpreter",
        "load": os.getloadavg(),
        "medians": medians,
        "samples": samples,
    }
    options.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(medians))
    return 0


if __name__ == "__main__":
    sys.exit(main())
