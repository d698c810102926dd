"""The sign moves to the lowest bit, and a sum of comparisons gives the size (the number of bytes of a number as a varint)."""

import torch
import triton
import triton.language as tl


@triton.jit
def _varint_kernel(x_ptr, code_ptr, length_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0)
    code = ((x << 1) ^ (x >> 31)).to(tl.uint32, bitcast=True)
    length = tl.full([BLOCK], 1, tl.int32)
    for k in tl.static_range(1, 5):
        length += (code >= (1 << (7 * k))).to(tl.int32)
    tl.store(code_ptr + at, code.to(tl.int32, bitcast=True), mask=at < n)
    tl.store(length_ptr + at, length, mask=at < n)


def varint(x):
    code, length = torch.empty_like(x), torch.empty_like(x)
    _varint_kernel[(triton.cdiv(x.numel(), 32),)](x, code, length, x.numel(), BLOCK=32)
    return code, length


def check():
    x = torch.tensor([0, -1, 63, -64, 64, 8191, 8192, -(2**31), 2**31 - 1], dtype=torch.int32)
    code, length = varint(x)
    assert length.tolist() == [1, 1, 1, 1, 2, 2, 3, 5, 5] and code[:4].tolist() == [0, 1, 126, 127]
