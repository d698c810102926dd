"""This TLX kernel computes a persistent product with specialised warps. One task loads operand
tiles with TMA. Two other tasks multiply, each for half of a tile's rows.

The loader continues with the next tile of c without waiting. So the operands of the next tile
arrive while this tile is rounded and stored. Shared memory has STAGES slots for operand tiles.
Operand tiles are numbered consecutively across all tiles of c. The number of an operand tile
determines its slot, and the phase of the slot's barriers. To wait for a free slot, the kernel waits
for the slot's previous phase. For a new barrier the previous phase counts as complete."""

import torch
import triton
import triton.language as tl
import triton.language.extra.tlx as tlx
from triton.tools.tensor_descriptor import TensorDescriptor

MULTIPROCESSORS = 132
GROUP = 8


@triton.jit
def _corner(tile, tiles_m, tiles_n, BM: tl.constexpr, BN: tl.constexpr, GROUP: tl.constexpr):
    """Returns the corner of tile number `tile`. Consecutive numbers belong to a column of GROUP
    tiles, and then to the column to its right, so that programs that run at the same time share
    rows of a and columns of b."""
    group = tile // (GROUP * tiles_n)
    height = min(tiles_m - group * GROUP, GROUP)
    row = (group * GROUP + tile % (GROUP * tiles_n) % height) * BM
    col = tile % (GROUP * tiles_n) // height * BN
    return row, col


@triton.jit
def _gemm_kernel(
    a_desc,
    b_desc,
    c_desc,
    m,
    n,
    k,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    GROUP: tl.constexpr,
    STAGES: tl.constexpr,
):
    HALF: tl.constexpr = BM // 2
    a_ring = tlx.local_alloc((HALF, BK), tl.float16, 2 * STAGES)
    b_ring = tlx.local_alloc((BK, BN), tl.float16, STAGES)
    c_halves = tlx.local_alloc((HALF, BN), tl.float16, 2)
    loaded = tlx.alloc_barriers(STAGES, arrive_count=1)
    taken = tlx.alloc_barriers(STAGES, arrive_count=2)
    # This fence is needed because TMA signals the barriers through a different path to memory (the
    # async proxy) than the path that initialised them.
    tlx.fence("async_shared")
    with tlx.async_tasks():
        with tlx.async_task("default"):
            tiles_m = tl.cdiv(m, BM)
            tiles_n = tl.cdiv(n, BN)
            steps = tl.cdiv(k, BK)
            index = 0
            for tile in range(tl.program_id(0), tiles_m * tiles_n, tl.num_programs(0)):
                row, col = _corner(tile, tiles_m, tiles_n, BM, BN, GROUP)
                for i in range(0, steps):
                    slot = index % STAGES
                    tlx.barrier_wait(taken[slot], index // STAGES & 1 ^ 1)
                    tlx.barrier_expect_bytes(loaded[slot], 2 * (BM * BK + BK * BN))
                    tlx.async_descriptor_load(a_desc, a_ring[2 * slot], [row, i * BK], loaded[slot])
                    tlx.async_descriptor_load(
                        a_desc, a_ring[2 * slot + 1], [row + HALF, i * BK], loaded[slot]
                    )
                    tlx.async_descriptor_load(b_desc, b_ring[slot], [i * BK, col], loaded[slot])
                    index += 1
        with tlx.async_task(num_warps=4, registers=232, replicate=2):
            half = tlx.async_task_replica_id()
            tiles_m = tl.cdiv(m, BM)
            tiles_n = tl.cdiv(n, BN)
            steps = tl.cdiv(k, BK)
            index = 0
            for tile in range(tl.program_id(0), tiles_m * tiles_n, tl.num_programs(0)):
                acc = tl.zeros((HALF, BN), tl.float32)
                for i in range(0, steps):
                    slot = index % STAGES
                    tlx.barrier_wait(loaded[slot], index // STAGES & 1)
                    acc = tlx.async_dot(a_ring[2 * slot + half], b_ring[slot], acc)
                    # The previous MMA has ended, so its slot is free.
                    acc = tlx.async_dot_wait(1, acc)
                    if i > 0:
                        tlx.barrier_arrive(taken[(index - 1) % STAGES], 1)
                    index += 1
                acc = tlx.async_dot_wait(0, acc)
                tlx.barrier_arrive(taken[(index - 1) % STAGES], 1)
                row, col = _corner(tile, tiles_m, tiles_n, BM, BN, GROUP)
                # Waits until the store of the previous tile has read the buffer.
                tlx.async_descriptor_store_wait(0)
                tlx.local_store(c_halves[half], acc.to(tl.float16))
                tlx.fence("async_shared")
                tlx.async_descriptor_store(c_desc, c_halves[half], [row + half * HALF, col])
            tlx.async_descriptor_store_wait(0)


def tlx_ws_gemm(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    m, k = a.shape
    n = b.shape[1]
    c = torch.empty((m, n), dtype=a.dtype, device=a.device)
    # With tiles of 128 x 256, three stages fit beside the 64 KiB of c. A small product uses smaller
    # tiles, so that there are enough tiles for all multiprocessors.
    if m * n >= 2048 * 2048:
        bm, bn, bk, stages = 128, 256, 64, 3
    else:
        bm, bn, bk, stages = 128, 64 if m * n < 512 * 512 else 128, 64, 4
    a_desc, b_desc, c_desc = (
        TensorDescriptor.from_tensor(t, box)
        for t, box in ((a, [bm // 2, bk]), (b, [bk, bn]), (c, [bm // 2, bn]))
    )
    programs = min(MULTIPROCESSORS, triton.cdiv(m, bm) * triton.cdiv(n, bn))
    _gemm_kernel[(programs,)](
        a_desc,
        b_desc,
        c_desc,
        m,
        n,
        k,
        BM=bm,
        BN=bn,
        BK=bk,
        GROUP=GROUP,
        STAGES=stages,
        num_warps=4,
        num_stages=1,
    )
    return c
