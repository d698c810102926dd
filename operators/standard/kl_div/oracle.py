"""Sum of terms over two matrices read as vectors: a fixed number of programs walks over them with lanes of partial sums.

A second kernel adds up one share for each program. Deterministic, and no atomics.
"""

import torch
import triton
import triton.language as tl

PROGRAMS = 1056  # eight for each SM of the largest part


@triton.jit
def _terms_kernel(x_ptr, target_ptr, shares_ptr, size, LOG_TARGET: tl.constexpr, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for block in range(tl.program_id(0), tl.cdiv(size, BLOCK), tl.num_programs(0)):
        place = block * BLOCK + lane
        mask = place < size
        x = tl.load(x_ptr + place, mask=mask, other=0.0)
        if LOG_TARGET:
            target = tl.load(target_ptr + place, mask=mask, other=-float("inf"))
            # Past the end exp is 0, but 0 * -inf would be NaN.
            total += tl.where(mask, tl.exp(target) * (target - x), 0.0)
        else:
            target = tl.load(target_ptr + place, mask=mask, other=0.0)
            # The smallest normal number stands in for zero, so that the logarithm is finite and the term 0.
            total += target * (tl.log(tl.maximum(target, 1.1754944e-38)) - x)
    tl.store(shares_ptr + tl.program_id(0), tl.sum(total, axis=0))


@triton.jit
def _sum_kernel(shares_ptr, out_ptr, count, factor, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, count, BLOCK):
        total += tl.load(shares_ptr + first + lane, mask=first + lane < count, other=0.0)
    tl.store(out_ptr, tl.sum(total, axis=0) * factor)


def kl_div(x: torch.Tensor, target: torch.Tensor, log_target: bool) -> torch.Tensor:
    rows = x.shape[0]
    size = x.numel()
    block = 2048
    programs = min(PROGRAMS, triton.cdiv(size, block))
    shares = torch.empty((programs,), dtype=torch.float32, device=x.device)
    loss = torch.empty((1,), dtype=torch.float32, device=x.device)
    _terms_kernel[(programs,)](x, target, shares, size, LOG_TARGET=log_target, BLOCK=block, num_warps=4)
    _sum_kernel[(1,)](shares, loss, programs, 1.0 / rows, BLOCK=2048, num_warps=8)
    return loss
