"""Computes x * relu6(x + 3) / 6."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    n = case.axes["n"]
    x = 2.0 * rng.normal((n,), torch.float32)
    if case.distribution == "edges":
        # The values are at and near -3 and 3, where the parabola meets the two straight lines.
        sign = 2.0 * rng.integers((n,), 0, 2, torch.int32) - 1.0
        x = sign * 3.0 + 0.2 * x
        x[::13], x[1::17] = 3.0, -3.0
    elif case.distribution == "extreme":
        x = torch.where(
            rng.uniform((n,), torch.float32, 0.0, 1.0) < 0.1,
            -6.0e4 * rng.uniform((n,), torch.float32, 0.0, 1.0),
            x,
        )
    elif case.distribution == "tail":
        x[: n - n // 8] *= 0.05
    x = x.clamp(max=3.9 if case.dtype == torch.float16 else 9.5)
    x[-1] = 2.5
    return {"x": x.to(case.dtype)}


def reference(x: Tensor) -> Tensor:
    wide = x if x.dtype == torch.float64 else x.float()
    return (wide * (wide + 3.0).clamp(0.0, 6.0) / 6.0).to(x.dtype)


def mutants(x: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    wide = x.float()
    return {
        "upper limit left out": (wide * (wide + 3.0).clamp(min=0.0) / 6.0).to(x.dtype),
        "offset left out": (wide * wide.clamp(0.0, 6.0) / 6.0).to(x.dtype),
        "hard sigmoid": ((wide + 3.0).clamp(0.0, 6.0) / 6.0).to(x.dtype),
        "slope of another hard sigmoid": (wide * (0.2 * wide + 0.5).clamp(0.0, 1.0)).to(x.dtype),
        "smooth swish": (wide * torch.sigmoid(wide)).to(x.dtype),
    }


def cost(case: Case) -> Cost:
    n = case.axes["n"]
    return Cost(bytes=2 * n * case.dtype.itemsize, flops=5 * n)
