"""Scatter-add by relaxed atomics, straight into `out`: the order of additions, and so the last bits, may differ between runs."""

import torch
import triton
import triton.language as tl


@triton.jit
def _scatter_kernel(out_ptr, indices_ptr, x_ptr, alpha, count, dim, BLOCK_T: tl.constexpr, BLOCK_D: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_T + tl.arange(0, BLOCK_T)
    columns = tl.program_id(1) * BLOCK_D + tl.arange(0, BLOCK_D)
    mask = (rows < count)[:, None] & (columns < dim)[None, :]
    target = tl.load(indices_ptr + rows, mask=rows < count, other=0).to(tl.int64)
    x = tl.load(x_ptr + rows.to(tl.int64)[:, None] * dim + columns[None, :], mask=mask, other=0.0)
    tl.atomic_add(out_ptr + target[:, None] * dim + columns[None, :], alpha * x, mask=mask, sem="relaxed")


def index_add(out: torch.Tensor, indices: torch.Tensor, x: torch.Tensor, alpha: float) -> None:
    count, dim = x.shape
    block_d = min(1024, triton.next_power_of_2(dim))
    block_t = max(1, 1024 // block_d)
    grid = (triton.cdiv(count, block_t), triton.cdiv(dim, block_d))
    _scatter_kernel[grid](out, indices, x, alpha, count, dim, BLOCK_T=block_t, BLOCK_D=block_d, num_warps=4)
