"""Computes z = a * x + b * y, element by element."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """In float16 the values are uniform in a range that keeps |z| below 4. For such z the rounding
    error of float16 is far below the tolerance."""
    n = case.axes["n"]
    a, b = 0.7, -1.3  # neither value is exact in float16
    if case.dtype == torch.float16:
        x = rng.uniform((n,), torch.float32, -1.9, 1.9)
        y = rng.uniform((n,), torch.float32, -1.9, 1.9)
    else:
        x = rng.normal((n,), torch.float32).clamp(-4.0, 4.0)
        y = rng.normal((n,), torch.float32).clamp(-4.0, 4.0)
    if case.distribution == "cancellation":
        a, b = 1.5, -1.5
        y = x + 0.1 * y
    elif case.distribution == "cancelling":
        y = 0.7 / 1.3 * x + 0.1 * y
    elif case.distribution == "zero_b":
        a, b = -2.0, 0.0
    elif case.distribution == "uneven":
        a, b = 1.0e4, 1.0e-4
        x, y = 1.0e-4 * x, 1.0e4 * y
    elif case.distribution == "tail":
        start = n - n // 8
        x[:start] *= 0.01
        y[:start] *= 0.01
    if n == 1:
        # Even with one element, rounding to bfloat16 must cause an error above the tolerance.
        x[0], y[0] = 1.254, 0.5
    return {"x": x.to(case.dtype), "y": y.to(case.dtype), "a": a, "b": b}


def reference(x: Tensor, y: Tensor, a: float, b: float) -> Tensor:
    wide = torch.float64 if x.dtype == torch.float64 else torch.float32
    return (a * x.to(wide) + b * y.to(wide)).to(x.dtype)


def mutants(x: Tensor, y: Tensor, a: float, b: float) -> dict[str, Tensor | tuple[Tensor, ...]]:
    return {
        "factor of y left out": reference(x, y, a, 1.0),
        "factors swapped": reference(x, y, b, a),
        "factors rounded to integers": reference(x, y, round(a), round(b)),
        "a multiplies the sum": reference(x, y, a, a * b),
        "scalars rounded to float16": reference(
            x, y, float(torch.tensor(a).half()), float(torch.tensor(b).half())
        ),
    }


def cost(case: Case) -> Cost:
    n = case.axes["n"]
    return Cost(bytes=3 * n * case.dtype.itemsize, flops=3 * n)
