"""Computes x * sigmoid(x) with a float32 result."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    n = case.axes["n"]
    x = 1.5 * rng.normal((n,), torch.float32)
    if case.distribution == "tail":
        x[: n - n // 8] *= 0.05
    elif case.distribution == "extreme":
        x = torch.where(
            rng.uniform((n,), torch.float32, 0.0, 1.0) < 0.1,
            -1000.0 * rng.uniform((n,), torch.float32, 0.0, 1.0),
            x,
        )
        x[n // 2], x[n // 3], x[n // 5] = 100.0, -100.0, 30.0
    return {"x": x.to(case.dtype)}


def reference(x: Tensor) -> Tensor:
    wide = x if x.dtype == torch.float64 else x.float()
    return wide * torch.sigmoid(wide)


def mutants(x: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    wide = x.float()
    grown = torch.exp(wide)
    return {
        "exponential that overflows": wide * grown / (1.0 + grown),
        "sigmoid without x": torch.sigmoid(wide),
        "sigmoid(-x)": wide * torch.sigmoid(-wide),
        "piecewise linear sigmoid": wide * (wide / 6.0 + 0.5).clamp(0.0, 1.0),
        "factor 1.702": wide * torch.sigmoid(1.702 * wide),
    }


def cost(case: Case) -> Cost:
    n = case.axes["n"]
    return Cost(bytes=n * (case.dtype.itemsize + 4), flops=5 * n)
