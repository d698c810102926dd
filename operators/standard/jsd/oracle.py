"""Sum of terms over two matrices read as vectors, in one pass.

With the maximum taken out, one of the two exponentials of the mixture is exp(0): two exponentials and one logarithm an element are few
enough to stay bound by memory. A fixed number of programs keeps lanes of partial sums; a second kernel adds up their shares in order.
"""

import torch
import triton
import triton.language as tl

PROGRAMS = 1056  # eight for each SM of the largest part


@triton.jit
def _terms_kernel(x_ptr, target_ptr, shares_ptr, size, beta, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for block in range(tl.program_id(0), tl.cdiv(size, BLOCK), tl.num_programs(0)):
        place = block * BLOCK + lane
        mask = place < size
        # Past the end both are so low that the term is zero.
        x = tl.load(x_ptr + place, mask=mask, other=-1.0e4)
        target = tl.load(target_ptr + place, mask=mask, other=-1.0e4)
        top = tl.maximum(x, target)
        ratio = tl.exp(tl.minimum(x, target) - top)
        largest = tl.exp(top)
        target_leads = target >= x
        p_share = tl.where(target_leads, 1.0, ratio) * beta
        q_share = tl.where(target_leads, ratio, 1.0) * (1.0 - beta)
        log_m = tl.log(p_share + q_share)
        total += largest * (p_share * (target - top - log_m) + q_share * (x - top - log_m))
    tl.store(shares_ptr + tl.program_id(0), tl.sum(total, axis=0))


@triton.jit
def _sum_kernel(shares_ptr, out_ptr, count, factor, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, count, BLOCK):
        total += tl.load(shares_ptr + first + lane, mask=first + lane < count, other=0.0)
    tl.store(out_ptr, tl.sum(total, axis=0) * factor)


def jsd(x: torch.Tensor, target: torch.Tensor, beta: float) -> torch.Tensor:
    rows = x.shape[0]
    size = x.numel()
    block = 2048
    programs = min(PROGRAMS, triton.cdiv(size, block))
    shares = torch.empty((programs,), dtype=torch.float32, device=x.device)
    loss = torch.empty((1,), dtype=torch.float32, device=x.device)
    _terms_kernel[(programs,)](x, target, shares, size, beta, BLOCK=block, num_warps=4)
    _sum_kernel[(1,)](shares, loss, programs, 1.0 / rows, BLOCK=2048, num_warps=8)
    return loss
