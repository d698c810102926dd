"""Computes min(max(x, lo), hi) with bounds per column."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """In every eleventh column the lower bound is above the upper bound."""
    rows, cols = case.axes["rows"], case.axes["cols"]
    x = rng.normal((rows, cols), torch.float32)
    lo = rng.uniform((cols,), torch.float32, -1.5, 0.0)
    hi = rng.uniform((cols,), torch.float32, 0.1, 1.5)
    lo[3::11], hi[3::11] = hi[3::11].clone(), lo[3::11].clone()
    if case.distribution == "special":
        lo[1::5] = float("-inf")
        hi[2::7] = float("inf")
        kind = rng.integers((rows, cols), 0, 40, torch.int32)
        x = (
            x.masked_fill(kind == 0, float("nan"))
            .masked_fill(kind == 1, float("inf"))
            .masked_fill(kind == 2, float("-inf"))
        )
        x[-1, -1] = 0.5
        lo[-1], hi[-1] = -1.0, 1.0
    return {"x": x.to(case.dtype), "lo": lo.to(case.dtype), "hi": hi.to(case.dtype)}


def reference(x: Tensor, lo: Tensor, hi: Tensor) -> Tensor:
    """torch.maximum and torch.minimum return NaN if either argument is NaN."""
    return torch.minimum(torch.maximum(x, lo), hi)


def mutants(x: Tensor, lo: Tensor, hi: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    return {
        "minimum taken first": torch.maximum(torch.minimum(x, hi), lo),
        "NaN replaced by a bound": torch.fmin(torch.fmax(x, lo), hi),
        "upper bound left out": torch.maximum(x, lo),
        "bounds of the first column for all": torch.minimum(torch.maximum(x, lo[:1]), hi[:1]),
        "bounds sorted": torch.minimum(
            torch.maximum(x, torch.minimum(lo, hi)), torch.maximum(lo, hi)
        ),
    }


def cost(case: Case) -> Cost:
    rows, cols = case.axes["rows"], case.axes["cols"]
    return Cost(bytes=(2 * rows * cols + 2 * cols) * case.dtype.itemsize, flops=2 * rows * cols)
