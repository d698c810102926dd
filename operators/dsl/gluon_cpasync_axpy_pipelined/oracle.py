"""This Gluon kernel runs persistent programs. Each program keeps the loads of a ring of blocks in
flight with cp.async, so that the latency of global memory overlaps with the work on earlier blocks.

Copies into a slot of the ring and reads from the slot use the same layout: each thread has eight
float16 values, which one 16-byte cp.async copies. cp.async cannot mask less than four bytes, so the
ring contains whole blocks only.
Plain masked loads and stores process the last, partial block."""

import torch
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.ampere import async_copy

MULTIPROCESSORS = 132


@gluon.jit
def _fetch(
    x_ptr, y_ptr, x_ring, y_ring, slot, block, blocks, BLOCK: gl.constexpr, layout: gl.constexpr
):
    if block < blocks:
        offsets = block.to(gl.int64) * BLOCK + gl.arange(0, BLOCK, layout=layout)
        async_copy.async_copy_global_to_shared(x_ring.index(slot), x_ptr + offsets)
        async_copy.async_copy_global_to_shared(y_ring.index(slot), y_ptr + offsets)
    # Commits a group of copies even if this call copied nothing. So the number of groups in flight
    # stays the same at the end of the input, and the wait below can use a constant.
    async_copy.commit_group()


@gluon.jit
def _axpy_kernel(
    a,
    x_ptr,
    y_ptr,
    z_ptr,
    n,
    BLOCK: gl.constexpr,
    STAGES: gl.constexpr,
    layout: gl.constexpr,
    shared_layout: gl.constexpr,
):
    x_ring = gl.allocate_shared_memory(gl.float16, [STAGES, BLOCK], shared_layout)
    y_ring = gl.allocate_shared_memory(gl.float16, [STAGES, BLOCK], shared_layout)
    first = gl.program_id(0)
    step = gl.num_programs(0)
    blocks = n // BLOCK
    lane = gl.arange(0, BLOCK, layout=layout)
    for i in gl.static_range(STAGES - 1):
        _fetch(x_ptr, y_ptr, x_ring, y_ring, i, first + i * step, blocks, BLOCK, layout)
    for turn in range(gl.cdiv(blocks - first, step)):
        block = first + turn * step
        # STAGES - 1 groups of copies are in flight, and the oldest group copies this block. The
        # wait is also a barrier: after it no thread reads the previous block's slot, so the slot
        # can be refilled.
        async_copy.wait_group(STAGES - 2)
        _fetch(
            x_ptr,
            y_ptr,
            x_ring,
            y_ring,
            (turn + STAGES - 1) % STAGES,
            block + (STAGES - 1) * step,
            blocks,
            BLOCK,
            layout,
        )
        x = x_ring.index(turn % STAGES).load(layout).to(gl.float32)
        y = y_ring.index(turn % STAGES).load(layout).to(gl.float32)
        gl.store(z_ptr + block.to(gl.int64) * BLOCK + lane, (a * x + y).to(gl.float16))
    async_copy.wait_group(0)
    if first == step - 1:
        offsets = blocks.to(gl.int64) * BLOCK + lane
        x = gl.load(x_ptr + offsets, mask=offsets < n).to(gl.float32)
        y = gl.load(y_ptr + offsets, mask=offsets < n).to(gl.float32)
        gl.store(z_ptr + offsets, (a * x + y).to(gl.float16), mask=offsets < n)


def gluon_cpasync_axpy_pipelined(a: float, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    z = torch.empty_like(x)
    n = x.numel()
    block, stages, warps = 2048, 4, 8
    layout = gl.BlockedLayout(
        size_per_thread=[8], threads_per_warp=[32], warps_per_cta=[warps], order=[0]
    )
    shared = gl.SwizzledSharedLayout(vec=1, per_phase=1, max_phase=1, order=[0])
    # Each program needs 32 KiB of shared memory. Six programs on a multiprocessor have about 150
    # KiB in flight.
    programs = min(6 * MULTIPROCESSORS, max(1, n // block))
    _axpy_kernel[(programs,)](
        a,
        x,
        y,
        z,
        n,
        BLOCK=block,
        STAGES=stages,
        layout=layout,
        shared_layout=shared,
        num_warps=warps,
    )
    return z
