"""The kernel computes the complex product of interleaved (real, imaginary) pairs. It loads the
pairs of a block as contiguous words, and splits and joins the pairs in registers.

A full block is accessed without a mask. If n is not divisible by 16, a mask would make the compiler
split the 16-byte accesses into single elements."""

import torch
import triton
import triton.language as tl


@triton.jit
def _complex(x, y, BLOCK: tl.constexpr):
    a, b = tl.split(tl.reshape(x, (BLOCK // 2, 2)))
    c, d = tl.split(tl.reshape(y, (BLOCK // 2, 2)))
    return tl.reshape(tl.join(a * c - b * d, a * d + b * c), (BLOCK,))


@triton.jit
def _complex_kernel(x_ptr, y_ptr, z_ptr, words, BLOCK: tl.constexpr):
    first = tl.program_id(0) * BLOCK
    offsets = first + tl.arange(0, BLOCK)
    if first + BLOCK <= words:
        x = tl.load(x_ptr + offsets)
        y = tl.load(y_ptr + offsets)
        tl.store(z_ptr + offsets, _complex(x, y, BLOCK))
    else:
        mask = offsets < words
        x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
        y = tl.load(y_ptr + offsets, mask=mask, other=0.0)
        tl.store(z_ptr + offsets, _complex(x, y, BLOCK), mask=mask)


def complex_mul(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    z = torch.empty_like(x)
    words = x.numel()
    block = 2048
    _complex_kernel[(triton.cdiv(words, block),)](x, y, z, words, BLOCK=block, num_warps=8)
    return z
