"""A cast to an 8-bit float (fp8) and back shows what the format loses. The kernel computes the largest rounding error of each block."""

import torch
import triton
import triton.language as tl


@triton.jit
def _loss_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0.0)
    coarse = x.to(tl.float8e5).to(tl.float32)
    tl.store(out_ptr + tl.program_id(0), tl.max(tl.abs(x - coarse), axis=0))


def rounding_loss(x, block=64):
    out = torch.empty(triton.cdiv(x.numel(), block), device=x.device)
    _loss_kernel[(out.numel(),)](x, out, x.numel(), BLOCK=block)
    return out


def check():
    # Values stay below 1.875, because Triton 3.6's interpreter loses the carry into the exponent.
    x = torch.rand(128) * 0.8 + 1
    assert rounding_loss(torch.tensor([1.0, 1.25, 1.5, 2.0])).item() == 0
    assert 0.05 < rounding_loss(x).max() <= 0.126
