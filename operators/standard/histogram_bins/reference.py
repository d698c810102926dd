"""Counts each integer from 0 up to a bound."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    n, bins = case.axes["n"], case.axes["bins"]
    if case.distribution == "outside":
        # At least a third of the elements is below the range, and at least a third is above it.
        # Some elements are the limits of int32.
        x = rng.integers((n,), -bins, 2 * bins, torch.int32)
        x[::11] = 2**31 - 1
        x[1::13] = -(2**31)
        x[2::7] = -1
        x[3::9] = bins
        return {"x": x, "bins": bins}
    uniform = rng.uniform((n,), torch.float32, 0.0, 1.0)
    if case.distribution == "zipf":
        uniform = uniform**4
    x = (uniform * bins).to(torch.int32).clamp_(max=bins - 1)
    if case.distribution == "hot":
        x = torch.where(
            rng.uniform((n,), torch.float32, 0.0, 1.0) < 0.9, torch.full_like(x, bins // 3), x
        )
    x[n // 2] = bins - 1  # the last bin is never empty
    return {"x": x, "bins": bins}


def _counted(x: Tensor, bins: int) -> Tensor:
    return torch.bincount(x[(x >= 0) & (x < bins)], minlength=bins).to(torch.int32)


def reference(x: Tensor, bins: int) -> Tensor:
    return _counted(x, bins)


def mutants(x: Tensor, bins: int) -> dict[str, Tensor | tuple[Tensor, ...]]:
    counts = _counted(x, bins)
    return {
        "outside counted at the ends": _counted(x.clamp(0, bins - 1), bins),
        "negative counted from the end": _counted(torch.where(x < 0, x + bins, x), bins),
        "outside counted modulo bins": _counted(x % bins, bins),
        "whether, not how often": counts.clamp_max(1),
        "repeats in a block of 32 lost": sum(
            (_counted(x[i::32], bins).clamp_max(1) for i in range(32)), torch.zeros_like(counts)
        ),
        "last partial block skipped": _counted(x[: x.numel() // 1024 * 1024], bins),
    }


def cost(case: Case) -> Cost:
    n, bins = case.axes["n"], case.axes["bins"]
    return Cost(bytes=4 * n + 4 * bins, flops=n)
