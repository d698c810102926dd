"""This Gluon kernel runs one program per multiprocessor. The program loops over tiles of c. It does
not empty its ring of operand tiles between two tiles of c.

While one tile of c is rounded and stored, the first operands of the next tile of c already arrive.
The store (by TMA, from shared memory) runs during the products of the next tile of c. Operand tiles
are numbered consecutively across all tiles of c. The number of an operand tile determines its slot
and its phase."""

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

MULTIPROCESSORS = 132
GROUP = 16


@gluon.jit
def _corner(tile, tiles_m, tiles_n, BM: gl.constexpr, BN: gl.constexpr, GROUP: gl.constexpr):
    """Returns the corner of tile number `tile`. Consecutive numbers belong to a column of GROUP
    tiles, and then to the column to its right, so that programs that run at the same time share
    rows of a and columns of b."""
    group = tile // (GROUP * tiles_n)
    height = gl.minimum(tiles_m - group * GROUP, GROUP)
    row = (group * GROUP + tile % (GROUP * tiles_n) % height) * BM
    col = tile % (GROUP * tiles_n) // height * BN
    return row, col


@gluon.jit
def _fetch(
    a_desc,
    b_desc,
    a_ring,
    b_ring,
    ready,
    index,
    steps,
    tiles_m,
    tiles_n,
    GROUP: gl.constexpr,
    STAGES: gl.constexpr,
):
    """Fetches operand tile `index` of this program, unless the program has no such tile."""
    BM: gl.constexpr = a_desc.block_shape[0]
    BK: gl.constexpr = a_desc.block_shape[1]
    BN: gl.constexpr = b_desc.block_shape[1]
    tile = gl.program_id(0) + index // steps * gl.num_programs(0)
    if tile < tiles_m * tiles_n:
        row, col = _corner(tile, tiles_m, tiles_n, BM, BN, GROUP)
        depth = index % steps * BK
        slot = index % STAGES
        bar = ready.index(slot)
        mbarrier.expect(bar, a_desc.block_type.nbytes + b_desc.block_type.nbytes)
        tma.async_copy_global_to_shared(a_desc, [row, depth], bar, a_ring.index(slot))
        tma.async_copy_global_to_shared(b_desc, [depth, col], bar, b_ring.index(slot))


@gluon.jit
def _gemm_kernel(
    a_desc, b_desc, c_desc, m, n, k, STAGES: gl.constexpr, GROUP: gl.constexpr, layout: gl.constexpr
):
    BM: gl.constexpr = a_desc.block_shape[0]
    BK: gl.constexpr = a_desc.block_shape[1]
    BN: gl.constexpr = b_desc.block_shape[1]
    a_ring = gl.allocate_shared_memory(a_desc.dtype, [STAGES, BM, BK], a_desc.layout)
    b_ring = gl.allocate_shared_memory(b_desc.dtype, [STAGES, BK, BN], b_desc.layout)
    c_tile = gl.allocate_shared_memory(c_desc.dtype, [BM, BN], c_desc.layout)
    ready = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    for i in gl.static_range(STAGES):
        mbarrier.init(ready.index(i), count=1)
    fence_async_shared()

    tiles_m = gl.cdiv(m, BM)
    tiles_n = gl.cdiv(n, BN)
    steps = gl.cdiv(k, BK)
    for i in gl.static_range(STAGES):
        _fetch(a_desc, b_desc, a_ring, b_ring, ready, i, steps, tiles_m, tiles_n, GROUP, STAGES)
    index = 0
    for tile in range(gl.program_id(0), tiles_m * tiles_n, gl.num_programs(0)):
        acc = gl.zeros((BM, BN), gl.float32, layout)
        for _ in range(steps):
            slot = index % STAGES
            mbarrier.wait(ready.index(slot), index // STAGES & 1)
            acc = warpgroup_mma(a_ring.index(slot), b_ring.index(slot), acc, is_async=True)
            acc = warpgroup_mma_wait(1, deps=(acc,))
            # Every warp has finished the previous MMA, so the operands of that MMA may be
            # overwritten.
            gl.thread_barrier()
            if index > 0:
                _fetch(
                    a_desc,
                    b_desc,
                    a_ring,
                    b_ring,
                    ready,
                    index - 1 + STAGES,
                    steps,
                    tiles_m,
                    tiles_n,
                    GROUP,
                    STAGES,
                )
            index += 1
        acc = warpgroup_mma_wait(0, deps=(acc,))
        row, col = _corner(tile, tiles_m, tiles_n, BM, BN, GROUP)
        # Waits until the store of the previous tile has read this buffer. Only the thread that
        # issued the store can wait for it; the other threads wait for this thread at the barrier.
        tma.store_wait(pendings=0)
        gl.thread_barrier()
        c_tile.store(acc.to(c_desc.dtype))
        fence_async_shared()
        gl.thread_barrier()
        tma.async_copy_shared_to_global(c_desc, [row, col], c_tile)
    tma.store_wait(pendings=0)
    for i in gl.static_range(STAGES):
        mbarrier.invalidate(ready.index(i))


def gluon_persistent_gemm(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    m, k = a.shape
    n = b.shape[1]
    c = torch.empty((m, n), dtype=a.dtype, device=a.device)
    # With tiles of 128 x 256, three stages fit beside the 64 KiB of c. A small product uses smaller
    # tiles, so that there are enough tiles for all multiprocessors.
    if m * n >= 2048 * 2048:
        bm, bn, bk, warps, stages = 128, 256, 64, 8, 3
    elif m * n >= 512 * 512:
        bm, bn, bk, warps, stages = 128, 128, 64, 8, 4
    else:
        bm, bn, bk, warps, stages = 64, 64, 64, 4, 5
    blocks = [(a, [bm, bk]), (b, [bk, bn]), (c, [bm, bn])]
    descriptors = [
        TensorDescriptor.from_tensor(
            t, block, gl.NVMMASharedLayout.get_default_for(block, gl.float16)
        )
        for t, block in blocks
    ]
    layout = gl.NVMMADistributedLayout(
        version=[3, 0], warps_per_cta=[warps, 1], instr_shape=[16, bn, 16]
    )
    programs = min(MULTIPROCESSORS, triton.cdiv(m, bm) * triton.cdiv(n, bn))
    _gemm_kernel[(programs,)](
        *descriptors, m, n, k, STAGES=stages, GROUP=GROUP, layout=layout, num_warps=warps
    )
    return c
