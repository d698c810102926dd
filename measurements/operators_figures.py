"""Computes figures from the measured oracles: the summary of docs/reference/generated/operators.md,
and operators/baselines/nvidia-h200.toml."""

from __future__ import annotations

import json
import math
import statistics
import textwrap
from collections.abc import Collection
from typing import Any

LARGE = "large"
WIDTH = 100
# The peak rates of an H200, from NVIDIA's data sheet. is_memory_bound() compares them. The summary
# counts the operators that are bound by memory. operators_table.py shows the rate of these operators
# in TB/s, and the rate of all others in TFLOP/s.
PEAK_BYTES_PER_S, PEAK_FLOPS_PER_S = 4.8e12, 989.5e12
COPY_SHARE = 0.85
EACH_S = 160  # the limit for each reference in measurements/pytorch_times.py
# Operators whose oracle is slower than PyTorch's own kernel for the same work, with the reason.
SLOWER = {
    "vector_add": "both move memory as fast as a copy does; the difference is noise",
    "relu": "both move memory as fast as a copy does; the difference is noise",
    "erf_unary": "both move memory as fast as a copy does; the difference is noise",
    "gluon_blocked_add": "both move memory as fast as a copy does; the difference is noise",
    "gluon_tma_add_pipelined": "it must use shared memory with TMA and barriers, which an addition does not need",
    "gluon_ws_tma_add": "it must use shared memory with TMA and warp specialisation, which an addition does not need",
    "tlx_async_vector_add": "it must use shared memory with asynchronous copies, which an addition does not need",
    "matmul_fp32_ieee": "cuBLAS's FFMA kernels are scheduled by hand; Triton's reach nine tenths of their speed",
}


def large_of(verdict: dict[str, Any]) -> dict[str, Any] | None:
    case = next((case for case in verdict.get("cases", []) if case["id"] == LARGE), None)
    return case if case is not None and case.get("latency") else None


def bytes_per_s(case: dict[str, Any]) -> float:
    return float(case["cost_bytes"] / case["latency"]["median_ns"] * 1e9)


def is_memory_bound(case: dict[str, Any]) -> bool:
    """Returns True if the least traffic takes longer than the least arithmetic."""
    return bool(case["cost_bytes"] / PEAK_BYTES_PER_S >= case["cost_flops"] / PEAK_FLOPS_PER_S)


def compiled_ns(pytorch: dict[str, Any]) -> dict[str, float]:
    """Returns, by operator, the time of the reference compiled by torch.compile, without the
    overhead of the CUDA events. Leaves out references that could not be compiled."""
    return {
        entry["operator"]: statistics.median(entry["compiled_ns"])
        - statistics.median(entry["empty_ns"])
        for entry in pytorch["operators"]
        if "compiled_ns" in entry
    }


def geometric_mean(ratios: Collection[float]) -> float:
    return math.exp(statistics.fmean(math.log(ratio) for ratio in ratios))


def against_libraries(library: dict[str, Any], attention: bool) -> str:
    """Returns a list such as "`gemv` (98 %), ...": each oracle's speed as a share of the fastest
    library version's speed in the same run. The operators are those of attention or of matrix
    products."""
    shares = []
    for entry in library["operators"]:
        medians = {
            version: statistics.median(found) for version, found in entry["samples_ns"].items()
        }
        oracle = medians.pop("oracle", None)
        if oracle and medians and ("flash" in medians) == attention:
            shares.append(f"`{entry['operator']}` {100 * min(medians.values()) / oracle:.0f} %")
    return ", ".join(shares)


def summary(verdicts: dict[str, Any], library: dict[str, Any], pytorch: dict[str, Any]) -> str:
    cases = {name: case for name, verdict in verdicts.items() if (case := large_of(verdict))}
    copy = library["copy"]["bytes_per_s"]
    bound = {name: bytes_per_s(case) for name, case in cases.items() if is_memory_bound(case)}
    below = sorted((rate, name) for name, rate in bound.items() if rate < COPY_SHARE * copy)
    eager = {
        name: case["pytorch_ns"] / case["latency"]["median_ns"]
        for name, case in cases.items()
        if case.get("pytorch_ns")
    }
    compiled = {
        name: ns / cases[name]["latency"]["median_ns"]
        for name, ns in compiled_ns(pytorch).items()
        if name in cases
    }
    slower = sorted((ratio, name) for name, ratio in eager.items() if ratio < 1)
    rates = ", ".join(f"`{name}` {rate / 1e12:.2f}" for rate, name in below)
    points = [
        f"A copy of 1 GiB moves {copy / 1e12:.2f} TB/s. For {len(bound)} oracles the least traffic "
        f"takes longer than the least arithmetic; {len(bound) - len(below)} of these reach "
        f"{100 * COPY_SHARE:.0f} % of that rate. The others wait for something other than memory "
        "(steps in time, sorting, atomics, exact arithmetic without tensor cores), or do more than "
        f"the least work: {rates} TB/s.",
        "Matrix products against cuBLAS, share of its speed "
        "(`measurements/results/library-h200.json`, at the revision that it names): "
        + against_libraries(library, attention=False)
        + ".",
        "Attention against PyTorch's fastest backend, in the same run: "
        + against_libraries(library, attention=True)
        + ".",
        f"Eager PyTorch takes {geometric_mean(eager.values()):.1f} times as long for the reference "
        f"as the oracle (geometric mean of {len(eager)}). References are plain and often compute "
        "in float32, so this says less than the comparison with libraries.",
        "torch.compile (default mode; `measurements/results/pytorch-h200.json`) takes "
        f"{geometric_mean(compiled.values()):.1f} times as long (geometric mean of the "
        f"{len(compiled)} references that it compiled in {EACH_S} s). The oracle is faster for "
        f"{sum(ratio > 1 for ratio in compiled.values())} of them.",
        *(
            f"Slower than the reference: `{name}` ({ratio:.2f}): {SLOWER.get(name, 'no reason is known')}."
            for ratio, name in slower
        ),
    ]
    wrapped = (
        textwrap.fill(
            point, WIDTH, initial_indent="- ", subsequent_indent="  ", break_on_hyphens=False
        )
        for point in points
    )
    return "\nSummary for that GPU:\n\n" + "\n".join(wrapped) + "\n"


def baselines(
    specs_: list[dict[str, Any]],
    verdicts: dict[str, Any],
    pytorch: dict[str, Any],
    environment: dict[str, Any],
) -> str:
    """Returns the times of the oracles on this GPU, as TOML."""
    text = f"""# Times of the oracles on {environment["gpu"].split(",")[0]}: medians in nanoseconds, of the large case, with a cold
# L2. Generated by `python measurements/operators_table.py`; do not edit. Raw samples:
# measurements/results/oracles-h200.json and tlx-h200.json.
# oracle_ns: device time. pytorch_eager_ns, torch_compile_ns: device time of the reference.
# bytes, flops: the minimum that any kernel must move and compute.

[environment]
"""
    text += "".join(
        f"{key} = {json.dumps(str(environment[key]).splitlines()[0])}\n"
        for key in ("gpu", "cpu", "os", "python", "torch", "triton", "revision")
    )
    compiled = compiled_ns(pytorch)
    for spec in sorted(specs_, key=lambda spec: str(spec["name"])):
        case = large_of(verdicts.get(spec["name"], {}))
        if case is None:
            continue
        text += f"\n[operators.{spec['name']}]\noracle_ns = {case['latency']['median_ns']:.0f}\n"
        if case.get("pytorch_ns"):
            text += f"pytorch_eager_ns = {case['pytorch_ns']:.0f}\n"
        if spec["name"] in compiled:
            text += f"torch_compile_ns = {compiled[spec['name']]:.0f}\n"
        text += f"bytes = {case['cost_bytes']:.0f}\nflops = {case['cost_flops']:.0f}\n"
    return text
