"""tl.rand (Philox) takes a seed and an offset. The same offsets give the same random numbers, however the work is split into blocks."""

import torch
import triton
import triton.language as tl


@triton.jit
def _dither_kernel(x_ptr, out_ptr, n, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0.0)
    tl.store(out_ptr + at, tl.floor(x + tl.rand(seed, at)), mask=at < n)


def dithered_floor(x, seed, block=128):
    out = torch.empty_like(x)
    _dither_kernel[(triton.cdiv(x.numel(), block),)](x, out, x.numel(), seed, BLOCK=block)
    return out


def check():
    x = torch.full((4000,), 2.25)
    out = dithered_floor(x, 7)
    assert set(out.tolist()) == {2.0, 3.0} and abs(out.mean() - 2.25) < 0.04
    assert torch.equal(out, dithered_floor(x, 7, block=64)) and not torch.equal(
        out, dithered_floor(x, 8)
    )
