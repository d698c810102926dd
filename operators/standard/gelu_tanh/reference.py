"""Computes the tanh approximation of GELU with a float32 result."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    n = case.axes["n"]
    x = 1.5 * rng.normal((n,), torch.float32)
    if case.distribution == "spikes":
        x = torch.where(rng.uniform((n,), torch.float32, 0.0, 1.0) < 0.01, -7.0 + 0.1 * x, x)
    elif case.distribution == "tail":
        x[: n - n // 8] *= 0.05
    elif case.distribution == "extreme":
        # The result is 0 for large negative x. Very large positive x do not occur: near their
        # results, neighbouring float32 numbers differ by about the tolerance.
        x = torch.where(
            rng.uniform((n,), torch.float32, 0.0, 1.0) < 0.1,
            -1000.0 * rng.uniform((n,), torch.float32, 0.0, 1.0),
            x,
        )
        x[n // 2] = 30.0
    return {"x": x.to(case.dtype)}


def reference(x: Tensor) -> Tensor:
    compute = x if x.dtype == torch.float64 else x.float()
    return torch.nn.functional.gelu(compute, approximate="tanh")


def mutants(x: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    wide = x.float()
    return {
        "cubic term left out": 0.5 * wide * (1.0 + torch.tanh((2.0 / torch.pi) ** 0.5 * wide)),
        "sigmoid of 1.702 x": wide * torch.sigmoid(1.702 * wide),
        "silu": torch.nn.functional.silu(wide),
        "relu": wide.relu(),
        "half left out": 2.0 * reference(x),
    }


def cost(case: Case) -> Cost:
    n = case.axes["n"]
    return Cost(bytes=n * (case.dtype.itemsize + 4), flops=10 * n)
