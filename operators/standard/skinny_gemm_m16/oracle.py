"""The kernel computes a linear layer for at most 16 tokens as fast as it can read the weights.
Narrow tiles of outputs and a deep pipeline keep enough bytes in flight, and each weight is read
once for all tokens. If there are few outputs, the inner axis is split, and a second kernel adds the
partial sums in a fixed order."""

import torch
import triton
import triton.language as tl

WANTED_PROGRAMS = 264


@triton.jit
def _linear_kernel(
    x_ptr, w_ptr, out_ptr, m, n, k, chunk, BN: tl.constexpr, BK: tl.constexpr, EVEN: tl.constexpr
):
    split = tl.program_id(1)
    rows = tl.arange(0, 16)
    columns = tl.program_id(0) * BN + tl.arange(0, BN)
    first = split * chunk
    end = min(first + chunk, k)
    depth = first + tl.arange(0, BK)
    # Tokens and outputs past the end wrap around to the start, and these results are never stored.
    x_tile = x_ptr + (rows % m)[:, None] * k + depth[None, :]
    w_tile = w_ptr + (columns % n).to(tl.int64)[None, :] * k + depth[:, None]
    acc = tl.zeros((16, BN), tl.float32)
    for start in range(first, end, BK):
        if EVEN:
            x = tl.load(x_tile)
            w = tl.load(w_tile)
        else:
            inside = tl.arange(0, BK) < end - start
            x = tl.load(x_tile, mask=inside[None, :], other=0.0)
            w = tl.load(w_tile, mask=inside[:, None], other=0.0)
        acc = tl.dot(x, w, acc)
        x_tile += BK
        w_tile += BK
    tl.store(
        out_ptr + split * m * n + rows[:, None] * n + columns[None, :],
        acc,
        mask=(rows < m)[:, None] & (columns < n)[None, :],
    )


@triton.jit
def _sum_kernel(shares_ptr, y_ptr, size, splits, BLOCK: tl.constexpr):
    entries = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for split in range(0, splits):
        total += tl.load(shares_ptr + split * size + entries, mask=entries < size, other=0.0)
    tl.store(y_ptr + entries, total, mask=entries < size)


def skinny_gemm_m16(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    m, k = x.shape
    n = w.shape[0]
    y = torch.empty((m, n), dtype=torch.float32, device=x.device)
    bn, bk = 32, 128
    blocks = triton.cdiv(n, bn)
    splits = max(1, min(WANTED_PROGRAMS // blocks, k // (4 * bk)))
    chunk = triton.cdiv(triton.cdiv(k, splits), bk) * bk
    splits = triton.cdiv(k, chunk)
    out = y if splits == 1 else torch.empty((splits, m, n), dtype=torch.float32, device=x.device)
    _linear_kernel[(blocks, splits)](
        x, w, out, m, n, k, chunk, BN=bn, BK=bk, EVEN=k % bk == 0, num_warps=4, num_stages=5
    )
    if splits > 1:
        _sum_kernel[(triton.cdiv(m * n, 128),)](out, y, m * n, splits, BLOCK=128, num_warps=4)
    return y
