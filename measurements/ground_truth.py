"""Times oracles with tools other than Assay: `triton.testing.do_bench`, and kernel durations from
CUPTI (by torch's profiler). Runs as a separate process.

    echo '[{"folder": ".../softmax_last_dim", "case": {"id": ..., "axes": ..., ...}}]' |
        python measurements/ground_truth.py

Prints one line of JSON: a list of {operator, case, do_bench_ns, cupti_ns, operations}. The inputs
come from the operator's reference.py, and caches are flushed before each run. The first entry of
the list is {"touch_ns": {"cold", "warm"}}. It contains CUPTI's durations of the kernel with which
the launcher measures the overhead of its event markers."""

from __future__ import annotations

import ctypes
import importlib.util
import json
import re
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


def cupti_ns(run: Callable[[], Any], cold: bool = True) -> tuple[float, int]:
    """Returns the total duration of all GPU operations of one call of `run`, and the number of
    these operations. Both are medians over several calls."""
    flush = torch.empty(FLUSH_BYTES, dtype=torch.uint8, device=DEVICE)
    totals, counts = [], []
    for _ in range(RUNS):
        if cold:
            flush.fill_(0)
        torch.cuda.synchronize()
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
            run()
            torch.cuda.synchronize()
        times = [
            event.device_time_total
            for event in profile.events()
            if event.device_type == torch.autograd.DeviceType.CUDA
        ]
        totals.append(sum(times) * 1e3)
        counts.append(len(times))
    return statistics.median(totals), int(statistics.median(counts))


def touch_ns() -> dict[str, float]:
    """Measures the kernel with which the launcher measures its overhead. Reads the kernel's PTX
    from the launcher's source."""
    folder = ROOT / "sandbox/launcher/memory"
    text = (folder / "trusted_ptx.cc").read_text()
    found = re.search(r'kTouchText = R"\((.*?)\)";', text, re.DOTALL)
    threads = re.search(r"kTouchThreads = (\d+);", (folder / "trusted_kernels.cc").read_text())
    assert found is not None and threads is not None
    sms = torch.cuda.get_device_properties(DEVICE).multi_processor_count
    words = torch.zeros(sms * int(threads[1]), dtype=torch.int32, device=DEVICE)
    driver, module, kernel = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p(), ctypes.c_void_p()
    assert driver.cuModuleLoadData(ctypes.byref(module), found[1].encode()) == 0
    assert driver.cuModuleGetFunction(ctypes.byref(kernel), module, b"assay_touch") == 0
    address = ctypes.c_uint64(words.data_ptr())
    parameters = (ctypes.c_void_p * 1)(ctypes.addressof(address))
    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)

    def run() -> None:
        assert (
            driver.cuLaunchKernel(
                kernel, sms, 1, 1, int(threads[1]), 1, 1, 0, stream, parameters, None
            )
            == 0
        )

    run()
    return {name: cupti_ns(run, cold)[0] for name, cold in (("cold", True), ("warm", False))}


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
    total, operations = cupti_ns(run)
    return {
        "operator": folder.name,
        "case": wire["id"],
        "do_bench_ns": median_ms * 1e6,
        "cupti_ns": total,
        "operations": operations,
    }


def main() -> None:
    found: list[dict[str, Any]] = [{"touch_ns": touch_ns()}]
    for one in json.load(sys.stdin):
        try:
            with torch.no_grad():
                found.append(measure(Path(one["folder"]), one["case"]))
        # Reports the error of this operator and continues with the next operator.
        except Exception as error:
            found.append(
                {
                    "operator": Path(one["folder"]).name,
                    "case": one["case"]["id"],
                    "error": f"{type(error).__name__}: {error}"[:500],
                }
            )
    print(json.dumps(found))


if __name__ == "__main__":
    main()
