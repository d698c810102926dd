"""What others say of an oracle's time, in a process of its own: `triton.testing.do_bench`, and kernel durations from CUPTI (torch).

    echo '[{"folder": ".../softmax_last_dim", "case": {"id": ..., "axes": ..., ...}}]' | python bench/ground_truth.py

Prints one line of JSON: a list of {operator, case, do_bench_ns, cupti_ns}. Inputs are those of the operator's reference.py;
caches are flushed before each run.
"""

from __future__ import annotations

import importlib.util
import json
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "sandbox"))

from harness.operator import Operator  # noqa: E402

FLUSH_BYTES = 256 << 20
RUNS = 60
DEVICE = "cuda:0"


def entry(folder: Path, name: str) -> Callable[..., Any]:
    spec = importlib.util.spec_from_file_location(f"oracle_{folder.name}", folder / "oracle.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: Callable[..., Any] = getattr(module, name)
    return found


def cupti_ns(run: Callable[[], Any]) -> float:
    """Median over runs of the sum of kernel durations; the flush is told by its being a memset."""
    flush = torch.empty(FLUSH_BYTES, dtype=torch.uint8, device=DEVICE)
    totals = []
    for _ in range(RUNS):
        flush.fill_(0)
        torch.cuda.synchronize()
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
            run()
            torch.cuda.synchronize()
        totals.append(
            sum(event.device_time_total for event in profile.events() if event.device_type == torch.autograd.DeviceType.CUDA) * 1e3
        )
    return statistics.median(totals)


def measure(folder: Path, wire: dict[str, Any]) -> dict[str, Any]:
    from triton.testing import do_bench

    operator = Operator.load(folder)
    case = operator.case(wire, DEVICE)
    arguments = list(operator.inputs(case, 1).values())
    call = entry(folder, str(operator.spec["entry"]))

    def run() -> Any:
        return call(*arguments)

    run()
    median_ms = do_bench(run, warmup=50, rep=200, return_mode="median")
    return {"operator": folder.name, "case": wire["id"], "do_bench_ns": median_ms * 1e6, "cupti_ns": cupti_ns(run)}


def main() -> None:
    found = []
    for one in json.load(sys.stdin):
        try:
            with torch.no_grad():
                found.append(measure(Path(one["folder"]), one["case"]))
        except Exception as error:  # one operator's trouble is told, and the others are still measured
            found.append(
                {"operator": Path(one["folder"]).name, "case": one["case"]["id"], "error": f"{type(error).__name__}: {error}"[:500]}
            )
    print(json.dumps(found))


if __name__ == "__main__":
    main()
