"""The kernels compute a linear layer with a low-rank update. The first kernel computes s * (x A),
which is a thin matrix. So the update costs the large GEMM only one more step of its inner loop,
with the same accumulator. If the large GEMM computed x A itself, it would do so again for every
tile of columns."""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def _thin_kernel(
    x_ptr,
    a_ptr,
    out_ptr,
    m,
    k,
    share,
    r,
    s,
    BM: tl.constexpr,
    R: tl.constexpr,
    BK: tl.constexpr,
    EVEN_K: tl.constexpr,
):
    # One program per block of rows would not use the whole memory bandwidth. So each program sums
    # over a part of k, and the kernel of the large product adds up these partial sums.
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    ranks = tl.arange(0, R)
    begin = tl.program_id(1) * share
    depth = begin + tl.arange(0, BK)
    x_tile = x_ptr + (rows % m)[:, None] * k + depth[None, :]
    a_tile = a_ptr + depth[:, None] * r + ranks[None, :]
    acc = tl.zeros((BM, R), tl.float32)
    for first in range(0, min(share, k - begin), BK):
        if EVEN_K:
            x = tl.load(x_tile)
            a = tl.load(a_tile, mask=(ranks < r)[None, :], other=0.0)
        else:
            x = tl.load(x_tile, mask=(first + depth)[None, :] < k, other=0.0)
            a = tl.load(
                a_tile, mask=((first + depth) < k)[:, None] & (ranks < r)[None, :], other=0.0
            )
        acc = tl.dot(x, a, acc)
        x_tile += BK
        a_tile += BK * r
    # Also stores zeros in the columns past the rank, so the second kernel needs no mask.
    out_tile = out_ptr + (tl.program_id(1) * m + rows)[:, None] * R + ranks[None, :]
    tl.store(out_tile, acc * s, mask=(rows < m)[:, None])


@triton.jit
def _lora_kernel(
    x_ptr,
    w_ptr,
    thin_ptr,
    b_ptr,
    y_ptr,
    m,
    n,
    k,
    r,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    R: tl.constexpr,
    SHARES: tl.constexpr,
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
    x_tile = x_ptr + rows[:, None] * k + depth[None, :]
    w_tile = w_ptr + depth[:, None] * n + columns[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for first in range(0, k, BK):
        if EVEN_K:
            x = tl.load(x_tile)
            w = tl.load(w_tile)
        else:
            x = tl.load(x_tile, mask=(first + depth)[None, :] < k, other=0.0)
            w = tl.load(w_tile, mask=(first + depth)[:, None] < k, other=0.0)
        acc = tl.dot(x, w, acc)
        x_tile += BK
        w_tile += BK * n
    ranks = tl.arange(0, R)
    thin_tile = thin_ptr + rows[:, None] * R + ranks[None, :]
    thin = tl.load(thin_tile)
    for _ in tl.static_range(1, SHARES):
        thin_tile += m * R
        thin += tl.load(thin_tile)
    b = tl.load(b_ptr + ranks[:, None] * n + columns[None, :], mask=(ranks < r)[:, None], other=0.0)
    acc = tl.dot(thin.to(tl.float16), b, acc)
    rows = tile_m * BM + tl.arange(0, BM)
    columns = tile_n * BN + tl.arange(0, BN)
    tl.store(
        y_ptr + rows[:, None] * n + columns[None, :],
        acc.to(tl.float16),
        mask=(rows < m)[:, None] & (columns < n)[None, :],
    )


@triton.jit
def _tma_kernel(
    x_desc, w_desc, thin_ptr, b_desc, y_ptr, m, n, k,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, R: tl.constexpr, SHARES: tl.constexpr, GROUP: tl.constexpr,
):  # fmt: skip
    tiles_m = tl.cdiv(m, BM)
    tiles_n = tl.cdiv(n, BN)
    program = tl.program_id(0)
    group = program // (GROUP * tiles_n)
    height = min(tiles_m - group * GROUP, GROUP)
    top = (group * GROUP + (program % (GROUP * tiles_n)) % height) * BM
    left = (program % (GROUP * tiles_n)) // height * BN
    rows = top + tl.arange(0, BM)
    columns = left + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for first in range(0, k, BK):
        acc = tl.dot(x_desc.load([top, first]), w_desc.load([first, left]), acc)
    thin_tile = thin_ptr + (rows % m)[:, None] * R + tl.arange(0, R)[None, :]
    thin = tl.load(thin_tile)
    for _ in tl.static_range(1, SHARES):
        thin_tile += m * R
        thin += tl.load(thin_tile)
    # TMA loads rows of b past the rank as zeros.
    acc = tl.dot(thin.to(tl.float16), b_desc.load([0, left]), acc)
    tl.store(
        y_ptr + rows[:, None] * n + columns[None, :],
        acc.to(tl.float16),
        mask=(rows < m)[:, None] & (columns < n)[None, :],
    )


def _is_amd() -> bool:
    """Returns True on AMD GPUs. An AMD GPU has no TMA, and a tile of 128 x 256 needs more registers than 8
    waves have, so the tiles are smaller and are loaded by pointers."""
    return (
        not triton.knobs.runtime.interpret
        and triton.runtime.driver.active.get_current_target().backend == "hip"
    )


def lora_linear(
    x: torch.Tensor, w: torch.Tensor, a: torch.Tensor, b: torch.Tensor, s: float
) -> torch.Tensor:
    m, k = x.shape
    r, n = b.shape
    y = torch.empty((m, n), dtype=x.dtype, device=x.device)
    rank = max(16, triton.next_power_of_2(r))
    shares = 4 if k >= 1024 else 1
    share = triton.cdiv(triton.cdiv(k, shares), 64) * 64
    thin = torch.empty((shares, m, rank), dtype=torch.float32, device=x.device)
    thin_bm = 64 if m >= 2048 else 16
    _thin_kernel[(triton.cdiv(m, thin_bm), shares)](
        x,
        a,
        thin,
        m,
        k,
        share,
        r,
        s,
        BM=thin_bm,
        R=rank,
        BK=64,
        EVEN_K=k % (shares * 64) == 0,
        num_warps=4,
        num_stages=5,
    )
    if m * n >= 2048 * 2048:
        bm, bn, bk, warps, stages = (128, 128, 64, 8, 2) if _is_amd() else (128, 256, 64, 8, 3)
    elif m <= 16:
        bm, bn, bk, warps, stages = 16, 32, 128, 4, 4
    elif m * n >= 512 * 512:
        bm, bn, bk, warps, stages = 128, 64, 64, 4, 4
    else:
        bm, bn, bk, warps, stages = 64, 32, 64, 4, 5
    grid = (triton.cdiv(m, bm) * triton.cdiv(n, bn),)
    if m * n >= 2048 * 2048 and k % 8 == 0 and n % 8 == 0 and not _is_amd():
        x_desc = TensorDescriptor.from_tensor(x, [bm, bk])
        w_desc = TensorDescriptor.from_tensor(w, [bk, bn])
        b_desc = TensorDescriptor.from_tensor(b, [rank, bn])
        _tma_kernel[grid](
            x_desc,
            w_desc,
            thin,
            b_desc,
            y,
            m,
            n,
            k,
            BM=bm,
            BN=bn,
            BK=bk,
            R=rank,
            SHARES=shares,
            GROUP=8,
            num_warps=warps,
            num_stages=3,
        )
        return y
    _lora_kernel[grid](
        x,
        w,
        thin,
        b,
        y,
        m,
        n,
        k,
        r,
        BM=bm,
        BN=bn,
        BK=bk,
        R=rank,
        SHARES=shares,
        GROUP=8,
        EVEN_K=k % bk == 0,
        num_warps=warps,
        num_stages=stages,
    )
    return y
