"""Judges the oracles on an emulator of AMD's machine code: the device `emulated` compiles each one
for gfx942, the launcher performs its plan in the emulator, and the judge compares the outputs.

    ASSAY_EMULATOR=PROGRAM python measurements/amd/emulate.py RESULT.json [--seconds 90] \\
        [--minutes 60] [OPERATOR ...]

ASSAY_EMULATOR_TARGET names another target than hip:gfx942. `./run emulate-amd --emulator FOLDER`
calls this file. Each operator runs its smallest public case. The result names the reason for every
operator that did not pass. The result file is written after each operator; a later call with the
same file adds the operators that are not in it."""

from __future__ import annotations

import argparse
import json
import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent.parent
BINARY = os.environ.get("ASSAY_BIN", str(ROOT / "build/release/bin/assay"))
FOLDERS = ("standard", "ood")


def size_of(case: dict[str, Any]) -> int:
    return math.prod(int(extent) for extent in case.get("axes", {}).values() if extent)


def smallest_case(folder: Path) -> tuple[str, int]:
    spec = tomllib.loads((folder / "spec.toml").read_text())
    public = [case for case in spec["cases"] if case["visibility"] == "public"]
    case = min(public, key=size_of)
    return case["id"], size_of(case)


def judged(folder: Path, case: str, seconds: int) -> dict[str, Any]:
    command = [BINARY, "eval", folder.name, str(folder / "oracle.py"), "--device", "emulated"]
    command += ["--allow-unjailed-device", "--run-wall-ms", str(1000 * seconds)]
    began = time.monotonic()
    process = subprocess.Popen(
        [*command, "--mode", "test", "--case", case, "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        output, errors = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return {"outcome": "not finished", "reason": f"it took more than {seconds} s"}
    took = round(time.monotonic() - began, 1)
    try:
        verdict = json.loads(output)
    except json.JSONDecodeError:
        return {"outcome": "error", "seconds": took, "reason": errors[-500:]}
    found: dict[str, Any] = {"outcome": verdict["outcome"], "seconds": took}
    cases = verdict.get("cases", [])
    if verdict["outcome"] == "pass":
        found["max_abs_error"] = cases[0].get("max_abs_error") if cases else None
    else:
        found["reason"] = str(verdict.get("detail") or (cases[0].get("reason") if cases else ""))[
            :600
        ]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("result", type=Path)
    parser.add_argument("operators", nargs="*")
    parser.add_argument("--seconds", type=int, default=90, help="the time limit of an operator")
    parser.add_argument("--minutes", type=float, default=60, help="the time limit of all")
    options = parser.parse_intermixed_args()
    if not os.environ.get("ASSAY_EMULATOR"):
        parser.error("ASSAY_EMULATOR must name the program of an emulator")
    target = os.environ.get("ASSAY_EMULATOR_TARGET", "hip:gfx942")
    result: dict[str, Any] = {"target": target, "operators": {}}
    if options.result.exists():
        result = json.loads(options.result.read_text())
    if result["target"] != target:
        parser.error(f"{options.result} has results of {result['target']}, and not of {target}")
    folders = [
        path.parent
        for one in FOLDERS
        for path in (ROOT / "operators" / one).glob("*/oracle.py")
        if not options.operators or path.parent.name in options.operators
    ]
    end = time.monotonic() + 60 * options.minutes
    for folder in sorted(folders, key=lambda folder: smallest_case(folder)[1]):
        if folder.name in result["operators"] or time.monotonic() > end:
            continue
        case, _ = smallest_case(folder)
        found = {"case": case, **judged(folder, case, options.seconds)}
        result["operators"][folder.name] = found
        options.result.write_text(json.dumps(result, indent=1, sort_keys=True) + "\n")
        print(folder.name, json.dumps(found), file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
