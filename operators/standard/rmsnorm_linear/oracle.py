"""The kernels compute an RMS norm and a linear layer. The first kernel stores the normalised rows
in float16, which costs one pass over x. If the GEMM normalised the rows itself, it would do so
again for every tile of columns, and the tensor cores would wait for operands to pass through
registers."""

import torch
import triton
import triton.language as tl


@triton.jit
def _norm_kernel(x_ptr, g_ptr, out_ptr, k, eps, BLOCK: tl.constexpr):
    start = tl.program_id(0).to(tl.int64) * k
    columns = tl.arange(0, BLOCK)
    mask = columns < k
    g = tl.load(g_ptr + columns, mask=mask, other=0.0).to(tl.float32)
    x = tl.load(x_ptr + start + columns, mask=mask, other=0.0).to(tl.float32)
    rstd = tl.rsqrt(tl.sum(x * x, axis=0) / k + eps)
    tl.store(out_ptr + start + columns, (x * rstd * g).to(tl.float16), mask=mask)


@triton.jit
def _matmul_kernel(
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

    # Rows and columns past the end wrap around to the start, so the loads need no mask. The results
    # of these rows and columns are never stored.
    rows = (tile_m * BM + tl.arange(0, BM)) % m
    columns = (tile_n * BN + tl.arange(0, BN)) % n
    depth = tl.arange(0, BK)
    a_tile = a_ptr + rows[:, None] * k + depth[None, :]
    b_tile = b_ptr + depth[:, None] * n + columns[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for first in range(0, k, BK):
        if EVEN_K:
            a = tl.load(a_tile)
            b = tl.load(b_tile)
        else:
            a = tl.load(a_tile, mask=(first + depth)[None, :] < k, other=0.0)
            b = tl.load(b_tile, mask=(first + depth)[:, None] < k, other=0.0)
        acc = tl.dot(a, b, acc)
        a_tile += BK
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


def rmsnorm_linear(x: torch.Tensor, g: torch.Tensor, w: torch.Tensor, eps: float) -> torch.Tensor:
    m, k = x.shape
    n = w.shape[1]
    y = torch.empty((m, n), dtype=x.dtype, device=x.device)
    normed = torch.empty_like(x)
    block = triton.next_power_of_2(k)
    _norm_kernel[(m,)](
        x,
        g,
        normed,
        k,
        eps,
        BLOCK=block,
        num_warps=4 if block <= 2048 else 8 if block <= 8192 else 16,
    )
    if m * n >= 2048 * 2048:
        bm, bn, bk, warps, stages = 128, 256, 64, 8, 3
    elif m <= 16:
        bm, bn, bk, warps, stages = 16, 32, 128, 4, 4
    elif m * n >= 512 * 512:
        bm, bn, bk, warps, stages = 128, 64, 64, 4, 4
    else:
        bm, bn, bk, warps, stages = 64, 32, 64, 4, 5
    grid = (triton.cdiv(m, bm) * triton.cdiv(n, bn),)
    _matmul_kernel[grid](
        normed,
        w,
        y,
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
    return y
