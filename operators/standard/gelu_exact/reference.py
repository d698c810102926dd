"""Computes GELU in its exact form."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    n = case.axes["n"]
    x = (1.3 * rng.normal((n,), torch.float32)).clamp(-8.0, 3.9)
    if case.distribution == "spikes":
        x = torch.where(rng.uniform((n,), torch.float32, 0.0, 1.0) < 0.01, -5.0 + 0.5 * x, x)
    elif case.distribution == "tail":
        x[: n - n // 8] *= 0.05
    elif case.distribution == "extreme":
        x = torch.where(
            rng.uniform((n,), torch.float32, 0.0, 1.0) < 0.1,
            -1.0e4 * rng.uniform((n,), torch.float32, 0.0, 1.0),
            x,
        )
        if case.dtype == torch.float32:
            x[n // 2] = 30.0
    x[-1] = 1.5
    return {"x": x.to(case.dtype)}


def reference(x: Tensor) -> Tensor:
    wide = x if x.dtype == torch.float64 else x.float()
    return (0.5 * wide * (1.0 + torch.erf(wide * 0.5**0.5))).to(x.dtype)


def mutants(x: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    wide = x.float()
    return {
        "tanh approximation": torch.nn.functional.gelu(wide, approximate="tanh").to(x.dtype),
        "sigmoid approximation": (wide * torch.sigmoid(1.702 * wide)).to(x.dtype),
        "argument not divided by sqrt(2)": (0.5 * wide * (1.0 + torch.erf(wide))).to(x.dtype),
        "factor x left out": (0.5 * (1.0 + torch.erf(wide * 0.5**0.5))).to(x.dtype),
    }


def cost(case: Case) -> Cost:
    n = case.axes["n"]
    return Cost(bytes=2 * n * case.dtype.itemsize, flops=24 * n)
