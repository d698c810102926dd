"""Computes the binary cross entropy of logits with positive weights."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """In the distribution `extreme`, exp overflows for a tenth of the logits, which are large with
    either sign. In `hard`, labels are 0 or 1."""
    rows, cols = case.axes["rows"], case.axes["cols"]
    x = 2.0 * rng.normal((rows, cols), torch.float32)
    y = rng.uniform((rows, cols), torch.float32)
    if case.distribution == "extreme":
        beyond = rng.uniform((rows, cols), torch.float32) < 0.1
        x = torch.where(beyond, torch.where(x > 0, 95.0, -95.0) + 4.0 * x, x).clamp(-119.0, 119.0)
    y = _off_grid(0.99 * y) if case.distribution == "soft" else (y < 0.3).float()
    return {
        "x": _off_grid(x),
        "y": y,
        "pos_weight": _off_grid(rng.uniform((cols,), torch.float32, 0.5, 4.0)),
    }


def _off_grid(x: Tensor) -> Tensor:
    """Returns values whose magnitudes are each slightly larger than a bfloat16 number. So a cast to
    bfloat16 always rounds in the same direction, and the errors do not cancel out in a mean."""
    return x.to(torch.bfloat16).float() * 1.0017


def reference(x: Tensor, y: Tensor, pos_weight: Tensor) -> Tensor:
    return _mean(_terms(x, y, pos_weight), x)


def _terms(x: Tensor, y: Tensor, pos_weight: Tensor) -> Tensor:
    softplus = torch.log1p(torch.exp(-x.abs())) + (-x).clamp_min(0.0)
    return (1.0 - y) * x + (1.0 + (pos_weight - 1.0) * y) * softplus


def _mean(terms: Tensor, like: Tensor) -> Tensor:
    return (terms.sum(dim=-1, dtype=torch.float64).sum() / terms.numel()).reshape(1).to(like.dtype)


def mutants(x: Tensor, y: Tensor, pos_weight: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    p = torch.sigmoid(x)
    terms = _terms(x, y, pos_weight)
    floor = 1e-12  # a value that careless kernels add before the logarithm
    clipped = -(pos_weight * y * torch.log(p + floor) + (1.0 - y) * torch.log(1.0 - p + floor))
    return {
        "pos_weight left out": _mean(_terms(x, y, torch.ones_like(pos_weight)), x),
        "pos_weight on both parts": _mean(
            _terms(x, y, torch.ones_like(pos_weight)) * pos_weight, x
        ),
        "pos_weight of the next column": _mean(_terms(x, y, pos_weight.roll(1)), x),
        "logarithm of a sigmoid": _mean(
            -(pos_weight * y * torch.log(p) + (1.0 - y) * torch.log(1.0 - p)), x
        ),
        "logarithm with a floor": _mean(clipped, x),
        "sum over columns, mean over rows": _mean(terms * x.shape[1], x),
        "labels exchanged": _mean(_terms(x, 1.0 - y, pos_weight), x),
    }


def cost(case: Case) -> Cost:
    rows, cols = case.axes["rows"], case.axes["cols"]
    return Cost(bytes=8 * rows * cols + 4 * cols + 4, flops=12 * rows * cols)
