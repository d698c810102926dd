"""A bitcast extracts the fields of a normal float: the mantissa in [0.5, 1) and the exponent, as frexp returns them."""

import torch
import triton
import triton.language as tl


@triton.jit
def _frexp_kernel(x_ptr, mantissa_ptr, exponent_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=1.0)
    bits = x.to(tl.int32, bitcast=True)
    exponent = ((bits >> 23) & 0xFF) - 126
    mantissa = ((bits & ~0x7F800000) | (126 << 23)).to(tl.float32, bitcast=True)
    tl.store(mantissa_ptr + at, tl.where(x == 0.0, x, mantissa), mask=at < n)
    tl.store(exponent_ptr + at, tl.where(x == 0.0, 0, exponent), mask=at < n)


def frexp(x):
    mantissa, exponent = (
        torch.empty_like(x),
        torch.empty(x.shape, dtype=torch.int32, device=x.device),
    )
    _frexp_kernel[(triton.cdiv(x.numel(), 64),)](x, mantissa, exponent, x.numel(), BLOCK=64)
    return mantissa, exponent


def check():
    x = torch.cat([torch.zeros(1), torch.randn(99) * 10.0 ** torch.randint(-20, 20, (99,))])
    for got, want in zip(frexp(x), torch.frexp(x), strict=True):
        assert torch.equal(got, want)
