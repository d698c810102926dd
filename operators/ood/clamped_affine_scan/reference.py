"""Computes the recurrence h = clip(a * h + b, lo, hi) step by step."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    shape = (case.axes["rows"], case.axes["steps"])
    a = rng.uniform(shape, torch.float32, 0.0, 1.0)
    b = 0.7 * rng.normal(shape, torch.float32)
    lo = rng.uniform(shape, torch.float32, -2.0, 0.2)
    hi = lo + rng.uniform(shape, torch.float32, 0.0, 2.5)
    if case.distribution == "sticky":
        # a is near 1 and the bounds are wide, so a state affects hundreds of later steps.
        a = 1.0 - 0.02 * a
        b *= 0.2
        lo, hi = lo - 1.5, hi + 1.0
    elif case.distribution == "long_memory":
        # A state decays by 1/5,000 in a step, and few steps reach a bound.
        a = 1.0 - 0.0004 * a
        b *= 0.03
        lo = lo - 1.8
        hi = -lo
    elif case.distribution == "tail":
        quiet = shape[1] - shape[1] // 8
        b[:, :quiet] *= 0.1
        lo[:, :quiet] *= 0.1
        hi[:, :quiet] = lo[:, :quiet] + 0.2
    return {
        "a": a,
        "b": b,
        "lo": lo,
        "hi": hi,
        "h0": rng.uniform((shape[0],), torch.float32, -1.0, 1.0),
    }


def reference(a: Tensor, b: Tensor, lo: Tensor, hi: Tensor, h0: Tensor) -> Tensor:
    """Works on copies in which time is the first dimension, so that each step's loads and store are
    contiguous."""
    at, bt, lot, hit = (t.T.contiguous() for t in (a, b, lo, hi))
    out = torch.empty_like(at)
    h = h0
    for t in range(a.shape[1]):
        h = torch.minimum(torch.maximum(at[t] * h + bt[t], lot[t]), hit[t])
        out[t] = h
    return out.T.contiguous()


def mutants(
    a: Tensor, b: Tensor, lo: Tensor, hi: Tensor, h0: Tensor
) -> dict[str, Tensor | tuple[Tensor, ...]]:
    early = torch.empty_like(a)
    h = h0
    for t in range(a.shape[1]):
        h = torch.minimum(torch.maximum(a[:, t] * h, lo[:, t]), hi[:, t]) + b[:, t]
        early[:, t] = h
    far = torch.full_like(a, torch.finfo(a.dtype).max)
    return {
        "clamped before b is added": early,
        "clamped only at the end": torch.minimum(
            torch.maximum(reference(a, b, -far, far, h0), lo), hi
        ),
        "starts at zero": reference(a, b, lo, hi, torch.zeros_like(h0)),
        "lower bound left out": reference(a, b, -far, hi, h0),
        "upper bound left out": reference(a, b, lo, far, h0),
        "blocks of 64 steps start anew": torch.cat(
            [
                reference(*(x[:, i : i + 64] for x in (a, b, lo, hi)), h0)
                for i in range(0, a.shape[1], 64)
            ],
            1,
        ),
    }


def cost(case: Case) -> Cost:
    rows, steps = case.axes["rows"], case.axes["steps"]
    return Cost(bytes=4 * (5 * rows * steps + rows), flops=4 * rows * steps)
