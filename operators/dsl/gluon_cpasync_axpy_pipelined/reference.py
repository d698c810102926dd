"""Computes z = a * x + y, element by element."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """In the distribution `grid`, a is -0.875, and the values below 1 are multiples of 1/128 (x)
    and of 1/512 (y). So every product and sum is exact in float16, and a rounding of y to bfloat16
    shows."""
    n = case.axes["n"]
    if case.distribution == "grid":
        x = rng.integers((n,), -127, 128, torch.int32) / 128
        y = rng.integers((n,), -511, 512, torch.int32) / 512
        return {"a": -0.875, "x": x.to(torch.float16), "y": y.to(torch.float16)}
    if case.distribution == "fine":
        # z is exact in float16, and a rounding of x to bfloat16 shows.
        x = rng.integers((n,), -511, 512, torch.int32) / 512
        y = rng.integers((n,), -127, 128, torch.int32) / 128
        return {"a": 0.5, "x": x.to(torch.float16), "y": y.to(torch.float16)}
    a = 1.3
    x = rng.normal((n,), torch.float32)
    y = rng.normal((n,), torch.float32)
    if case.distribution == "cancellation":
        y = 0.25 * y - a * x
    elif case.distribution == "tail":
        start = n - n // 8
        x[:start] *= 0.01
        y[:start] *= 0.01
    return {
        "a": a,
        "x": x.clamp(-1.5, 1.5).to(torch.float16),
        "y": y.clamp(-2.0, 2.0).to(torch.float16),
    }


def reference(a: float, x: Tensor, y: Tensor) -> Tensor:
    wide = torch.float64 if x.dtype == torch.float64 else torch.float32
    return (a * x.to(wide) + y.to(wide)).to(x.dtype)


def mutants(a: float, x: Tensor, y: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    n = x.numel()
    early = reference(a, x, y)
    start = n - n % 1024
    early[: start // 2] = reference(a, x.roll(1024), y)[: start // 2]
    return {
        "a left out": x + y,
        "y scaled instead of x": reference(a, y, x),
        "the sum is scaled": (a * (x.float() + y.float())).half(),
        "a rounded to an integer": reference(float(round(a)), x, y),
        "subtracted": reference(a, x, -y),
        "a slot read one block late": early,
    }


def cost(case: Case) -> Cost:
    n = case.axes["n"]
    return Cost(bytes=6 * n, flops=2 * n)
