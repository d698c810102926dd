"""A kernel stores two outputs for one load: the Gray code of a number, and the number decoded from this code as a check."""

import torch
import triton
import triton.language as tl


@triton.jit
def _gray_kernel(x_ptr, gray_ptr, back_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0)
    gray = x ^ (x >> 1)
    back = gray
    for step in tl.static_range(5):
        back = back ^ (back >> (1 << step))
    tl.store(gray_ptr + at, gray, mask=at < n)
    tl.store(back_ptr + at, back, mask=at < n)


def gray_code(x):
    gray, back = torch.empty_like(x), torch.empty_like(x)
    _gray_kernel[(triton.cdiv(x.numel(), 64),)](x, gray, back, x.numel(), BLOCK=64)
    return gray, back


def check():
    x = torch.randint(0, 2**31 - 1, (100,), dtype=torch.int32)
    gray, back = gray_code(x)
    assert torch.equal(gray, x ^ (x >> 1)) and torch.equal(back, x)
