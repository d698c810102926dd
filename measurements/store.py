"""Measures how many accepted jobs and verdicts the store writes in a second, with one writer and
with many. Each job and each verdict is durable on the disk before its writer continues.

    ninja -C build/release assay-store-load
    python measurements/store.py --folder DIR --out measurements/results/store-cpu2.json \
        [--before OLD_BUILD/bin/assay-store-load]

DIR must be on the disk to measure: a folder in memory never waits for a disk. With `--before`, the
script measures two builds in turns. Virtual disks often claim that a write is durable within 0.1
ms. With `--slow-sync-ms 5`, each wait for the disk takes 5 ms longer, as on a machine that has to
write to a hard disk (this needs strace)."""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from environment import environment

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "build/release/bin/assay-store-load"
WRITERS = (1, 4, 16, 64)
TURNS = 3  # each build is measured this many times with each number of writers
KEPT_SAMPLES = 2_000  # the maximum number for each kind and series; evenly spaced among all samples
SYNC_PROBES = 200


def sync_ms(folder: str) -> list[float]:
    """Returns the times that the disk takes to make 4 KiB durable, without any database."""
    times = []
    with tempfile.TemporaryFile(dir=folder) as file:
        for _ in range(SYNC_PROBES):
            os.pwrite(file.fileno(), os.urandom(4096), 0)
            begin = time.perf_counter()
            os.fdatasync(file.fileno())
            times.append(round((time.perf_counter() - begin) * 1e3, 4))
    return times


def measure(
    program: Path, folder: str, writers: int, seconds: int, slow_sync_ms: float
) -> dict[str, Any]:
    slowly = ["strace", "-f", "-q", "--seccomp-bpf", "-o", "/dev/null", "-e", "trace=fdatasync"]
    slowly += ["-e", f"inject=fdatasync:delay_exit={int(slow_sync_ms * 1e3)}"]
    with tempfile.TemporaryDirectory(dir=folder) as store:
        said = subprocess.run(
            [
                *(slowly if slow_sync_ms else []),
                *(str(program), f"{store}/load.db", str(writers), str(seconds)),
            ],
            capture_output=True,
            text=True,
            check=True,
        )
        threads = [json.loads(line) for line in said.stdout.splitlines()]
        size = sum(path.stat().st_size for path in Path(store).iterdir())
    result: dict[str, Any] = {"file_bytes": size}
    for kind, per_s in (("accept", "jobs_per_s"), ("finish", "verdicts_per_s")):
        times = sorted(ns / 1e6 for thread in threads for ns in thread[f"{kind}_ns"])
        result[per_s] = round(len(times) / seconds, 1)
        result[f"{kind}_ms"] = {
            "p50": round(statistics.median(times), 3),
            "p99": round(times[int(0.99 * (len(times) - 1))], 3),
            "samples": [round(one, 3) for one in times[:: 1 + len(times) // KEPT_SAMPLES]],
        }
    return result


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", required=True, help="where the stores are made")
    parser.add_argument("--before", type=Path, help="the program of another build")
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--slow-sync-ms", type=float, default=0)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    programs = {"before": options.before} if options.before else {}
    programs["after"] = PROGRAM
    series: dict[str, dict[str, list[dict[str, Any]]]] = {name: {} for name in programs}
    for _ in range(TURNS):
        for writers in WRITERS:
            for name, program in programs.items():
                measured = measure(
                    program, options.folder, writers, options.seconds, options.slow_sync_ms
                )
                series[name].setdefault(str(writers), []).append(measured)
    summary = {
        name: {
            writers: {
                "jobs_with_verdict_per_s": statistics.median(
                    one["verdicts_per_s"] for one in turns
                ),
                "accept_p50_ms": statistics.median(one["accept_ms"]["p50"] for one in turns),
                "accept_p99_ms": statistics.median(one["accept_ms"]["p99"] for one in turns),
            }
            for writers, turns in of.items()
        }
        for name, of in series.items()
    }
    print(json.dumps(summary, indent=1))
    result = {
        "what": __doc__,
        "summary": summary,
        "slow_sync_ms": options.slow_sync_ms,
        "sync_4_kib_ms": sync_ms(options.folder),
        "series": series,
        "environment": environment(),
    }
    options.out.write_text(json.dumps(result, separators=(",", ":")) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
