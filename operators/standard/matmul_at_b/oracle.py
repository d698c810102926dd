"""The kernel computes a^T b on tensor cores. It loads each tile of a in the order of memory (k x
m), so that it reads whole cache lines. The transposition costs nothing: for 16-bit types, tensor
cores can read a tile in shared memory in either order."""

import torch
import triton
import triton.language as tl


@triton.jit
def _at_b_kernel(
    a_ptr,
    b_ptr,
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
    tiles_m = tl.cdiv(m, BM)
    tiles_n = tl.cdiv(n, BN)
    program = tl.program_id(0)
    group = program // (GROUP * tiles_n)
    height = min(tiles_m - group * GROUP, GROUP)
    tile_m = group * GROUP + (program % (GROUP * tiles_n)) % height
    tile_n = (program % (GROUP * tiles_n)) // height

    # Rows and columns of c past the end wrap around to the start, so the loads need no mask. The
    # results of these rows and columns are never stored.
    rows = (tile_m * BM + tl.arange(0, BM)) % m
    columns = (tile_n * BN + tl.arange(0, BN)) % n
    depth = tl.arange(0, BK)
    a_tile = a_ptr + depth[:, None] * m + rows[None, :]
    b_tile = b_ptr + depth[:, None] * n + columns[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for first in range(0, k, BK):
        if EVEN_K:
            a = tl.load(a_tile)
            b = tl.load(b_tile)
        else:
            a = tl.load(a_tile, mask=(first + depth)[:, None] < k, other=0.0)
            b = tl.load(b_tile, mask=(first + depth)[:, None] < k, other=0.0)
        acc = tl.dot(tl.trans(a), b, acc)
        a_tile += BK * m
        b_tile += BK * n
    rows = tile_m * BM + tl.arange(0, BM)
    columns = tile_n * BN + tl.arange(0, BN)
    tl.store(
        c_ptr + rows[:, None] * n + columns[None, :],
        acc.to(tl.float16),
        mask=(rows < m)[:, None] & (columns < n)[None, :],
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


def matmul_at_b(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    k, m = a.shape
    n = b.shape[1]
    c = torch.empty((m, n), dtype=a.dtype, device=a.device)
    if m * n >= 2048 * 2048:
        bm, bn, bk, warps, stages = 128, 256, 64, 8, 3
    elif m * n >= 512 * 512:
        bm, bn, bk, warps, stages = 128, 64, 64, 4, 4
    else:
        bm, bn, bk, warps, stages = 64, 32, 64, 4, 5
    grid = (triton.cdiv(m, bm) * triton.cdiv(n, bn),)
    _at_b_kernel[grid](
        a,
        b,
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
