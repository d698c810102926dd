"""Computes z = x + y, element by element."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """In the distribution `grid`, the values are multiples of 1/512 below 1. So their sums are exact
    in float16, and a rounding to bfloat16 shows."""
    shape = (case.axes["rows"], case.axes["cols"])
    if case.distribution == "grid":
        x = rng.integers(shape, -511, 512, torch.int32) / 512
        y = rng.integers(shape, -511, 512, torch.int32) / 512
        return {"x": x.to(torch.float16), "y": y.to(torch.float16)}
    x = rng.normal(shape, torch.float32)
    y = rng.normal(shape, torch.float32)
    if case.distribution == "cancellation":
        y = 0.25 * y - x
    elif case.distribution == "tail":
        start = shape[0] - shape[0] // 8
        x[:start] *= 0.01
        y[:start] *= 0.01
    return {"x": x.clamp(-1.9, 1.9).to(torch.float16), "y": y.clamp(-2.0, 2.0).to(torch.float16)}


def reference(x: Tensor, y: Tensor) -> Tensor:
    """PyTorch adds float16 values in float32 and rounds once."""
    return x + y


def mutants(x: Tensor, y: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    rows, cols = x.shape
    edge = (x + y).clone()
    edge[rows - rows % 32 :] = 0
    corner = (x + y).clone()
    corner[:, cols - cols % 64 :] = 0
    late = (x + y).clone()
    late[rows // 2 :] = (x.roll(rows // 2, 0) + y)[rows // 2 :]
    return {
        "rows behind the last whole tile left out": edge,
        "columns behind the last whole tile left out": corner,
        "x of an earlier tile": late,
        "x twice": x + x,
    }


def cost(case: Case) -> Cost:
    elements = case.axes["rows"] * case.axes["cols"]
    return Cost(bytes=6 * elements, flops=elements)
