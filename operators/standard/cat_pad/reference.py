"""Concatenates two ragged batches, with padding."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """In each entry of y, the rows of a take at most half of the length. The rows of b and the
    padding follow. In the distribution `full`, entry 1 has no padding."""
    length = case.axes["length"]
    total_a, total_b = case.axes["total_a"], case.axes["total_b"]
    half = length // 2
    full = case.distribution == "full"
    return {
        "a": _rows(case, rng, total_a),
        "a_offsets": _offsets(case, rng, total_a, half if full else 0, 2),
        "b": _rows(case, rng, total_b),
        "b_offsets": _offsets(case, rng, total_b, length - half if full else 0, 3),
        "length": length,
        "pad": 0.75 if full else -1.5,
    }


def _rows(case: Case, rng: Rng, total: int) -> Tensor:
    x = rng.normal((total, case.axes["dim"]), torch.float32)
    if case.distribution == "magnitudes":
        x *= torch.exp2(rng.integers(x.shape, -24, 13, torch.int32).float())
    return x.to(torch.float16)


def _offsets(case: Case, rng: Rng, total: int, longest: int, empty: int) -> Tensor:
    """Returns the offsets of random lengths that add up to `total`. Every fifth length, starting at
    `empty`, is 0. Every tenth length is 0 in both batches. Entry 1 has the length `longest`, if
    that is not 0."""
    batch = case.axes["batch"]
    weights = rng.uniform((batch,), torch.float64, 0.7, 1.0)
    weights[empty::5] = 0.0
    weights[4::10] = 0.0
    if longest:
        weights[1] = 0.0
    lengths = (weights / weights.sum() * (total - longest)).to(torch.int64)
    missing = total - longest - lengths.sum()
    # Rounding down removed less than one row per entry. The missing rows go to the first entries
    # with a positive weight, one row each.
    lengths += (weights > 0) & ((weights > 0).cumsum(0) <= missing)
    if longest:
        lengths[1] = longest
    offsets = torch.zeros((batch + 1,), dtype=torch.int64, device=rng.device)
    offsets[1:] = lengths.cumsum(0)
    return offsets.to(torch.int32)


def _assemble(
    a: Tensor,
    a_offsets: Tensor,
    b: Tensor,
    b_offsets: Tensor,
    length: int,
    pad: float,
    extra: int = 0,
    packed: bool = True,
) -> Tensor:
    """Computes y. `extra` is the number of rows of a that are superfluous. If `packed` is set, b
    follows directly after a; otherwise b ends where y ends."""
    t = torch.arange(length, device=a.device)[None, :]
    a_start, b_start = a_offsets[:-1, None].long(), b_offsets[:-1, None].long()
    a_rows, b_rows = a_offsets[1:, None] - a_start, b_offsets[1:, None] - b_start
    first = a_rows if packed else length - b_rows
    from_a = (t < a_rows + extra)[:, :, None]
    from_b = ((t >= first) & (t < first + b_rows))[:, :, None]
    a_index = (a_start + t).clamp(0, a.shape[0] - 1)
    b_index = (b_start + t - first).clamp(0, b.shape[0] - 1)
    y = torch.where(from_b, b[b_index], torch.full((1, 1, 1), pad, dtype=a.dtype, device=a.device))
    return torch.where(from_a, a[a_index], y)


def reference(
    a: Tensor, a_offsets: Tensor, b: Tensor, b_offsets: Tensor, length: int, pad: float
) -> Tensor:
    return _assemble(a, a_offsets, b, b_offsets, length, pad)


def mutants(
    a: Tensor, a_offsets: Tensor, b: Tensor, b_offsets: Tensor, length: int, pad: float
) -> dict[str, Tensor | tuple[Tensor, ...]]:
    return {
        "blocks in the other order": _assemble(b, b_offsets, a, a_offsets, length, pad),
        "padded with zero": _assemble(a, a_offsets, b, b_offsets, length, 0.0),
        "padding between the blocks": _assemble(
            a, a_offsets, b, b_offsets, length, pad, packed=False
        ),
        "one row of a too many": _assemble(a, a_offsets, b, b_offsets, length, pad, extra=1),
        "second block left out": _assemble(
            a, a_offsets, b[:1], torch.zeros_like(b_offsets), length, pad
        ),
    }


def cost(case: Case) -> Cost:
    axes = case.axes
    rows = axes["total_a"] + axes["total_b"] + axes["batch"] * axes["length"]
    return Cost(bytes=2 * rows * axes["dim"] + 8 * axes["offset_count"], flops=0)
