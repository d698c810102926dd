"""Times PyTorch on the large case of every operator: its reference eagerly, and compiled by torch.compile. Device time with a cold L2.

    python bench/pytorch_times.py --device cuda:0 --workers 12 --out bench/results/pytorch-h200.json

Compiling takes minutes and is done by several processes; nothing else runs on the GPU while one of them measures. A reference that
torch.compile refuses, or that it computes wrongly, has an `error` and no time.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from environment import environment

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "sandbox"))

LARGE = "large"
SEED = 20_261_122
SAMPLES, MIN_SAMPLES, MAX_TIMING_S = 50, 5, 0.5
WARM_UP = 3
FLUSH_BYTES = 256 << 20  # several times the L2 of any GPU of today


@contextmanager
def held(lock: TextIO, kind: int) -> Any:
    fcntl.flock(lock, kind)
    try:
        yield
    finally:
        fcntl.flock(lock, fcntl.LOCK_UN)


def alone(lock: TextIO) -> Any:
    """The GPU for a measurement: nobody else computes there."""
    return held(lock, fcntl.LOCK_EX)


def beside_others(lock: TextIO) -> Any:
    """The GPU for work that is not measured, never while somebody measures."""
    return held(lock, fcntl.LOCK_SH)


def samples_ns(run: Callable[[], Any], ahead_cycles: int = 0) -> list[float]:
    """Device time. `ahead_cycles`: for so many the GPU idles before each sample, so that the host has queued all of it by then."""
    import torch

    flush = torch.empty(FLUSH_BYTES, dtype=torch.uint8, device="cuda")
    for _ in range(WARM_UP):
        run()
    torch.cuda.synchronize()
    found: list[float] = []
    end = time.perf_counter() + MAX_TIMING_S
    while len(found) < SAMPLES and (len(found) < MIN_SAMPLES or time.perf_counter() < end):
        start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        flush.zero_()
        if ahead_cycles:
            torch.cuda._sleep(ahead_cycles)
        start.record()
        run()
        stop.record()
        stop.synchronize()
        found.append(start.elapsed_time(stop) * 1e6)
    return found


def measure(folder: Path, device: str, lock: TextIO) -> dict[str, Any]:
    """One operator, in a process of its own choosing."""
    import torch
    from harness.operator import Operator

    torch.cuda.set_device(device)
    operator = Operator.load(folder)
    wire = next(case for case in operator.spec["cases"] if case["id"] == LARGE)
    entry: dict[str, Any] = {"operator": operator.name}
    reference = compiled = operator.module.reference
    with torch.no_grad():
        with beside_others(lock):
            arguments = operator.inputs(operator.case(wire, device), SEED)
            try:
                compiled = torch.compile(reference, dynamic=False)
                expected, got = operator.reference(arguments), compiled(**arguments)
                outputs = list(got) if isinstance(got, tuple | list) else [got]
                entry["largest_difference"] = max(
                    float((a.double() - b.double()).abs().nan_to_num(0.0).max()) for a, b in zip(expected, outputs, strict=True)
                )
            except Exception as error:
                entry["error"] = f"{type(error).__name__}: {error}"[:500]
            torch.cuda.synchronize()
        with alone(lock):
            entry["eager_ns"] = samples_ns(lambda: reference(**arguments))
            if "error" not in entry:
                entry["compiled_ns"] = samples_ns(lambda: compiled(**arguments))
    return entry


def work(names: list[str], device: str, lock_path: str) -> int:
    """A worker: one line of JSON for each operator."""
    folders = {path.parent.name: path.parent for path in (ROOT / "operators").glob("*/*/spec.toml")}
    with Path(lock_path).open("w") as lock:
        for name in names:
            try:
                entry = measure(folders[name], device, lock)
            except Exception as error:
                entry = {"operator": name, "error": f"{type(error).__name__}: {error}"[:500]}
            print(json.dumps(entry), flush=True)
    return 0


def each_in_a_process(command: list[str], names: list[str], workers: int, seconds: float) -> list[str]:
    """The line of JSON that `command NAME` prints of each operator; none of one that hangs or dies. So many run at once."""
    end = time.monotonic() + seconds

    def line_of(name: str) -> str:
        left = end - time.monotonic()
        if left <= 0:
            return ""
        try:
            done = subprocess.run([*command, name], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=left)
        except subprocess.TimeoutExpired:
            return ""
        return done.stdout.strip()

    with ThreadPoolExecutor(workers) as pool:
        return [line for line in pool.map(line_of, names) if line.endswith("}")]


def microseconds(samples: list[float] | None) -> str:
    return f"{statistics.median(samples) / 1e3:.1f} us" if samples else "-"


def show(entry: dict[str, Any]) -> None:
    eager, compiled = (microseconds(entry.get(key)) for key in ("eager_ns", "compiled_ns"))
    print(f"{entry['operator']:26} eager {eager:>12}, compiled {compiled:>12} {entry.get('error', '')[:120]}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--operators", nargs="*", default=[])
    parser.add_argument("--out", type=Path)
    parser.add_argument("--seconds", type=float, default=3600.0, help="then those that are not done are stopped")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    options = parser.parse_args()
    names = options.operators or sorted(path.parent.name for path in (ROOT / "operators").glob("*/*/spec.toml"))
    if options.work:
        return work(names, options.device, options.work)
    with tempfile.NamedTemporaryFile() as lock:
        command = [sys.executable, __file__, "--device", options.device, "--work", lock.name, "--operators"]
        lines = each_in_a_process(command, names, options.workers, options.seconds)
    entries = sorted(map(json.loads, lines), key=lambda entry: entry["operator"])
    for entry in entries:
        show(entry)
    missing = sorted(set(names) - {entry["operator"] for entry in entries})
    print(
        f"{sum('compiled_ns' in entry for entry in entries)} of {len(names)} compiled"
        + (f"; no word of {', '.join(missing)}" if missing else "")
    )
    if options.out:
        options.out.write_text(
            json.dumps({"what": __doc__, "environment": environment(), "operators": entries}, separators=(",", ":")) + "\n"
        )
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
