"""The product of two 31-bit numbers needs int64 before the remainder is taken (powers modulo a number by square-and-multiply)."""

import torch
import triton
import triton.language as tl


@triton.jit
def _power_kernel(base_ptr, exponent_ptr, out_ptr, n, modulus, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    base = tl.load(base_ptr + at, mask=at < n, other=1).to(tl.int64)
    exponent = tl.load(exponent_ptr + at, mask=at < n, other=0)
    result = tl.full([BLOCK], 1, tl.int64)
    for _ in range(31):
        result = tl.where(exponent & 1 == 1, result * base % modulus, result)
        base = base * base % modulus
        exponent = exponent >> 1
    tl.store(out_ptr + at, result.to(tl.int32), mask=at < n)


def power_modulo(base, exponent, modulus):
    out = torch.empty_like(base)
    _power_kernel[(triton.cdiv(base.numel(), 32),)](
        base, exponent, out, base.numel(), modulus, BLOCK=32
    )
    return out


def check():
    base, exponent = torch.randint(1, 2**31 - 1, (2, 40), dtype=torch.int32)
    want = [pow(a, e, 998244353) for a, e in zip(base.tolist(), exponent.tolist(), strict=True)]
    assert power_modulo(base, exponent, 998244353).tolist() == want
