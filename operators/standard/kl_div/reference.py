"""Computes the mean of the Kullback-Leibler divergence over a batch."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """In the distribution `zeros`, nine of ten target probabilities are exactly zero. In
    `low_logs`, a tenth of all log-probabilities is about -90."""
    rows, cols = case.axes["rows"], case.axes["cols"]
    x = torch.log_softmax(rng.normal((rows, cols), torch.float32), dim=-1)
    target = torch.log_softmax(1.3 * rng.normal((rows, cols), torch.float32), dim=-1)
    log_target = case.distribution in ("logs", "low_logs")
    if case.distribution == "low_logs":
        low = rng.uniform((rows, cols), torch.float32) < 0.1
        x = torch.where(low, x - 80.0, x)
        target = torch.where(low, target - 80.0, target)
    if not log_target:
        target = target.exp()
        if case.distribution == "zeros":
            keep = rng.uniform((rows, cols), torch.float32) < 0.1
            keep[:, 0] = True
            target = torch.where(keep, target, 0.0)
            target = target / target.sum(dim=-1, keepdim=True)
    return {"x": _off_grid(x), "target": _off_grid(target), "log_target": log_target}


def _off_grid(x: Tensor) -> Tensor:
    """Returns values whose magnitudes are each slightly larger than a bfloat16 number. So a cast to
    bfloat16 always rounds in the same direction, and the errors do not cancel out in a mean."""
    return x.to(torch.bfloat16).float() * 1.0017


def reference(x: Tensor, target: Tensor, log_target: bool) -> Tensor:
    return _scalar(_terms(x, target, log_target), x.shape[0], x)


def _terms(x: Tensor, target: Tensor, log_target: bool) -> Tensor:
    if log_target:
        return target.exp() * (target - x)
    return torch.xlogy(target, target) - target * x


def _scalar(terms: Tensor, count: int, like: Tensor) -> Tensor:
    return (terms.sum(dim=-1).double().sum() / count).reshape(1).to(like.dtype)


def mutants(x: Tensor, target: Tensor, log_target: bool) -> dict[str, Tensor | tuple[Tensor, ...]]:
    rows = x.shape[0]
    swapped = x.exp() * (x - target) if log_target else x.exp() * (x - target.log())
    naive = target.exp() * (target - x) if log_target else target * (target.log() - x)
    return {
        "mean over elements": _scalar(_terms(x, target, log_target), x.numel(), x),
        "sum instead of mean": _scalar(_terms(x, target, log_target), 1, x),
        "log_target read the wrong way": _scalar(_terms(x, target, not log_target), rows, x),
        "divergence the other way round": _scalar(swapped, rows, x),
        "zero probability gives NaN": _scalar(naive, rows, x),
    }


def cost(case: Case) -> Cost:
    elements = case.axes["rows"] * case.axes["cols"]
    return Cost(bytes=8 * elements + 4, flops=5 * elements)
