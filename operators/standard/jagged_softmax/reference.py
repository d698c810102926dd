"""Computes the softmax within each segment of a packed vector."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor

BLOCK = 1024


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    total, count, bound = case.axes["total"], case.axes["offset_count"], case.axes["max_length"]
    lengths = _lengths(case, rng)
    offsets = torch.zeros((count,), dtype=torch.int64, device=rng.device)
    offsets[1:] = lengths.cumsum(0)
    values = rng.normal((total,), torch.float32)
    if case.distribution == "extreme":
        values += torch.repeat_interleave(
            rng.uniform((count - 1,), torch.float32, -1.0e4, 1.0e4), lengths
        )
    return {"values": values, "offsets": offsets.to(torch.int32), "max_length": bound}


def _lengths(case: Case, rng: Rng) -> Tensor:
    """Returns lengths that add up to `total`. Every fifth segment is empty. In the distribution
    `skewed`, one segment has the maximum length."""
    total, segments, bound = (
        case.axes["total"],
        case.axes["offset_count"] - 1,
        case.axes["max_length"],
    )
    weights = rng.uniform((segments,), torch.float64, 0.5, 1.0)
    weights[2::5] = 0.0
    fixed = 0
    if case.distribution == "skewed":
        fixed = bound
        weights[segments // 2 - (segments // 2 % 5 == 2)] = 0.0
    lengths = (weights / weights.sum() * (total - fixed)).to(torch.int64)
    missing = total - fixed - lengths.sum()
    # Rounding down removed less than one element per segment. The missing elements go to the first
    # segments with a positive weight, one element each.
    lengths += (weights > 0) & ((weights > 0).cumsum(0) <= missing)
    if fixed:
        lengths[segments // 2 - (segments // 2 % 5 == 2)] = fixed
    if int(lengths.max()) > bound:
        raise ValueError(
            f"{total} entries in {segments} segments need one longer than max_length = {bound}"
        )
    return lengths


def _prefix_sums(x: Tensor) -> Tensor:
    """Computes prefix sums in blocks, because on a GPU torch adds up one long row in a varying
    order."""
    if x.numel() <= BLOCK:
        return x.cumsum(0)
    blocks = torch.nn.functional.pad(x, (0, -x.numel() % BLOCK)).reshape(-1, BLOCK).cumsum(1)
    blocks[1:] += _prefix_sums(blocks[:-1, -1])[:, None]
    return blocks.view(-1)[: x.numel()]


def reference(values: Tensor, offsets: Tensor, max_length: int) -> Tensor:
    wide = values if values.dtype == torch.float64 else values.float()
    lengths = (offsets[1:] - offsets[:-1]).long()
    segment = torch.repeat_interleave(torch.arange(lengths.numel(), device=values.device), lengths)
    greatest = torch.full((lengths.numel(),), float("-inf"), dtype=wide.dtype, device=values.device)
    greatest = greatest.scatter_reduce(0, segment, wide, "amax")
    weight = torch.exp(wide - greatest[segment])
    # Computes segment sums by float64 prefix sums, which are deterministic. A scatter of floats
    # would not be deterministic.
    prefix = torch.zeros((weight.numel() + 1,), dtype=torch.float64, device=values.device)
    prefix[1:] = _prefix_sums(weight.double())
    total = (prefix[offsets[1:].long()] - prefix[offsets[:-1].long()]).to(wide.dtype)
    return weight / total[segment]


def mutants(
    values: Tensor, offsets: Tensor, max_length: int
) -> dict[str, Tensor | tuple[Tensor, ...]]:
    y = reference(values, offsets, max_length)
    later = (offsets + 1).clamp_max(values.numel())
    later[0] = 0
    return {
        "over all segments": torch.softmax(values, 0),
        "not divided by the sum": y
        * torch.ones_like(y).scatter(0, (offsets[:-1][offsets[1:] > offsets[:-1]]).long(), 0.5),
        "offsets one too far": reference(values, later, max_length),
        "logarithm": y.log(),
        "cut at half of max_length": torch.where(
            _place(values, offsets) < max_length // 2, y, torch.zeros_like(y)
        ),
    }


def _place(values: Tensor, offsets: Tensor) -> Tensor:
    """Returns the index of each value within its segment."""
    starts = torch.repeat_interleave(offsets[:-1].long(), (offsets[1:] - offsets[:-1]).long())
    return torch.arange(values.numel(), device=values.device) - starts


def cost(case: Case) -> Cost:
    total = case.axes["total"]
    return Cost(bytes=8 * total + 4 * case.axes["offset_count"], flops=5 * total)
