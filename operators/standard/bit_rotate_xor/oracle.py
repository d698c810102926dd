"""The kernel rotates by two logical shifts. Both shift amounts are taken mod 32, so neither shift
is by 32. For the amount 0 both shifts give x, and x | x is x.

A full block is accessed without a mask. If n is not divisible by 16, a mask would make the compiler
split the 16-byte accesses into single elements."""

import torch
import triton
import triton.language as tl


@triton.jit
def _rotate(x, s, y):
    word = x.to(tl.uint32, bitcast=True)
    left = s.to(tl.uint32, bitcast=True) & 31
    rotated = (word << left) | (word >> ((32 - left) & 31))
    return rotated.to(tl.int32, bitcast=True) ^ y


@triton.jit
def _rotate_kernel(x_ptr, s_ptr, y_ptr, z_ptr, n, BLOCK: tl.constexpr):
    first = tl.program_id(0) * BLOCK
    offsets = first + tl.arange(0, BLOCK)
    if first + BLOCK <= n:
        x = tl.load(x_ptr + offsets)
        s = tl.load(s_ptr + offsets)
        y = tl.load(y_ptr + offsets)
        tl.store(z_ptr + offsets, _rotate(x, s, y))
    else:
        mask = offsets < n
        x = tl.load(x_ptr + offsets, mask=mask, other=0)
        s = tl.load(s_ptr + offsets, mask=mask, other=0)
        y = tl.load(y_ptr + offsets, mask=mask, other=0)
        tl.store(z_ptr + offsets, _rotate(x, s, y), mask=mask)


def bit_rotate_xor(x: torch.Tensor, s: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    z = torch.empty_like(x)
    n = x.numel()
    block = 1024
    _rotate_kernel[(triton.cdiv(n, block),)](x, s, y, z, n, BLOCK=block, num_warps=8)
    return z
