"""Computes the root mean square of a whole vector."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    n = case.axes["n"]
    # The magnitudes are multiples of 1/4 plus a small term. A cast to bfloat16 loses this term. So
    # all rounding errors have the same sign and do not cancel out over the vector.
    x = 1.0 + 0.25 * rng.integers((n,), 0, 4, torch.int32).float() + 0.0029
    if case.distribution == "spikes":
        # A few entries contribute most of the sum.
        x = torch.where(rng.uniform((n,), torch.float32, 0.0, 1.0) < 0.002, 40.0 * x, x)
    elif case.distribution == "tail":
        x[n - n // 8 :] *= 4.0
    elif case.distribution == "negative":
        return {"x": -x}
    return {"x": torch.where(rng.uniform((n,), torch.float32, 0.0, 1.0) < 0.5, -x, x)}


def reference(x: Tensor) -> Tensor:
    return (x.square().sum() / x.numel()).sqrt().reshape(1)


def mutants(x: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    y = reference(x)
    n = x.numel()
    return {
        "not divided": y * n**0.5,
        "divided by n after the root": y * n**-0.5,
        "root left out": y.square(),
        "divided by n - 1": y * (n / max(1, n - 1)) ** 0.5,
        "last partial block left out": (x[: n // 256 * 256].square().sum() / n).sqrt().reshape(1),
        "mean of magnitudes": x.abs().mean().reshape(1),
        "root of each block's sum": x[:512].square().sum().sqrt().reshape(1) / n**0.5
        + x[512:].square().sum().sqrt() / n**0.5,
        "sum, not squares": x.sum().abs().reshape(1) / n,
    }


def cost(case: Case) -> Cost:
    n = case.axes["n"]
    return Cost(bytes=4 * n + 4, flops=2 * n)
