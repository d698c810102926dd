"""The kernel multiplies a matrix by a vector as fast as it can read the matrix. A program processes
a few rows and keeps a tile of partial sums in registers. It reduces the tile once, at the end. If
there are few long rows, each row is split over programs, and a second kernel adds the partial sums
in a fixed order."""

import torch
import triton
import triton.language as tl

WANTED_PROGRAMS = 1056  # eight programs for each SM of the largest GPU


@triton.jit
def _rows_kernel(a_ptr, x_ptr, out_ptr, m, k, chunk, BM: tl.constexpr, BK: tl.constexpr):
    split = tl.program_id(1)
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.arange(0, BK)
    first = split * chunk
    end = min(first + chunk, k)
    a_rows = a_ptr + rows.to(tl.int64)[:, None] * k
    acc = tl.zeros((BM, BK), tl.float32)
    for start in range(first, end, BK):
        here = start + columns
        x = tl.load(x_ptr + here, mask=here < end, other=0.0).to(tl.float32)
        a = tl.load(
            a_rows + here[None, :], mask=(rows < m)[:, None] & (here < end)[None, :], other=0.0
        ).to(tl.float32)
        acc += a * x[None, :]
    y = tl.sum(acc, axis=1)
    tl.store(out_ptr + split * m + rows, y.to(out_ptr.dtype.element_ty), mask=rows < m)


@triton.jit
def _sum_kernel(shares_ptr, y_ptr, m, splits, BM: tl.constexpr, BS: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    acc = tl.zeros((BS, BM), tl.float32)
    for first in range(0, splits, BS):
        share = first + tl.arange(0, BS)
        acc += tl.load(
            shares_ptr + share[:, None] * m + rows[None, :],
            mask=(share < splits)[:, None] & (rows < m)[None, :],
            other=0.0,
        )
    tl.store(y_ptr + rows, tl.sum(acc, axis=0).to(y_ptr.dtype.element_ty), mask=rows < m)


def gemv(a: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    m, k = a.shape
    y = torch.empty((m,), dtype=a.dtype, device=a.device)
    # A program loads 16384 entries per step, which is 64 per thread. If rows are short, these are
    # entries of several rows.
    bk = min(4096, max(16, triton.next_power_of_2(k)))
    bm = min(16384 // bk, triton.next_power_of_2(m))
    blocks = triton.cdiv(m, bm)
    splits = max(1, min(WANTED_PROGRAMS // blocks, k // (4 * bk)))
    chunk = triton.cdiv(triton.cdiv(k, splits), bk) * bk
    splits = triton.cdiv(k, chunk)
    out = y if splits == 1 else torch.empty((splits, m), dtype=torch.float32, device=a.device)
    _rows_kernel[(blocks, splits)](a, x, out, m, k, chunk, BM=bm, BK=bk, num_warps=8)
    if splits > 1:
        _sum_kernel[(triton.cdiv(m, 16),)](out, y, m, splits, BM=16, BS=64, num_warps=4)
    return y
