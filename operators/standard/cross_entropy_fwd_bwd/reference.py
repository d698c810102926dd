"""Computes cross entropy and its gradient."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """A fifth of the rows is ignored. In the distribution `pad_class`, class 0 is the ignored
    class."""
    rows, classes = case.axes["rows"], case.axes["classes"]
    logits = 1.5 * rng.normal((rows, classes), torch.float32)
    if case.distribution in ("offset", "shifted"):
        offset = rng.uniform((rows, 1), torch.float32, -100.0, 100.0)
        offset[-1] = 100.0  # exp of this value overflows in float32
        logits += offset
    targets = rng.integers((rows,), 0, classes, torch.int64)
    ignore = {"pad_class": 0, "offset": -1}.get(case.distribution, -100)
    targets = torch.where(rng.uniform((rows,), torch.float32) < 0.2, ignore, targets)
    targets[rows // 3] = ignore
    targets[-1] = classes - 1
    return {"logits": _off_grid(logits), "targets": targets, "ignore_index": ignore}


def _off_grid(x: Tensor) -> Tensor:
    """Returns values whose magnitudes are each slightly larger than a bfloat16 number. So a cast to
    bfloat16 always rounds in the same direction, and the errors do not cancel out in a mean."""
    return x.to(torch.bfloat16).float() * 1.0017


def reference(logits: Tensor, targets: Tensor, ignore_index: int) -> tuple[Tensor, Tensor]:
    counts = targets != ignore_index
    total, grad = _rows(logits, targets, counts)
    return _scalar(total / counts.sum(), logits), torch.where(counts[:, None], grad, 0.0)


def _scalar(loss: Tensor, like: Tensor) -> Tensor:
    return loss.reshape(1).to(like.dtype)


def _rows(logits: Tensor, targets: Tensor, counts: Tensor) -> tuple[Tensor, Tensor]:
    """Returns the sum of the losses in float64, over the rows that are not ignored, and the
    gradient of every row."""
    lse = torch.logsumexp(logits, dim=-1)
    safe = torch.where(counts, targets, 0)[:, None]
    picked = logits.gather(1, safe)
    grad = torch.softmax(logits, dim=-1)
    grad.scatter_(1, safe, grad.gather(1, safe) - 1.0)
    return torch.where(counts, lse - picked[:, 0], 0.0).double().sum(), grad


def mutants(
    logits: Tensor, targets: Tensor, ignore_index: int
) -> dict[str, Tensor | tuple[Tensor, ...]]:
    counts = targets != ignore_index
    total, grad = _rows(logits, targets, counts)
    loss, right = reference(logits, targets, ignore_index)
    return {
        "gradient of the mean": (loss, right / counts.sum()),
        "ignored rows have a gradient": (loss, grad),
        "loss divided by all rows": (_scalar(total / counts.numel(), logits), right),
        "one-hot left out": (loss, torch.softmax(logits, dim=-1) * counts[:, None]),
        "sign of the gradient": (loss, -right),
    }


def cost(case: Case) -> Cost:
    rows, classes = case.axes["rows"], case.axes["classes"]
    return Cost(bytes=8 * rows * classes + 8 * rows + 4, flops=7 * rows * classes)
