"""float16 GEMM of odd sizes. Rows at odd addresses allow 2-byte loads only, which neither the asynchronous copies nor the pipeline take.

So a first kernel copies both operands into scratch with rows padded (by zeros) to whole tiles, and the product runs on aligned, unmasked
loads. The copy is O(mk + kn) against O(mnk), and its result is still in L2 for all but the largest sizes.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _pad_kernel(x_ptr, out_ptr, rows, cols, stride, BLOCK_R: tl.constexpr, BLOCK_C: tl.constexpr):
    row = tl.program_id(0) * BLOCK_R + tl.arange(0, BLOCK_R)[:, None]
    column = tl.program_id(1) * BLOCK_C + tl.arange(0, BLOCK_C)[None, :]
    x = tl.load(x_ptr + row * cols + column, mask=(row < rows) & (column < cols), other=0.0)
    # The grid covers the padded rows exactly: nothing to mask.
    tl.store(out_ptr + row * stride + column, x)


@triton.jit
def _matmul_kernel(
    a_ptr, b_ptr, c_ptr, m, n, a_stride, b_stride, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr
):
    tiles_m = tl.cdiv(m, BM)
    tiles_n = tl.cdiv(n, BN)
    program = tl.program_id(0)
    group = program // (GROUP * tiles_n)
    height = min(tiles_m - group * GROUP, GROUP)
    tile_m = group * GROUP + (program % (GROUP * tiles_n)) % height
    tile_n = (program % (GROUP * tiles_n)) // height
    rows = tile_m * BM + tl.arange(0, BM)
    columns = tile_n * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    a_tile = a_ptr + rows[:, None] * a_stride + depth[None, :]
    b_tile = b_ptr + depth[:, None] * b_stride + columns[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for _first in range(0, a_stride, BK):
        acc = tl.dot(tl.load(a_tile), tl.load(b_tile), acc)
        a_tile += BK
        b_tile += BK * b_stride
    tl.store(c_ptr + rows[:, None] * n + columns[None, :], acc.to(tl.float16), mask=(rows < m)[:, None] & (columns < n)[None, :])


def _padded(x: torch.Tensor, row_step: int, column_step: int) -> torch.Tensor:
    rows, cols = x.shape
    height, width = triton.cdiv(rows, row_step) * row_step, triton.cdiv(cols, column_step) * column_step
    out = torch.empty((height, width), dtype=x.dtype, device=x.device)
    block_c = min(column_step, 128)
    _pad_kernel[(height // 16, width // block_c)](x, out, rows, cols, width, BLOCK_R=16, BLOCK_C=block_c, num_warps=4)
    return out


def matmul_irregular(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    m = a.shape[0]
    n = b.shape[1]
    c = torch.empty((m, n), dtype=a.dtype, device=a.device)
    if m * n >= 2000 * 2000:
        bm, bn, bk, warps, stages = 128, 256, 64, 8, 3
    elif m * n >= 512 * 512:
        bm, bn, bk, warps, stages = 128, 64, 64, 4, 4
    else:
        bm, bn, bk, warps, stages = 32, 32, 64, 4, 5
    a, b = _padded(a, bm, bk), _padded(b, bk, bn)
    grid = (triton.cdiv(m, bm) * triton.cdiv(n, bn),)
    _matmul_kernel[grid](a, b, c, m, n, a.shape[1], b.shape[1], BM=bm, BN=bn, BK=bk, GROUP=8, num_warps=warps, num_stages=stages)
    return c
