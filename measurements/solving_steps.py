"""Defines what the agent of measurements/solving_chars.py does: for each operator, the calls of a
session of an agent that made usual mistakes before it solved the operator."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests/common"))

import mistakes
from mistakes import HEAD

SCAN = (
    HEAD
    + """
@triton.jit
def kernel(a, b, lo, hi, h0, y, steps):
    row = tl.program_id(0)
    h = tl.load(h0 + row)
    for t in range(steps):
        i = row * steps + t
        h = tl.load(a + i) * h + tl.load(b + i)
        h = tl.minimum(tl.maximum(h, tl.load(lo + i)), tl.load(hi + i))
        tl.store(y + i, h)

def clamped_affine_scan(a, b, lo, hi, h0):
    y = torch.empty_like(a)
    kernel[(a.shape[0],)](a, b, lo, hi, h0, y, a.shape[1])
    return y
"""
)
QUANT = (
    HEAD
    + """
@triton.jit
def kernel(x, q, scale, C, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    m = c < C
    v = tl.load(x + row * C + c, mask=m, other=0.0).to(tl.float32)
    s = tl.div_rn(tl.max(tl.abs(v), axis=0), 127.0)
    d = tl.div_rn(v, tl.where(s == 0, 1.0, s))
    r = (d + 12582912.0) - 12582912.0
    tl.store(q + row * C + c, r.to(tl.int8), mask=m)
    tl.store(scale + row, s)

def quant_int8_rowwise(x):
    R, C = x.shape
    q = torch.empty((R, C), dtype=torch.int8, device=x.device)
    scale = torch.empty(R, dtype=torch.float32, device=x.device)
    kernel[(R,)](x, q, scale, C, BLOCK=triton.next_power_of_2(C))
    return q, scale
"""
)
SOURCES = {**mistakes.RIGHT, "clamped_affine_scan": SCAN, "quant_int8_rowwise": QUANT}

# The characters of a session with a language model's agent at revision c21b381, which solved these
# operators and made mistakes on purpose: calls, received, sent. It sent the whole source in each
# call.
SESSION = {
    "vector_add": (15, 7_500, 5_400),
    "relu": (6, 3_800, 2_000),
    "softmax_last_dim": (23, 12_400, 9_800),
    "layer_norm_fwd": (7, 5_800, 3_400),
    "matmul_fp16": (12, 7_200, 9_700),
    "clamped_affine_scan": (8, 8_700, 3_800),
    "quant_int8_rowwise": (12, 9_500, 6_100),
    "histogram_bins": (8, 5_300, 3_000),
    "global_sq_norm": (8, 5_100, 3_000),
}


RIGHT = "right"  # Step.what of a call with the right source


@dataclass(frozen=True)
class Step:
    """One call. `source` is the source that the call judges, or "" for a call without a source."""

    tool: str
    source: str = ""
    what: str = ""
    more: dict[str, Any] = field(default_factory=dict)


def wrong(operator: str, what: str, *changes: tuple[str, str], tool: str = "run_tests") -> Step:
    source = SOURCES[operator]
    for old, new in changes:
        assert old in source, (operator, what, old)
        source = source.replace(old, new)
    return Step(tool, source, what)


def add(what: str, *changes: tuple[str, str], tool: str = "run_tests") -> Step:
    return wrong("vector_add", what, *changes, tool=tool)


def softmax(what: str, *changes: tuple[str, str], tool: str = "run_tests") -> Step:
    return wrong("softmax_last_dim", what, *changes, tool=tool)


_MISSING = "e = tl.exp(v - tl.max(v, axis=0))"
_LIBDEVICE = (HEAD, HEAD + "from triton.language.extra import libdevice\n")
_ROUND = "(d + 12582912.0) - 12582912.0"
MISTAKES: dict[str, list[Step]] = {
    "vector_add": [
        add("no mask", ("tl.load(x + i, mask=m)", "tl.load(x + i)")),
        add("wrong entry", ("def vector_add", "def add")),
        add("tuple of one output", ("return z", "return (z,)")),
        add("two outputs", ("return z", "return z, z")),
        add("a number", ("return z", "return 1.0")),
        add("no output", ("return z", "return None")),
        add("wrong dtype", ("torch.empty_like(x)", "torch.empty_like(x, dtype=torch.float64)")),
        add("off by one", ("m = i < n", "m = i < n - 1")),
        add("floor grid", ("triton.cdiv(n, 1024)", "n // 1024")),
        add("syntax error", ("m = i < n", "m = (i < n")),
        Step("run_tests", f"```python\n{SOURCES['vector_add']}```\n", "Markdown fence"),
        add("torch does the work", ("return z", "return x + y")),
        Step("run_tests", SOURCES["vector_add"], "wrong operator", {"operator": "vectoradd"}),
        Step("run_tests", SOURCES["vector_add"], "wrong argument", {"dtype": "float32"}),
        Step("profile", SOURCES["vector_add"], "wrong case", {"case": "medium"}),
        add("block not a power of 2", ("tl.arange(0, BLOCK)", "tl.arange(0, 1000)")),
    ],
    "relu": [wrong("relu", "drops NaN", ("tl.where(v < 0, 0.0, v)", "tl.maximum(v, 0.0)"))],
    "softmax_last_dim": [
        softmax("tl.foo", (_MISSING, _MISSING.replace("tl.exp", "tl.foo"))),
        softmax("tl.tanh", (_MISSING, _MISSING.replace("tl.exp", "tl.tanh"))),
        softmax("tl.round", (_MISSING, _MISSING.replace("tl.exp", "tl.round"))),
        softmax("tl.relu", (_MISSING, _MISSING.replace("tl.exp", "tl.relu"))),
        softmax("mask of C - 1", ("m = c < C", "m = c < C - 1")),
        softmax("other=0 before a maximum", ('other=-float("inf")', "other=0.0")),
        softmax("exp2", ("tl.exp(", "tl.exp2(")),
        softmax("maximum on the host", ("R, C = x.shape", "R, C = x.shape\n    x = x - x.max()")),
        softmax("infinite loop", ("m = c < C", "m = c < C\n    while C > 0:\n        row += 0")),
    ],
    "layer_norm_fwd": [
        wrong("layer_norm_fwd", "n - 1 for n", ("axis=0) / C + eps", "axis=0) / (C - 1) + eps"))
    ],
    "matmul_fp16": [
        wrong(
            "matmul_fp16",
            "tl.dot of 8 columns",
            ("range(0, K, B)", "range(0, K, 8)"),
            ("k = start + tl.arange(0, B)", "k = start + tl.arange(0, 8)"),
        ),
        wrong(
            "matmul_fp16",
            "half accumulator",
            ("acc = tl.dot(left, right, acc)", "acc += tl.dot(left, right)"),
            ("tl.zeros((B, B), tl.float32)", "tl.zeros((B, B), tl.float16)"),
        ),
        wrong(
            "matmul_fp16",
            "tile too large",
            (
                "(triton.cdiv(M, 64), triton.cdiv(N, 64))",
                "(triton.cdiv(M, 256), triton.cdiv(N, 256))",
            ),
            ("B=64)", "B=256)"),
        ),
    ],
    "clamped_affine_scan": [],
    "quant_int8_rowwise": [
        wrong("quant_int8_rowwise", "libdevice.rint", _LIBDEVICE, (_ROUND, "libdevice.rint(d)")),
        wrong("quant_int8_rowwise", "libdevice.tanh", _LIBDEVICE, (_ROUND, "libdevice.tanh(d)")),
    ],
    "histogram_bins": [
        wrong("histogram_bins", "atomics to empty", ("torch.zeros", "torch.empty")),
    ],
    "global_sq_norm": [
        wrong("global_sq_norm", "atomics to empty", ("torch.zeros", "torch.empty")),
    ],
}


def steps_of(operator: str) -> list[Step]:
    """Returns the calls: the specification, each mistake, and the right source in all tools."""
    right = SOURCES[operator]
    return [
        Step("fetch_spec"),
        *MISTAKES[operator],
        *(Step(tool, right, RIGHT) for tool in ("compile", "run_tests", "profile", "submit")),
    ]
