"""An unrolled loop counts downward and keeps two running values (a Chebyshev series by Clenshaw's recurrence)."""

import torch
import triton
import triton.language as tl


@triton.jit
def _clenshaw_kernel(x_ptr, c_ptr, out_ptr, n, TERMS: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0.0)
    now = tl.zeros([BLOCK], tl.float32)
    last = tl.zeros([BLOCK], tl.float32)
    for k in tl.static_range(TERMS - 1, 0, -1):
        following = 2.0 * x * now - last + tl.load(c_ptr + k)
        last = now
        now = following
    tl.store(out_ptr + at, x * now - last + tl.load(c_ptr), mask=at < n)


def chebyshev(x, c):
    out = torch.empty_like(x)
    _clenshaw_kernel[(triton.cdiv(x.numel(), 64),)](x, c, out, x.numel(), TERMS=c.numel(), BLOCK=64)
    return out


def check():
    x, c = torch.rand(70) * 2 - 1, torch.randn(6)
    want = sum(c[k] * torch.cos(k * x.acos()) for k in range(6))
    torch.testing.assert_close(chebyshev(x, c), want, atol=1e-5, rtol=1e-4)
