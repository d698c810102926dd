"""Computes cross entropy with label smoothing and an ignored index."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """A fifth of the rows is ignored. In the distribution `plain`, no row is ignored and there is
    no smoothing. In `pad_class`, class 0 is the ignored class."""
    rows, classes = case.axes["rows"], case.axes["classes"]
    logits = 1.5 * rng.normal((rows, classes), torch.float32)
    if case.distribution == "offset":
        offset = rng.uniform((rows, 1), torch.float32, -100.0, 100.0)
        offset[-1] = 100.0  # exp of this value overflows in float32
        logits += offset
    targets = rng.integers((rows,), 0, classes, torch.int64)
    ignore = 0 if case.distribution == "pad_class" else -100
    if case.distribution != "plain":
        targets = torch.where(rng.uniform((rows,), torch.float32) < 0.2, ignore, targets)
        targets[rows // 2] = ignore
    targets[-1] = classes - 1
    # Lowers the logits of the targets, so that the loss depends visibly on the classes over which
    # the smoothing is spread.
    chosen = targets.clamp_min(0)[:, None]
    logits.scatter_(1, chosen, logits.gather(1, chosen) - 2.0)
    smoothing = {"plain": 0.0, "pad_class": 0.2}.get(case.distribution, 0.1)
    return {
        "logits": _off_grid(logits).to(case.dtype),
        "targets": targets,
        "label_smoothing": smoothing,
        "ignore_index": ignore,
    }


def _off_grid(x: Tensor) -> Tensor:
    """Returns values whose magnitudes are each slightly larger than a bfloat16 number. So a cast to
    bfloat16 always rounds in the same direction, and the errors do not cancel out in a mean."""
    return x.to(torch.bfloat16).float() * 1.0017


def reference(logits: Tensor, targets: Tensor, label_smoothing: float, ignore_index: int) -> Tensor:
    total, count = _total(logits, targets, label_smoothing, targets != ignore_index)
    return _scalar(total / count, logits)


def _scalar(loss: Tensor, like: Tensor) -> Tensor:
    return loss.reshape(1).to(torch.float64 if like.dtype == torch.float64 else torch.float32)


def _total(
    logits: Tensor, targets: Tensor, smoothing: float, counts: Tensor, others: int = 0
) -> tuple[Tensor, int]:
    """Returns the sum over the rows that are not ignored, in float64, and the number of these
    rows."""
    x = logits if logits.dtype == torch.float64 else logits.float()
    lse = torch.logsumexp(x, dim=-1)
    picked = x.gather(1, torch.where(counts, targets, 0)[:, None])[:, 0]
    average = x.mean(dim=-1) if others == 0 else (x.sum(dim=-1) - picked) / others
    row = (1.0 - smoothing) * (lse - picked) + smoothing * (lse - average)
    return torch.where(counts, row, 0.0).double().sum(), int(counts.sum())


def mutants(
    logits: Tensor, targets: Tensor, label_smoothing: float, ignore_index: int
) -> dict[str, Tensor | tuple[Tensor, ...]]:
    counts = targets != ignore_index
    total, count = _total(logits, targets, label_smoothing, counts)
    smoothed = _total(logits, targets, label_smoothing, counts, others=max(1, logits.shape[1] - 1))[
        0
    ]
    in_range = (targets >= 0) & (targets < logits.shape[1])
    kept, kept_count = _total(logits, targets, label_smoothing, in_range)
    naive = torch.log(torch.exp(logits.float()).sum(dim=-1)) - torch.logsumexp(
        logits.float(), dim=-1
    )
    return {
        "smoothing left out": _scalar(_total(logits, targets, 0.0, counts)[0] / count, logits),
        "smoothing over the other classes only": _scalar(smoothed / count, logits),
        "divided by all rows": _scalar(total / counts.numel(), logits),
        "ignore_index taken to be out of range": _scalar(kept / kept_count, logits),
        "sum instead of mean": _scalar(total, logits),
        "maximum not subtracted": _scalar((total + naive.double().sum()) / count, logits),
    }


def cost(case: Case) -> Cost:
    rows, classes = case.axes["rows"], case.axes["classes"]
    return Cost(bytes=rows * classes * case.dtype.itemsize + 8 * rows + 4, flops=5 * rows * classes)
