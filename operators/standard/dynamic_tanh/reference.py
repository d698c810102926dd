"""Computes dynamic tanh, which replaces a normalisation."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    rows, cols = case.axes["rows"], case.axes["cols"]
    x = 1.5 * rng.normal((rows, cols), torch.float32)
    alpha = 0.7
    if case.distribution == "huge":
        # For a tenth of the entries, tanh is saturated and exp overflows.
        x = torch.where(
            rng.uniform((rows, cols), torch.float32, 0.0, 1.0) < 0.1, 1000.0 * x.clamp(-1.0, 1.0), x
        )
        alpha = 0.5
    elif case.distribution == "spikes":
        x = torch.where(rng.uniform((rows, cols), torch.float32, 0.0, 1.0) < 0.02, x + 6.0, x)
    elif case.distribution == "tail":
        x[:, : cols - cols // 8] *= 0.1
        alpha = -0.5
    gamma = rng.uniform((cols,), torch.float32, 0.35, 0.65)
    beta = rng.uniform((cols,), torch.float32, -0.3, 0.3)
    return {
        "x": x.to(case.dtype),
        "alpha": alpha,
        "gamma": gamma.to(case.dtype),
        "beta": beta.to(case.dtype),
    }


def reference(x: Tensor, alpha: float, gamma: Tensor, beta: Tensor) -> Tensor:
    wide = torch.float64 if x.dtype == torch.float64 else torch.float32
    return (gamma.to(wide) * torch.tanh(alpha * x.to(wide)) + beta.to(wide)).to(x.dtype)


def mutants(
    x: Tensor, alpha: float, gamma: Tensor, beta: Tensor
) -> dict[str, Tensor | tuple[Tensor, ...]]:
    wide = torch.float64 if x.dtype == torch.float64 else torch.float32
    value = alpha * x.to(wide)
    exponential = torch.exp(2.0 * value)
    return {
        "alpha left out": reference(x, 1.0, gamma, beta),
        "beta left out": reference(x, alpha, gamma, torch.zeros_like(beta)),
        "gamma left out": reference(x, alpha, torch.ones_like(gamma), beta),
        "gamma within the tanh": (torch.tanh(value * gamma.to(wide)) + beta.to(wide)).to(x.dtype),
        "logistic instead of tanh": (gamma.to(wide) * torch.sigmoid(value) + beta.to(wide)).to(
            x.dtype
        ),
        "clamped instead of tanh": (gamma.to(wide) * value.clamp(-1.0, 1.0) + beta.to(wide)).to(
            x.dtype
        ),
        "exp overflows": (
            gamma.to(wide) * ((exponential - 1.0) / (exponential + 1.0)) + beta.to(wide)
        ).to(x.dtype),
    }


def cost(case: Case) -> Cost:
    rows, cols = case.axes["rows"], case.axes["cols"]
    return Cost(bytes=(2 * rows * cols + 2 * cols) * case.dtype.itemsize, flops=8 * rows * cols)
