"""Lints every operator on a device and stores the results: whether the operator is sound, the tier
in which its oracle passes, and the oracle's speed.

    python measurements/oracles.py --device cuda:0 --out measurements/results/oracles-h200.json

With --operators, the script lints only the named operators and replaces their results in the file.
Exits with status 1 if an operator is not sound."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from environment import environment

ROOT = Path(__file__).resolve().parent.parent
TIMEOUT_S = 3600
MOST_JOBS = 16  # the maximum number of jobs; each has a judge process with a context on the GPU


def lint(binary: str, names: list[str], device: str, jobs: int) -> list[dict[str, Any]]:
    """Returns the results of `assay operators lint --fresh`, one entry for each operator."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "lint.json"
        command = [
            binary,
            "operators",
            "lint",
            *names,
            "--device",
            device,
            "--jobs",
            str(jobs),
            "--fresh",
            "--out",
            str(out),
        ]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, timeout=TIMEOUT_S)
        if not out.exists():
            raise SystemExit(
                f"{' '.join(command)} ended with status {done.returncode} and wrote nothing"
            )
        # Removes the absolute path of this repository from the result.
        found = out.read_text().replace(f"{ROOT}/", "")
        entries: list[dict[str, Any]] = json.loads(found)["operators"]
    return [{"operator": entry.pop("name"), **entry} for entry in entries]


def median_ns(case: dict[str, Any], key: str) -> float | None:
    timing = case.get(key)
    return timing["median_ns"] if timing else None


def print_row(row: dict[str, Any]) -> None:
    verdict = row["verdict"]
    summary = str(verdict.get("summary", ""))[:150]
    for failure in row["failures"]:
        print(f"FAIL {failure}")
    print(
        f"{row['operator']:22} {verdict.get('outcome'):6} {verdict.get('tier', '-'):12} perf {verdict.get('perf')}  {summary}"
    )
    for case in verdict.get("cases", []):
        latency, pytorch, floor = (
            median_ns(case, "latency"),
            case.get("pytorch_ns"),
            case.get("floor_ns"),
        )
        if latency:
            of_floor = f"{100 * floor / latency:5.1f} % of roofline" if floor else ""
            versus = f"{pytorch / latency:5.2f}x eager" if pytorch else ""
            print(
                f"    {case['id']:20} {latency / 1e3:10.2f} us  {of_floor}  {versus}  max error {case.get('max_abs_error')}"
            )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--binary", default=str(ROOT / "build/release/bin/assay"))
    parser.add_argument("--operators", nargs="*", default=[])
    parser.add_argument(
        "--jobs", type=int, default=min(MOST_JOBS, os.cpu_count() or 1), help="operators at once"
    )
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    begin = time.perf_counter()
    rows = lint(options.binary, options.operators, options.device, options.jobs)
    wall_s = time.perf_counter() - begin
    for row in rows:
        print_row(row)
    sound = sum(row["sound"] for row in rows)
    plan = sum(row["verdict"].get("tier") == "plan" for row in rows)
    print(
        f"{sound} of {len(rows)} operators are sound on {options.device}; {plan} oracles pass in the plan tier"
    )
    print(f"{wall_s:.0f} s, {options.jobs} at once")
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        before = (
            json.loads(options.out.read_text())["oracles"]
            if options.operators and options.out.exists()
            else []
        )
        others = [row for row in before if row["operator"] not in {row["operator"] for row in rows}]
        result = {
            "what": __doc__,
            "device": options.device,
            "environment": environment(),
            "wall_s": wall_s,
            "jobs": options.jobs,
            "oracles": others + rows,
        }
        options.out.write_text(json.dumps(result, separators=(",", ":")) + "\n")
    return 0 if sound == len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
