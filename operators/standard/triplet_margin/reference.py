"""Computes the triplet margin loss."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """About a third of the rows have a loss of 0. In the distribution `large_eps`, eps changes the
    distances. In `equal`, the positive equals the anchor, and so do some negatives."""
    rows, dim = case.axes["rows"], case.axes["dim"]
    anchor = 0.3 * dim**-0.5 * rng.normal((rows, dim), torch.float32)
    positive = anchor + dim**-0.5 * rng.uniform((rows, 1), torch.float32, 0.4, 1.6) * rng.normal(
        (rows, dim), torch.float32
    )
    negative = anchor + dim**-0.5 * rng.uniform((rows, 1), torch.float32, 1.5, 2.5) * rng.normal(
        (rows, dim), torch.float32
    )
    if case.distribution == "equal":
        positive = anchor.clone()
        negative[::2] = anchor[::2]
        negative[1::2] *= 0.3
    # In `large_eps` the differences have a nonzero mean. With a mean of zero, adding eps would have
    # little effect on a sum of squares.
    shift = 0.1 if case.distribution == "large_eps" else 0.0
    eps = 0.05 if case.distribution == "large_eps" else 1e-6
    return {
        "anchor": _off_grid(anchor + shift),
        "positive": _off_grid(positive),
        "negative": _off_grid(negative),
        "margin": 0.85 if case.distribution == "large_eps" else 0.75,
        "eps": eps,
    }


def _off_grid(x: Tensor) -> Tensor:
    """Returns values whose magnitudes are each slightly larger than a bfloat16 number. So a cast to
    bfloat16 always rounds in the same direction, and the errors do not cancel out in a mean."""
    return x.to(torch.bfloat16).float() * 1.0017


def reference(
    anchor: Tensor, positive: Tensor, negative: Tensor, margin: float, eps: float
) -> Tensor:
    return _mean(
        (_distance(anchor, positive, eps) - _distance(anchor, negative, eps) + margin).clamp_min(
            0.0
        ),
        anchor,
    )


def _distance(a: Tensor, b: Tensor, eps: float) -> Tensor:
    return (a - b + eps).square().sum(dim=-1).sqrt()


def _mean(row: Tensor, like: Tensor) -> Tensor:
    return row.double().mean().reshape(1).to(like.dtype)


def mutants(
    anchor: Tensor, positive: Tensor, negative: Tensor, margin: float, eps: float
) -> dict[str, Tensor | tuple[Tensor, ...]]:
    near, far = _distance(anchor, positive, eps), _distance(anchor, negative, eps)
    row = (near - far + margin).clamp_min(0.0)
    return {
        "eps left out": reference(anchor, positive, negative, margin, 0.0),
        "eps with the other sign": reference(anchor, positive, negative, margin, -eps),
        "squared distances": _mean((near.square() - far.square() + margin).clamp_min(0.0), anchor),
        "not clamped": _mean(near - far + margin, anchor),
        "clamped after the mean": _mean(near - far + margin, anchor).clamp_min(0.0),
        "margin left out": _mean((near - far).clamp_min(0.0), anchor),
        "mean over rows with a loss": _mean(row * row.numel() / (row > 0).sum(), anchor),
        "sum instead of mean": _mean(row * row.numel(), anchor),
    }


def cost(case: Case) -> Cost:
    elements = case.axes["rows"] * case.axes["dim"]
    return Cost(bytes=12 * elements + 4, flops=8 * elements)
