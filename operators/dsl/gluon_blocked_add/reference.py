"""Computes z = x + y, element by element."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    n = case.axes["n"]
    x = rng.normal((n,), torch.float32)
    y = rng.normal((n,), torch.float32)
    if case.distribution == "cancellation":
        y = 0.25 * y - x
    elif case.distribution == "tail":
        start = n - n // 8
        x[:start] *= 0.01
        y[:start] *= 0.01
    return {"x": x, "y": y}


def reference(x: Tensor, y: Tensor) -> Tensor:
    return x + y


def mutants(x: Tensor, y: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    return {
        "difference instead of sum": x - y,
        "y one block further": x + y.roll(-128),
        "x twice": x + x,
    }


def cost(case: Case) -> Cost:
    n = case.axes["n"]
    return Cost(bytes=12 * n, flops=n)
