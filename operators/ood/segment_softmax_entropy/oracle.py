"""Entropy per segment in one read: maximum, sum of weights and weighted sum together.

Short segments share a program, one to a row of its tile. Longer ones start anywhere, but 16-byte vectors do not: what whole vectors
cover is loaded as such, the few entries before and after it are a tile of their own, and a program takes the smallest tile that holds its
segment. Segments of any length take the online form: every lane keeps its own maximum and
both sums, rescaled when the maximum grows, and lanes are combined at the end. When the maximum grows by d, weights shrink by exp(-d), and
the sum of weight * (x - maximum) also loses d for each weight.
"""

import torch
import triton
import triton.language as tl

MAX_IN_REGISTERS = 4096
ABSENT: tl.constexpr = tl.constexpr(-1.0e30)
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
def _add(a, b, c, d):
    return a + c, b + d


@triton.jit
def _entropy(values_ptr, h_ptr, start, end, segment, BLOCK: tl.constexpr):
    # Whole vectors lie in first .. last; multiples of 4 that the compiler can see.
    first = (start + 3) // 4 * 4
    last = tl.maximum(end // 4 * 4, first)
    lane = tl.arange(0, BLOCK)
    # What is not there is far below everything: its weight is 0, and the product of 0 and a finite number too.
    x = tl.load(values_ptr + first + lane, mask=lane < last - first, other=ABSENT)
    edge = tl.arange(0, 8)
    at = tl.where(edge < 4, start + edge, last + edge - 4)
    z = tl.load(values_ptr + at, mask=at < tl.where(edge < 4, tl.minimum(first, end), end), other=ABSENT)
    top = tl.maximum(tl.max(x, axis=0), tl.max(z, axis=0))
    x -= top
    z -= top
    weight = tl.exp(x)
    share = tl.exp(z)
    total, moment = tl.reduce((weight, weight * x), 0, _add)
    total += tl.sum(share, axis=0)
    moment += tl.sum(share * z, axis=0)
    tl.store(h_ptr + segment, tl.where(end > start, tl.log(total) - moment / total, 0.0))


@triton.jit
def _aligned_kernel(values_ptr, offsets_ptr, h_ptr, BLOCK: tl.constexpr, HALF: tl.constexpr):
    segment = tl.program_id(0)
    start = tl.load(offsets_ptr + segment)
    end = tl.load(offsets_ptr + segment + 1)
    if end - start <= HALF:
        _entropy(values_ptr, h_ptr, start, end, segment, HALF)
    else:
        _entropy(values_ptr, h_ptr, start, end, segment, BLOCK)


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
    if block >= 512:
        _aligned_kernel[(segments,)](values, offsets, h, BLOCK=block, HALF=block // 2, num_warps=4)
        return h
    rows = 512 // block
    _one_block_kernel[(triton.cdiv(segments, rows),)](values, offsets, h, segments, ROWS=rows, BLOCK=block, num_warps=4)
    return h
