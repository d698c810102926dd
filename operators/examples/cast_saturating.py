"""A cast to a narrow integer wraps or is undefined beyond its range. So the kernel first clamps the float and replaces NaN by zero."""

import torch
import triton
import triton.language as tl


@triton.jit
def _narrow_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0.0)
    x = tl.where(x != x, 0.0, x)
    tl.store(out_ptr + at, tl.clamp(x, -32768.0, 32767.0).to(tl.int16), mask=at < n)


def to_int16(x):
    out = torch.empty(x.shape, dtype=torch.int16, device=x.device)
    _narrow_kernel[(triton.cdiv(x.numel(), 64),)](x, out, x.numel(), BLOCK=64)
    return out


def check():
    x = torch.tensor([1e9, -1e9, float("nan"), float("inf"), -3.7, 12.9])
    assert to_int16(x).tolist() == [32767, -32768, 0, 32767, -3, 12]
