"""This TLX kernel runs persistent programs. Each program copies blocks of x and y into rings of
buffers in shared memory, several blocks ahead of the block that it adds.

Only whole blocks use the rings. The masks of these copies end at a multiple of BLOCK, so each copy
instruction can move 16 bytes. Plain masked loads and stores process the last, partial block."""

import torch
import triton
import triton.language as tl
import triton.language.extra.tlx as tlx

MULTIPROCESSORS = 132


@triton.jit
def _add_kernel(x_ptr, y_ptr, z_ptr, n, BLOCK: tl.constexpr, STAGES: tl.constexpr):
    x_ring = tlx.local_alloc((BLOCK,), tl.float32, STAGES)
    y_ring = tlx.local_alloc((BLOCK,), tl.float32, STAGES)
    first = tl.program_id(0)
    step = tl.num_programs(0)
    blocks = n // BLOCK
    whole = blocks.to(tl.int64) * BLOCK
    lane = tl.arange(0, BLOCK)
    for i in tl.static_range(STAGES - 1):
        offsets = (first + i * step).to(tl.int64) * BLOCK + lane
        x_copy = tlx.async_load(x_ptr + offsets, x_ring[i], mask=offsets < whole)
        y_copy = tlx.async_load(y_ptr + offsets, y_ring[i], mask=offsets < whole)
        tlx.async_load_commit_group([x_copy, y_copy])
    for turn in tl.range(0, tl.cdiv(blocks - first, step), num_stages=0):
        # STAGES - 1 groups of copies are in flight, and the oldest group copies this block. A group
        # is committed even if nothing is left to copy, so this number stays constant.
        tlx.async_load_wait_group(STAGES - 2)
        slot = turn % STAGES
        x = tlx.local_load(x_ring[slot])
        y = tlx.local_load(y_ring[slot])
        ahead = turn + STAGES - 1
        offsets = (first + ahead * step).to(tl.int64) * BLOCK + lane
        x_copy = tlx.async_load(x_ptr + offsets, x_ring[ahead % STAGES], mask=offsets < whole)
        y_copy = tlx.async_load(y_ptr + offsets, y_ring[ahead % STAGES], mask=offsets < whole)
        tlx.async_load_commit_group([x_copy, y_copy])
        tl.store(z_ptr + (first + turn * step).to(tl.int64) * BLOCK + lane, x + y)
    tlx.async_load_wait_group(0)
    if first == step - 1:
        offsets = whole + lane
        x = tl.load(x_ptr + offsets, mask=offsets < n)
        y = tl.load(y_ptr + offsets, mask=offsets < n)
        tl.store(z_ptr + offsets, x + y, mask=offsets < n)


def tlx_async_vector_add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    z = torch.empty_like(x)
    n = x.numel()
    block, stages = 1024, 4
    # Each program needs 32 KiB of shared memory. Six programs on a multiprocessor have 144 KiB in
    # flight.
    programs = min(6 * MULTIPROCESSORS, max(1, n // block))
    _add_kernel[(programs,)](x, y, z, n, BLOCK=block, STAGES=stages, num_warps=8)
    return z
