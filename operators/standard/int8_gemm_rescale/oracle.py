"""The kernel computes an int8 GEMM on tensor cores with int32 accumulators. It applies the scales
once, to the finished tile."""

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
    # Tensor cores require k to be contiguous in both int8 operands. b is stored this way.
    b_tile = b_ptr + columns.to(tl.int64)[None, :] * k + depth[:, None]
    acc = tl.zeros((BM, BN), tl.int32)
    for first in range(0, k, BK):
        if EVEN_K:
            a = tl.load(a_tile)
            b = tl.load(b_tile)
        else:
            a = tl.load(a_tile, mask=(first + depth)[None, :] < k, other=0)
            b = tl.load(b_tile, mask=(first + depth)[:, None] < k, other=0)
        acc = tl.dot(a, b, acc, out_dtype=tl.int32)
        a_tile += BK
        b_tile += BK
    c = (
        acc.to(tl.float32)
        * tl.load(a_scale_ptr + rows)[:, None]
        * tl.load(b_scale_ptr + columns)[None, :]
    )
    rows = tile_m * BM + tl.arange(0, BM)
    columns = tile_n * BN + tl.arange(0, BN)
    tl.store(
        c_ptr + rows.to(tl.int64)[:, None] * n + columns[None, :],
        c.to(tl.float16),
        mask=(rows < m)[:, None] & (columns < n)[None, :],
    )


@triton.jit
def _tma_kernel(
    a_desc,
    b_desc,
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
):
    # TMA loads the operand tiles. TMA needs no pointers in registers and fills positions past the
    # end with zeros. With TMA, shared memory has room for one pipeline stage more than with loads
    # by pointers.
    tiles_m = tl.cdiv(m, BM)
    tiles_n = tl.cdiv(n, BN)
    program = tl.program_id(0)
    group = program // (GROUP * tiles_n)
    height = min(tiles_m - group * GROUP, GROUP)
    top = (group * GROUP + (program % (GROUP * tiles_n)) % height) * BM
    left = (program % (GROUP * tiles_n)) // height * BN
    acc = tl.zeros((BM, BN), tl.int32)
    for first in range(0, k, BK):
        a = a_desc.load([top, first])
        b = b_desc.load([left, first])
        acc = tl.dot(a, b.T, acc, out_dtype=tl.int32)
    a_scale = tl.load(
        a_scale_ptr + top + tl.arange(0, BM), mask=top + tl.arange(0, BM) < m, other=0.0
    )
    b_scale = tl.load(
        b_scale_ptr + left + tl.arange(0, BN), mask=left + tl.arange(0, BN) < n, other=0.0
    )
    rows = top + tl.arange(0, BM)
    columns = left + tl.arange(0, BN)
    mask = (rows < m)[:, None] & (columns < n)[None, :]
    tl.store(
        c_ptr + rows.to(tl.int64)[:, None] * n + columns[None, :],
        (acc.to(tl.float32) * a_scale[:, None] * b_scale[None, :]).to(tl.float16),
        mask=mask,
    )


def _is_amd() -> bool:
    """Returns True on AMD GPUs. An AMD GPU has no TMA, and a tile of 128 x 256 needs more registers than 8
    waves have, so the tiles are smaller and are loaded by pointers."""
    return (
        not triton.knobs.runtime.interpret
        and triton.runtime.driver.active.get_current_target().backend == "hip"
    )


def int8_gemm_rescale(
    a: torch.Tensor, b: torch.Tensor, a_scale: torch.Tensor, b_scale: torch.Tensor
) -> torch.Tensor:
    m, k = a.shape
    n = b.shape[0]
    c = torch.empty((m, n), dtype=torch.float16, device=a.device)
    if m * n >= 2048 * 2048:
        bm, bn, bk, warps, stages = (128, 128, 128, 8, 2) if _is_amd() else (128, 256, 128, 8, 3)
    elif m <= 32:
        bm, bn, bk, warps, stages = 16, 32, 256, 4, 5
    elif m * n >= 512 * 512:
        bm, bn, bk, warps, stages = 128, 64, 128, 4, 4
    else:
        bm, bn, bk, warps, stages = 64, 32, 128, 4, 5
    grid = (triton.cdiv(m, bm) * triton.cdiv(n, bn),)
    if m * n >= 2048 * 2048 and k % 16 == 0 and not _is_amd():
        a_desc = TensorDescriptor.from_tensor(a, [bm, bk])
        b_desc = TensorDescriptor.from_tensor(b, [bn, bk])
        _tma_kernel[grid](
            a_desc,
            b_desc,
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
        num_stages=stages,
    )
    return c
