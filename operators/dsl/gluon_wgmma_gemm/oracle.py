"""In this Gluon kernel each program computes one tile of c. TMA fills a ring of operand tiles, and
warpgroup MMAs read them directly from shared memory.

One MMA is always in flight. After an MMA is issued and the previous MMA has ended, the slot of the
previous MMA is refilled. TMA pads with zeros, so only the final store needs a mask."""

import torch
import triton
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_wait,
)
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor

GROUP = 8


@gluon.jit
def _fetch(a_desc, b_desc, a_ring, b_ring, ready, slot, row, col, depth):
    bar = ready.index(slot)
    mbarrier.expect(bar, a_desc.block_type.nbytes + b_desc.block_type.nbytes)
    tma.async_copy_global_to_shared(a_desc, [row, depth], bar, a_ring.index(slot))
    tma.async_copy_global_to_shared(b_desc, [depth, col], bar, b_ring.index(slot))


@gluon.jit
def _gemm_kernel(
    a_desc, b_desc, c_ptr, m, n, k, STAGES: gl.constexpr, GROUP: gl.constexpr, layout: gl.constexpr
):
    BM: gl.constexpr = a_desc.block_shape[0]
    BK: gl.constexpr = a_desc.block_shape[1]
    BN: gl.constexpr = b_desc.block_shape[1]
    # Consecutive programs compute a column of GROUP tiles, then the column to its right. So
    # programs that run at the same time share rows of a and columns of b.
    tiles_m = gl.cdiv(m, BM)
    across = gl.cdiv(n, BN)
    program = gl.program_id(0)
    group = program // (GROUP * across)
    height = gl.minimum(tiles_m - group * GROUP, GROUP)
    row = (group * GROUP + program % (GROUP * across) % height) * BM
    col = program % (GROUP * across) // height * BN

    a_ring = gl.allocate_shared_memory(a_desc.dtype, [STAGES, BM, BK], a_desc.layout)
    b_ring = gl.allocate_shared_memory(b_desc.dtype, [STAGES, BK, BN], b_desc.layout)
    ready = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    for i in gl.static_range(STAGES):
        mbarrier.init(ready.index(i), count=1)
    fence_async_shared()

    steps = gl.cdiv(k, BK)
    for i in gl.static_range(STAGES):
        if i < steps:
            _fetch(a_desc, b_desc, a_ring, b_ring, ready, i, row, col, i * BK)
    acc = gl.zeros((BM, BN), gl.float32, layout)
    for i in range(steps):
        slot = i % STAGES
        mbarrier.wait(ready.index(slot), i // STAGES & 1)
        acc = warpgroup_mma(a_ring.index(slot), b_ring.index(slot), acc, is_async=True)
        acc = warpgroup_mma_wait(1, deps=(acc,))
        # Every warp has finished MMA i - 1, so the operands of that MMA may be overwritten.
        gl.thread_barrier()
        following = i - 1 + STAGES
        if (i > 0) & (following < steps):
            _fetch(
                a_desc, b_desc, a_ring, b_ring, ready, following % STAGES, row, col, following * BK
            )
    acc = warpgroup_mma_wait(0, deps=(acc,))
    for i in gl.static_range(STAGES):
        mbarrier.invalidate(ready.index(i))

    rows = row + gl.arange(0, BM, layout=gl.SliceLayout(1, layout))
    cols = col + gl.arange(0, BN, layout=gl.SliceLayout(0, layout))
    # Four neighbouring lanes contain eight consecutive floats of a row. So direct stores from
    # registers write whole 32-byte sectors, and c need not go through shared memory.
    gl.store(
        c_ptr + rows.to(gl.int64)[:, None] * n + cols[None, :],
        acc,
        mask=(rows < m)[:, None] & (cols < n)[None, :],
    )


def gluon_wgmma_gemm(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    m, k = a.shape
    n = b.shape[1]
    c = torch.empty((m, n), dtype=torch.float32, device=a.device)
    # Two warp groups compute a 128 x 256 tile. A small product uses smaller tiles, so that there
    # are enough tiles for all multiprocessors.
    if m * n >= 2048 * 2048:
        bm, bn, bk, warps, stages = 128, 256, 64, 8, 4
    elif m * n >= 512 * 512:
        bm, bn, bk, warps, stages = 128, 128, 64, 8, 5
    else:
        bm, bn, bk, warps, stages = 64, 64, 64, 4, 6
    dtype = gl.float16 if a.dtype == torch.float16 else gl.bfloat16
    a_desc = TensorDescriptor.from_tensor(
        a, [bm, bk], gl.NVMMASharedLayout.get_default_for([bm, bk], dtype)
    )
    b_desc = TensorDescriptor.from_tensor(
        b, [bk, bn], gl.NVMMASharedLayout.get_default_for([bk, bn], dtype)
    )
    layout = gl.NVMMADistributedLayout(
        version=[3, 0], warps_per_cta=[warps, 1], instr_shape=[16, bn, 16]
    )
    grid = (triton.cdiv(m, bm) * triton.cdiv(n, bn),)
    _gemm_kernel[grid](
        a_desc, b_desc, c, m, n, k, STAGES=stages, GROUP=GROUP, layout=layout, num_warps=warps
    )
    return c
