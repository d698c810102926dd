"""Sends thousands of jobs to one server. Checks that the server's memory and its numbers of
descriptors, threads and processes do not grow.

    python tests/crash/soak.py --jobs 5000 --device cpu --out measurements/results/soak-cpu.json

Every tenth job is a submission that misbehaves (it raises, exits, prints without end, or is wrong),
so that the error paths run too."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "measurements"), str(Path(__file__).resolve().parent)]

import processes  # noqa: E402
from crash import OPERATOR, Bench  # noqa: E402
from environment import environment  # noqa: E402

SETTLED = 0.2  # the share of the jobs after which caches are full
GROWTH_KIB = {
    "server": 5 << 10,
    "zygote": 5 << 10,
    "judge": 64 << 10,
}  # torch's allocator keeps the memory of the largest comparison
MISBEHAVING = {
    "def vector_add(x, y):\n    raise ValueError('no')\n": "error",
    "import os\nos._exit(0)\n": "error",
    "def vector_add(x, y):\n    while True:\n        print('x' * 65536)\n": "error",
    "import torch\ndef vector_add(x, y):\n    return torch.zeros_like(x)\n": "fail",
}


def resident_kib(pid: int) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1])
    return 0


def sample(server: int) -> dict[str, int]:
    roles = processes.by_role(server)
    one = {
        "descriptors": len(os.listdir(f"/proc/{server}/fd")),
        "threads": len(os.listdir(f"/proc/{server}/task")),
        "processes": len(processes.descendants(server)),
        "server_kib": resident_kib(server),
    }
    for role in ("zygote", "judge"):
        one[f"{role}_kib"] = sum(resident_kib(pid) for pid in roles[role])
    return one


def misbehave(bench: Bench, index: int) -> str:
    """Runs a bad submission. Returns what is wrong with its verdict, or an empty text."""
    source, expected = list(MISBEHAVING.items())[index % len(MISBEHAVING)]
    code = f"{source}\n# {os.urandom(8).hex()}\n"
    verdict: dict[str, Any] = bench.client.call("run_tests", {"operator": OPERATOR, "code": code})[
        "structuredContent"
    ]
    return (
        ""
        if verdict.get("outcome") == expected
        else f"expected {expected}, got {json.dumps(verdict)[:300]}"
    )


def problems_of(samples: list[dict[str, int]], settled: float = SETTLED) -> list[str]:
    """Compares the last sample with the first sample after the caches were full. Returns a message
    for each number that grew by more than its normal variation."""
    first, last = samples[int(len(samples) * settled)], samples[-1]
    found = [
        f"{name} grew from {first[name]} to {last[name]}"
        for name, slack in (("descriptors", 4), ("threads", 2), ("processes", 3))
        if last[name] > first[name] + slack
    ]
    for role, slack in GROWTH_KIB.items():
        before, after = first[f"{role}_kib"], last[f"{role}_kib"]
        if after > before + slack:
            found.append(f"the {role}'s memory grew from {before} to {after} KiB")
    return found


def run(
    binary: str, device: str, jobs: int, every: int
) -> tuple[list[dict[str, int]], list[str], float]:
    samples, problems = [], []
    with tempfile.TemporaryDirectory(prefix="assay-soak-") as folder:
        bench = Bench(binary, device, Path(folder))
        ready, why = bench.control()
        if not ready:
            raise SystemExit(f"the control does not pass: {why}")
        begin = time.monotonic()
        for index in range(jobs):
            if index % 10 == 9:
                if wrong := misbehave(bench, index // 10):
                    problems.append(f"job {index}: {wrong}")
            elif (verdict := bench.job()).get("outcome") != "pass":
                problems.append(f"job {index}: {json.dumps(verdict)[:300]}")
            if index % every == every - 1:
                samples.append(sample(bench.client.process.pid))
        seconds = time.monotonic() - begin
        bench.client.close()
    return samples, problems + problems_of(samples), seconds


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--jobs", type=int, default=5000)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--binary", default=str(ROOT / "build/release/bin/assay"))
    parser.add_argument("--every", type=int, default=50, help="jobs between two samples")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    samples, problems, seconds = run(options.binary, options.device, options.jobs, options.every)
    result = {
        "what": __doc__,
        "device": options.device,
        "jobs": options.jobs,
        "seconds": round(seconds, 1),
        "problems": problems,
    }
    if options.out:
        options.out.write_text(
            json.dumps(
                {**result, "samples": samples, "environment": environment()}, separators=(",", ":")
            )
            + "\n"
        )
    print(
        f"{options.jobs} jobs in {seconds:.0f} s ({options.jobs / seconds * 3600:.0f} an hour); first {samples[0]}, last {samples[-1]}"
    )
    for problem in problems:
        print("problem:", problem)
    raise SystemExit(1 if problems else 0)


if __name__ == "__main__":
    main()
