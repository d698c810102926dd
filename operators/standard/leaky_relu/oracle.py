"""The kernel computes leaky relu in one pass.

A full block is accessed without a mask. If n is not divisible by 16, a mask would make the compiler
split the 16-byte accesses into single elements."""

import torch
import triton
import triton.language as tl


@triton.jit
def _leaky(x, slope):
    return tl.where(x > 0.0, x, slope * x)


@triton.jit
def _leaky_kernel(x_ptr, y_ptr, n, slope, BLOCK: tl.constexpr):
    first = tl.program_id(0) * BLOCK
    offsets = first + tl.arange(0, BLOCK)
    if first + BLOCK <= n:
        x = tl.load(x_ptr + offsets).to(tl.float32)
        tl.store(y_ptr + offsets, _leaky(x, slope).to(y_ptr.dtype.element_ty))
    else:
        mask = offsets < n
        x = tl.load(x_ptr + offsets, mask=mask).to(tl.float32)
        tl.store(y_ptr + offsets, _leaky(x, slope).to(y_ptr.dtype.element_ty), mask=mask)


def leaky_relu(x: torch.Tensor, slope: float) -> torch.Tensor:
    y = torch.empty_like(x)
    n = x.numel()
    block = 2048 if x.dtype == torch.float32 else 4096
    _leaky_kernel[(triton.cdiv(n, block),)](x, y, n, slope, BLOCK=block, num_warps=8)
    return y
