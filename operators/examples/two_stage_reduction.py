"""Two kernels compute one number. The programs of the first store partial results, and one program combines them (largest |x|)."""

import torch
import triton
import triton.language as tl


@triton.jit
def _partial_kernel(x_ptr, partial_ptr, n, BLOCK: tl.constexpr):
    best = tl.zeros([BLOCK], tl.float32)
    for start in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        at = start + tl.arange(0, BLOCK)
        best = tl.maximum(best, tl.abs(tl.load(x_ptr + at, mask=at < n, other=0.0)))
    tl.store(partial_ptr + tl.program_id(0), tl.max(best, axis=0))


@triton.jit
def _combine_kernel(partial_ptr, out_ptr, count, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out_ptr, tl.max(tl.load(partial_ptr + at, mask=at < count, other=0.0), axis=0))


def largest_magnitude(x, programs=5):
    partial = torch.empty(programs, device=x.device)
    out = torch.empty((), device=x.device)
    _partial_kernel[(programs,)](x, partial, x.numel(), BLOCK=64)
    _combine_kernel[(1,)](partial, out, programs, BLOCK=triton.next_power_of_2(programs))
    return out


def check():
    x = torch.randn(1000)
    assert largest_magnitude(x) == x.abs().max()
