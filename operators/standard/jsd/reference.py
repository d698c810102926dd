"""Computes the mean of the generalised Jensen-Shannon divergence over a batch."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """In the distribution `extreme`, a fifth of the log-probabilities is so low that exp gives
    zero. In `skewed`, beta is far from a half."""
    rows, cols = case.axes["rows"], case.axes["cols"]
    x = torch.log_softmax(1.2 * rng.normal((rows, cols), torch.float32), dim=-1)
    target = torch.log_softmax(2.0 * rng.normal((rows, cols), torch.float32), dim=-1)
    if case.distribution in ("extreme", "far_logs"):
        low = rng.uniform((rows, cols), torch.float32) < 0.2
        x = torch.where(low, x * 1000.0, x).clamp(-9900.0)
        # Most of the low entries are low in both inputs, and some are low in only one input.
        low &= rng.uniform((rows, cols), torch.float32) < 0.8
        target = torch.where(low, target * 700.0, target).clamp(-9900.0)
    beta = {"skewed": 0.1, "extreme": 0.3}.get(case.distribution, 0.4)
    return {"x": _off_grid(x), "target": _off_grid(target), "beta": beta}


def _off_grid(x: Tensor) -> Tensor:
    """Returns values whose magnitudes are each slightly larger than a bfloat16 number. So a cast to
    bfloat16 always rounds in the same direction, and the errors do not cancel out in a mean."""
    return x.to(torch.bfloat16).float() * 1.0017


def reference(x: Tensor, target: Tensor, beta: float) -> Tensor:
    p_part, q_part = _parts(x, target, beta, _log_mixture(x, target, beta))
    return _scalar(beta * p_part + (1.0 - beta) * q_part, x.shape[0], x)


def _log_mixture(x: Tensor, target: Tensor, beta: float) -> Tensor:
    top = torch.maximum(x, target)
    return top + torch.log(beta * torch.exp(target - top) + (1.0 - beta) * torch.exp(x - top))


def _parts(x: Tensor, target: Tensor, beta: float, log_m: Tensor) -> tuple[Tensor, Tensor]:
    return target.exp() * (target - log_m), x.exp() * (x - log_m)


def _scalar(terms: Tensor, count: int, like: Tensor) -> Tensor:
    return (terms.sum(dim=-1).double().sum() / count).reshape(1).to(like.dtype)


def mutants(x: Tensor, target: Tensor, beta: float) -> dict[str, Tensor | tuple[Tensor, ...]]:
    rows = x.shape[0]
    p_part, q_part = _parts(x, target, beta, _log_mixture(x, target, beta))
    naive = _parts(x, target, beta, torch.log(beta * target.exp() + (1.0 - beta) * x.exp()))
    return {
        "beta on the wrong side": reference(target, x, beta),
        "beta taken to be a half": reference(x, target, 0.5),
        "weights left out of the sum": _scalar(0.5 * p_part + 0.5 * q_part, rows, x),
        "mean over elements": _scalar(beta * p_part + (1.0 - beta) * q_part, x.numel(), x),
        "logarithm of zero": _scalar(beta * naive[0] + (1.0 - beta) * naive[1], rows, x),
    }


def cost(case: Case) -> Cost:
    elements = case.axes["rows"] * case.axes["cols"]
    return Cost(bytes=8 * elements + 4, flops=14 * elements)
