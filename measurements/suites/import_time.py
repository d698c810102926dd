"""Measures how long an import takes, on the processors that the process may use.

    python measurements/suites/import_time.py tritonbench-g CHECKOUT/data/TritonBench_G_v1 \
        --jobs 16 --out measurements/results/import-tritonbench-g-cpu16.json

The suite is made in a new folder and removed, unless --suite names a folder for it. The result has the
seconds of each file, and no text of the benchmark."""

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

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "measurements"))
from environment import environment  # noqa: E402
from suites_record import refusal_of  # noqa: E402

TEXT_CHARS = 200


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


def measure(options: argparse.Namespace, suite: Path) -> dict[str, Any]:
    about = environment()
    command = [options.binary, "import", options.kind, str(options.folder), "--out", str(suite)]
    command += ["--jobs", str(options.jobs)]
    begin = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True)
    seconds = time.monotonic() - begin
    if done.returncode:
        raise SystemExit(f"the import ended with status {done.returncode}: {done.stderr.strip()}")
    return {
        "what": f"assay import {options.kind} --jobs {options.jobs}, into an empty folder",
        "environment": about,
        "processors": len(os.sched_getaffinity(0)),
        "jobs": options.jobs,
        "seconds": round(seconds, 1),
        **result_of(suite),
    }


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kind", help="of `assay import`")
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
