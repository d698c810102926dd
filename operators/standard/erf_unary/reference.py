"""Computes erf, element by element."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    n = case.axes["n"]
    x = 1.2 * rng.normal((n,), torch.float32)
    if case.distribution == "extreme":
        kind = rng.integers((n,), 0, 30, torch.int32)
        x = torch.where(kind == 0, 1.0e4 * x, x)
        x = x.masked_fill(kind == 1, float("inf")).masked_fill(kind == 2, float("-inf"))
    elif case.distribution == "near_zero":
        x *= 0.2
    elif case.distribution == "tail":
        x[: n - n // 8] *= 0.05
    return {"x": x}


def reference(x: Tensor) -> Tensor:
    return torch.erf(x)


def mutants(x: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    # Formula 7.1.25 of Abramowitz and Stegun has three terms and an error of 2.5e-5.
    t = 1.0 / (1.0 + 0.47047 * x.abs())
    rational = 1.0 - t * (0.3480242 + t * (-0.0958798 + t * 0.7478556)) * torch.exp(-x * x)
    return {
        "tanh approximation": torch.tanh(1.1283792 * (x + 0.0894 * x**3)),
        "short rational approximation": torch.where(x < 0, -rational, rational),
        "sign lost": torch.erf(x.abs()),
        "argument of the normal distribution": torch.erf(x * 0.7071068),
        "series without a limit": 1.1283792 * (x - x**3 / 3 + x**5 / 10 - x**7 / 42),
    }


def cost(case: Case) -> Cost:
    n = case.axes["n"]
    return Cost(bytes=8 * n, flops=20 * n)
