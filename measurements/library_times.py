"""Compares oracles with the fastest library code in PyTorch: cuBLAS for matrix products, and the
fastest attention backend for attention. Also measures the rate at which a copy moves memory.

    python measurements/library_times.py --device cuda:0 \
        --out measurements/results/library-h200.json

For each operator, one process runs the oracle and the libraries in turns on the inputs of the case
`large`. Samples are taken by CUDA events with a cold L2, and everything is queued before the GPU
starts. A backend that refuses the inputs has an `error` and no samples. There is no sandbox,
because the oracles are trusted code of this repository."""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from environment import environment
from pytorch_times import LARGE, ROOT, SEED, samples_ns
from tune import AHEAD_CYCLES, entry_of

ROUNDS = 3
COPY_BYTES = 1 << 30  # the number of bytes that are read; the same number is written
ORACLE = "oracle"
Arguments = dict[str, Any]
Call = Callable[[], Any]


def matmul(given: Arguments) -> dict[str, Call]:
    import torch

    return {"cublas": lambda: torch.matmul(given["a"], given["b"])}


def transposed_matmul(given: Arguments) -> dict[str, Call]:
    import torch

    return {"cublas": lambda: torch.matmul(given["a"].t(), given["b"])}


def wide_matmul(given: Arguments) -> dict[str, Call]:
    import torch

    return {"cublas": lambda: torch.mm(given["a"], given["b"], out_dtype=torch.float32)}


def vector(given: Arguments) -> dict[str, Call]:
    import torch

    return {"cublas": lambda: torch.mv(given["a"], given["x"])}


def linear(given: Arguments) -> dict[str, Call]:
    import torch

    return {"cublas": lambda: torch.nn.functional.linear(given["x"], given["w"])}


def scaled_fp8(given: Arguments) -> dict[str, Call]:
    """Returns the library's float8 product, which accumulates in full precision as the operator
    requires."""
    import torch

    scales = given["a_scale"][:, None], given["b_scale"][None, :]
    call = torch._scaled_mm
    return {
        "cublas": lambda: call(
            given["a"], given["b"].t(), *scales, out_dtype=torch.bfloat16, use_fast_accum=False
        )
    }


def attention(causal: bool, heads_last: bool = False) -> Callable[[Arguments], dict[str, Call]]:
    def calls(given: Arguments) -> dict[str, Call]:
        import torch
        from torch.nn.attention import SDPBackend, sdpa_kernel

        q, k, v = (
            given[name].transpose(1, 2) if heads_last else given[name] for name in ("q", "k", "v")
        )

        def run(backend: Any) -> Any:
            with sdpa_kernel([backend]):
                grouped = q.shape[1] != k.shape[1]
                return torch.nn.functional.scaled_dot_product_attention(
                    q, k, v, is_causal=causal, enable_gqa=grouped
                )

        backends = {
            "flash": SDPBackend.FLASH_ATTENTION,
            "cudnn": SDPBackend.CUDNN_ATTENTION,
            "efficient": SDPBackend.EFFICIENT_ATTENTION,
        }
        return {name: lambda backend=backend: run(backend) for name, backend in backends.items()}

    return calls


LIBRARIES: dict[str, Callable[[Arguments], dict[str, Call]]] = {
    **dict.fromkeys(
        (
            "matmul_fp16",
            "matmul_fp32_ieee",
            "matmul_irregular",
            "batched_matmul",
            "split_k_gemm",
            "gluon_wgmma_gemm",
            "gluon_persistent_gemm",
        ),
        matmul,
    ),
    "matmul_at_b": transposed_matmul,
    "matmul_bf16_out32": wide_matmul,
    "gemv": vector,
    "skinny_gemm_m16": linear,
    "fp8_gemm_rowwise": scaled_fp8,
    "flash_attn_fwd": attention(causal=False),
    "flash_attn_causal": attention(causal=True),
    "gqa_causal": attention(causal=True, heads_last=True),
}


def measure(name: str, device: str) -> dict[str, Any]:
    from harness.operator import Operator

    folder = next((ROOT / "operators").glob(f"*/{name}"))
    operator = Operator.load(folder)
    wire = next(case for case in operator.spec["cases"] if case["id"] == LARGE)
    given = operator.inputs(operator.case(wire, device), SEED)
    oracle = entry_of(folder / "oracle.py", operator.spec["entry"])
    calls: dict[str, Call] = {ORACLE: lambda: oracle(**given), **LIBRARIES[name](given)}
    samples: dict[str, list[float]] = {}
    errors: dict[str, str] = {}
    for _ in range(ROUNDS):
        for version, call in calls.items():
            if version in errors:
                continue
            try:
                samples.setdefault(version, []).extend(samples_ns(call, AHEAD_CYCLES))
            except Exception as error:
                errors[version] = f"{type(error).__name__}: {error}"[:300]
    return {
        "operator": name,
        "samples_ns": {version: found for version, found in samples.items() if found},
        "error": errors,
    }


def copy_rate(device: str) -> dict[str, Any]:
    """Returns the rate of a copy: bytes read plus bytes written, per second."""
    import torch

    source = torch.ones(COPY_BYTES, dtype=torch.uint8, device=device)
    target = torch.empty_like(source)
    found = [
        ns for _ in range(ROUNDS) for ns in samples_ns(lambda: target.copy_(source), AHEAD_CYCLES)
    ]
    return {
        "bytes": 2 * COPY_BYTES,
        "samples_ns": found,
        "bytes_per_s": 2 * COPY_BYTES / statistics.median(found) * 1e9,
    }


def show(row: dict[str, Any]) -> None:
    medians = {
        version: statistics.median(samples) for version, samples in row["samples_ns"].items()
    }
    others = {version: median for version, median in medians.items() if version != ORACLE}
    if ORACLE in medians and others:
        best = min(others, key=lambda version: others[version])
        print(
            f"{row['operator']:24} oracle {medians[ORACLE] / 1e3:9.1f} us, {100 * others[best] / medians[ORACLE]:5.1f} % of {best}",
            flush=True,
        )
    for version, error in row["error"].items():
        print(f"{row['operator']:24} {version}: {error}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument(
        "--operators",
        nargs="*",
        default=sorted(LIBRARIES),
        choices=sorted(LIBRARIES),
        metavar="NAME",
    )
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    import torch

    torch.cuda.set_device(options.device)
    torch.backends.cuda.matmul.allow_tf32 = False
    copy = copy_rate(options.device)
    print(f"copy: {copy['bytes_per_s'] / 1e12:.2f} TB/s", flush=True)
    rows = []
    for name in options.operators:
        rows.append(measure(name, options.device))
        show(rows[-1])
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        result = {"what": __doc__, "environment": environment(), "copy": copy, "operators": rows}
        options.out.write_text(json.dumps(result, separators=(",", ":")) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
