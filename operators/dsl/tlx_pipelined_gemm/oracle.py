"""This TLX kernel fills a ring of operand tiles with cp.async. Asynchronous warpgroup MMAs read the
tiles from shared memory.

One MMA is always in flight. After an MMA is issued and the previous MMA has ended, the slot of the
previous MMA is refilled. The kernel receives k and n as quotients by 8 and multiplies them by 8, so
that the compiler knows that every copy moves 16 bytes. Rows past the end of a wrap around to its
start, because their results are never stored."""

import torch
import triton
import triton.language as tl
import triton.language.extra.tlx as tlx

GROUP = 8


@triton.jit
def _gemm_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    m,
    n8,
    k8,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    GROUP: tl.constexpr,
    STAGES: tl.constexpr,
):
    n, k = n8 * 8, k8 * 8
    # Consecutive programs compute a column of GROUP tiles, then the column to its right. So
    # programs that run at the same time share rows of a and columns of b.
    tiles_m = tl.cdiv(m, BM)
    tiles_n = tl.cdiv(n, BN)
    program = tl.program_id(0)
    group = program // (GROUP * tiles_n)
    height = min(tiles_m - group * GROUP, GROUP)
    tile_m = group * GROUP + program % (GROUP * tiles_n) % height
    tile_n = program % (GROUP * tiles_n) // height

    rows = (tile_m * BM + tl.arange(0, BM)) % m
    columns = tile_n * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    a_tile = a_ptr + rows.to(tl.int64)[:, None] * k + depth[None, :]
    b_tile = b_ptr + depth.to(tl.int64)[:, None] * n + columns[None, :]
    a_ring = tlx.local_alloc((BM, BK), tl.float16, STAGES)
    b_ring = tlx.local_alloc((BK, BN), tl.float16, STAGES)
    for i in tl.static_range(STAGES - 1):
        left = k - i * BK
        a_copy = tlx.async_load(a_tile + i * BK, a_ring[i], mask=depth[None, :] < left)
        b_copy = tlx.async_load(
            b_tile + i * BK * n, b_ring[i], mask=(depth[:, None] < left) & (columns[None, :] < n)
        )
        tlx.async_load_commit_group([a_copy, b_copy])
    a_tile += (STAGES - 1) * BK
    b_tile += (STAGES - 1) * BK * n
    acc = tl.zeros((BM, BN), tl.float32)
    for i in tl.range(0, tl.cdiv(k, BK), num_stages=0):
        # STAGES - 1 groups of copies are in flight, and the oldest group copies this step's tiles.
        # The MMA of a warp group reads tiles that many threads copied. It reads them through
        # another path to memory (the async proxy) than the copies used. So each thread fences its
        # own copies, and then all threads wait at a barrier.
        tlx.async_load_wait_group(STAGES - 2)
        tlx.fence("async_shared")
        tl.debug_barrier()
        slot = i % STAGES
        acc = tlx.async_dot(a_ring[slot], b_ring[slot], acc)
        acc = tlx.async_dot_wait(1, acc)
        # Every warp has finished MMA i - 1, so the operands of that MMA may be overwritten.
        tl.debug_barrier()
        ahead = i + STAGES - 1
        left = k - ahead * BK
        a_copy = tlx.async_load(a_tile, a_ring[ahead % STAGES], mask=depth[None, :] < left)
        b_copy = tlx.async_load(
            b_tile, b_ring[ahead % STAGES], mask=(depth[:, None] < left) & (columns[None, :] < n)
        )
        tlx.async_load_commit_group([a_copy, b_copy])
        a_tile += BK
        b_tile += BK * n
    acc = tlx.async_dot_wait(0, acc)
    tlx.async_load_wait_group(0)
    rows = tile_m * BM + tl.arange(0, BM)
    tl.store(
        c_ptr + rows.to(tl.int64)[:, None] * n + columns[None, :],
        acc.to(tl.float16),
        mask=(rows[:, None] < m) & (columns[None, :] < n),
    )


def tlx_pipelined_gemm(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    m, k = a.shape
    n = b.shape[1]
    c = torch.empty((m, n), dtype=a.dtype, device=a.device)
    # Two warp groups compute a 128 x 256 tile. A small product uses smaller tiles, so that there
    # are enough tiles for all multiprocessors.
    if m * n >= 2048 * 2048:
        bm, bn, bk, warps, stages = 128, 256, 64, 8, 4
    elif m * n >= 512 * 512:
        bm, bn, bk, warps, stages = 128, 128, 64, 8, 4
    else:
        bm, bn, bk, warps, stages = 64, 64, 64, 4, 5
    grid = (triton.cdiv(m, bm) * triton.cdiv(n, bn),)
    _gemm_kernel[grid](
        a,
        b,
        c,
        m,
        n // 8,
        k // 8,
        BM=bm,
        BN=bn,
        BK=bk,
        GROUP=GROUP,
        STAGES=stages,
        num_warps=warps,
        num_stages=1,
    )
    return c
