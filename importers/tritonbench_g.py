"""Implements `assay import tritonbench-g`: imports the golden files of TritonBench-G
(thunlp/TritonBench) as a suite, and finds the tier of each file.

    # This command writes SUITE/standard/NAME/ and SUITE/import.json.
    python importers/tritonbench_g.py data/TritonBench_G_v1 --out SUITE

A line of '#' divides each file into two parts. Above the line is the kernel part, which becomes the
operator's oracle, and which a submission replaces. Below the line is the test part, which makes the
inputs; only the judge uses it (harness/imported/golden.py). The tier of a file is `plan` if every
call is recorded as in a scored submission. It is `host` if a call cannot be recorded (for example,
because host code reads values), but may work with a GPU inside the jail. It is `neither` after any
other failure, for example if the file does not compile or its test part fails. Assay contains no
part of the benchmark."""

from __future__ import annotations

import argparse
import collections
import json
import os
import shutil
import signal
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from step_processes import StepProcesses

ROOT = Path(__file__).resolve().parent.parent
GUARD = "libassay_fake_cuda_guard.so"
# The kinds of errors after which a file or an operator gets the tier `host`, because the code may
# still work with a GPU inside the jail.
REFUSED = ("not_recordable",)


@dataclass
class Settings:
    out: Path
    target: str
    cache: Path
    guard: str
    timeout_s: float
    processes: StepProcesses


def step(settings: Settings, *words: str) -> dict[str, Any]:
    """Runs tritonbench_operator.py in a process and returns its report. If the process fails, the
    report says so."""
    options = ["--target", settings.target, "--cache", str(settings.cache)]
    command = [sys.executable, str(ROOT / "importers/tritonbench_operator.py"), *words, *options]
    environment = {
        "ASSAY_FAKE_CUDA_GUARD": settings.guard,
        "OMP_NUM_THREADS": "1",
        **os.environ,
        "CUDA_VISIBLE_DEVICES": "",
    }
    # A process that crashes leaves its temporary files in this folder, which is then deleted.
    with tempfile.TemporaryDirectory(prefix="assay-import-") as scratch:
        environment["TMPDIR"] = scratch
        done = settings.processes.run(command, environment, settings.timeout_s)
    if done is None:
        return {
            "recorded": False,
            "kind": "timeout",
            "message": f"took over {settings.timeout_s:.0f} s",
        }
    try:
        return json.loads(done.stdout.strip().rpartition("\n")[2])  # type: ignore[no-any-return]
    except ValueError:
        return {
            "recorded": False,
            "kind": "crash",
            "message": f"exit status {done.returncode}: {done.stderr[-600:]}",
        }


def why(found: dict[str, Any]) -> str:
    where = f", line {found['line']}" if found.get("line") else ""
    return f"{found.get('kind')}{where}: {str(found.get('message')).splitlines()[0][:300]}"


def import_file(file: Path, settings: Settings) -> dict[str, Any]:
    """Returns the file's tier with the reason, and the file's operators. Each operator has its own
    tier, which is found by recording its oracle like a submission."""
    trace = ["trace", str(file), "--out", str(settings.out)]
    found = step(settings, *trace)
    report: dict[str, Any] = {"file": file.name, "tier": "plan", "reason": ""}
    if not found["recorded"]:
        report.update(tier="host" if found["kind"] in REFUSED else "neither", reason=why(found))
        if report["tier"] == "host":
            found = step(settings, *trace, "--arithmetic")
            report["arithmetic"] = found.get("arithmetic", [])
    report.update(
        calls=found.get("calls", 0),
        left_out=found.get("left_out", []),
        operators=found.get("operators", []),
    )
    recorded: dict[str, Any] = {}
    if report["operators"]:
        folders = [
            str(settings.out / "standard" / operator["name"]) for operator in report["operators"]
        ]
        recorded = step(settings, "record", *folders)
    for operator in report["operators"]:
        again = recorded.get(operator["name"], recorded)
        operator["tier"] = (
            "plan" if again["recorded"] else "host" if again["kind"] in REFUSED else "neither"
        )
        operator["reason"] = "" if again["recorded"] else why(again)
    return report


def line(report: dict[str, Any]) -> str:
    made = [
        f"{one['name']} ({one['cases']}{'' if one['tier'] == 'plan' else ', ' + one['tier']})"
        for one in report["operators"]
    ]
    what = ", ".join(made) or f"no operator: {'; '.join(report['left_out'])}"
    return f"{report['tier']:8}{report['file']:36}{what}{'  ' + report['reason'] if report['reason'] else ''}"


def earlier(out: Path, files: list[Path]) -> list[dict[str, Any]]:
    """Reads the reports of an earlier import into `out`. Returns the reports about files that are
    not in `files`. Deletes the operators that the earlier import made from `files`."""
    kept = []
    found = (
        json.loads((out / "import.json").read_text())["files"]
        if (out / "import.json").exists()
        else []
    )
    for report in found:
        if report["file"] not in {file.name for file in files}:
            kept.append(report)
            continue
        for operator in report["operators"]:
            shutil.rmtree(out / "standard" / operator["name"], ignore_errors=True)
    return kept


def guard(build: Path) -> str:
    """Returns the path of the fake CUDA guard, which a CPU build of torch needs."""
    found = sorted(build.glob(f"**/{GUARD}"))
    return str(found[0]) if found else ""


def end_with_signals(processes: StepProcesses) -> None:
    """Installs handlers for the signals that end the import. The handlers also end its steps."""

    def end(number: int, _: object) -> None:
        processes.stop()
        sys.exit(128 + number)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, end)


def main() -> int:
    parser = argparse.ArgumentParser(description="Imports the golden files of TritonBench-G.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--target", default="cuda:90")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        help="name of a file; may be repeated. Others that were imported stay",
    )
    parser.add_argument("--timeout-s", type=float, default=600)
    parser.add_argument(
        "--build",
        type=Path,
        default=ROOT / "build/release",
        help="where the fake CUDA guard was built",
    )
    arguments = parser.parse_args()
    files = sorted(
        file
        for file in arguments.folder.glob("*.py")
        if not arguments.only or file.name in arguments.only
    )
    if not files:
        print(f"assay import: {arguments.folder}: no such golden file", file=sys.stderr)
        return 66
    arguments.out.mkdir(parents=True, exist_ok=True)
    settings = Settings(
        arguments.out,
        arguments.target,
        arguments.out / ".cache",
        guard(arguments.build),
        arguments.timeout_s,
        StepProcesses(),
    )
    end_with_signals(settings.processes)
    reports: list[dict[str, Any]] = []
    others = earlier(arguments.out, files) if arguments.only else []
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for report in pool.map(lambda file: import_file(file, settings), files):
            reports.append(report)
            print(line(report), flush=True)
            known = sorted(reports + others, key=lambda one: str(one["file"]))
            (arguments.out / "import.json").write_text(
                json.dumps({"target": arguments.target, "files": known}, indent=1) + "\n"
            )
    tiers = collections.Counter(report["tier"] for report in reports)
    with_operators = sum(bool(report["operators"]) for report in reports)
    counted = ", ".join(f"{tiers[tier]} {tier}" for tier in ("plan", "host", "neither"))
    print(f"{len(reports)} files: {counted}; operators of {with_operators} files")
    return 0


if __name__ == "__main__":
    sys.exit(main())
