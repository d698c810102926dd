"""Triangular GEMM: a tile of c walks over the inner axis only as far as its last row reaches. Left of the diagonal nothing is masked; the
diagonal block has a loop of its own. The longest tiles (last rows) start first, so that the short ones fill the gaps at the end."""

import torch
import triton
import triton.language as tl


@triton.jit
def _triangular_kernel(a_ptr, b_ptr, c_ptr, n, cols, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    tiles_m = tl.cdiv(n, BM)
    tiles_n = tl.cdiv(cols, BN)
    program = tl.program_id(0)
    group = program // (GROUP * tiles_n)
    height = min(tiles_m - group * GROUP, GROUP)
    tile_m = tiles_m - 1 - group * GROUP - (program % (GROUP * tiles_n)) % height
    tile_n = (program % (GROUP * tiles_n)) // height
    rows = tile_m * BM + tl.arange(0, BM)
    columns = tile_n * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    # Rows and columns past the end wrap round; they are never stored. A wrapped row may meet a NaN, which stays in its own row.
    a_tile = a_ptr + (rows % n)[:, None] * n + depth[None, :]
    b_tile = b_ptr + depth[:, None] * cols + (columns % cols)[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    # The diagonal block first: what lies above the diagonal may be NaN, so it is replaced in registers, not multiplied by zero. A mask in
    # the load would differ from element to element and break the 16-byte copies.
    for first in range(tile_m * BM, min(tile_m * BM + BM, n), BK):
        here = first + depth
        a = tl.load(a_tile + first, mask=(here < n)[None, :], other=0.0)
        b = tl.load(b_tile + first * cols, mask=(here < n)[:, None], other=0.0)
        acc = tl.dot(tl.where(here[None, :] <= rows[:, None], a, 0.0), b, acc)
    for _first in range(0, tile_m * BM, BK):
        acc = tl.dot(tl.load(a_tile), tl.load(b_tile), acc)
        a_tile += BK
        b_tile += BK * cols
    tl.store(c_ptr + rows[:, None] * cols + columns[None, :], acc.to(tl.float16), mask=(rows < n)[:, None] & (columns < cols)[None, :])


def triangular_matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    n, cols = b.shape
    c = torch.empty((n, cols), dtype=a.dtype, device=a.device)
    # BM is a multiple of BK, so the unmasked loop ends exactly at the diagonal block.
    if n * cols >= 2048 * 2048:
        bm, bn, bk, warps, stages = 128, 256, 64, 8, 3
    elif n * cols >= 512 * 512:
        bm, bn, bk, warps, stages = 128, 64, 64, 4, 4
    else:
        bm, bn, bk, warps, stages = 64, 32, 64, 4, 4
    grid = (triton.cdiv(n, bm) * triton.cdiv(cols, bn),)
    _triangular_kernel[grid](a, b, c, n, cols, BM=bm, BN=bn, BK=bk, GROUP=8, num_warps=warps, num_stages=stages)
    return c
