"""The kernel computes SiLU as x / (1 + exp(-x)). For large negative x the exponential is inf, and x
/ inf is zero, which is correct.

A full block is accessed without a mask. If n is not divisible by 16, a mask would make the compiler
split the 16-byte accesses into single elements."""

import torch
import triton
import triton.language as tl


@triton.jit
def _silu(x):
    return x / (1.0 + tl.exp(-x))


@triton.jit
def _silu_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    first = tl.program_id(0) * BLOCK
    offsets = first + tl.arange(0, BLOCK)
    if first + BLOCK <= n:
        x = tl.load(x_ptr + offsets).to(tl.float32)
        tl.store(y_ptr + offsets, _silu(x))
    else:
        mask = offsets < n
        x = tl.load(x_ptr + offsets, mask=mask).to(tl.float32)
        tl.store(y_ptr + offsets, _silu(x), mask=mask)


def silu(x: torch.Tensor) -> torch.Tensor:
    y = torch.empty(x.shape, dtype=torch.float32, device=x.device)
    n = x.numel()
    block = 2048
    _silu_kernel[(triton.cdiv(n, block),)](x, y, n, BLOCK=block, num_warps=8)
    return y
