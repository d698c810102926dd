"""Computes one matrix product per group of rows. Each group has its own weights."""

from __future__ import annotations

import itertools

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """x and w are each scaled by k^(-1/4). Every fourth group is empty. In the distribution
    `skewed`, one group has about 70 % of the rows."""
    total, groups, k, n = case.axes["total"], case.axes["groups"], case.axes["k"], case.axes["n"]
    weights = rng.uniform((groups,), torch.float64, 0.2, 1.0)
    weights[3::4] = 0.0
    if case.distribution == "skewed":
        weights[groups // 2] = 2.5 * weights.sum()
    offsets = torch.zeros((groups + 1,), dtype=torch.float64, device=rng.device)
    offsets[1:] = (weights.cumsum(0) / weights.sum() * total).round()
    offsets[-1] = total
    x = k**-0.25 * rng.normal((total, k), torch.float32)
    w = k**-0.25 * rng.normal((groups, k, n), torch.float32)
    if case.distribution == "picks":
        # Each element of the product is one element of x or w. A rounding to bfloat16 shows.
        x = rng.picks(total, k, n)[0]
        w = torch.stack([rng.picks(total, k, n)[1] for _ in range(groups)])
    elif case.distribution == "swell":
        # Accumulators need more bits than float16 has.
        x = rng.swells(total, k, n)[0]
        w = torch.stack([rng.swells(total, k, n)[1] for _ in range(groups)])
    return {"x": x.to(case.dtype), "w": w.to(case.dtype), "offsets": offsets.to(torch.int32)}


def reference(x: Tensor, w: Tensor, offsets: Tensor) -> Tensor:
    wide = torch.float64 if x.dtype == torch.float64 else torch.float32
    y = torch.empty((x.shape[0], w.shape[2]), dtype=x.dtype, device=x.device)
    bounds: list[int] = offsets.tolist()
    for group, (first, end) in enumerate(itertools.pairwise(bounds)):
        y[first:end] = (x[first:end].to(wide) @ w[group].to(wide)).to(x.dtype)
    return y


def mutants(x: Tensor, w: Tensor, offsets: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    shifted = offsets.clone()
    shifted[1:-1] = (shifted[1:-1] + 1).clamp(max=x.shape[0])
    even = torch.linspace(0, x.shape[0], offsets.numel(), device=x.device).round().to(torch.int32)
    aligned = (offsets + 15) // 16 * 16
    aligned = aligned.clamp(max=x.shape[0]).to(torch.int32)
    aligned[-1] = x.shape[0]
    return {
        "groups of equal size": reference(x, w, even),
        "boundaries off by one": reference(x, w, shifted),
        "a tile takes the weights of its first row": reference(x, w, aligned),
    }


def cost(case: Case) -> Cost:
    total, groups, k, n = case.axes["total"], case.axes["groups"], case.axes["k"], case.axes["n"]
    return Cost(
        bytes=2 * (total * k + groups * k * n + total * n) + 4 * case.axes["offset_count"],
        flops=2 * total * k * n,
    )
