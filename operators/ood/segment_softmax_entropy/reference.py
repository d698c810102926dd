"""Computes the entropy of the softmax of each segment of a packed vector."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor

BLOCK = 1024


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    total, segments, bound = case.axes["total"], case.axes["segments"], case.axes["max_length"]
    lengths = _lengths(case, rng)
    offsets = torch.zeros((segments + 1,), dtype=torch.int64, device=rng.device)
    offsets[1:] = lengths.cumsum(0)
    values = 1.5 * rng.normal((total,), torch.float32)
    if case.distribution == "extreme":
        values += torch.repeat_interleave(
            rng.uniform((segments,), torch.float32, -1.0e4, 1.0e4), lengths
        )
    elif case.distribution == "peaked":
        # One value in a thousand is far larger than the others, so that most segments have an
        # entropy near 0 or near ln 2.
        values += 40.0 * (rng.uniform((total,), torch.float32, 0.0, 1.0) < 1e-3)
    return {"values": values, "offsets": offsets.to(torch.int32), "max_length": bound}


def _lengths(case: Case, rng: Rng) -> Tensor:
    """Returns lengths that add up to `total`. Every fifth segment is empty. In the distribution
    `skewed`, one segment has the maximum length."""
    total, segments, bound = case.axes["total"], case.axes["segments"], case.axes["max_length"]
    long = segments // 2 - (segments // 2 % 5 == 2)
    weights = rng.uniform((segments,), torch.float64, 0.5, 1.0)
    weights[2::5] = 0.0
    fixed = 0
    if case.distribution == "skewed":
        fixed = bound
        weights[long] = 0.0
    lengths = (weights / weights.sum() * (total - fixed)).to(torch.int64)
    missing = total - fixed - lengths.sum()
    # Rounding down removed less than one element per segment. The missing elements go to the first
    # segments with a positive weight, one element each.
    lengths += (weights > 0) & ((weights > 0).cumsum(0) <= missing)
    if fixed:
        lengths[long] = fixed
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


def _sums(terms: Tensor, offsets: Tensor) -> Tensor:
    """Computes segment sums by float64 prefix sums, which are deterministic. A scatter of floats
    would not be deterministic."""
    prefix = torch.zeros((terms.numel() + 1,), dtype=torch.float64, device=terms.device)
    prefix[1:] = _prefix_sums(terms.double())
    return (prefix[offsets[1:].long()] - prefix[offsets[:-1].long()]).to(terms.dtype)


def _parts(values: Tensor, offsets: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Returns (lengths, segment of each value, maximum of each segment or 0 if it is empty, each
    value minus its segment's maximum)."""
    lengths = (offsets[1:] - offsets[:-1]).long()
    segment = torch.repeat_interleave(torch.arange(lengths.numel(), device=values.device), lengths)
    greatest = torch.full(
        (lengths.numel(),), float("-inf"), dtype=values.dtype, device=values.device
    )
    greatest = greatest.scatter_reduce(0, segment, values, "amax")
    greatest = torch.where(lengths > 0, greatest, 0.0)
    return lengths, segment, greatest, values - greatest[segment]


def reference(values: Tensor, offsets: Tensor, max_length: int) -> Tensor:
    wide = values if values.dtype == torch.float64 else values.float()
    lengths, _, _, shifted = _parts(wide, offsets)
    weight = torch.exp(shifted)
    total = torch.where(lengths > 0, _sums(weight, offsets), 1.0)
    return torch.log(total) - _sums(weight * shifted, offsets) / total


def mutants(values: Tensor, offsets: Tensor, max_length: int) -> dict[str, Tensor]:
    lengths, segment, greatest, shifted = _parts(values, offsets)
    weight = torch.exp(shifted)
    total = _sums(weight, offsets)
    right = reference(values, offsets, max_length)
    first = torch.cat((offsets[:1], offsets[1:] - (offsets[1:] > offsets[:-1]).to(offsets.dtype)))
    return {
        "maximum not subtracted": torch.log(_sums(values.exp(), offsets))
        - _sums(values.exp() * values, offsets) / _sums(values.exp(), offsets),
        "maximum subtracted from the first sum alone": torch.log(total)
        - _sums(weight * values, offsets) / total,
        "empty segment is NaN": torch.where(lengths > 0, right, float("nan")),
        "empty segment is -inf": torch.where(lengths > 0, right, float("-inf")),
        "bits instead of nats": right / 0.6931471805599453,
        "sign": -right,
        "normalised by ln(length)": right / lengths.clamp_min(2).log(),
        "log-sum-exp": torch.where(lengths > 0, torch.log(total) + greatest, 0.0),
        "last value of each segment left out": _without_last(values, offsets, segment, first),
    }


def _without_last(values: Tensor, offsets: Tensor, segment: Tensor, ends: Tensor) -> Tensor:
    kept = torch.arange(values.numel(), device=values.device) != ends[1:].long()[segment]
    counts = torch.zeros((offsets.numel(),), dtype=torch.int64, device=values.device)
    counts[1:] = (
        offsets[1:] - offsets[:-1] - (offsets[1:] > offsets[:-1]).to(offsets.dtype)
    ).cumsum(0)
    return reference(values[kept], counts, 0)


def cost(case: Case) -> Cost:
    total, segments = case.axes["total"], case.axes["segments"]
    return Cost(bytes=4 * (total + 2 * segments + 1), flops=7 * total)
