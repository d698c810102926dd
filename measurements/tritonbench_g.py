"""Measures how much real code can be recorded as launch plans without a GPU. The code is the golden
files of TritonBench-G (thunlp/TritonBench).

    python measurements/tritonbench_g.py DIR --target cuda:90 \
        --out measurements/results/tritonbench-g.json

DIR contains the golden files: `data/TritonBench_G_v1` of TritonBench's repository. No golden file
is part of this repository. Each file runs in a fresh process with a time limit
(importers/tritonbench/golden_file.py describes the process), so a file that fails does not affect other files.
If a file's wrapper functions use torch arithmetic, this arithmetic is recorded as launches of
Assay's own kernels. Scored submissions may not do that, so the report lists the files that need it,
and --no-arithmetic refuses it. Functions that launch no kernel are helpers of a file's tests; they
run normally, with and without --no-arithmetic. The script prints one line for each file, and a
summary of the reasons for failures."""

from __future__ import annotations

import argparse
import collections
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from environment import environment

ROOT = Path(__file__).resolve().parent.parent
GUARD = "libassay_fake_cuda_guard.so"


def guard() -> str:
    """Returns the path of the fake CUDA guard in the release build. A torch that is built for the
    CPU needs this library."""
    found = sorted((ROOT / "build").glob(f"release/**/{GUARD}"))
    return str(found[0]) if found else ""


def record(file: Path, timeout_s: float, options: list[str]) -> dict[str, Any]:
    command = [
        sys.executable,
        str(ROOT / "importers/tritonbench/golden_file.py"),
        str(file),
        *options,
    ]
    environment = {"ASSAY_FAKE_CUDA_GUARD": guard(), "OMP_NUM_THREADS": "1", **os.environ}
    failed = {"file": file.name, "recorded": False, "stage": "process", "calls": [], "line": None}
    # If the process crashes, its files stay in this folder, which is then removed.
    with tempfile.TemporaryDirectory(prefix="assay-record-") as scratch:
        environment["TMPDIR"] = scratch
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                text=True,
                timeout=timeout_s,
                env=environment,
                stdin=subprocess.DEVNULL,
            )
        except subprocess.TimeoutExpired:
            return {**failed, "kind": "timeout", "message": f"took over {timeout_s:.0f} s"}
    last = done.stdout.strip().rpartition("\n")[2]
    try:
        return json.loads(last)  # type: ignore[no-any-return]
    except ValueError:
        return {
            **failed,
            "kind": "crash",
            "message": f"exit status {done.returncode}: {done.stderr[-600:]}",
        }


def line(report: dict[str, Any]) -> str:
    calls = report["calls"]
    if report["recorded"]:
        structural = (
            " (structural arguments)" if any(call.get("structural") for call in calls) else ""
        )
        return f"recorded  {report['file']}: {len(calls)} calls{structural}"
    where = f", line {report['line']}" if report.get("line") else ""
    return f"refused   {report['file']}: {report['stage']}{where}: {report['kind']}: {report['message'].splitlines()[0][:300]}"


def needs_arithmetic(report: dict[str, Any]) -> bool:
    """Returns True if the file's wrapper functions use torch arithmetic, which was recorded as
    launches of Assay's kernels."""
    return any(
        "assay_pointwise" in note or "assay_reduce" in note
        for call in report["calls"]
        for note in call.get("notes", [])
    )


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Records the golden files of TritonBench-G without a GPU."
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--target", default="cuda:90")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--timeout-s", type=float, default=300)
    parser.add_argument("--only", nargs="*", default=[], help="names of files")
    parser.add_argument("--plans", type=Path, help="keep the plans and their inputs in this folder")
    parser.add_argument(
        "--cache", type=Path, help="keep compiled kernels in this folder, for the next run"
    )
    parser.add_argument(
        "--no-arithmetic",
        action="store_true",
        help="refuse arithmetic by torch, as for scored submissions",
    )
    parser.add_argument("--out", type=Path, help="write all reports there as JSON")
    arguments = parser.parse_args()
    files = sorted(
        file
        for file in arguments.folder.glob("*.py")
        if not arguments.only or file.name in arguments.only
    )
    if not files:
        parser.error(f"{arguments.folder}: no such Python file")
    options = ["--target", arguments.target]
    for name in ("plans", "cache"):
        if getattr(arguments, name) is not None:
            options += [f"--{name}", str(getattr(arguments, name))]
    if arguments.no_arithmetic:
        options.append("--no-arithmetic")
    reports = []
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for report in pool.map(lambda file: record(file, arguments.timeout_s, options), files):
            reports.append(report)
            print(line(report), flush=True)
    recorded = sum(report["recorded"] for report in reports)
    helped = [
        report["file"] for report in reports if report["recorded"] and needs_arithmetic(report)
    ]
    kinds = collections.Counter(
        f"{report['stage']}: {report['kind']}" for report in reports if not report["recorded"]
    )
    print(f"{recorded} of {len(reports)} recorded for {arguments.target}")
    with_helpers = [
        report["file"]
        for report in reports
        if report["recorded"] and any(call.get("helper") for call in report["calls"])
    ]
    print(
        f"{len(with_helpers)} of them with helpers that launch no kernel: {', '.join(with_helpers)}"
    )
    print(f"{len(helped)} of them with arithmetic by torch: {', '.join(helped)}")
    for kind, count in kinds.most_common():
        print(f"{count:5} {kind}")
    if arguments.out:
        about = {
            "environment": environment(),
            "target": arguments.target,
            "arithmetic": not arguments.no_arithmetic,
        }
        result = {**about, "recorded": recorded, "files": reports}
        arguments.out.write_text(json.dumps(result, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
