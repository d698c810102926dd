"""Each lane halves its interval with tl.where, for a fixed number of rounds, so lanes do not diverge (roots of x + e^x = c)."""

import torch
import triton
import triton.language as tl


@triton.jit
def _root_kernel(c_ptr, out_ptr, n, ROUNDS: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    c = tl.load(c_ptr + at, mask=at < n, other=1.0)
    low = tl.minimum(c, 0.0) - 2.0
    high = tl.maximum(c, 0.0) + 1.0
    for _ in range(ROUNDS):
        middle = 0.5 * (low + high)
        above = middle + tl.exp(middle) > c
        high = tl.where(above, middle, high)
        low = tl.where(above, low, middle)
    tl.store(out_ptr + at, 0.5 * (low + high), mask=at < n)


def roots(c):
    out = torch.empty_like(c)
    _root_kernel[(triton.cdiv(c.numel(), 64),)](c, out, c.numel(), ROUNDS=30, BLOCK=64)
    return out


def check():
    c = torch.randn(80) * 3
    x = roots(c)
    torch.testing.assert_close(x + x.exp(), c, atol=1e-4, rtol=1e-4)
