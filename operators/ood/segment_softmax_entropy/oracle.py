"""Entropy per segment in one read: maximum, sum of weights and weighted sum together.

Short segments share a program, one to a row of its tile. Segments of any length take the online form: every lane keeps its own maximum and
both sums, rescaled when the maximum grows, and lanes are combined at the end. When the maximum grows by d, weights shrink by exp(-d), and
the sum of weight * (x - maximum) also loses d for each weight.
"""

import torch
import triton
import triton.language as tl

MAX_IN_REGISTERS = 4096
LOWEST: tl.constexpr = tl.constexpr(-3.0e38)  # finite, so that lanes which see nothing compute no NaN


@triton.jit
def _one_block_kernel(values_ptr, offsets_ptr, h_ptr, segments, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    segment = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    real = segment < segments
    start = tl.load(offsets_ptr + segment, mask=real, other=0)
    length = tl.load(offsets_ptr + segment + 1, mask=real, other=0) - start
    lane = tl.arange(0, BLOCK)[None, :]
    mask = lane < length[:, None]
    x = tl.load(values_ptr + start[:, None] + lane, mask=mask, other=LOWEST)
    shifted = tl.where(mask, x - tl.max(x, axis=1)[:, None], 0.0)
    weight = tl.where(mask, tl.exp(shifted), 0.0)
    total = tl.maximum(tl.sum(weight, axis=1), 1.0)  # at least 1 where there is anything; an empty segment gives ln 1 - 0
    tl.store(h_ptr + segment, tl.log(total) - tl.sum(weight * shifted, axis=1) / total, mask=real)


@triton.jit
def _online_kernel(values_ptr, offsets_ptr, h_ptr, BLOCK: tl.constexpr):
    segment = tl.program_id(0)
    start = tl.load(offsets_ptr + segment)
    end = tl.load(offsets_ptr + segment + 1)
    lane = tl.arange(0, BLOCK)
    greatest = tl.full((BLOCK,), LOWEST, tl.float32)
    total = tl.zeros((BLOCK,), tl.float32)
    moment = tl.zeros((BLOCK,), tl.float32)
    for first in range(start, end, BLOCK):
        mask = first + lane < end
        x = tl.load(values_ptr + first + lane, mask=mask, other=LOWEST)
        new = tl.maximum(greatest, x)
        # A lane's first value finds sums of 0: whatever the fall from the lowest float is, it must not become infinite times 0.
        fall = tl.where(total > 0.0, greatest - new, 0.0)
        shifted = tl.where(mask, x - new, 0.0)
        weight = tl.where(mask, tl.exp(shifted), 0.0)
        moment = (moment + total * fall) * tl.exp(fall) + weight * shifted
        total = total * tl.exp(fall) + weight
        greatest = new
    top = tl.max(greatest, axis=0)
    fall = tl.where(total > 0.0, greatest - top, 0.0)
    keep = tl.exp(fall)
    whole = tl.maximum(tl.sum(total * keep, axis=0), 1.0)
    tl.store(h_ptr + segment, tl.log(whole) - tl.sum((moment + total * fall) * keep, axis=0) / whole)


def segment_softmax_entropy(values: torch.Tensor, offsets: torch.Tensor, max_length: int) -> torch.Tensor:
    segments = offsets.numel() - 1
    h = torch.empty((segments,), dtype=torch.float32, device=values.device)
    block = triton.next_power_of_2(max(max_length, 1))
    if block > MAX_IN_REGISTERS:
        _online_kernel[(segments,)](values, offsets, h, BLOCK=1024, num_warps=4)
        return h
    rows = max(1, 512 // block)
    warps = 4 if block <= 2048 else 8
    _one_block_kernel[(triton.cdiv(segments, rows),)](values, offsets, h, segments, ROWS=rows, BLOCK=block, num_warps=warps)
    return h
