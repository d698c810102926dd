"""The kernels compute the layer norm of a product plus a residual.

For up to 256 columns a tile contains whole rows, and one kernel computes everything. For wider rows
such a tile would have too few rows for the tensor cores, and b would be read again for every few
rows. In this case the first kernel computes the sum of product and residual in large tiles and
stores the sum. The second kernel normalises the rows, which are mostly still in the L2 cache."""

import torch
import triton
import triton.language as tl


@triton.jit
def _product_kernel(
    a_ptr,
    b_ptr,
    r_ptr,
    gamma_ptr,
    beta_ptr,
    out_ptr,
    m,
    n,
    k,
    eps,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    GROUP: tl.constexpr,
    EVEN_K: tl.constexpr,
    WHOLE_ROWS: tl.constexpr,
):
    tiles_m = tl.cdiv(m, BM)
    tiles_n = tl.cdiv(n, BN)
    program = tl.program_id(0)
    group = program // (GROUP * tiles_n)
    height = min(tiles_m - group * GROUP, GROUP)
    tile_m = group * GROUP + (program % (GROUP * tiles_n)) % height
    tile_n = (program % (GROUP * tiles_n)) // height

    # Rows and columns past the end wrap around to the start, so the loads need no mask. The results
    # of these rows and columns are masked below.
    rows = tile_m * BM + tl.arange(0, BM)
    columns = tile_n * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    a_tile = a_ptr + (rows % m)[:, None] * k + depth[None, :]
    b_tile = b_ptr + depth[:, None] * n + (columns % n)[None, :]
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
    inside = (rows < m)[:, None] & (columns < n)[None, :]
    place = rows[:, None] * n + columns[None, :]
    acc += tl.load(r_ptr + place, mask=inside, other=0.0).to(tl.float32)
    if WHOLE_ROWS:
        acc = tl.where((columns < n)[None, :], acc, 0.0)
        centred = tl.where((columns < n)[None, :], acc - (tl.sum(acc, axis=1) / n)[:, None], 0.0)
        rstd = tl.rsqrt(tl.sum(centred * centred, axis=1) / n + eps)
        gamma = tl.load(gamma_ptr + columns, mask=columns < n, other=0.0).to(tl.float32)
        beta = tl.load(beta_ptr + columns, mask=columns < n, other=0.0).to(tl.float32)
        acc = centred * rstd[:, None] * gamma[None, :] + beta[None, :]
    tl.store(out_ptr + place, acc.to(out_ptr.dtype.element_ty), mask=inside)


@triton.jit
def _norm_kernel(h_ptr, gamma_ptr, beta_ptr, y_ptr, n, eps, BLOCK: tl.constexpr):
    start = tl.program_id(0) * n
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    gamma = tl.load(gamma_ptr + columns, mask=mask, other=0.0).to(tl.float32)
    beta = tl.load(beta_ptr + columns, mask=mask, other=0.0).to(tl.float32)
    h = tl.load(h_ptr + start + columns, mask=mask, other=0.0).to(tl.float32)
    centred = tl.where(mask, h - tl.sum(h, axis=0) / n, 0.0)
    rstd = tl.rsqrt(tl.sum(centred * centred, axis=0) / n + eps)
    tl.store(y_ptr + start + columns, (centred * rstd * gamma + beta).to(tl.float16), mask=mask)


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


def gemm_residual_layernorm(
    a: torch.Tensor,
    b: torch.Tensor,
    r: torch.Tensor,
    gamma: torch.Tensor,
    beta: torch.Tensor,
    eps: float,
) -> torch.Tensor:
    m, k = a.shape
    n = b.shape[1]
    y = torch.empty((m, n), dtype=a.dtype, device=a.device)
    whole_rows = n <= 256
    if whole_rows:
        bn = max(16, triton.next_power_of_2(n))
        bm, bk, warps, stages = (
            (128, 64, 8, 3) if bn == 256 and m >= 8192 else (64, 64, 4 if bn <= 128 else 8, 4)
        )
    elif m * n >= 2048 * 2048:
        bm, bn, bk, warps, stages = 128, 256, 64, 8, 3
    else:
        bm, bn, bk, warps, stages = 64, 64, 64, 4, 4
    # The sum is stored in y itself, in float16, and is normalised in place. This needs half the
    # traffic of a float32 buffer.
    out = y
    grid = (triton.cdiv(m, bm) * triton.cdiv(n, bn),)
    even = k % bk == 0
    _product_kernel[grid](
        a, b, r, gamma, beta, out, m, n, k, eps,
        BM=bm, BN=bn, BK=bk, GROUP=8, EVEN_K=even, WHOLE_ROWS=whole_rows, num_warps=warps, num_stages=_stages(stages),
    )  # fmt: skip
    if not whole_rows:
        _norm_kernel[(m,)](
            out, gamma, beta, y, n, eps, BLOCK=triton.next_power_of_2(n), num_warps=2
        )
    return y
