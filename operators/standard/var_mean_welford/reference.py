"""Computes the unbiased variance and the mean of rows."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    rows, cols = case.axes["rows"], case.axes["cols"]
    x = rng.normal((rows, cols), torch.float32) * rng.uniform((rows, 1), torch.float32, 0.7, 1.4)
    centre = 2.0 * rng.normal((rows, 1), torch.float32)
    if case.distribution == "cancellation":
        centre = torch.where(centre < 0.0, -70.0, 70.0) + 10.0 * centre
    elif case.distribution == "outlier_first":
        x[:, 0] = 60.0
    elif case.distribution == "tail":
        x[:, : cols - cols // 8] *= 0.1
        x[:, cols - cols // 8 :] += 1.0
    # The values are multiples of 1/4 plus a small term. A cast to bfloat16 loses this term, except
    # for small values. So all rounding errors have the same sign and do not cancel out over a row.
    return {"x": 0.25 * torch.round(4.0 * (x + centre)) + 0.0029}


def reference(x: Tensor) -> tuple[Tensor, Tensor]:
    mean = x.mean(dim=-1)
    return (x - mean[:, None]).square().sum(dim=-1) / (x.shape[-1] - 1), mean


def mutants(x: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    var, mean = reference(x)
    cols = x.shape[-1]
    one_pass = (x.square().mean(dim=-1) - mean.square()) * cols / (cols - 1)
    padded = var + mean.square() * ((1 << cols.bit_length()) - cols) / (cols - 1)
    shift = x[:, :1]
    return {
        "biased variance": (var * (cols - 1) / cols, mean),
        "E[x^2] - E[x]^2": (one_pass, mean),
        "deviation instead of variance": (var.sqrt(), mean),
        "mean and var exchanged": (mean, var),
        "padding counts in the deviations": (padded, mean),
        "mean not added back after a shift": (var, (x - shift).mean(dim=-1)),
        "last entry left out": (
            reference(x[:, :-1])[0] if cols > 2 else var,
            reference(x[:, :-1])[1],
        ),
    }


def cost(case: Case) -> Cost:
    rows, cols = case.axes["rows"], case.axes["cols"]
    return Cost(bytes=4 * rows * cols + 8 * rows, flops=5 * rows * cols)
