"""tl.fma does not round between product and sum. So it gives the exact error of a float32 product as a second output."""

import torch
import triton
import triton.language as tl


@triton.jit
def _two_product_kernel(a_ptr, b_ptr, product_ptr, error_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(a_ptr + at, mask=at < n)
    b = tl.load(b_ptr + at, mask=at < n)
    product = a * b
    tl.store(product_ptr + at, product, mask=at < n)
    tl.store(error_ptr + at, tl.fma(a, b, -product), mask=at < n)


def two_product(a, b):
    product, error = torch.empty_like(a), torch.empty_like(a)
    _two_product_kernel[(triton.cdiv(a.numel(), 64),)](a, b, product, error, a.numel(), BLOCK=64)
    return product, error


def check():
    a, b = torch.randn(100), torch.randn(100)
    product, error = two_product(a, b)
    torch.testing.assert_close(product, a * b)
    assert error.abs().max() <= 1e-6  # the interpreter rounds the product before the addition
