"""Stream compaction in two kernels: selected elements per tile, then the work.

Every program adds up all counts, a few KB of L2: those before its tile give its first target, the sum of all where the fill begins. Its own
loads are on their way before that. Elements are taken as quads, so that the mask's wide vectors (16 bytes are 16 elements) do not become the
layout of the values, whose loads would then be scattered. Selected elements are written one by one; the fill is
written where the tile itself reaches into it, as whole vectors.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _count_kernel(mask_ptr, counts_ptr, n, BLOCK: tl.constexpr):
    tile = tl.program_id(0)
    offsets = tile * BLOCK + tl.arange(0, BLOCK)
    selected = tl.load(mask_ptr + offsets, mask=offsets < n, other=0).to(tl.int32)
    tl.store(counts_ptr + tile, tl.sum(selected, axis=0))


@triton.jit
def _compact_kernel(values_ptr, mask_ptr, counts_ptr, y_ptr, count_ptr, n, tiles, fill, BLOCK: tl.constexpr, WIDTH: tl.constexpr):
    tile = tl.program_id(0)
    offsets = tile * BLOCK + tl.arange(0, BLOCK // 4)[:, None] * 4 + tl.arange(0, 4)[None, :]
    inside = offsets < n
    mask = tl.load(mask_ptr + offsets, mask=inside, other=0)
    # Read as whole vectors: a mask per element would cost more instructions than it saves traffic.
    values = tl.load(values_ptr + offsets, mask=inside)
    lane = tl.arange(0, WIDTH)
    earlier = tl.zeros((WIDTH,), tl.int32)
    all_counts = tl.zeros((WIDTH,), tl.int32)
    for first in range(0, tiles, WIDTH):
        counts = tl.load(counts_ptr + first + lane, mask=first + lane < tiles, other=0)
        all_counts += counts
        earlier += tl.where(first + lane < tile, counts, 0)
    total = tl.sum(all_counts, axis=0)
    selected = mask.to(tl.int32)
    rank = tl.sum(earlier, axis=0) + tl.reshape(tl.cumsum(tl.ravel(selected), axis=0), (BLOCK // 4, 4)) - selected
    tl.store(y_ptr + rank, values, mask=inside & (selected != 0))
    if (tile + 1) * BLOCK > total:
        tl.store(y_ptr + offsets, tl.full((BLOCK // 4, 4), fill, tl.float32), mask=inside & (offsets >= total))
    if tile == 0:
        tl.store(count_ptr, total)


def masked_compact(values: torch.Tensor, mask: torch.Tensor, fill: float) -> tuple[torch.Tensor, torch.Tensor]:
    n = values.numel()
    # Large tiles keep the list of counts short, which every program reads.
    block, warps = (4096, 4) if n >= 1 << 20 else (2048, 4)
    tiles = triton.cdiv(n, block)
    y = torch.empty_like(values)
    count = torch.empty((1,), dtype=torch.int32, device=values.device)
    counts = torch.empty((tiles,), dtype=torch.int32, device=values.device)
    _count_kernel[(tiles,)](mask, counts, n, BLOCK=block, num_warps=4)
    _compact_kernel[(tiles,)](values, mask, counts, y, count, n, tiles, fill, BLOCK=block, WIDTH=4096 if n >= 1 << 20 else 1024, num_warps=warps)
    return y, count
