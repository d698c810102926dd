"""The kernel computes the margin of a max-plus product. Every thread keeps the two best sums of
each of its outputs in registers.

Tensor cores cannot compute max-plus products, so the kernel is a register-tiled product: each step
uses one column of a and one row of b, with four operations per element. A small kernel first
transposes a, so that the BM values of a thread are contiguous. A thread then needs only one address
for these values. All threads of a warp load the same values, with 16-byte loads. Each thread
computes BM rows of two columns. The transposed copy is padded in both directions, with -inf along
k, so the main loop needs no masks."""

import torch
import triton
import triton.language as tl


@triton.jit
def _transpose_kernel(a_ptr, out_ptr, m, k, width, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    depth = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = (rows < m)[:, None] & (depth < k)[None, :]
    a = tl.load(
        a_ptr + rows.to(tl.int64)[:, None] * k + depth[None, :], mask=mask, other=-float("inf")
    )
    tl.store(
        out_ptr + depth.to(tl.int64)[:, None] * width + rows[None, :],
        tl.trans(a),
        mask=(rows < width)[None, :],
    )


@triton.jit
def _margin_kernel(
    at_ptr, b_ptr, g_ptr, m, n, k, width, BM: tl.constexpr, BN: tl.constexpr, UNROLL: tl.constexpr
):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    a_row = at_ptr + rows
    # Lanes past the end load the last column again. The results of these lanes are not stored.
    b_row = b_ptr + tl.minimum(columns, n - 1)
    best = tl.full((BM, BN), -float("inf"), tl.float32)
    second = tl.full((BM, BN), -float("inf"), tl.float32)
    for first in range(0, k, UNROLL):
        for step in tl.static_range(UNROLL):
            b = tl.load(b_row + tl.minimum(first + step, k - 1).to(tl.int64) * n)
            sums = tl.load(a_row + step * width)[:, None] + b[None, :]
            second = tl.maximum(second, tl.minimum(best, sums))
            best = tl.maximum(best, sums)
        a_row += UNROLL * width
    out = g_ptr + rows.to(tl.int64)[:, None] * n + columns[None, :]
    tl.store(out, best - second, mask=(rows < m)[:, None] & (columns < n)[None, :])


def maxplus_gap_matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    m, k = a.shape
    n = b.shape[1]
    g = torch.empty((m, n), dtype=torch.float32, device=a.device)
    bm, bn, warps = (16, 256, 4) if m * n >= 1024 * 1024 else (8, 64, 2)
    block = 64
    width = triton.cdiv(m, 16) * 16
    depth = triton.cdiv(k, block) * block
    at = torch.empty((depth, width), dtype=torch.float32, device=a.device)
    _transpose_kernel[(triton.cdiv(width, block), depth // block)](
        a, at, m, k, width, BLOCK=block, num_warps=4
    )
    _margin_kernel[(triton.cdiv(m, bm), triton.cdiv(n, bn))](
        at, b, g, m, n, k, width, BM=bm, BN=bn, UNROLL=4, num_warps=warps
    )
    return g
