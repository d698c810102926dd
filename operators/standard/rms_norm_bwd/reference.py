"""Computes the gradients of RMS normalisation with respect to input and weight."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor

EPS = 1e-5


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    rows, cols = case.axes["rows"], case.axes["cols"]
    x = rng.normal((rows, cols), torch.float32) * torch.exp2(
        rng.uniform((rows, 1), torch.float32, -1.0, 1.0)
    )
    dy = rng.normal((rows, cols), torch.float32)
    if case.distribution == "aligned":
        # dy is nearly parallel to x, so dx is a small difference of larger numbers.
        dy = 0.3 * dy + torch.where(rng.uniform((rows, 1), torch.float32, 0.0, 1.0) < 0.5, x, -x)
    elif case.distribution == "spikes":
        dy += 10.0 * (rng.uniform((rows, cols), torch.float32, 0.0, 1.0) < 0.01)
    elif case.distribution == "tail":
        dy[: rows - rows // 8] *= 0.1
        x[:, : cols - cols // 8] *= 0.3
    rstd = torch.rsqrt(x.square().mean(dim=-1) + EPS)
    w = 1.0 + 0.2 * rng.normal((cols,), torch.float32)
    return {"dy": dy * rows**-0.5, "x": x, "w": w, "rstd": rstd}


def reference(dy: Tensor, x: Tensor, w: Tensor, rstd: Tensor) -> tuple[Tensor, Tensor]:
    xhat = x * rstd[:, None]
    g = dy * w
    dx = rstd[:, None] * (g - xhat * (g * xhat).mean(dim=-1, keepdim=True))
    return dx, (dy * xhat).sum(dim=0)


def mutants(
    dy: Tensor, x: Tensor, w: Tensor, rstd: Tensor
) -> dict[str, Tensor | tuple[Tensor, ...]]:
    dx, dw = reference(dy, x, w, rstd)
    g = dy * w
    xhat = x * rstd[:, None]
    return {
        "rstd taken as a constant": (rstd[:, None] * g, dw),
        "mean of g subtracted, as in layer norm": (
            dx - rstd[:, None] * g.mean(dim=-1, keepdim=True),
            dw,
        ),
        "weight left out of the projection": (
            rstd[:, None] * (g - xhat * (dy * xhat).mean(dim=-1, keepdim=True)),
            dw,
        ),
        "dw of x, not of xhat": (dx, (dy * x).sum(dim=0)),
        "dw of g, not of dy": (dx, (g * xhat).sum(dim=0)),
    }


def cost(case: Case) -> Cost:
    rows, cols = case.axes["rows"], case.axes["cols"]
    return Cost(bytes=4 * (3 * rows * cols + 2 * cols + rows), flops=10 * rows * cols)
