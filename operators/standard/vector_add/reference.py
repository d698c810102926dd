"""Computes z = x + y, element by element."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """In the distribution `grid`, the values are multiples of 1/64 below 1, so their sums are exact
    in float16 and in bfloat16."""
    n = case.axes["n"]
    if case.distribution == "grid":
        x = (rng.integers((n,), -63, 64, torch.int32) / 64).to(case.dtype)
        y = (rng.integers((n,), -63, 64, torch.int32) / 64).to(case.dtype)
        return {"x": x, "y": y}
    x = rng.normal((n,), torch.float32)
    y = rng.normal((n,), torch.float32)
    if case.distribution == "cancellation":
        y = 0.25 * y - x
    elif case.distribution == "tail":
        start = n - n // 8
        x[:start] *= 0.01
        y[:start] *= 0.01
    return {"x": x.clamp(-3.9, 3.9).to(case.dtype), "y": y.clamp(-3.9, 3.9).to(case.dtype)}


def reference(x: Tensor, y: Tensor) -> Tensor:
    """PyTorch adds float16 and bfloat16 values in float32 and rounds once."""
    return x + y


def mutants(x: Tensor, y: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    return {
        "difference instead of sum": x - y,
        "y one block further": x + y.roll(-1024),
        "x twice": x + x,
    }


def cost(case: Case) -> Cost:
    n = case.axes["n"]
    return Cost(bytes=3 * n * case.dtype.itemsize, flops=n)
