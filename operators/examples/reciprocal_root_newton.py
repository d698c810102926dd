"""The bits of a float give a first guess, which Newton's steps in a static loop refine (1 / sqrt(x) without a root)."""

import torch
import triton
import triton.language as tl


@triton.jit
def _rsqrt_kernel(x_ptr, out_ptr, n, STEPS: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=1.0)
    guess = (0x5F3759DF - (x.to(tl.int32, bitcast=True) >> 1)).to(tl.float32, bitcast=True)
    for _ in tl.static_range(STEPS):
        guess = guess * (1.5 - 0.5 * x * guess * guess)
    tl.store(out_ptr + at, guess, mask=at < n)


def reciprocal_root(x, steps=3):
    out = torch.empty_like(x)
    _rsqrt_kernel[(triton.cdiv(x.numel(), 64),)](x, out, x.numel(), STEPS=steps, BLOCK=64)
    return out


def check():
    x = torch.rand(200) * 100 + 1e-3
    torch.testing.assert_close(reciprocal_root(x), x.rsqrt(), rtol=1e-5, atol=1e-6)
