"""Multiplies a lower-triangular matrix by a matrix."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """a and b are each scaled by n^(-1/4). In the distribution `poisoned`, a contains NaN and
    infinity above the diagonal."""
    n, cols = case.axes["n"], case.axes["cols"]
    a = n**-0.25 * rng.normal((n, n), torch.float32)
    b = n**-0.25 * rng.normal((n, cols), torch.float32)
    if case.distribution == "poisoned":
        above = torch.ones((n, n), dtype=torch.bool, device=rng.device).triu(1)
        a = torch.where(above, torch.where(a > 0, float("nan"), float("inf")), a)
    elif case.distribution == "picks":
        # Each element of c is one element of a or of b, or zero. A rounding to bfloat16 shows.
        a, b = rng.picks(n, n, cols)
    elif case.distribution == "swell":
        # The last rows need accumulators with more bits than float16 has. The other rows have one
        # element.
        last = min(16, n // 4)
        a, b = torch.zeros_like(a), torch.zeros_like(b)
        row = torch.arange(n, device=rng.device)
        a[row, row // 2] = 1.0
        a[n - last :, : n - last], b[: n - last] = rng.swells(last, n - last, cols)
    elif case.distribution == "tail":
        b[: n - n // 8] *= 0.2
        b[n - n // 8 :] *= 2.0
    return {"a": a.to(case.dtype), "b": b.to(case.dtype)}


def reference(a: Tensor, b: Tensor) -> Tensor:
    return _product(a, b, 0)


def _product(a: Tensor, b: Tensor, diagonal: int) -> Tensor:
    wide = torch.float64 if a.dtype == torch.float64 else torch.float32
    return (torch.tril(a.to(wide), diagonal) @ b.to(wide)).to(a.dtype)


def mutants(a: Tensor, b: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    wide = a.float()
    masked_late = torch.where(torch.ones_like(a, dtype=torch.bool).tril(), wide, wide * 0.0)
    return {
        "diagonal left out": _product(a, b, -1),
        "one diagonal too many": _product(a, b, 1),
        "mask left out": (wide @ b.float()).to(a.dtype),
        "upper triangle multiplied by zero": (masked_late @ b.float()).to(a.dtype),
        "upper triangle": (torch.triu(wide) @ b.float()).to(a.dtype),
    }


def cost(case: Case) -> Cost:
    n, cols = case.axes["n"], case.axes["cols"]
    above = 2 * (n * (n - 1) // 2)
    return Cost(bytes=2 * (n * n + 2 * n * cols) - above, flops=n * (n + 1) * cols, untouched=above)
