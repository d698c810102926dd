"""Grades every oracle on a device and keeps the verdicts: what passes, in which tier, how fast.

    python bench/oracles.py --device cuda:0 --out bench/results/oracles-h200.json

Exit status 1 when an oracle does not pass.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from environment import environment

ROOT = Path(__file__).resolve().parent.parent


def grade(binary: str, folder: Path, device: str) -> dict[str, Any]:
    """The verdict of `assay eval --mode grade` on the operator's own oracle, and the wall time of the whole process."""
    command = [binary, "eval", folder.name, str(folder / "oracle.py"), "--device", device, "--mode", "grade", "--json"]
    begin = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    elapsed = time.perf_counter() - begin
    try:
        verdict: dict[str, Any] = json.loads(done.stdout)
    except json.JSONDecodeError:
        verdict = {"outcome": "error", "summary": done.stderr[-2000:]}
    return {"operator": folder.name, "wall_s": elapsed, "exit_status": done.returncode, "verdict": verdict}


def median_ns(case: dict[str, Any], key: str) -> float | None:
    timing = case.get(key)
    return timing["median_ns"] if timing else None


def print_row(row: dict[str, Any]) -> None:
    verdict = row["verdict"]
    summary = str(verdict.get("summary", ""))[:150]
    print(f"{row['operator']:22} {verdict.get('outcome'):6} {verdict.get('tier', '-'):12} perf {verdict.get('perf')}  {summary}")
    for case in verdict.get("cases", []):
        latency, pytorch, floor = median_ns(case, "latency"), case.get("pytorch_ns"), case.get("floor_ns")
        if latency:
            of_floor = f"{100 * floor / latency:5.1f} % of roofline" if floor else ""
            versus = f"{pytorch / latency:5.2f}x eager" if pytorch else ""
            print(f"    {case['id']:20} {latency / 1e3:10.2f} us  {of_floor}  {versus}  max error {case.get('max_abs_error')}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--binary", default=str(ROOT / "build/release/bin/assay"))
    parser.add_argument("--operators", nargs="*", default=[])
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    folders = sorted(path.parent for path in (ROOT / "operators").glob("*/*/spec.toml"))
    chosen = [folder for folder in folders if not options.operators or folder.name in options.operators]
    rows = []
    for folder in chosen:
        rows.append(grade(options.binary, folder, options.device))
        print_row(rows[-1])
    passed = sum(row["verdict"].get("outcome") == "pass" for row in rows)
    print(f"{passed} of {len(rows)} oracles pass on {options.device}")
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        result = {"what": __doc__, "device": options.device, "environment": environment(), "oracles": rows}
        options.out.write_text(json.dumps(result, separators=(",", ":")) + "\n")
    return 0 if passed == len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
