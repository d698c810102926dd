"""Checks oracles that use a feature of one GPU generation or vendor. They must also compile for
GPUs without this feature."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
BINARY = os.environ.get("ASSAY_BIN", str(ROOT / "build/release/bin/assay"))
AT_ONCE = 2  # checks that run at the same time; each mostly waits for its processes
TEXTS = {path.parent.name: path for path in sorted((ROOT / "operators").glob("[!d]*/*/oracle.py"))}
# Only Hopper and newer GPUs have dependent launches.
DEPENDENT_LAUNCH = [name for name, path in TEXTS.items() if "gdc_wait" in path.read_text()]
# Only ptxas knows maxnreg.
REGISTERS = [name for name, path in TEXTS.items() if "maxnreg" in path.read_text()]
# The configuration of these oracles for an H200 does not fit gfx942: it uses more shared memory,
# more threads, or matrix products that gfx942 lacks. The oracles have another configuration for
# gfx942.
LARGER_THAN_AMD = (
    *(
        "conv2d_3x3",
        "conv_transpose2d",
        "flash_attn_bwd",
        "flash_decode_splitkv",
        "fused_linear_cross_entropy",
        "gemm_bias_gelu",
    ),
    *(
        "gemm_residual_layernorm",
        "gqa_causal",
        "group_norm",
        "matmul_at_b",
        "matmul_bf16_out32",
        "matmul_fp16",
        "mla_decode",
    ),
    *(
        "moe_grouped_swiglu",
        "paged_attn_decode",
        "power_mean_matmul",
        "rmsnorm_linear",
        "ssd_chunk_state",
        "varlen_attn",
        "w8a16_gemm",
    ),
)
IN_ONE_CASE = (  # the feature is used only in this case, which is not the default
    ("block_sparse_attn", "hidden_empty"),
    ("fp8_gemm_rowwise", "awkward"),
    ("grouped_gemm", "hidden_skewed"),
    ("ssd_chunk_state", "hidden_slow"),
    ("triangular_matmul", "hidden_tail"),
)


class Check(NamedTuple):
    name: str
    target: str
    case: str = ""  # the name of a case; empty means the largest public case


CHECKS = [
    *(Check(name, "cuda:80") for name in DEPENDENT_LAUNCH),
    *(
        Check(name, "hip:gfx942")
        for name in sorted({*DEPENDENT_LAUNCH[:1], *REGISTERS, *LARGER_THAN_AMD})
    ),
    *(Check(name, "hip:gfx942", case) for name, case in IN_ONE_CASE),
]


def compiled(check: Check) -> subprocess.CompletedProcess[str]:
    command = [
        BINARY,
        "eval",
        check.name,
        str(TEXTS[check.name]),
        "--device",
        "cpu",
        "--mode",
        "compile",
        "--target",
        check.target,
    ]
    return subprocess.run(
        [*command, *(["--case", check.case] if check.case else [])],
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.fixture(scope="module")
def answers(
    request: pytest.FixtureRequest,
) -> Iterator[dict[Check, Future[subprocess.CompletedProcess[str]]]]:
    """Starts the selected checks in their order. Yields the future result of each check."""
    functions = [
        item
        for item in request.session.items
        if isinstance(item, pytest.Function) and item.function is test_compiles
    ]
    selected = [
        check for check in CHECKS if check in [item.callspec.params["check"] for item in functions]
    ]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        yield {check: pool.submit(compiled, check) for check in selected}
        pool.shutdown(cancel_futures=True)


def test_there_are_some() -> None:
    assert DEPENDENT_LAUNCH and REGISTERS


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: "-".join(filter(None, check)))
def test_compiles(
    check: Check, answers: dict[Check, Future[subprocess.CompletedProcess[str]]]
) -> None:
    done = answers[check].result()
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
