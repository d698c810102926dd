"""Each program computes the softmax of one segment. If all segments fit in registers, each segment
is read once. If the longest segment does not fit, the online kernel reads every segment twice:
first for the maximum and the sum, then for the results.

A segment can start at any entry, but a vector of 16 bytes must start at a multiple of four entries.
So the part of a segment that consists of whole vectors is loaded and stored as vectors, and the few
entries before and after this part form a separate tile. A program uses the smallest tile that
contains its segment."""

import torch
import triton
import triton.language as tl

MAX_IN_REGISTERS = 8192


@triton.jit
def _softmax(values_ptr, y_ptr, start, end, BLOCK: tl.constexpr):
    # The entries from `first` to `last` form whole vectors of 4 entries. The compiler sees from
    # these expressions that both bounds are multiples of 4, so it loads and stores these entries as
    # vectors.
    first = (start + 3) // 4 * 4
    last = tl.maximum(end // 4 * 4, first)
    lane = tl.arange(0, BLOCK)
    inside = lane < last - first
    x = tl.load(values_ptr + first + lane, mask=inside, other=-float("inf"))
    # Up to three entries come before the whole vectors, and up to three after. If the segment does
    # not contain a whole vector, all its entries are before `first`.
    edge = tl.arange(0, 8)
    at = tl.where(edge < 4, start + edge, last + edge - 4)
    at_edge = at < tl.where(edge < 4, tl.minimum(first, end), end)
    z = tl.load(values_ptr + at, mask=at_edge, other=-float("inf"))
    top = tl.maximum(tl.max(x, axis=0), tl.max(z, axis=0))
    # For an empty segment, x - top is -inf - (-inf), which is NaN. The NaN is not stored.
    weight = tl.exp(x - top)
    share = tl.exp(z - top)
    scale = 1.0 / (tl.sum(weight, axis=0) + tl.sum(share, axis=0))
    tl.store(y_ptr + first + lane, weight * scale, mask=inside)
    tl.store(y_ptr + at, share * scale, mask=at_edge)


@triton.jit
def _one_block_kernel(values_ptr, offsets_ptr, y_ptr, BLOCK: tl.constexpr, HALF: tl.constexpr):
    segment = tl.program_id(0)
    start = tl.load(offsets_ptr + segment)
    end = tl.load(offsets_ptr + segment + 1)
    if end - start <= HALF:
        _softmax(values_ptr, y_ptr, start, end, HALF)
    else:
        _softmax(values_ptr, y_ptr, start, end, BLOCK)


@triton.jit
def _online_kernel(values_ptr, offsets_ptr, y_ptr, BLOCK: tl.constexpr):
    segment = tl.program_id(0)
    start = tl.load(offsets_ptr + segment)
    end = tl.load(offsets_ptr + segment + 1)
    lane = tl.arange(0, BLOCK)
    # Each lane has its own maximum and sum, which are combined once at the end. The maximum starts
    # with a finite value, so that lanes without entries do not become NaN.
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
    block = max(block, 16)
    warps = 1 if block <= 256 else 4 if block <= 4096 else 8
    _one_block_kernel[(segments,)](
        values, offsets, y, BLOCK=block, HALF=block // 2, num_warps=warps
    )
    return y
