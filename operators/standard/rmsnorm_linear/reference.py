"""Computes RMS normalisation followed by a linear layer."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """The rows of x have sizes from 1/8 to 8. In the distribution `offset`, each row has a nonzero
    mean. In `tiny`, the mean squares are about as large as eps."""
    m, n, k = case.axes["m"], case.axes["n"], case.axes["k"]
    x = rng.normal((m, k), torch.float32)
    if case.distribution == "offset":
        x += rng.normal((m, 1), torch.float32)
    size = torch.exp2(rng.uniform((m, 1), torch.float32, -3.0, 3.0))
    x *= 0.005 * size if case.distribution == "tiny" else size
    g = rng.uniform((k,), torch.float32, 0.5, 1.5)
    w = 0.6 * k**-0.5 * rng.normal((k, n), torch.float32)
    if case.distribution == "picks":
        # Each element of y is twice a normalised element of x. A rounding to bfloat16 shows.
        x = size * rng.uniform((m, k), torch.float32, -1.0, 1.0)
        w = torch.zeros_like(w)
        w[rng.integers((n,), 0, k), torch.arange(n, device=rng.device)] = 2.0
    elif case.distribution == "fine":
        # Each row of x has one element, which the norm makes 1 or -1. So each element of y is one
        # element of w, and a rounding of w to bfloat16 shows.
        place = rng.integers((m,), 0, k)
        x = torch.zeros_like(x)
        x[torch.arange(m, device=rng.device), place] = 4.0 - 8.0 * rng.integers(
            (m,), 0, 2, torch.float32
        )
        g = torch.full_like(g, k**-0.5)
        w = rng.fine((k, n))
    elif case.distribution == "swell":
        # The normalised rows are g or its negative. Accumulators need more bits than float16 has.
        a, w = rng.swells(m, k, n)
        x = a.sign() * (1.0 - 2.0 * rng.integers((m, 1), 0, 2, torch.float32))
        g = a[0].abs()
    return {
        "x": x.to(case.dtype),
        "g": g.to(case.dtype),
        "w": w.to(case.dtype),
        "eps": 3e-5 if case.distribution == "tiny" else 1e-5,
    }


def reference(x: Tensor, g: Tensor, w: Tensor, eps: float) -> Tensor:
    return _product(_norm(x, eps) * g, w)


def _wide(x: Tensor) -> Tensor:
    return x if x.dtype == torch.float64 else x.float()


def _norm(x: Tensor, eps: float) -> Tensor:
    wide = _wide(x)
    return wide / (wide.square().mean(dim=-1, keepdim=True) + eps).sqrt()


def _product(normed: Tensor, w: Tensor) -> Tensor:
    return (normed @ _wide(w)).to(w.dtype)


def mutants(x: Tensor, g: Tensor, w: Tensor, eps: float) -> dict[str, Tensor | tuple[Tensor, ...]]:
    wide = _wide(x)
    centred = wide - wide.mean(dim=-1, keepdim=True)
    return {
        "norm left out": _product(wide * g, w),
        "weight left out": _product(_norm(x, eps), w),
        "eps left out": _product(_norm(x, 0.0) * g, w),
        "eps added to the root": _product(
            wide / (wide.square().mean(dim=-1, keepdim=True).sqrt() + eps) * g, w
        ),
        "mean subtracted": _product(
            centred / (centred.square().mean(dim=-1, keepdim=True) + eps).sqrt() * g, w
        ),
        "mean over a padded row": _product(
            wide / (wide.square().sum(dim=-1, keepdim=True) / 64 + eps).sqrt() * g, w
        ),
    }


def cost(case: Case) -> Cost:
    m, n, k = case.axes["m"], case.axes["n"], case.axes["k"]
    return Cost(bytes=2 * (m * k + k + k * n + m * n), flops=2 * m * n * k + 4 * m * k)
