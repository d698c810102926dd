"""Computes the sum of each segment of consecutive rows."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """Each row is scaled by its segment's length^(-1/2), so that the sums have a variance of about
    1 for every segment length."""
    rows, dim, segments = case.axes["rows"], case.axes["dim"], case.axes["segments"]
    lengths = _lengths(rng, rows, segments, case.distribution == "skewed")
    offsets = torch.zeros((segments + 1,), dtype=torch.int64, device=rng.device)
    offsets[1:] = lengths.cumsum(0)
    segment = torch.searchsorted(
        offsets[1:].contiguous(), torch.arange(rows, device=rng.device), right=True
    )
    values = (
        rng.normal((rows, dim), torch.float32) * lengths[segment].to(torch.float32)[:, None] ** -0.5
    )
    return {"values": values, "offsets": offsets.to(torch.int32)}


def _lengths(rng: Rng, total: int, segments: int, skewed: bool) -> Tensor:
    """Returns lengths that add up to `total`. Every fifth segment is empty. If `skewed` is set, the
    middle segment has about two thirds of the total."""
    weights = rng.uniform((segments,), torch.float64, 0.5, 1.0)
    weights[3:-1:5] = 0.0
    if skewed:
        weights[segments // 2] = 2.0 * weights.sum()
    # Rounds the cumulative sums instead of the lengths, so that the lengths add up to `total`. The
    # last segment is empty only if there are more segments than elements.
    ends = (weights.cumsum(0) / weights.sum() * total).round().to(torch.int64).clamp(max=total)
    ends[-1] = total
    lengths = ends.clone()
    lengths[1:] -= ends[:-1]
    return lengths


def _sums(values: Tensor, first: Tensor, end: Tensor) -> Tensor:
    """Computes segment sums by differences of float64 prefix sums. The result is deterministic, and
    no particular float32 summation order is favoured."""
    prefix = torch.zeros(
        (values.shape[0] + 1, values.shape[1]), dtype=torch.float64, device=values.device
    )
    prefix[1:] = values.double().cumsum(0)
    return (prefix[end.long()] - prefix[first.long()]).to(values.dtype)


def reference(values: Tensor, offsets: Tensor) -> Tensor:
    return _sums(values, offsets[:-1], offsets[1:])


def mutants(values: Tensor, offsets: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    first, end = offsets[:-1], offsets[1:]
    right = _sums(values, first, end)
    length = (end - first).clamp(min=1)[:, None]
    following = values[first.long().clamp(max=values.shape[0] - 1)]
    return {
        "mean instead of sum": right / length,
        "last row left out": _sums(values, first, torch.maximum(first, end - 1)),
        "one row too many": _sums(values, first, (end + 1).clamp(max=values.shape[0])),
        "empty segment takes the next row": torch.where((first == end)[:, None], following, right),
        "at most 32 rows of a segment": _sums(values, first, torch.minimum(end, first + 32)),
    }


def cost(case: Case) -> Cost:
    rows, dim, segments = case.axes["rows"], case.axes["dim"], case.axes["segments"]
    return Cost(bytes=4 * (rows * dim + segments * dim + segments + 1), flops=rows * dim)
