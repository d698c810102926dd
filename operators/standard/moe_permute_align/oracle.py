"""Stable counting sort in four kernels: slots per tile and expert; their running sums; every slot's place; padding and block owners.

Within a tile, 128 slots at a time are ranked by comparing all pairs, and a counter per expert, held in registers, carries over to the next
128. So the order is fixed, which atomics could not promise.
"""

import torch
import triton
import triton.language as tl

PIECE: tl.constexpr = tl.constexpr(128)


@triton.jit
def _count_kernel(expert_ptr, counts_ptr, n, experts, tiles, TILE: tl.constexpr, BINS: tl.constexpr):
    tile = tl.program_id(0)
    offsets = tile * TILE + tl.arange(0, TILE)
    # Lanes behind the end count for a bin that no expert has.
    counts = tl.histogram(tl.load(expert_ptr + offsets, mask=offsets < n, other=BINS - 1), BINS)
    bins = tl.arange(0, BINS)
    tl.store(counts_ptr + bins * tiles + tile, counts, mask=bins < experts)


@triton.jit
def _scan_kernel(counts_ptr, totals_ptr, tiles, BLOCK: tl.constexpr):
    row = counts_ptr + tl.program_id(0) * tiles
    lane = tl.arange(0, BLOCK)
    total = 0
    for first in range(0, tiles, BLOCK):
        mask = first + lane < tiles
        counts = tl.load(row + first + lane, mask=mask, other=0)
        tl.store(row + first + lane, total + tl.cumsum(counts, axis=0) - counts, mask=mask)
        total += tl.sum(counts, axis=0)
    tl.store(totals_ptr + tl.program_id(0), total)


@triton.jit
def _place_kernel(expert_ptr, counts_ptr, totals_ptr, slots_ptr, n, experts, tiles, block, TILE: tl.constexpr, BINS: tl.constexpr):
    tile = tl.program_id(0)
    bins = tl.arange(0, BINS)
    lane = tl.arange(0, PIECE)
    room = tl.cdiv(tl.load(totals_ptr + bins, mask=bins < experts, other=0), block) * block
    following = tl.cumsum(room, axis=0) - room + tl.load(counts_ptr + bins * tiles + tile, mask=bins < experts, other=0)
    for first in range(tile * TILE, min(tile * TILE + TILE, n), PIECE):
        slot = first + lane
        expert = tl.load(expert_ptr + slot, mask=slot < n, other=BINS - 1)
        same = (expert[:, None] == expert[None, :]) & (lane[:, None] > lane[None, :])
        rank = tl.sum(same.to(tl.int32), axis=1)
        tl.store(slots_ptr + tl.gather(following, expert, 0) + rank, slot, mask=slot < n)
        following += tl.histogram(expert, BINS)


@triton.jit
def _pad_kernel(
    totals_ptr, slots_ptr, owner_ptr, used_ptr, n, experts, block, max_blocks, BLOCKS: tl.constexpr, WIDTH: tl.constexpr, BINS: tl.constexpr
):
    bins = tl.arange(0, BINS)
    totals = tl.load(totals_ptr + bins, mask=bins < experts, other=0)
    room = tl.cdiv(totals, block) * block
    ends = tl.cumsum(room, axis=0)
    used = tl.sum(room, axis=0)
    number = tl.program_id(0) * BLOCKS + tl.arange(0, BLOCKS)
    start = number * block
    inside = start < used
    owner = tl.sum((ends[None, :] <= start[:, None]).to(tl.int32), axis=1)
    tl.store(owner_ptr + number, tl.where(inside, owner, -1), mask=number < max_blocks)
    owner = tl.where(inside, owner, 0)
    filled = tl.where(inside, tl.gather(ends - room + totals, owner, 0) - start, 0)
    lane = tl.arange(0, WIDTH)
    empty = (lane[None, :] >= filled[:, None]) & (lane < block)[None, :] & (number < max_blocks)[:, None]
    tl.store(slots_ptr + start[:, None] + lane[None, :], tl.full((BLOCKS, WIDTH), 0, tl.int32) + n, mask=empty)
    if tl.program_id(0) == 0:
        tl.store(used_ptr, used)


def moe_permute_align(
    expert_of: torch.Tensor, experts: int, block: int, max_blocks: int
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    n = expert_of.numel()
    tile = 2048 if n >= 1 << 18 else 512
    tiles = triton.cdiv(n, tile)
    bins = triton.next_power_of_2(experts + 1)
    width = triton.next_power_of_2(block)
    blocks = max(1, 4096 // max(width, bins))
    like = {"dtype": torch.int32, "device": expert_of.device}
    slots = torch.empty((max_blocks * block,), **like)
    owner = torch.empty((max_blocks,), **like)
    used = torch.empty((1,), **like)
    counts = torch.empty((experts, tiles), **like)
    totals = torch.empty((experts,), **like)
    _count_kernel[(tiles,)](expert_of, counts, n, experts, tiles, TILE=tile, BINS=bins, num_warps=4)
    _scan_kernel[(experts,)](counts, totals, tiles, BLOCK=1024, num_warps=4)
    _place_kernel[(tiles,)](expert_of, counts, totals, slots, n, experts, tiles, block, TILE=tile, BINS=bins, num_warps=4)
    _pad_kernel[(triton.cdiv(max_blocks, blocks),)](
        totals, slots, owner, used, n, experts, block, max_blocks, BLOCKS=blocks, WIDTH=width, BINS=bins, num_warps=4
    )
    return slots, owner, used
