"""Tests the tool `profile` with the real server without a GPU. Checks that the tool diagnoses the
compiled code for any target, in an answer that is small enough for an agent to read."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import Any

import pytest
from stdio_client import StdioClient

ROOT = Path(__file__).resolve().parent.parent.parent

MOST_TOKENS = 400
CHARS_A_TOKEN = 3.2  # the ratio that docs/reference/limits.md uses for the size of answers


def oracle(name: str) -> str:
    return (next((ROOT / "operators").glob(f"*/{name}")) / "oracle.py").read_text()


def profile(
    client: StdioClient, operator: str, code: str | None = None, **arguments: Any
) -> dict[str, Any]:
    result = client.call(
        "profile", {"operator": operator, "code": code or oracle(operator), **arguments}
    )
    while result["structuredContent"].get("status") == "running":
        result = client.call("job", {"job": result["structuredContent"]["job"], "wait_s": 20})
    return result


def tokens(text: str) -> float:
    return max(len(text) / CHARS_A_TOKEN, len(re.findall(r"\w+|[^\w\s]", text)) / 2)


def artifact_text(client: StdioClient, result: dict[str, Any], kind: str, **arguments: Any) -> str:
    [handle] = [
        one["artifact"]
        for one in result["structuredContent"]["artifacts"]
        if one["name"].startswith(kind + " ")
    ]
    return str(
        client.call("read_artifact", {"artifact": handle, "limit": 14_000, **arguments})[
            "structuredContent"
        ]["text"]
    )


@pytest.mark.parametrize(
    ("operator", "bound"),
    [
        ("vector_add", "memory"),
        ("softmax_last_dim", "memory"),
        ("layer_norm_bwd", "memory"),
        ("matmul_fp16", "compute"),
        ("flash_attn_causal", "compute"),
        ("matmul_fp32_ieee", "compute"),
    ],
)
def test_a_diagnosis_of_at_most_400_tokens(
    cpu_server: StdioClient, operator: str, bound: str
) -> None:
    result = profile(cpu_server, operator)
    text, document = result["content"][0]["text"], result["structuredContent"]
    assert tokens(text) <= MOST_TOKENS, (tokens(text), text)
    found = document["profile"]
    assert found["bound"] == bound, text
    assert found["evidence"] == "compiled"
    assert found["roofline"]["floor_ns"] > 0 and found["roofline"]["source"]
    assert found["suggestion"] and "suggestion: " in text
    assert all(
        kernel["occupancy"] > 0 and kernel["occupancy_limiter"] for kernel in document["kernels"]
    )
    assert all(digest["instructions"] > 0 and digest["lines"] for digest in found["code"]), found[
        "code"
    ]


def test_a_small_case_is_run_and_diagnosed(cpu_server: StdioClient) -> None:
    result = profile(cpu_server, "vector_add", case="small")
    assert result["structuredContent"]["outcome"] == "pass"
    assert result["structuredContent"]["profile"]["bound"] == "launch"


def test_sass_as_an_artifact_and_a_histogram(cpu_server: StdioClient) -> None:
    result = profile(cpu_server, "matmul_fp16", detail="sass")
    [digest] = result["structuredContent"]["profile"]["code"]
    assert digest["tensor"] > 0 and digest["tensor_unit"] == "float16 tensor"
    assert {"HGMMA", "HMMA"} & {one["opcode"] for one in digest["opcodes"]}
    assert "sass of " in result["content"][0]["text"]
    assert "LDGSTS" in artifact_text(cpu_server, result, "sass", grep="LDGSTS")


def test_instructions_belong_to_lines_of_the_source(cpu_server: StdioClient) -> None:
    code = oracle("vector_add")
    result = profile(cpu_server, "vector_add", detail="source")
    [digest] = result["structuredContent"]["profile"]["code"]
    for line in digest["lines"]:
        if "file" not in line or not line["file"]:
            assert line["code"] == code.splitlines()[line["line"] - 1].strip()[:120]
    listing = artifact_text(cpu_server, result, "source")
    assert any("LDG.128" in row and "tl.load" in row for row in listing.splitlines()), listing


@pytest.mark.parametrize(
    ("target", "device"),
    [
        ("cuda:80", "NVIDIA A100"),
        ("cuda:100", "NVIDIA B200"),
        ("hip:gfx90a", "AMD Instinct MI250"),
        ("hip:gfx942", "AMD Instinct MI300X"),
        ("hip:gfx950", "AMD Instinct MI355X"),
    ],
)
def test_any_target_without_its_gpu(cpu_server: StdioClient, target: str, device: str) -> None:
    result = profile(cpu_server, "softmax_last_dim", target=target)
    found = result["structuredContent"]["profile"]
    assert (found["target"], found["device_name"]) == (target, device)
    assert {kernel["target"] for kernel in result["structuredContent"]["kernels"]} == {target}
    assert found["code"][0]["instructions"] > 0 and found["code"][0]["global_loads"], found
    assert found["code"][0]["lines"][0]["code"], found
    assert tokens(result["content"][0]["text"]) <= MOST_TOKENS


def test_a_roofline_is_a_picture(cpu_server: StdioClient) -> None:
    result = profile(cpu_server, "softmax_last_dim", detail="roofline")
    [image] = [block for block in result["content"] if block["type"] == "image"]
    assert image["mimeType"] == "image/png"
    assert base64.b64decode(image["data"]).startswith(b"\x89PNG\r\n\x1a\n")
    assert not [
        block
        for block in profile(cpu_server, "softmax_last_dim")["content"]
        if block["type"] == "image"
    ]


@pytest.mark.parametrize("detail", ["timeline", "counters"])
def test_the_answer_names_what_needs_a_gpu(cpu_server: StdioClient, detail: str) -> None:
    result = profile(cpu_server, "vector_add", detail=detail)
    assert "GPU" in result["structuredContent"]["profile"]["missing"][detail]
    assert f"no {detail}: " in result["content"][0]["text"]


SPILLING = """
import torch, triton, triton.language as tl

@triton.jit
def add(x, y, z, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    a = tl.load(x + i, mask=m)
    b = tl.load(y + i, mask=m)
    tl.store(z + i, a + b, mask=m)

def vector_add(x, y):
    z = torch.empty_like(x)
    add[(triton.cdiv(x.numel(), 32768),)](x, y, z, x.numel(), BLOCK=32768, num_warps=1)
    return z
"""
ONE_PROGRAM = """
import torch, triton, triton.language as tl

@triton.jit
def add(x, y, z, n, BLOCK: tl.constexpr):
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        m = i < n
        tl.store(z + i, tl.load(x + i, mask=m) + tl.load(y + i, mask=m), mask=m)

def vector_add(x, y):
    z = torch.empty_like(x)
    add[(1,)](x, y, z, x.numel(), BLOCK=1024)
    return z
"""
STRIDED = """
import torch, triton, triton.language as tl

@triton.jit
def add(x, y, z, n, BLOCK: tl.constexpr):
    first = tl.program_id(0) * BLOCK * 4
    for k in range(4):
        i = first + tl.arange(0, BLOCK) * 4 + k
        m = i < n
        tl.store(z + i, tl.load(x + i, mask=m) + tl.load(y + i, mask=m), mask=m)

def vector_add(x, y):
    z = torch.empty_like(x)
    add[(triton.cdiv(x.numel(), 4096),)](x, y, z, x.numel(), BLOCK=1024)
    return z
"""


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (SPILLING, "spills"),
        (ONE_PROGRAM, "1 thread block for 132"),
        (STRIDED, "global loads move at most 4 bytes"),
    ],
    ids=["spills", "one program", "strided"],
)
def test_the_suggestion_names_the_defect(cpu_server: StdioClient, code: str, words: str) -> None:
    result = profile(cpu_server, "vector_add", code)
    assert words in result["structuredContent"]["profile"]["suggestion"], result["content"][0][
        "text"
    ]


def test_bad_arguments_are_named(cpu_server: StdioClient) -> None:
    wrong = cpu_server.call("profile", {"operator": "vector_add", "code": "x", "target": "sm_90"})
    assert wrong["isError"] and "cuda:90" in wrong["content"][0]["text"]
    unknown = profile(cpu_server, "vector_add", target="cuda:12")
    assert "cuda:90" in unknown["content"][0]["text"]
    assert unknown["structuredContent"]["outcome"] == "error"
