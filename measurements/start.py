"""Measures the first verdict after a start: `assay eval` of the oracle of vector_add, from the start
of the program to its end, and the processor time of the program with all its processes.

    python measurements/start.py --samples 9 --before OLD_BINARY --before-root OLD_TREE \\
        --out measurements/results/start-cpu2.json

With `--before`, the script measures two binaries in turns, the one of this build and the older one
that the option names, so that a drift of the machine does not favour one of them. `--before-root`
is the source tree of the older binary. The Python files of its harness must be compiled, as `./run
setup` compiles them, because reading source files takes longer."""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from environment import environment

ROOT = Path(__file__).resolve().parent.parent
OPERATOR = "vector_add"


def processor_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def one(binary: str, root: Path, device: str) -> dict[str, Any]:
    oracle = next((root / "operators").glob(f"*/{OPERATOR}/oracle.py"))
    command = [binary, "eval", OPERATOR, str(oracle), "--device", device, "--json"]
    surroundings = {**os.environ, "ASSAY_ROOT": str(root), "ASSAY_PYTHON": sys.executable}
    used, begin = processor_s(), time.monotonic()
    done = subprocess.run(command, env=surroundings, capture_output=True, text=True)
    wall_s = time.monotonic() - begin
    verdict = json.loads(done.stdout)
    if verdict.get("outcome") != "pass":
        raise SystemExit(f"the oracle does not pass: {done.stdout[:500]} {done.stderr[-500:]}")
    return {
        "wall_s": round(wall_s, 3),
        "processor_s": round(processor_s() - used, 3),
        "stage_ms": verdict["stage_ms"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--samples", type=int, default=9, help="for each binary")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--binary", default=str(ROOT / "build/release/bin/assay"))
    parser.add_argument("--before", help="the binary to compare with")
    parser.add_argument("--before-root", type=Path, help="the source tree of that binary")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    if (options.before is None) != (options.before_root is None):
        parser.error("--before needs --before-root, and the reverse")
    binaries = {"after": (options.binary, ROOT)}
    if options.before:
        binaries = {"before": (options.before, options.before_root.resolve())} | binaries
    samples: dict[str, list[dict[str, Any]]] = {name: [] for name in binaries}
    for binary, root in binaries.values():
        one(binary, root, options.device)  # brings the files into memory, and is not counted
    for _ in range(options.samples):
        for name, (binary, root) in binaries.items():
            samples[name].append(one(binary, root, options.device))
    result: dict[str, Any] = {"environment": environment(), "device": options.device}
    for name, of in samples.items():
        medians = {
            key: round(statistics.median(sample[key] for sample in of), 3)
            for key in ("wall_s", "processor_s")
        }
        print(f"{name}: {medians}")
        result[name] = {**medians, "samples": of}
    options.out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
