"""Computes the gradients of layer normalisation with respect to input, weight and bias."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor

EPS = 1e-5


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    rows, cols = case.axes["rows"], case.axes["cols"]
    x = rng.normal((rows, cols), torch.float32) + 0.5 * rng.normal((rows, 1), torch.float32)
    dy = rng.normal((rows, cols), torch.float32)
    if case.distribution == "cancellation":
        # dy is nearly constant along a row, so dx is a small difference of larger numbers.
        dy = 0.3 * dy + rng.normal((rows, 1), torch.float32)
    elif case.distribution == "spikes":
        dy += 10.0 * (rng.uniform((rows, cols), torch.float32, 0.0, 1.0) < 0.01)
    elif case.distribution == "tail":
        dy[: rows - rows // 8] *= 0.1
        x[:, : cols - cols // 8] *= 0.3
    mean = x.mean(dim=-1)
    rstd = torch.rsqrt((x - mean[:, None]).square().mean(dim=-1) + EPS)
    w = 1.0 + 0.2 * rng.normal((cols,), torch.float32)
    return {"dy": dy * rows**-0.5, "x": x, "w": w, "mean": mean, "rstd": rstd}


def reference(
    dy: Tensor, x: Tensor, w: Tensor, mean: Tensor, rstd: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    xhat = (x - mean[:, None]) * rstd[:, None]
    g = dy * w
    dx = rstd[:, None] * (
        g - g.mean(dim=-1, keepdim=True) - xhat * (g * xhat).mean(dim=-1, keepdim=True)
    )
    return dx, (dy * xhat).sum(dim=0), dy.sum(dim=0)


def mutants(
    dy: Tensor, x: Tensor, w: Tensor, mean: Tensor, rstd: Tensor
) -> dict[str, Tensor | tuple[Tensor, ...]]:
    dx, dw, db = reference(dy, x, w, mean, rstd)
    xhat = (x - mean[:, None]) * rstd[:, None]
    g = dy * w
    return {
        "mean of g left out": (
            rstd[:, None] * (g - xhat * (g * xhat).mean(dim=-1, keepdim=True)),
            dw,
            db,
        ),
        "projection left out": (rstd[:, None] * (g - g.mean(dim=-1, keepdim=True)), dw, db),
        "weight left out of dx": (reference(dy, x, torch.ones_like(w), mean, rstd)[0], dw, db),
        "rstd left out of dx": (dx / rstd[:, None], dw, db),
        "x not normalised in dw": (dx, (dy * x).sum(dim=0), db),
        "dw and db swapped": (dx, db, dw),
        "last row left out of the sums": (dx, (dy * xhat)[:-1].sum(dim=0), dy[:-1].sum(dim=0)),
    }


def cost(case: Case) -> Cost:
    rows, cols = case.axes["rows"], case.axes["cols"]
    return Cost(bytes=4 * (3 * rows * cols + 3 * cols + 2 * rows), flops=14 * rows * cols)
