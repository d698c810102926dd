"""Binary cross entropy in one pass.

A program keeps the weights of its columns in registers and walks down the rows, so that no column number has to be computed by division.
Each stores one share of the sum, and a second kernel adds the shares in a fixed order.
"""

import torch
import triton
import triton.language as tl

PROGRAMS = 1056  # eight for each SM of the largest part


@triton.jit
def _terms_kernel(x_ptr, y_ptr, weight_ptr, shares_ptr, rows, cols, BR: tl.constexpr, BC: tl.constexpr):
    column = tl.program_id(0) * BC + tl.arange(0, BC)
    lane = tl.arange(0, BR)
    extra = tl.load(weight_ptr + column, mask=column < cols, other=1.0)[None, :] - 1.0
    total = tl.zeros((BR, BC), tl.float32)
    for first in range(tl.program_id(1) * BR, rows, tl.num_programs(1) * BR):
        row = first + lane
        mask = (row < rows)[:, None] & (column < cols)[None, :]
        place = row.to(tl.int64)[:, None] * cols + column[None, :]
        x = tl.load(x_ptr + place, mask=mask, other=0.0)
        y = tl.load(y_ptr + place, mask=mask, other=0.0)
        softplus = tl.log(1.0 + tl.exp(-tl.abs(x))) + tl.maximum(-x, 0.0)
        total += tl.where(mask, (1.0 - y) * x + (1.0 + extra * y) * softplus, 0.0)
    tl.store(shares_ptr + tl.program_id(0) * tl.num_programs(1) + tl.program_id(1), tl.sum(tl.sum(total, axis=1), axis=0))


@triton.jit
def _sum_kernel(shares_ptr, out_ptr, count, factor, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, count, BLOCK):
        total += tl.load(shares_ptr + first + lane, mask=first + lane < count, other=0.0)
    tl.store(out_ptr, tl.sum(total, axis=0) * factor)


def bce_with_logits(x: torch.Tensor, y: torch.Tensor, pos_weight: torch.Tensor) -> torch.Tensor:
    rows, cols = x.shape
    bc = min(1024, triton.next_power_of_2(cols))
    br = min(2048 // bc, triton.next_power_of_2(rows))
    across = triton.cdiv(cols, bc)
    down = min(triton.cdiv(rows, br), max(1, PROGRAMS // across))
    shares = torch.empty((across * down,), dtype=torch.float32, device=x.device)
    loss = torch.empty((1,), dtype=torch.float32, device=x.device)
    _terms_kernel[(across, down)](x, y, pos_weight, shares, rows, cols, BR=br, BC=bc, num_warps=4)
    _sum_kernel[(1,)](shares, loss, across * down, 1.0 / (rows * cols), BLOCK=2048, num_warps=8)
    return loss
