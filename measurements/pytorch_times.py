"""Times PyTorch on the large case of every operator. Runs the operator's reference twice: eagerly,
and compiled by torch.compile. Times are device times with a cold L2.

    python measurements/pytorch_times.py --device cuda:0 --workers 12 \
        --out measurements/results/pytorch-h200.json

Compiling takes minutes, so several processes compile at the same time. While a process measures, no
other process uses the GPU. A reference has an `error` and no compiled time if torch.compile refuses
the reference or needs more than --each seconds."""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
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
FLUSH_BYTES = 256 << 20  # at least twice the L2 of any current GPU
EACH_S = 150.0  # the limit for one reference; unrolled loops take minutes to compile
UNFINISHED = "torch.compile had not finished when its time was over"


@contextmanager
def held(lock: TextIO, kind: int) -> Any:
    fcntl.flock(lock, kind)
    try:
        yield
    finally:
        fcntl.flock(lock, fcntl.LOCK_UN)


def exclusive(lock: TextIO) -> Any:
    """Locks the GPU exclusively while the `with` block measures."""
    return held(lock, fcntl.LOCK_EX)


def shared(lock: TextIO) -> Any:
    """Locks the GPU in shared mode while the `with` block does work that is not measured. The block
    never runs at the same time as a measurement."""
    return held(lock, fcntl.LOCK_SH)


def samples_ns(run: Callable[[], Any], ahead_cycles: int = 0) -> list[float]:
    """Returns samples of device time. The GPU idles for `ahead_cycles` cycles before each sample,
    so that the host has queued all of the work by then."""
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


class Compiled:
    """A function compiled by torch.compile with its default backend. Compiling does not lock the
    GPU. Calls of the compiled code lock the GPU in shared mode until `measured` is set. The caller
    sets `measured` when it holds the exclusive lock."""

    def __init__(self, reference: Callable[..., Any], lock: TextIO) -> None:
        import torch

        self.measured = False
        self._lock = lock
        self._call = torch.compile(reference, dynamic=False, backend=self._backend)

    def __call__(self, **arguments: Any) -> Any:
        return self._call(**arguments)

    def _backend(self, graph: Any, examples: Any) -> Callable[..., Any]:
        import torch
        from torch._inductor.compile_fx import compile_fx

        compiled: Any = compile_fx(graph, examples)

        def run(*values: Any) -> Any:
            if self.measured:
                return compiled(*values)
            with shared(self._lock):
                result = compiled(*values)
                torch.cuda.synchronize()
                return result

        return run


def difference(expected: list[Any], returned: Any) -> float:
    outputs = list(returned) if isinstance(returned, tuple | list) else [returned]
    return max(
        float((a.double() - b.double()).abs().nan_to_num(0.0).max())
        for a, b in zip(expected, outputs, strict=True)
    )


def measure(folder: Path, device: str, lock: TextIO) -> Iterator[dict[str, Any]]:
    """Measures one operator. Yields a result with the eager times, and then the complete result,
    which also has the times of the version that torch.compile made."""
    import torch
    from harness.operator import Operator

    torch.cuda.set_device(device)
    operator = Operator.load(folder)
    wire = next(case for case in operator.spec["cases"] if case["id"] == LARGE)
    entry: dict[str, Any] = {"operator": operator.name}
    reference = operator.module.reference
    with torch.no_grad():
        with shared(lock):
            arguments = operator.inputs(operator.case(wire, device), SEED)
            torch.cuda.synchronize()
        with exclusive(lock):
            entry["empty_ns"] = samples_ns(lambda: None)  # the overhead of the CUDA events
            entry["eager_ns"] = samples_ns(lambda: reference(**arguments))
        yield {**entry, "error": UNFINISHED}
        try:
            compiled = Compiled(reference, lock)
            returned = compiled(**arguments)
            with shared(lock):
                entry["largest_difference"] = difference(operator.reference(arguments), returned)
            del returned
            compiled.measured = True
            with exclusive(lock):
                entry["compiled_ns"] = samples_ns(lambda: compiled(**arguments))
        except Exception as error:
            entry["error"] = f"{type(error).__name__}: {error}"[:500]
    yield entry


def work(names: list[str], device: str, lock_path: str) -> int:
    """Runs as a worker process. Prints lines of JSON for each operator; the last line is the
    operator's result."""
    # The workers already compile in parallel.
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
    folders = {path.parent.name: path.parent for path in (ROOT / "operators").glob("*/*/spec.toml")}
    with Path(lock_path).open("w") as lock:
        for name in names:
            try:
                for entry in measure(folders[name], device, lock):
                    print(json.dumps(entry), flush=True)
            except Exception as error:
                print(
                    json.dumps(
                        {"operator": name, "error": f"{type(error).__name__}: {error}"[:500]}
                    ),
                    flush=True,
                )
    return 0


def each_in_a_process(
    command: list[str], names: list[str], workers: int, seconds: float, each_s: float = 3600.0
) -> list[str]:
    """Runs `command NAME` for each operator, with `workers` commands at the same time. Returns the
    last line of JSON that each command prints, even if the command crashes or is stopped."""
    end = time.monotonic() + seconds

    def line_of(name: str) -> str:
        left = min(each_s, end - time.monotonic())
        if left <= 0:
            return ""
        with subprocess.Popen(
            [*command, name], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as process:
            try:
                printed = process.communicate(timeout=left)[0]
            except subprocess.TimeoutExpired:
                process.kill()
                printed = process.communicate()[0]
        whole = [line for line in printed.decode().splitlines() if line.endswith("}")]
        return whole[-1] if whole else ""

    with ThreadPoolExecutor(workers) as pool:
        return [line for line in pool.map(line_of, names) if line]


def microseconds(samples: list[float] | None) -> str:
    return f"{statistics.median(samples) / 1e3:.1f} us" if samples else "-"


def show(entry: dict[str, Any]) -> None:
    eager, compiled = (microseconds(entry.get(key)) for key in ("eager_ns", "compiled_ns"))
    print(
        f"{entry['operator']:26} eager {eager:>12}, compiled {compiled:>12} {entry.get('error', '')[:120]}",
        flush=True,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--operators", nargs="*", default=[])
    parser.add_argument("--out", type=Path)
    parser.add_argument(
        "--seconds",
        type=float,
        default=3600.0,
        help="limit for the whole run; unfinished operators are stopped then",
    )
    parser.add_argument("--each", type=float, default=EACH_S, help="seconds for one operator")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    options = parser.parse_args()
    names = options.operators or sorted(
        path.parent.name for path in (ROOT / "operators").glob("*/*/spec.toml")
    )
    if options.work:
        return work(names, options.device, options.work)
    with tempfile.NamedTemporaryFile() as lock:
        command = [
            sys.executable,
            __file__,
            "--device",
            options.device,
            "--work",
            lock.name,
            "--operators",
        ]
        lines = each_in_a_process(command, names, options.workers, options.seconds, options.each)
    entries = sorted(map(json.loads, lines), key=lambda entry: entry["operator"])
    for entry in entries:
        show(entry)
    missing = sorted(set(names) - {entry["operator"] for entry in entries})
    print(
        f"{sum('compiled_ns' in entry for entry in entries)} of {len(names)} compiled"
        + (f"; no result of {', '.join(missing)}" if missing else "")
    )
    if options.out:
        options.out.write_text(
            json.dumps(
                {"what": __doc__, "environment": environment(), "operators": entries},
                separators=(",", ":"),
            )
            + "\n"
        )
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
