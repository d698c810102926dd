"""Computes x * tanh(softplus(x))."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    n = case.axes["n"]
    x = 1.5 * rng.normal((n,), torch.float32)
    if case.distribution == "tail":
        x[: n - n // 8] *= 0.05
    elif case.distribution == "negative":
        x = -x.abs()
    elif case.distribution == "extreme":
        x = torch.where(
            rng.uniform((n,), torch.float32, 0.0, 1.0) < 0.1,
            -1000.0 * rng.uniform((n,), torch.float32, 0.0, 1.0),
            x,
        )
        x[n // 2], x[n // 3], x[n // 5], x[n // 7] = 60.0, -60.0, 100.0, 30.0
    return {"x": x}


def _softplus(x: Tensor) -> Tensor:
    return x.clamp(min=0.0) + torch.log1p(torch.exp(-x.abs()))


def reference(x: Tensor) -> Tensor:
    return x * torch.tanh(_softplus(x))


def mutants(x: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    u = torch.exp(x) * (torch.exp(x) + 2.0)
    return {
        "exponential that overflows": x * u / (u + 2.0),
        "tanh of exp(x)": x * torch.tanh(torch.exp(x)),
        "sigmoid for tanh(softplus)": x * torch.sigmoid(x),
        "factor x left out": torch.tanh(_softplus(x)),
        "tanh left out": x * _softplus(x),
    }


def cost(case: Case) -> Cost:
    n = case.axes["n"]
    return Cost(bytes=8 * n, flops=10 * n)
