"""Computes max(x, 0), element by element."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """The last element is positive, so that an error in the last, partial block is found, however
    short that block is."""
    n = case.axes["n"]
    x = rng.normal((n,), torch.float32)
    if case.distribution == "special":
        kind = rng.integers((n,), 0, 40, torch.int32)
        x = (
            x.masked_fill(kind == 0, float("nan"))
            .masked_fill(kind == 1, float("inf"))
            .masked_fill(kind == 2, float("-inf"))
        )
    elif case.distribution == "sparse":
        x -= 2.5
    elif case.distribution == "tail":
        x[: n - n // 8] *= 1.0e-3
    x[-1] = 1.25
    return {"x": x.to(case.dtype)}


def reference(x: Tensor) -> Tensor:
    """torch.relu returns NaN for NaN."""
    return torch.relu(x)


def mutants(x: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    return {
        "NaN becomes 0": torch.relu(x).nan_to_num(0.0, float("inf"), float("-inf")),
        "absolute value": x.abs(),
        "limited to 6": torch.relu(x).clamp(max=6.0),
        "small slope below zero": torch.where(x > 0, x, 0.01 * x),
    }


def cost(case: Case) -> Cost:
    n = case.axes["n"]
    return Cost(bytes=2 * n * case.dtype.itemsize, flops=n)
