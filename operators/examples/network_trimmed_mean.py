"""A sorting network orders four values in registers by five exchanges, and the kernel stores the mean of the middle two."""

import torch
import triton
import triton.language as tl


@triton.jit
def _order(a, b):
    return tl.minimum(a, b), tl.maximum(a, b)


@triton.jit
def _trimmed_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(x_ptr + at, mask=at < n)
    b = tl.load(x_ptr + n + at, mask=at < n)
    c = tl.load(x_ptr + 2 * n + at, mask=at < n)
    d = tl.load(x_ptr + 3 * n + at, mask=at < n)
    a, b = _order(a, b)
    c, d = _order(c, d)
    a, c = _order(a, c)
    b, d = _order(b, d)
    b, c = _order(b, c)
    tl.store(out_ptr + at, (b + c) * 0.5, mask=at < n)


def trimmed_mean_of_four(x):
    out = torch.empty_like(x[0])
    _trimmed_kernel[(triton.cdiv(out.numel(), 64),)](x, out, out.numel(), BLOCK=64)
    return out


def check():
    x = torch.randn(4, 100)
    torch.testing.assert_close(trimmed_mean_of_four(x), x.sort(0).values[1:3].mean(0))
