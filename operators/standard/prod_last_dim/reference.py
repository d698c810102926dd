"""Computes the product over the last dimension."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    rows, cols = case.axes["rows"], case.axes["cols"]
    # The logarithm of a row's product has a standard deviation of 0.5 for every number of columns.
    x = torch.exp((0.5 * cols**-0.5 * rng.normal((rows, cols), torch.float32)).clamp(-1.0, 1.0))
    if case.distribution == "signs":
        x = torch.where(rng.uniform((rows, cols), torch.float32, 0.0, 1.0) < 0.3, -x, x)
    elif case.distribution == "zeros":
        # About half of the rows contain a zero. The last row does not.
        zero = rng.uniform((rows, cols), torch.float32, 0.0, 1.0) < 0.7 / cols
        zero[1, cols // 2] = True
        zero[-1] = False
        x = x.masked_fill(zero, 0.0)
    elif case.distribution == "pairs":
        # Doubles a few entries in the first half, and halves as many in the second half.
        half = cols // 2
        doubled = rng.uniform((rows, half), torch.float32, 0.0, 1.0) < 20.0 / half
        x[:, :half] = torch.where(doubled, 2.0 * x[:, :half], x[:, :half])
        x[:, half : 2 * half] = torch.where(
            doubled, 0.5 * x[:, half : 2 * half], x[:, half : 2 * half]
        )
    return {"x": x}


def reference(x: Tensor) -> Tensor:
    return x.prod(dim=-1)


def mutants(x: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    y = reference(x)
    return {
        "padding of zeros": torch.zeros_like(y),
        "sign left out": y.abs(),
        "zeros left out": torch.where(x == 0.0, torch.ones_like(x), x).prod(dim=-1),
        "last column left out": x[:, :-1].prod(dim=-1),
        "last partial block left out": x[:, : x.shape[-1] // 128 * 128].prod(dim=-1),
        "first order only": 1.0 + (x - 1.0).sum(dim=-1),
        "sum of logarithms": x.log().sum(dim=-1).exp(),
    }


def cost(case: Case) -> Cost:
    rows, cols = case.axes["rows"], case.axes["cols"]
    return Cost(bytes=4 * (rows * cols + rows), flops=rows * cols)
