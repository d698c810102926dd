"""A helper returns a tuple: quotient and remainder, rounded down as in Python. Triton's own operators round towards zero."""

import torch
import triton
import triton.language as tl


@triton.jit
def _floor_divmod(a, b):
    quotient = a // b
    rest = a - quotient * b
    wrong = (rest != 0) & ((rest < 0) != (b < 0))
    return quotient - wrong.to(tl.int32), tl.where(wrong, rest + b, rest)


@triton.jit
def _divmod_kernel(a_ptr, b_ptr, quotient_ptr, rest_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(a_ptr + at, mask=at < n, other=1)
    b = tl.load(b_ptr + at, mask=at < n, other=1)
    quotient, rest = _floor_divmod(a, b)
    tl.store(quotient_ptr + at, quotient, mask=at < n)
    tl.store(rest_ptr + at, rest, mask=at < n)


def floor_divmod(a, b):
    quotient, rest = torch.empty_like(a), torch.empty_like(a)
    _divmod_kernel[(triton.cdiv(a.numel(), 64),)](a, b, quotient, rest, a.numel(), BLOCK=64)
    return quotient, rest


def check():
    a = torch.randint(-100, 100, (90,), dtype=torch.int32)
    b = (
        torch.randint(1, 20, (90,), dtype=torch.int32)
        * torch.where(torch.rand(90) < 0.5, -1, 1).int()
    )
    for got, want in zip(floor_divmod(a, b), (a // b, a % b), strict=True):
        assert torch.equal(got, want)
