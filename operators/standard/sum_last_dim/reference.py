"""Computes the sum over the last dimension."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    rows, cols = case.axes["rows"], case.axes["cols"]
    x = rng.normal((rows, cols), torch.float32)
    if case.distribution == "cancellation":
        # Entries of a row's first half are large and positive, and entries of its second half are
        # large and negative. The sum of half a row is about 50 times the result.
        half = cols // 2
        x[:, :half] += 100.0 * half**-0.5
        x[:, cols - half :] -= 100.0 * half**-0.5
    elif case.distribution == "spikes":
        x += 10.0 * (rng.uniform((rows, cols), torch.float32, 0.0, 1.0) < 0.01)
    elif case.distribution == "tail":
        x[:, : cols - cols // 8] *= 0.1
    return {"x": (x * cols**-0.5).to(case.dtype)}


def reference(x: Tensor) -> Tensor:
    return _wide(x).sum(dim=-1)


def _wide(x: Tensor) -> Tensor:
    return x if x.dtype == torch.float64 else x.float()


def mutants(x: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    y = reference(x)
    whole_blocks = x.shape[-1] // 128 * 128
    return {
        "last column left out": y - _wide(x[:, -1]),
        "last partial block left out": _wide(x[:, :whole_blocks]).sum(dim=-1),
        "mean instead of sum": y / x.shape[-1],
        "sum rounded to float16": y.half().to(y.dtype),
        "sum of magnitudes": _wide(x).abs().sum(dim=-1),
    }


def cost(case: Case) -> Cost:
    rows, cols = case.axes["rows"], case.axes["cols"]
    return Cost(bytes=rows * cols * case.dtype.itemsize + 4 * rows, flops=rows * cols)
