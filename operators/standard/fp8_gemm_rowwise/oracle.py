"""The kernel computes a float8 GEMM on tensor cores. Tensor cores add up float8 products with low
precision, so after every 128 products their sum is added to a float32 accumulator."""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def _gemm_kernel(
    a_ptr,
    b_ptr,
    a_scale_ptr,
    b_scale_ptr,
    c_ptr,
    m,
    n,
    k,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    GROUP: tl.constexpr,
    EVEN_K: tl.constexpr,
):
    # Consecutive programs compute a column of GROUP tiles, then the column to its right. So
    # programs that run at the same time share rows of a and of b in the L2 cache.
    tiles_m = tl.cdiv(m, BM)
    tiles_n = tl.cdiv(n, BN)
    program = tl.program_id(0)
    group = program // (GROUP * tiles_n)
    height = min(tiles_m - group * GROUP, GROUP)
    tile_m = group * GROUP + (program % (GROUP * tiles_n)) % height
    tile_n = (program % (GROUP * tiles_n)) // height

    # Rows past the end wrap around to the start, so the loads need no mask for rows. The results of
    # these rows are never stored.
    rows = (tile_m * BM + tl.arange(0, BM)) % m
    columns = (tile_n * BN + tl.arange(0, BN)) % n
    depth = tl.arange(0, BK)
    a_tile = a_ptr + rows.to(tl.int64)[:, None] * k + depth[None, :]
    b_tile = b_ptr + columns.to(tl.int64)[None, :] * k + depth[:, None]
    acc = tl.zeros((BM, BN), tl.float32)
    for first in range(0, k, BK):
        if EVEN_K:
            a = tl.load(a_tile)
            b = tl.load(b_tile)
        else:
            a = tl.load(a_tile, mask=(first + depth)[None, :] < k, other=0.0)
            b = tl.load(b_tile, mask=(first + depth)[:, None] < k, other=0.0)
        acc = tl.dot(a, b, acc, max_num_imprecise_acc=128)
        a_tile += BK
        b_tile += BK
    c = acc * tl.load(a_scale_ptr + rows)[:, None] * tl.load(b_scale_ptr + columns)[None, :]
    rows = tile_m * BM + tl.arange(0, BM)
    columns = tile_n * BN + tl.arange(0, BN)
    tl.store(
        c_ptr + rows.to(tl.int64)[:, None] * n + columns[None, :],
        c.to(tl.float16),
        mask=(rows < m)[:, None] & (columns < n)[None, :],
    )


@triton.jit
def _tma_kernel(
    a_desc, b_desc, a_scale_ptr, b_scale_ptr, c_ptr, m, n, k, programs,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr, FLATTEN: tl.constexpr,
):  # fmt: skip
    # TMA loads the operand tiles. A program computes two neighbouring tiles of c, so that it
    # fetches a once for both tiles. That reduces the traffic from the L2 cache, which limits the
    # speed of float8. The tensor cores sum each block of k separately, and both tiles use the same
    # registers for this sum, one after the other. A thread needs 64 + 64 registers for the
    # accumulators and 64 for the sum of the block.
    tiles_m = tl.cdiv(m, BM)
    tiles_n = tl.cdiv(n, 2 * BN)
    for tile in tl.range(tl.program_id(0), tiles_m * tiles_n, programs, flatten=FLATTEN):
        group = tile // (GROUP * tiles_n)
        height = min(tiles_m - group * GROUP, GROUP)
        top = (group * GROUP + (tile % (GROUP * tiles_n)) % height) * BM
        left = (tile % (GROUP * tiles_n)) // height * (2 * BN)
        acc0 = tl.zeros((BM, BN), tl.float32)
        acc1 = tl.zeros((BM, BN), tl.float32)
        for first in range(0, k, BK):
            a = a_desc.load([top, first])
            b0 = b_desc.load([left, first])
            b1 = b_desc.load([left + BN, first])
            acc0 += tl.dot(a, b0.T)
            acc1 += tl.dot(a, b1.T)
        rows = top + tl.arange(0, BM)
        columns = left + tl.arange(0, BN)
        a_scale = tl.load(a_scale_ptr + rows, mask=rows < m, other=0.0)[:, None]
        c_tile = c_ptr + rows.to(tl.int64)[:, None] * n + columns[None, :]
        b_scale = tl.load(b_scale_ptr + columns, mask=columns < n, other=0.0)[None, :]
        tl.store(
            c_tile,
            (acc0 * a_scale * b_scale).to(tl.float16),
            mask=(rows < m)[:, None] & (columns < n)[None, :],
        )
        b_scale = tl.load(b_scale_ptr + BN + columns, mask=columns + BN < n, other=0.0)[None, :]
        tl.store(
            c_tile + BN,
            (acc1 * a_scale * b_scale).to(tl.float16),
            mask=(rows < m)[:, None] & (columns + BN < n)[None, :],
        )


def _stages(most: int) -> int:
    """Returns the number of pipeline stages: `most` in general, and at most two on AMD GPUs. An AMD
    GPU has 64 KiB of shared memory, which is enough for the tiles of one step only. With two stages
    the loads run one step ahead, and the loaded values wait in registers."""
    if (
        triton.knobs.runtime.interpret
        or triton.runtime.driver.active.get_current_target().backend != "hip"
    ):
        return most
    return min(most, 2)


def _is_amd() -> bool:
    """Returns True on AMD GPUs. An AMD GPU has no TMA, and the registers of 8 waves are not enough
    for two tiles at a time, so one tile is computed, and is loaded by pointers."""
    return (
        not triton.knobs.runtime.interpret
        and triton.runtime.driver.active.get_current_target().backend == "hip"
    )


def fp8_gemm_rowwise(
    a: torch.Tensor, b: torch.Tensor, a_scale: torch.Tensor, b_scale: torch.Tensor
) -> torch.Tensor:
    m, k = a.shape
    n = b.shape[0]
    c = torch.empty((m, n), dtype=torch.float16, device=a.device)
    # A tile needs two accumulators: the total, and the sum of the current block of k. With a tile
    # of 128 x 256 they would need all registers of 8 warps, so the large tile is 128 x 128.
    if m * n >= 2048 * 2048:
        bm, bn, bk, warps, stages = 128, 128, 128, 8, 4
    elif m <= 32:
        bm, bn, bk, warps, stages = 16, 32, 256, 4, 4
    elif k % 16 != 0:
        # If k is not a multiple of 16, rows are not aligned to 16 bytes, so they are loaded byte by
        # byte. Such code takes minutes to compile with large tiles, and seconds with small tiles.
        bm, bn, bk, warps, stages = 64, 64, 128, 8, 3
    elif m * n >= 512 * 512:
        bm, bn, bk, warps, stages = 128, 64, 128, 4, 4
    else:
        bm, bn, bk, warps, stages = 64, 32, 128, 4, 4
    grid = (triton.cdiv(m, bm) * triton.cdiv(n, bn),)
    if m * n >= 2048 * 2048 and k % 16 == 0 and not _is_amd():
        a_desc = TensorDescriptor.from_tensor(a, [bm, bk])
        b_desc = TensorDescriptor.from_tensor(b, [bn, bk])
        tiles = triton.cdiv(m, bm) * triton.cdiv(n, 2 * bn)
        programs = min(132, tiles)
        _tma_kernel[(programs,)](
            a_desc,
            b_desc,
            a_scale,
            b_scale,
            c,
            m,
            n,
            k,
            programs,
            BM=bm,
            BN=bn,
            BK=bk,
            GROUP=8,
            FLATTEN=True,
            num_warps=warps,
            num_stages=4,
        )
        return c
    _gemm_kernel[grid](
        a,
        b,
        a_scale,
        b_scale,
        c,
        m,
        n,
        k,
        BM=bm,
        BN=bn,
        BK=bk,
        GROUP=8,
        EVEN_K=k % bk == 0,
        num_warps=warps,
        num_stages=_stages(stages),
    )
    return c
