"""A binary search without branches counts the leading zeros of a word. Each step halves the word with one tl.where."""

import torch
import triton
import triton.language as tl


@triton.jit
def _clz_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0).to(tl.uint32, bitcast=True)
    count = tl.where(x == 0, 32, 0)
    for level in tl.static_range(4, -1, -1):
        width = 1 << level
        empty = (x >> (32 - width)) == 0
        count += tl.where(empty & (x != 0), width, 0)
        x = tl.where(empty, x << width, x)
    tl.store(out_ptr + at, count, mask=at < n)


def leading_zeros(x):
    out = torch.empty_like(x)
    _clz_kernel[(triton.cdiv(x.numel(), 64),)](x, out, x.numel(), BLOCK=64)
    return out


def check():
    x = torch.tensor([0, 1, -1, 2**31 - 1, 255, 256, 65536, -(2**31)], dtype=torch.int32)
    assert leading_zeros(x).tolist() == [32 - (v & 0xFFFFFFFF).bit_length() for v in x.tolist()]
