"""The kernel computes a float16 x int8 GEMM in transposed form: c^T = w x^T.

On Hopper, only the left operand of a tensor-core instruction can be in registers. The weights must
pass through registers to become float16, so they are the left operand. x stays in shared memory."""

import torch
import triton
import triton.language as tl


@triton.jit
def _gemm_kernel(
    x_ptr,
    w_ptr,
    scale_ptr,
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
    # Consecutive programs compute the tiles of a short column, then those of the column to its
    # right. So programs that run at the same time share channels and tokens.
    tiles_m = tl.cdiv(m, BM)
    tiles_n = tl.cdiv(n, BN)
    program = tl.program_id(0)
    group = program // (GROUP * tiles_m)
    height = min(tiles_n - group * GROUP, GROUP)
    tile_n = group * GROUP + (program % (GROUP * tiles_m)) % height
    tile_m = (program % (GROUP * tiles_m)) // height

    tokens = (tile_m * BM + tl.arange(0, BM)) % m
    channels = (tile_n * BN + tl.arange(0, BN)) % n
    depth = tl.arange(0, BK)
    w_tile = w_ptr + channels.to(tl.int64)[:, None] * k + depth[None, :]
    x_tile = x_ptr + tokens.to(tl.int64)[None, :] * k + depth[:, None]
    acc = tl.zeros((BN, BM), tl.float32)
    for first in range(0, k, BK):
        if EVEN_K:
            w = tl.load(w_tile)
            x = tl.load(x_tile)
        else:
            w = tl.load(w_tile, mask=(first + depth)[None, :] < k, other=0)
            x = tl.load(x_tile, mask=(first + depth)[:, None] < k, other=0.0)
        # int8 values are exact in float16. The scale is applied after the sum. As a float16, the
        # bits 0x6400 | (w + 128) are 1024 + 128 + w, so no conversion instruction is needed, and
        # the difference is exact.
        biased = ((w.to(tl.uint8, bitcast=True) ^ 128).to(tl.uint16) | 0x6400).to(
            tl.float16, bitcast=True
        )
        acc = tl.dot(biased - 1152.0, x, acc)
        w_tile += BK
        x_tile += BK
    c = acc * tl.load(scale_ptr + channels)[:, None]
    tokens = tile_m * BM + tl.arange(0, BM)
    channels = tile_n * BN + tl.arange(0, BN)
    mask = (tokens < m)[:, None] & (channels < n)[None, :]
    tl.store(
        c_ptr + tokens.to(tl.int64)[:, None] * n + channels[None, :],
        tl.trans(c.to(tl.float16)),
        mask=mask,
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


def w8a16_gemm(x: torch.Tensor, w: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    m, k = x.shape
    n = w.shape[0]
    c = torch.empty((m, n), dtype=torch.float16, device=x.device)
    if m * n >= 2048 * 2048:
        bm, bn, bk, warps, stages = 256, 128, 64, 8, 3
    elif m <= 32:
        # For few tokens (decoding), nearly all time is spent on reading the weights once. So the
        # tiles are long in k, and many tiles are in flight.
        bm, bn, bk, warps, stages = 16 if m <= 16 else 32, 64, 128, 4, 5
    elif m * n >= 512 * 512:
        bm, bn, bk, warps, stages = 64, 128, 64, 4, 4
    else:
        bm, bn, bk, warps, stages = 32, 64, 64, 4, 5
    grid = (triton.cdiv(m, bm) * triton.cdiv(n, bn),)
    _gemm_kernel[grid](
        x,
        w,
        scale,
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
