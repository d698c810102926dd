"""Masked scatter in two kernels: masked elements per tile, then the work.

A tile's first rank is the sum over the counts before it, a few KB of L2 that every program adds up for itself;
that is cheaper than a third kernel. The mask is read twice, but a byte per element is little beside the values,
and the second read mostly hits L2. Elements are taken as quads, so that the mask's wide vectors (16 bytes are 16
elements) do not become the layout of the values, whose loads would then be scattered; and the loads that depend on
nothing start before the counts are added up.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _count_kernel(mask_ptr, counts_ptr, n, BLOCK: tl.constexpr):
    tile = tl.program_id(0)
    offsets = tile * BLOCK + tl.arange(0, BLOCK)
    masked = tl.load(mask_ptr + offsets, mask=offsets < n, other=0).to(tl.int32)
    tl.store(counts_ptr + tile, tl.sum(masked, axis=0))


@triton.jit
def _scatter_kernel(x_ptr, mask_ptr, source_ptr, counts_ptr, y_ptr, n, source_count, fill, BLOCK: tl.constexpr, WIDTH: tl.constexpr):
    tile = tl.program_id(0)
    offsets = tile * BLOCK + tl.arange(0, BLOCK // 4)[:, None] * 4 + tl.arange(0, 4)[None, :]
    inside = offsets < n
    mask = tl.load(mask_ptr + offsets, mask=inside, other=0)
    x = tl.load(x_ptr + offsets, mask=inside)
    lane = tl.arange(0, WIDTH)
    earlier = tl.zeros((WIDTH,), tl.int32)
    for first in range(0, tile, WIDTH):
        earlier += tl.load(counts_ptr + first + lane, mask=first + lane < tile, other=0)
    masked = mask.to(tl.int32)
    rank = tl.sum(earlier, axis=0) + tl.reshape(tl.cumsum(tl.ravel(masked), axis=0), (BLOCK // 4, 4)) - masked
    taken = tl.load(source_ptr + rank, mask=(masked != 0) & (rank < source_count), other=fill)
    tl.store(y_ptr + offsets, tl.where(masked != 0, taken, x), mask=inside)


def masked_fill_scatter(x: torch.Tensor, mask: torch.Tensor, source: torch.Tensor, fill: float) -> torch.Tensor:
    n = x.numel()
    block = 4096
    tiles = triton.cdiv(n, block)
    y = torch.empty_like(x)
    counts = torch.empty((tiles,), dtype=torch.int32, device=x.device)
    _count_kernel[(tiles,)](mask, counts, n, BLOCK=block, num_warps=4)
    _scatter_kernel[(tiles,)](x, mask, source, counts, y, n, source.numel(), fill, BLOCK=block, WIDTH=2048, num_warps=4)
    return y
