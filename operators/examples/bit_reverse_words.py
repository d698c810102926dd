"""Five rounds of shifts and masks reverse the bits of a 32-bit word. A right shift of an unsigned integer does not copy the sign."""

import torch
import triton
import triton.language as tl


@triton.jit
def _reverse_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0).to(tl.uint32, bitcast=True)
    x = ((x >> 1) & 0x55555555) | ((x & 0x55555555) << 1)
    x = ((x >> 2) & 0x33333333) | ((x & 0x33333333) << 2)
    x = ((x >> 4) & 0x0F0F0F0F) | ((x & 0x0F0F0F0F) << 4)
    x = ((x >> 8) & 0x00FF00FF) | ((x & 0x00FF00FF) << 8)
    x = (x >> 16) | (x << 16)
    tl.store(out_ptr + at, x.to(tl.int32, bitcast=True), mask=at < n)


def reverse_bits(x):
    out = torch.empty_like(x)
    _reverse_kernel[(triton.cdiv(x.numel(), 64),)](x, out, x.numel(), BLOCK=64)
    return out


def check():
    x = torch.randint(-(2**31), 2**31 - 1, (70,), dtype=torch.int32)
    want = [int(f"{v & 0xFFFFFFFF:032b}"[::-1], 2) for v in x.tolist()]
    assert [v & 0xFFFFFFFF for v in reverse_bits(x).tolist()] == want
