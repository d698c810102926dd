"""Computes softplus with beta and threshold."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor

# Maps each distribution to (beta, threshold, standard deviation of x).
SETTINGS = {
    "ties": (2.0, 1.5, 1.0),
    "overflow": (1.25, 200.0, 50.0),
    "soft": (0.3, 0.7, 3.0),
    "tail": (1.0, 20.0, 8.0),
}


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    n = case.axes["n"]
    beta, threshold, spread = SETTINGS.get(case.distribution, (1.5, 20.0, 2.0))
    x = (spread * rng.normal((n,), torch.float32)).clamp(-120.0, 120.0)
    if case.distribution == "tail":
        x[: n - n // 8] *= 0.05
    elif case.distribution == "extreme":
        x = torch.where(rng.uniform((n,), torch.float32, 0.0, 1.0) < 0.3, 60.0 * x, x)
        x = x.clamp(-120.0, 120.0)
    # No element is so near the threshold that rounding could decide on which side it is.
    x = torch.where((beta * x.double() - threshold).abs() < 1e-3, torch.zeros_like(x), x)
    if case.distribution == "ties":
        x[::7] = 0.75
    return {"x": x, "beta": beta, "threshold": threshold}


def _smooth(z: Tensor) -> Tensor:
    return z.clamp(min=0.0) + torch.log1p(torch.exp(-z.abs()))


def reference(x: Tensor, beta: float, threshold: float) -> Tensor:
    z = beta * x
    return torch.where(z > threshold, x, _smooth(z) / beta)


def mutants(x: Tensor, beta: float, threshold: float) -> dict[str, Tensor | tuple[Tensor, ...]]:
    z = beta * x
    return {
        "linear at the threshold itself": torch.where(z >= threshold, x, _smooth(z) / beta),
        "threshold compared with x": torch.where(x > threshold, x, _smooth(z) / beta),
        "threshold left out": _smooth(z) / beta,
        "threshold fixed at 20": torch.where(z > 20.0, x, _smooth(z) / beta),
        "exponential that overflows": torch.where(
            z > threshold, x, torch.log(1.0 + torch.exp(z)) / beta
        ),
        "division by beta left out": torch.where(z > threshold, x, _smooth(z)),
        "beta left out": torch.where(x > threshold, x, _smooth(x)),
    }


def cost(case: Case) -> Cost:
    n = case.axes["n"]
    return Cost(bytes=8 * n, flops=8 * n)
