"""Permutes [b, s, h, d] to [b, h, s, d]."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    batch, seq, heads, dim = (
        case.axes["batch"],
        case.axes["seq"],
        case.axes["heads"],
        case.axes["dim"],
    )
    x = rng.normal((batch, seq, heads, dim), torch.float32)
    if case.distribution == "magnitudes":
        low, high = (-24, 13) if case.dtype == torch.float16 else (-130, 120)
        x *= torch.exp2(rng.integers(x.shape, low, high, torch.int32).float())
    return {"x": x.to(case.dtype)}


def reference(x: Tensor) -> Tensor:
    return x.permute(0, 2, 1, 3).contiguous()


def mutants(x: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    batch, seq, heads, dim = x.shape
    y = reference(x)
    short = y.clone()
    short[..., dim - dim % 8 :] = 0
    return {
        "reshaped, not permuted": x.reshape(batch, heads, seq, dim),
        "first batch entry for all": y[:1].expand(batch, heads, seq, dim).contiguous(),
        "heads in reverse": y.flip(1),
        "dim rounded down to a multiple of 8": short,
    }


def cost(case: Case) -> Cost:
    elements = case.axes["batch"] * case.axes["seq"] * case.axes["heads"] * case.axes["dim"]
    return Cost(bytes=4 * elements, flops=0)
