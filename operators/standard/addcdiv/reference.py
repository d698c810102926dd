"""Computes z = x + value * t1 / t2, element by element."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """In the distribution `extreme`, the numerator and the denominator have a common random factor,
    so that only the quotient is O(1)."""
    n = case.axes["n"]
    x = rng.normal((n,), torch.float32)
    t1 = rng.normal((n,), torch.float32).clamp(-4.5, 4.5)
    sign = 2.0 * rng.integers((n,), 0, 2, torch.int32) - 1.0
    t2 = sign * rng.uniform((n,), torch.float32, 0.5, 2.0)
    value = 0.75
    if case.distribution == "extreme":
        factor = torch.pow(10.0, rng.uniform((n,), torch.float32, -29.0, 29.0))
        t1, t2 = t1 * factor, t2 * factor
        t1[n // 3] = 0.0
    elif case.distribution == "negative":
        value, t2 = -1.25, -t2.abs()
    elif case.distribution == "tail":
        x[: n - n // 8] *= 0.01
        t1[: n - n // 8] *= 0.01
    if n == 1:
        # Even with one element, rounding to bfloat16 must cause an error above the tolerance.
        x[0], t1[0], t2[0] = (
            1.254,
            0.5,
            0.5,
        )
    return {"x": x, "t1": t1, "t2": t2, "value": value}


def reference(x: Tensor, t1: Tensor, t2: Tensor, value: float) -> Tensor:
    return x + value * (t1 / t2)


def mutants(
    x: Tensor, t1: Tensor, t2: Tensor, value: float
) -> dict[str, Tensor | tuple[Tensor, ...]]:
    return {
        "value left out": x + t1 / t2,
        "value multiplies x": value * x + t1 / t2,
        "sign of t2 ignored": x + value * (t1 / t2.abs()),
        "sum divided": (x + value * t1) / t2,
        "denominator kept away from zero": x + value * (t1 / (t2 + 1e-6)),
    }


def cost(case: Case) -> Cost:
    n = case.axes["n"]
    return Cost(bytes=16 * n, flops=3 * n)
