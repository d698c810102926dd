"""Fills masked positions with consecutive source elements, and then with a fill value."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    n, source_count = case.axes["n"], case.axes["source_count"]
    x = rng.normal((n,), torch.float32)
    return {
        "x": x,
        "mask": _mask(case, rng),
        "source": rng.normal((source_count,), torch.float32),
        "fill": 2.75 if case.distribution == "runs" else -3.25,
    }


def _mask(case: Case, rng: Rng) -> Tensor:
    """Returns a random mask. In the distribution `runs`, it consists of runs of equal values that
    are longer than any block. The first and the last element are always selected."""
    n = case.axes["n"]
    uniform = rng.uniform((n,), torch.float32, 0.0, 1.0)
    if case.distribution == "runs":
        length = max(1, n // 6)
        position = torch.arange(n, device=rng.device)
        mask = (position // length % 2 == 1) ^ (uniform < 0.01)
    else:
        mask = uniform < {"half": 0.5, "sparse": 0.02, "dense": 0.98}[case.distribution]
    mask[0] = True
    mask[-1] = True
    return mask


def _scatter(x: Tensor, mask: Tensor, source: Tensor, fill: Tensor | float, rank: Tensor) -> Tensor:
    """Computes the result. `rank` is the index of the source element for each masked position."""
    taken = source[rank.clamp(0, source.numel() - 1)]
    filled = torch.where(
        rank < source.numel(), taken, torch.as_tensor(fill, dtype=x.dtype, device=x.device)
    )
    return torch.where(mask, filled, x)


def reference(x: Tensor, mask: Tensor, source: Tensor, fill: float) -> Tensor:
    return _scatter(x, mask, source, fill, mask.long().cumsum(0) - 1)


def mutants(
    x: Tensor, mask: Tensor, source: Tensor, fill: float
) -> dict[str, Tensor | tuple[Tensor, ...]]:
    rank = mask.long().cumsum(0) - 1
    count = source.numel()
    return {
        "ranks counted from one": _scatter(x, mask, source, fill, rank + 1),
        "source indexed by position": _scatter(
            x, mask, source, fill, torch.arange(x.numel(), device=x.device)
        ),
        "ranks restart every 1024 elements": _scatter(
            x, mask, source, fill, rank - rank[::1024].repeat_interleave(1024)[: x.numel()]
        ),
        "exhausted source keeps x": _scatter(x, mask, source, x, rank),
        "exhausted source repeats its last element": _scatter(
            x, mask, source, fill, rank.clamp(max=count - 1)
        ),
        "exhausted source starts again": _scatter(x, mask, source, fill, rank % count),
    }


def cost(case: Case) -> Cost:
    n, source_count = case.axes["n"], case.axes["source_count"]
    return Cost(bytes=9 * n + 4 * source_count, flops=n)
