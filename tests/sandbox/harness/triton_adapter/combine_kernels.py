"""Runs kernels with combine functions in Triton's interpreter: first with the interpreter's own
implementation ("elements"), then with Assay's ("slices"). Prints the bytes of each result and the
number of calls of its combine function, as JSON.

    python combine_kernels.py HARNESS  # the folder that contains the package harness
"""

import json
import os
import sys

os.environ["TRITON_INTERPRET"] = "1"
sys.path.insert(0, sys.argv[1])

import torch
import triton
import triton.language as tl
from harness.triton_adapter.reductions import combine_slices

CALLS = [0]


@triton.jit
def larger(a, b):
    CALLS[0] += 1
    return tl.where(a > b, a, b)


@triton.jit
def decayed(a, b):
    CALLS[0] += 1
    return a * 0.75 + b


@triton.jit
def branches(a, b):
    CALLS[0] += 1
    if a > b:
        return a - b
    return a


@triton.jit
def _larger_by_branch(a, b):
    if a > b:
        return a
    return b


@triton.jit
def branches_in_a_function(a, b):
    CALLS[0] += 1
    return _larger_by_branch(a, b)


@triton.jit
def branches_after_a_call(a, b):
    CALLS[0] += 1
    share = tl.sigmoid(a - b)  # a function of Triton's library
    if share > 0.5:
        return a
    return b


@triton.jit
def of_a_block(a, b):
    CALLS[0] += 1
    return tl.maximum(a, tl.max(b + tl.zeros((1,), tl.float32), axis=0))


@triton.jit
def sums_within(a, b):
    CALLS[0] += 1
    return tl.sum(a) + b


@triton.jit
def affine(a, b, c, d):
    CALLS[0] += 1
    return a * c, b * c + d


@triton.jit
def larger_pair(a, i, b, j):
    CALLS[0] += 1
    first = (a > b) | ((a == b) & (i < j))
    return tl.where(first, a, b), tl.where(first, i, j)


@triton.jit
def reduce_one(
    x, y, R: tl.constexpr, C: tl.constexpr, AXIS: tl.constexpr, F: tl.constexpr, KEEP: tl.constexpr
):
    at = tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :]
    got = tl.reduce(tl.load(x + at), AXIS, F, keep_dims=KEEP)
    N: tl.constexpr = C if AXIS == 0 else R
    tl.store(y + tl.arange(0, N), tl.reshape(got, (N,)))


@triton.jit
def scan_one(
    x,
    y,
    R: tl.constexpr,
    C: tl.constexpr,
    AXIS: tl.constexpr,
    F: tl.constexpr,
    REVERSE: tl.constexpr,
):
    at = tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :]
    tl.store(y + at, tl.associative_scan(tl.load(x + at), AXIS, F, reverse=REVERSE))


@triton.jit
def scan_two(x, y, R: tl.constexpr, C: tl.constexpr, AXIS: tl.constexpr, F: tl.constexpr):
    at = tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :]
    values = tl.load(x + at)
    first, second = tl.associative_scan((values, values), AXIS, F)
    tl.store(y + at, first + second)


@triton.jit
def reduce_two(x, y, R: tl.constexpr, C: tl.constexpr, AXIS: tl.constexpr, F: tl.constexpr):
    at = tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :]
    value, index = tl.reduce((tl.load(x + at), at), AXIS, F)
    N: tl.constexpr = C if AXIS == 0 else R
    tl.store(y + tl.arange(0, N), value + index)


@triton.jit
def line(x, y, R: tl.constexpr, C: tl.constexpr, AXIS: tl.constexpr, F: tl.constexpr):
    i = tl.arange(0, R * C)
    tl.store(y + i, tl.associative_scan(tl.load(x + i), AXIS, F))


@triton.jit
def top(x, y, R: tl.constexpr, C: tl.constexpr):
    at = tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :]
    tl.store(y + at, tl.sort(tl.load(x + at)))


def cases():
    for axis in (0, 1):
        for kind in (torch.float32, torch.float16, torch.bfloat16, torch.int32):
            for keep in (False, True):
                yield f"largest-{axis}-{kind}-{keep}", reduce_one, kind, (axis, larger, keep)
            yield f"scan-{axis}-{kind}", scan_one, kind, (axis, larger, False)
        for kind in (torch.float32, torch.float16):
            yield f"decayed-{axis}-{kind}", scan_one, kind, (axis, decayed, True)
        for function in (branches, branches_in_a_function, branches_after_a_call, of_a_block):
            name = function.fn.__name__
            yield f"{name}-{axis}", scan_one, torch.float32, (axis, function, False)
        yield f"sums-within-{axis}", reduce_one, torch.float32, (axis, sums_within, False)
        yield f"affine-{axis}", scan_two, torch.float32, (axis, affine)
        yield f"pairs-{axis}", reduce_two, torch.float32, (axis, larger_pair)
    yield "line", line, torch.float32, (0, larger)
    yield "sorted", top, torch.float32, ()
    yield "last-axis", scan_one, torch.float32, (-1, larger, False)
    yield "no-such-axis", scan_one, torch.float32, (-3, larger, False)


def run(kernel, kind, options):
    draw = torch.Generator().manual_seed(7)
    x = (4 * torch.randn((8, 16), generator=draw)).to(kind)
    if kind.is_floating_point:
        x[2, 3], x[4, 5], x[6, 7] = float("nan"), float("inf"), -0.0
    y = torch.zeros_like(x)
    CALLS[0] = 0
    try:
        kernel[(1,)](x, y, 8, 16, *options)
    except Exception as error:
        return {"error": str(error)}
    return {"bits": y.view(torch.uint8).flatten().tolist(), "calls": CALLS[0]}


results = {name: {"elements": run(*case)} for name, *case in cases()}
combine_slices()
for name, *case in cases():
    results[name]["slices"] = run(*case)
print(json.dumps(results))
