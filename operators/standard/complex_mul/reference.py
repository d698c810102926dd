"""Computes the complex product of interleaved pairs."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    n = case.axes["n"]
    x = rng.normal((n, 2), torch.float32).clamp(-2.9, 2.9)
    y = rng.normal((n, 2), torch.float32).clamp(-2.9, 2.9)
    if case.distribution == "cancellation":
        # y is nearly the conjugate of i * x, so the real part of the product is nearly 0.
        y = 0.9 * x.flip(1) + 0.02 * y
    elif case.distribution == "phases":
        # y has an absolute value of 1, so the product is a rotation.
        angle = rng.uniform((n,), torch.float32, -3.1415927, 3.1415927)
        y = torch.stack([angle.cos(), angle.sin()], dim=1)
    elif case.distribution == "tail":
        x[: n - n // 8] *= 0.02
    if n == 1:
        # Even with one element, rounding to bfloat16 must cause an error above the tolerance.
        x[0, 0], x[0, 1], y[0, 0], y[0, 1] = (
            1.254,
            0.5,
            0.5,
            1.0,
        )
    return {"x": x, "y": y}


def reference(x: Tensor, y: Tensor) -> Tensor:
    a, b, c, d = x[:, 0], x[:, 1], y[:, 0], y[:, 1]
    return torch.stack([a * c - b * d, a * d + b * c], dim=1)


def mutants(x: Tensor, y: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    conjugate = torch.stack([y[:, 0], -y[:, 1]], dim=1)
    a, b, c, d = x[:, 0], x[:, 1], y[:, 0], y[:, 1]
    real, imaginary = a * c - b * d, a * d + b * c
    return {
        "y conjugated": reference(x, conjugate),
        "products added in the real part": torch.stack([a * c + b * d, imaginary], dim=1),
        "products taken pair by pair": x * y,
        "parts swapped": torch.stack([imaginary, real], dim=1),
        "written plane by plane": torch.cat([real, imaginary]).reshape(x.shape),
    }


def cost(case: Case) -> Cost:
    n = case.axes["n"]
    return Cost(bytes=24 * n, flops=6 * n)
