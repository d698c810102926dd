"""Checks oracles that use a feature of one GPU generation or vendor. They must also compile for
GPUs without this feature."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "measurements"), str(ROOT / "tests/common")]

from stdio_client import StdioClient, serve_command  # noqa: E402
from tool_calls import verdict_of  # noqa: E402

BINARY = os.environ.get("ASSAY_BIN", str(ROOT / "build/release/bin/assay"))
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
    target: str  # its largest public case is compiled for this target


CHECKS = [
    *(Check(name, "cuda:80") for name in DEPENDENT_LAUNCH),
    *(
        Check(name, "hip:gfx942")
        for name in sorted({*DEPENDENT_LAUNCH[:1], *REGISTERS, *LARGER_THAN_AMD})
    ),
]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StdioClient]:
    store = tmp_path_factory.mktemp("targets") / "store.db"
    started = StdioClient(serve_command(BINARY, "cpu", store))
    yield started
    started.close()


def test_there_are_some() -> None:
    assert DEPENDENT_LAUNCH and REGISTERS


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: "-".join(check))
def test_compiles(check: Check, client: StdioClient) -> None:
    arguments = {"operator": check.name, "code": TEXTS[check.name].read_text()}
    verdict = verdict_of(client, "compile", {**arguments, "targets": [check.target]})
    assert verdict["outcome"] == "pass", verdict["text"]
    assert {kernel["target"] for kernel in verdict["kernels"]} == {check.target}, verdict["kernels"]


@pytest.fixture(scope="module")
def with_public_cases(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StdioClient]:
    """A server for copies of the operators of IN_ONE_CASE. The tool compiles the largest public case,
    so the other public cases of a copy are small. One server costs as much as one `assay eval`."""
    folder = tmp_path_factory.mktemp("public")
    for name, case in IN_ONE_CASE:
        copy = folder / "suite" / TEXTS[name].parent.parent.name / name
        shutil.copytree(TEXTS[name].parent, copy)
        first, *cases = (copy / "spec.toml").read_text().split("[[cases]]\n")
        assert sum(f'id = "{case}"\n' in one for one in cases) == 1
        for at, one in enumerate(cases):
            is_public = ("interpreter = true" in one and "public" in one) or f'id = "{case}"' in one
            word = "public" if is_public else "hidden"
            cases[at] = re.sub('visibility = "[a-z]+"', f'visibility = "{word}"', one)
        (copy / "spec.toml").write_text("[[cases]]\n".join((first, *cases)))
    suite = ("--suite", str(folder / "suite"))
    started = StdioClient(serve_command(BINARY, "cpu", folder / "store.db", *suite))
    yield started
    started.close()


@pytest.mark.parametrize(("name", "case"), IN_ONE_CASE)
def test_compiles_a_case(name: str, case: str, with_public_cases: StdioClient) -> None:
    arguments = {"operator": name, "code": TEXTS[name].read_text()}
    verdict = verdict_of(with_public_cases, "compile", {**arguments, "targets": ["hip:gfx942"]})
    assert verdict["outcome"] == "pass", verdict["text"]
    assert {kernel["target"] for kernel in verdict["kernels"]} == {"hip:gfx942"}
    assert f"plan {case} hip:gfx942" in {one["name"] for one in verdict["artifacts"]}
