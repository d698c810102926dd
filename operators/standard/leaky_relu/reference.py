"""Computes x > 0 ? x : slope * x, element by element."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor

SLOPES = {"quarter": 0.25, "steep": 1.5, "negative": -0.3}


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    n = case.axes["n"]
    slope = SLOPES.get(case.distribution, 0.01)
    x = (1.2 * rng.normal((n,), torch.float32)).clamp(-2.6, 3.9)
    if case.distribution == "tail":
        x[: n - n // 8] *= 0.01
    elif case.distribution == "low":
        low = rng.uniform((n,), torch.float32, -700.0, 0.0)
        x = torch.where(rng.uniform((n,), torch.float32, 0.0, 1.0) < 0.5, low, x)
    return {"x": x.to(case.dtype), "slope": slope}


def reference(x: Tensor, slope: float) -> Tensor:
    wide = x if x.dtype == torch.float64 else x.float()
    return torch.where(wide > 0, wide, slope * wide).to(x.dtype)


def mutants(x: Tensor, slope: float) -> dict[str, Tensor | tuple[Tensor, ...]]:
    return {
        "max(x, slope * x)": torch.maximum(x, (slope * x).to(x.dtype)),
        "slope fixed at 0.01": reference(x, 0.01),
        "sign of the slope lost": reference(x, abs(slope)),
        "slope on the positive side": torch.where(x > 0, slope * x, x).to(x.dtype),
        "slope limited to 1": reference(x, min(slope, 1.0)),
    }


def cost(case: Case) -> Cost:
    n = case.axes["n"]
    return Cost(bytes=2 * n * case.dtype.itemsize, flops=2 * n)
