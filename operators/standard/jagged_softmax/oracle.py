"""Softmax per segment, one program each. A segment that fits into registers is read once; if the longest does not, all take the
online form."""

import torch
import triton
import triton.language as tl

MAX_IN_REGISTERS = 8192


@triton.jit
def _one_block_kernel(values_ptr, offsets_ptr, y_ptr, BLOCK: tl.constexpr):
    segment = tl.program_id(0)
    start = tl.load(offsets_ptr + segment)
    length = tl.load(offsets_ptr + segment + 1) - start
    lane = tl.arange(0, BLOCK)
    mask = lane < length
    x = tl.load(values_ptr + start + lane, mask=mask, other=-float("inf"))
    # An empty segment computes NaN from -inf - -inf, and stores nothing of it.
    weight = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + start + lane, weight * (1.0 / tl.sum(weight, axis=0)), mask=mask)


@triton.jit
def _online_kernel(values_ptr, offsets_ptr, y_ptr, BLOCK: tl.constexpr):
    segment = tl.program_id(0)
    start = tl.load(offsets_ptr + segment)
    end = tl.load(offsets_ptr + segment + 1)
    lane = tl.arange(0, BLOCK)
    # A maximum and a sum per lane, combined once at the end. The finite start keeps lanes that see nothing free of NaN.
    greatest = tl.full((BLOCK,), -3.0e38, tl.float32)
    total = tl.zeros((BLOCK,), tl.float32)
    for first in range(start, end, BLOCK):
        x = tl.load(values_ptr + first + lane, mask=first + lane < end, other=-float("inf"))
        new = tl.maximum(greatest, x)
        total = total * tl.exp(greatest - new) + tl.exp(x - new)
        greatest = new
    top = tl.max(greatest, axis=0)
    scale = 1.0 / tl.sum(total * tl.exp(greatest - top), axis=0)
    for first in range(start, end, BLOCK):
        mask = first + lane < end
        x = tl.load(values_ptr + first + lane, mask=mask, other=0.0)
        tl.store(y_ptr + first + lane, tl.exp(x - top) * scale, mask=mask)


def jagged_softmax(values: torch.Tensor, offsets: torch.Tensor, max_length: int) -> torch.Tensor:
    y = torch.empty_like(values)
    segments = offsets.numel() - 1
    block = triton.next_power_of_2(max_length)
    if block > MAX_IN_REGISTERS:
        _online_kernel[(segments,)](values, offsets, y, BLOCK=1024, num_warps=4)
        return y
    warps = 1 if block <= 256 else 4 if block <= 2048 else 8
    _one_block_kernel[(segments,)](values, offsets, y, BLOCK=block, num_warps=warps)
    return y
