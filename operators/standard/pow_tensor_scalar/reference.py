"""Computes |x|^p with a scalar p."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    n = case.axes["n"]
    p = 2.5
    x = rng.normal((n,), torch.float32).clamp(-2.2, 2.2)
    sign = 2.0 * rng.integers((n,), 0, 2, torch.int32) - 1.0
    zero = rng.integers((n,), 0, 50, torch.int32) == 0
    zero[-1] = False
    if case.distribution == "root":
        p, x = 1.0 / 3.0, (20.0 * x).masked_fill(zero, 0.0)
    elif case.distribution == "cube":
        p, x = 3.0, x.clamp(-1.9, 1.9)
    elif case.distribution == "inverse":
        p, x = -0.5, (sign * rng.uniform((n,), torch.float32, 0.05, 4.0)).masked_fill(zero, 0.0)
    elif case.distribution == "wide":
        p, x = 0.09, sign * torch.pow(10.0, rng.uniform((n,), torch.float32, -20.0, 10.0))
        x = x.clamp(-1.0e10, 1.0e10)
    elif case.distribution == "zeros":
        x = x * torch.pow(10.0, rng.uniform((n,), torch.float32, -12.0, 0.0))
        x = x.masked_fill(zero, 0.0)
        x[::3] = sign[::3] * 2.2
    if n == 1:
        x[0] = 1.254  # If there is only one element, its rounding to bfloat16 must be visible.
    return {"x": x, "p": p}


def reference(x: Tensor, p: float) -> Tensor:
    return torch.pow(x.abs(), p)


def mutants(x: Tensor, p: float) -> dict[str, Tensor | tuple[Tensor, ...]]:
    return {
        "absolute value left out": torch.pow(x, p),
        "sign of x kept": torch.sign(x) * torch.pow(x.abs(), p),
        "exponent rounded to an integer": torch.pow(x.abs(), round(p)),
        "exponent taken as its absolute value": torch.pow(x.abs(), abs(p)),
        "x kept away from zero": torch.pow(x.abs() + 1e-3, p),
        "0^p is NaN": torch.pow(x.abs(), p).masked_fill(x == 0, float("nan")),
    }


def cost(case: Case) -> Cost:
    n = case.axes["n"]
    return Cost(bytes=8 * n, flops=4 * n)
