"""The kernel computes the triplet loss. It reads the anchor once for both distances. Each program
computes a few whole rows and stores the sum of the losses of these rows.

A second kernel adds these partial sums in a fixed order."""

import torch
import triton
import triton.language as tl


@triton.jit
def _rows_kernel(
    anchor_ptr,
    positive_ptr,
    negative_ptr,
    shares_ptr,
    rows,
    dim,
    margin,
    eps,
    BM: tl.constexpr,
    BD: tl.constexpr,
):
    row = tl.program_id(0) * BM + tl.arange(0, BM)
    column = tl.arange(0, BD)
    place = row.to(tl.int64)[:, None] * dim + column[None, :]
    mask = (row < rows)[:, None] & (column < dim)[None, :]
    anchor = tl.load(anchor_ptr + place, mask=mask, other=0.0)
    near = tl.where(mask, anchor - tl.load(positive_ptr + place, mask=mask, other=0.0) + eps, 0.0)
    far = tl.where(mask, anchor - tl.load(negative_ptr + place, mask=mask, other=0.0) + eps, 0.0)
    difference = tl.sqrt(tl.sum(near * near, axis=1)) - tl.sqrt(tl.sum(far * far, axis=1))
    loss = tl.where(row < rows, tl.maximum(difference + margin, 0.0), 0.0)
    tl.store(shares_ptr + tl.program_id(0), tl.sum(loss, axis=0))


@triton.jit
def _sum_kernel(shares_ptr, out_ptr, count, factor, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, count, BLOCK):
        total += tl.load(shares_ptr + first + lane, mask=first + lane < count, other=0.0)
    tl.store(out_ptr, tl.sum(total, axis=0) * factor)


def triplet_margin(
    anchor: torch.Tensor, positive: torch.Tensor, negative: torch.Tensor, margin: float, eps: float
) -> torch.Tensor:
    rows, dim = anchor.shape
    # A program loads 2048 entries of each of the three matrices, so a thread loads 16 entries of
    # each. These are few enough for all loads to be in flight at once.
    bd = triton.next_power_of_2(dim)
    bm = max(1, 2048 // bd)
    programs = triton.cdiv(rows, bm)
    shares = torch.empty((programs,), dtype=torch.float32, device=anchor.device)
    loss = torch.empty((1,), dtype=torch.float32, device=anchor.device)
    warps = 4 if bd <= 2048 else 8
    _rows_kernel[(programs,)](
        anchor, positive, negative, shares, rows, dim, margin, eps, BM=bm, BD=bd, num_warps=warps
    )
    _sum_kernel[(1,)](shares, loss, programs, 1.0 / rows, BLOCK=4096, num_warps=16)
    return loss
