"""Measures how long an import takes, on the processors that the process may use.

    python measurements/suites/import_time.py tritonbench-g CHECKOUT/data/TritonBench_G_v1 \
        --jobs 16 --out measurements/results/import-tritonbench-g-cpu16.json

The suite is made in a new folder and removed, unless --suite names a folder for it. The result has the
seconds of each file, and no text of the benchmark.

On a machine that others use too, the seconds say little. With --cpu-group, the import runs in this
control group, and the result also has the processor time of all of its processes. The group must be
empty, and have the controller cpuacct (version 1) or cpu (version 2). --sample N imports N random
files, always the same ones."""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "measurements"))
from environment import environment  # noqa: E402
from suites_record import refusal_of  # noqa: E402

TEXT_CHARS = 200
SEED = 20251129  # of the sample
# A shell that is in the control group $0, and becomes the command in $@.
JOIN = 'echo $$ >"$0/cgroup.procs" && exec "$@"'


def result_of(suite: Path) -> dict[str, Any]:
    """Counts what an import wrote, and lists the seconds of its files."""
    files = json.loads((suite / "import.json").read_text(encoding="utf-8"))["files"]
    used = [one for one in files if one["operators"]]
    return {
        "files": len(files),
        "files_with_operators": len(used),
        "operators": sum(len(one["operators"]) for one in used),
        "refused": {
            one["file"]: refusal_of(one)["why"][:TEXT_CHARS]
            for one in files
            if not one["operators"]
        },
        "seconds_of_files": {one["file"]: one["seconds"] for one in files},
    }


def cpu_seconds(group: Path | None) -> float:
    """Returns the processor time of a control group."""
    if group is None:
        return 0.0
    if (group / "cpuacct.usage").exists():
        return int((group / "cpuacct.usage").read_text()) / 1e9
    fields = dict(line.split() for line in (group / "cpu.stat").read_text().splitlines())
    return int(fields["usage_usec"]) / 1e6


def sampled(folder: Path, count: int, out: Path) -> Path:
    """Copies random files of the benchmark to a new folder, and returns it."""
    files = sorted(folder.glob("*.py"))
    random.Random(SEED).shuffle(files)
    out.mkdir()
    for file in files[:count]:
        shutil.copy(file, out)
    return out


def measure(options: argparse.Namespace, suite: Path) -> dict[str, Any]:
    about = environment()
    folder = options.folder
    if options.sample:
        folder = sampled(folder, options.sample, suite.parent / "sample")
    command = [options.binary, "import", options.kind, str(folder), "--out", str(suite)]
    command += ["--jobs", str(options.jobs)]
    if options.cpu_group:
        command = ["sh", "-c", JOIN, str(options.cpu_group), *command]
    used = cpu_seconds(options.cpu_group)
    begin = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True)
    seconds = time.monotonic() - begin
    if done.returncode:
        raise SystemExit(f"the import ended with status {done.returncode}: {done.stderr.strip()}")
    result = {
        "what": f"assay import {options.kind} --jobs {options.jobs}, into an empty folder",
        "environment": about,
        "processors": len(os.sched_getaffinity(0)),
        "jobs": options.jobs,
        "seconds": round(seconds, 1),
        **result_of(suite),
    }
    if options.sample:
        result["sample_of"] = len(list(options.folder.glob("*.py")))
    if options.cpu_group:
        result["cpu_seconds"] = round(cpu_seconds(options.cpu_group) - used, 1)
    return result


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kind", help="of `assay import`")
    parser.add_argument("--cpu-group", type=Path, help="folder of a control group")
    parser.add_argument("--sample", type=int, default=0, help="random files; 0: all")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--binary", default=str(ROOT / "build/release/bin/assay"))
    parser.add_argument("--suite", type=Path, help="a new folder, which is kept")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        result = measure(options, options.suite or Path(scratch) / "suite")
    options.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(
        f"{result['seconds']} s with {result['jobs']} jobs on {result['processors']} processors: "
        f"{result['operators']} operators of {result['files_with_operators']} of "
        f"{result['files']} files"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
