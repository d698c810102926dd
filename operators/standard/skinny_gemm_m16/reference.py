"""Computes a linear layer for a few tokens, accumulated and returned in float32."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """x and w are each scaled by k^(-1/4), so that the entries of y have a variance of about 1 for
    every k."""
    m, n, k = case.axes["m"], case.axes["n"], case.axes["k"]
    x = rng.normal((m, k), torch.float32)
    w = rng.normal((n, k), torch.float32)
    if case.distribution == "positive":
        x = 1.75 * rng.uniform((m, k), torch.float32, 0.5, 1.5)
        w = 1.75 * rng.uniform((n, k), torch.float32, 0.5, 1.5)
    elif case.distribution == "cancellation":
        half = k // 2
        x[:, half : 2 * half] = -x[:, :half]
        w[:, half : 2 * half] = w[:, :half] + 0.5 * w[:, half : 2 * half]
    elif case.distribution == "tail":
        x[:, : k - k // 8] *= 0.1
        x[:, k - k // 8 :] *= 2.0
    scale = k**-0.5 if case.distribution == "positive" else k**-0.25
    return {"x": (scale * x).to(case.dtype), "w": (scale * w).to(case.dtype)}


def reference(x: Tensor, w: Tensor) -> Tensor:
    return _product(x, w)


def _product(x: Tensor, w: Tensor) -> Tensor:
    wide = torch.float64 if x.dtype == torch.float64 else torch.float32
    return x.to(wide) @ w.to(wide).T


def mutants(x: Tensor, w: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    whole = x.shape[1] // 64 * 64
    return {
        "result rounded to bfloat16": _product(x, w).to(torch.bfloat16).float(),
        "tail of k left out": _product(x[:, :whole], w[:, :whole]),
        "w read as k x n": _product(x, w.reshape(w.shape[1], w.shape[0]).T),
    }


def cost(case: Case) -> Cost:
    m, n, k = case.axes["m"], case.axes["n"], case.axes["k"]
    return Cost(bytes=(m * k + n * k) * case.dtype.itemsize + 4 * m * n, flops=2 * m * n * k)
